"""Witnesses about ``duality``, as the independent checker evaluates them."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import flint

from dpsco_verify.evidence.checker import (
    Rational,
    Shows,
    Sides,
    Witness,
    ball,
    rational,
    require,
)

LARGEST_MARGIN = Fraction(100_001, 100_000)
"""Over α, up to which a better constant is excluded."""


def curvatures(p: Fraction, step: Fraction) -> tuple[flint.arb, flint.arb, Fraction]:
    """Return ``2D_Φ/‖x−y‖²`` and ``2D_Φ*/‖x−y‖_*²`` at (1 + s, 1 − s) and (1, 1), d = 2, and α.

    For 1 < p ≤ 2, Φ is ``½‖·‖_p²`` and α = p − 1; by symmetry the linear terms vanish. p = 1 stands for the negative
    entropy on the simplex: there the points are halved, the conjugate is log-sum-exp, and α = 1.
    """
    require(holds=1 <= p <= 2, reason=f"p={p} is outside [1, 2]")
    require(holds=0 < step < 1, reason=f"step={step} is outside (0, 1)")
    s = ball(step)
    up, down = 1 + s, 1 - s
    if p == 1:
        primal = (up * up.log() + down * down.log()) / s**2
        return primal, 2 * ((s.exp() + (-s).exp()) / 2).log() / s**2, Fraction(1)
    powers = [ball(a) for a in (p, p / (p - 1))]
    primal, dual = [(((up**a + down**a) / 2) ** (2 / a) - 1) / s**2 for a in powers]
    return primal, dual, p - 1


class DualityConstant(Witness, frozen=True, kw_only=True):
    """Φ is α-strongly convex and Φ* is 1/α-smooth, α that of :func:`curvatures`, and for no constant `above` it.

    At least α, in any dimension: Euclid, ``D_Φ = D_Φ* = ½‖x−y‖₂²``. For 1 < p < 2, with ``u_i = |x_i|/‖x‖_p`` and
    v = (u_i^{p−1} sign x_i): ``h'∇²Φ(x)h = (p−1) Σ u_i^{p−2}h_i² + (2−p)⟨v, h⟩²``, and by Hölder with 2/p and 2/(2−p),
    ``‖h‖_p² ≤ Σ u_i^{p−2}h_i²`` as Σ u_i^p = 1; lines that meet zeros of x follow by continuity of ∇Φ. Entropy on
    the simplex: Pinsker, which the log-sum inequality reduces to ``kl(a‖b) ≥ 2(a−b)²``; the derivative in b of the
    difference is ``(b−a)(1/(b(1−b)) − 4)``. Smoothness of Φ*: as in :class:`BregmanDualConstant`. No better than that:
    the pair evaluated here, which also must not contradict the argument.
    """

    readings: ClassVar[dict[str, int | None]] = {"euclidean": 2, "p-norm": None, "entropy-simplex": 1}
    """The p that each speaks of; None for any in (1, 2)."""

    claim_id: ClassVar[str] = "duality"
    shows: ClassVar[Shows] = Shows.CERTIFIES
    over: ClassVar[str] = "every dimension and all pairs"
    argument: ClassVar[str] = (
        "Φ is α-strongly convex in any dimension (Hölder's inequality; for the entropy Pinsker's), hence Φ* "
        "1/α-smooth; computed is a pair at which neither allows a better constant"
    )
    p: Rational
    step: Rational
    above: Rational

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        p, step, above = (rational(k, getattr(self, k)) for k in ("p", "step", "above"))
        own = self.readings[reading]
        fits = 1 < p < 2 if own is None else p == own
        require(holds=fits, reason=f"p={p} does not fit reading {reading!r}")
        primal, dual, alpha = curvatures(p, step)
        require(
            holds=alpha < above <= alpha * LARGEST_MARGIN,
            reason=f"above={above} is outside ({alpha}, {alpha * LARGEST_MARGIN}]",
        )
        require(holds=not primal < ball(alpha), reason=f"Phi is less convex than alpha={alpha}")
        require(holds=not dual * ball(alpha) > 1, reason=f"Phi* is less smooth than 1/alpha at alpha={alpha}")
        require(holds=bool(dual * ball(above) > 1), reason=f"Phi* may still be smooth with 1/({above})")
        words = f"{above} > 2 D/|x - y|^2 >= {alpha}, 1/({alpha}) >= 2 D*/|x - y|*^2 > 1/({above}); p = {p}, s = {step}"
        return ball(above), primal, words


class DualityEntropyViolation(Witness, frozen=True, kw_only=True):
    """``D_Φ*(y + t‖y) = e^{y−1}(e^t − 1 − t) > t²/2`` for ``Φ* = Σ exp(y_i − 1)``, d = 1: it is not 1-smooth in ℓ_∞.

    By the duality of divergences the pair ``e^{y−1}, e^{y+t−1}`` also contradicts the 1-strong convexity of the
    negative entropy on the whole orthant.
    """

    readings: ClassVar[dict[str, int]] = {"entropy-unrestricted": 0}
    claim_id: ClassVar[str] = "duality"
    shows: ClassVar[Shows] = Shows.REFUTES
    argument: ClassVar[str] = ""
    y: Rational
    step: Rational

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        y, t = rational("y", self.y), rational("step", self.step)
        require(holds=t != 0, reason="step is zero, so there is no pair")
        left = ball(y - 1).exp() * (ball(t).exp() - 1 - ball(t))
        words = f"D*(y + t||y) > t^2/2 for Phi* = exp(y - 1), y = {y}, t = {t}"
        return left, ball(t * t / 2), words
