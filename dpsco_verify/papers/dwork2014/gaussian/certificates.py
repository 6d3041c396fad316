"""Witnesses about ``gaussian-mechanism``, as the independent checker evaluates them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar

import flint

from dpsco_verify.evidence.checker import (
    Count,
    Rational,
    Shows,
    Sides,
    Witness,
    ball,
    rational,
    require,
    upper_tail,
)

MAX_STEPS = 10_000


def divergence(epsilon: Fraction, c: flint.arb) -> flint.arb:
    """Return ``δ_G(ε; ε/c) = Q(c − ε/2c) − e^ε Q(c + ε/2c)``, the exact δ at ``σ = cΔ/ε`` (Balle and Wang 2018)."""
    return _divergence(ball(epsilon), ball(epsilon).exp(), c)


def _divergence(epsilon: flint.arb, factor: flint.arb, c: flint.arb) -> flint.arb:
    half = epsilon / (2 * c)
    return upper_tail(c - half) - factor * upper_tail(c + half)


def largest_excess(epsilon: Fraction, factor: Fraction, reach: Fraction, steps: int) -> flint.arb:
    """Return an upper bound of ``δ_G(ε; ε/c) e^{c²/2}`` for all ``c ≥ √(2 ln factor)``, factor > 1.

    ``δ_G(ε; ε/c)`` falls in c, so on each of `steps` equal pieces up to `reach` it is taken at the lower end and the
    exponential at the upper. Beyond, ``δ_G = φ(z₁)(R(z₁) − R(z₂))`` with Mills' ratio R, ``z₁ = c − ε/2c``, so that the
    product is at most ``e^{ε/2} R(z₁)/√(2π)``, which falls in c.
    """
    start = (2 * ball(factor).log()).sqrt()
    width = (ball(reach) - start) / steps
    end, exponential = ball(epsilon), ball(epsilon).exp()
    z = ball(reach) - end / (2 * ball(reach))
    worst = (ball(epsilon / 2) + z * z / 2).exp() * upper_tail(z)
    for k in range(steps):
        upper = start + (k + 1) * width
        worst = worst.max(_divergence(end, exponential, start + k * width) * (upper * upper / 2).exp())
    return worst


class GaussianRange(Witness, frozen=True, kw_only=True):
    """``σ ≥ cΔ₂f/ε``, ``c² > 2 ln(factor/δ)``, is (ε, δ)-DP for all δ > 0 and ``0 < ε ≤ epsilon_max``.

    In all dimensions the exact δ is ``δ_G(ε; Δ₂f/σ) ≤ δ_G(ε; ε/c)``. This grows with ε at fixed c: its derivative is
    ``φ(z₁)(1/c − R(z₂)) > 0``, since ``R(z₂) < 1/z₂ < 1/c``. So the end of the range decides, and it is to be shown
    that ``δ_G e^{c²/2} < factor`` there for every c that some δ ≤ 1 gives; for δ > 1 there is nothing to show.
    """

    readings: ClassVar[dict[str, Fraction]] = {"printed": Fraction(1), "wider-range": Fraction(15, 4)}
    claim_id: ClassVar[str] = "gaussian-mechanism"
    shows: ClassVar[Shows] = Shows.CERTIFIES
    over: ClassVar[Mapping[str, str]] = {
        "printed": "every dimension, δ > 0 and 0 < ε <= 1",
        "wider-range": "every dimension, δ > 0 and 0 < ε <= 15/4",
    }
    argument: ClassVar[str] = (
        "the exact δ of the Gaussian mechanism (Balle and Wang 2018), and in what it is monotone"
    )
    factor: Rational
    epsilon_max: Rational
    reach: Rational
    steps: Count

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        factor, end, reach = (rational(k, getattr(self, k)) for k in ("factor", "epsilon_max", "reach"))
        stated = self.readings[reading]
        require(holds=1 < factor <= Fraction(5, 4), reason=f"factor={factor} is outside (1, 5/4]")
        require(holds=stated <= end <= 10, reason=f"epsilon_max={end} is outside [{stated}, 10]")
        require(holds=1 <= reach <= 10, reason=f"reach={reach} is outside [1, 10]")
        require(holds=self.steps <= MAX_STEPS, reason=f"steps={self.steps} is above {MAX_STEPS}")
        words = f"{factor} > delta_G(e; e/c) exp(c^2/2) for all e <= {end} and c^2 >= 2 ln({factor})"
        return ball(factor), largest_excess(end, factor, reach, self.steps), words


class GaussianViolation(Witness, frozen=True, kw_only=True):
    """``δ_G(ε; ε/c) > δ`` at an ε with a c² above ``2 ln(1.25/δ)``."""

    readings: ClassVar[dict[str, int]] = {"every-epsilon": 0}
    claim_id: ClassVar[str] = "gaussian-mechanism"
    shows: ClassVar[Shows] = Shows.REFUTES
    argument: ClassVar[str] = ""
    epsilon: Rational
    delta: Rational
    c_squared: Rational

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        epsilon, delta, square = (rational(k, getattr(self, k)) for k in ("epsilon", "delta", "c_squared"))
        require(holds=1 <= epsilon <= 1000, reason=f"epsilon={epsilon} is outside [1, 1000]")
        require(holds=0 < delta < 1, reason=f"delta={delta} is outside (0, 1)")
        require(holds=0 < square <= 10**4, reason=f"c_squared={square} is outside (0, 10^4]")
        required = 2 * ball(Fraction(5, 4) / delta).log()
        require(
            holds=bool(ball(square) > required), reason=f"c_squared={square} is not above 2 ln(1.25/delta)"
        )
        words = (
            f"delta_G(e; e/c) > delta at e = {epsilon}, c^2 = {square} > 2 ln(1.25/delta), delta = {delta}"
        )
        return divergence(epsilon, ball(square).sqrt()), ball(delta), words
