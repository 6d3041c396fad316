"""Witnesses about ``bregman-dual``, as the independent checker evaluates them."""

from __future__ import annotations

from collections.abc import Mapping
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
from dpsco_verify.papers.arora2020.duality.certificates import curvatures


class BregmanDualConstant(Witness, frozen=True, kw_only=True):
    """``D_Φ*(x‖y) ≤ (constant/α)‖x − y‖_*²`` for every α-strongly convex Φ, as constant > 1/2.

    Adding the two inequalities of strong convexity, ``⟨a − b, ∇Φ*(a) − ∇Φ*(b)⟩ ≥ α‖∇Φ*(a) − ∇Φ*(b)‖²``, so ∇Φ* is
    1/α-Lipschitz, and ``D_Φ*(x‖y) = ∫₀¹ ⟨∇Φ*(y + t(x−y)) − ∇Φ*(y), x−y⟩ dt ≤ ‖x−y‖_*²/α · ∫₀¹ t dt``.
    """

    readings: ClassVar[dict[str, Fraction]] = {"literal": Fraction(1)}
    """The constant that each claims."""
    claim_id: ClassVar[str] = "bregman-dual"
    shows: ClassVar[Shows] = Shows.CERTIFIES
    over: ClassVar[str] = "every α-strongly convex Φ and all x, y"
    argument: ClassVar[str] = (
        "∇Φ* is 1/α-Lipschitz, by the two inequalities of strong convexity, so D* is an integral of t over "
        "[0, 1]"
    )
    constant: Rational

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        constant, claimed = rational("constant", self.constant), self.readings[reading]
        require(
            holds=constant <= claimed,
            reason=f"constant={constant} is above {claimed}, weaker than the statement",
        )
        words = f"{constant} > integral of t over [0, 1], so D* <= ({constant}/alpha) |x - y|*^2"
        return ball(constant), ball(Fraction(1, 2)), words


class BregmanDualTight(Witness, frozen=True, kw_only=True):
    """``D_Φ*(x‖y) > (constant/α)‖x − y‖_*²`` for three potentials at once, so 1/2 cannot be made `constant`.

    The Euclidean one (p = 2), ``½‖·‖_p²`` and the entropy on the simplex, at the pair of :func:`curvatures`. The
    argument of :class:`BregmanDualConstant` gives 1/2 and holds in all three: no quotient may exceed it.
    """

    readings: ClassVar[dict[str, Fraction]] = {"literal": Fraction(1), "tight": Fraction(49_999, 100_000)}
    """What has to be exceeded: the constant that the reading claims, or one near the 1/2 that is said to be least."""
    claim_id: ClassVar[str] = "bregman-dual"
    shows: ClassVar[Mapping[str, Shows]] = {"literal": Shows.REFUTES, "tight": Shows.CERTIFIES}
    over: ClassVar[str] = "every α-strongly convex Φ and all x, y"
    argument: ClassVar[Mapping[str, str]] = {
        "literal": "",
        "tight": "1/2 is enough, by the integral of the curvature; computed are three potentials that need as much",
    }
    p: Rational
    step: Rational
    constant: Rational

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        p, step, constant = (rational(k, getattr(self, k)) for k in ("p", "step", "constant"))
        least_constant = self.readings[reading]
        require(holds=constant >= least_constant, reason=f"constant={constant} is below {least_constant}")
        require(holds=1 < p < 2, reason=f"p={p} is outside (1, 2)")
        least = flint.arb(1) / 2
        for exponent in (Fraction(2), p, Fraction(1)):
            _, dual, alpha = curvatures(exponent, step)
            quotient = dual * ball(alpha) / 2
            require(holds=not quotient > ball(Fraction(1, 2)), reason="a quotient exceeds 1/2")
            least = least.min(quotient)
        words = f"alpha D*/|x - y|*^2 > {constant} at step {step}: Euclidean, p = {p}, entropy on the simplex"
        return least, ball(constant), words
