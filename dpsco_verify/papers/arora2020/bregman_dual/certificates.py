"""Witnesses about ``bregman-dual``, as the independent checker evaluates them."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import flint

from dpsco_verify.evidence.checker import Rational, Sides, Witness, ball, rational, require
from dpsco_verify.papers.arora2020.duality.certificates import curvatures


class BregmanDualConstant(Witness, frozen=True, kw_only=True):
    """``D_Φ*(x‖y) ≤ (constant/α)‖x − y‖_*²`` for every α-strongly convex Φ, as constant > 1/2.

    Adding the two inequalities of strong convexity, ``⟨a − b, ∇Φ*(a) − ∇Φ*(b)⟩ ≥ α‖∇Φ*(a) − ∇Φ*(b)‖²``, so ∇Φ* is
    1/α-Lipschitz, and ``D_Φ*(x‖y) = ∫₀¹ ⟨∇Φ*(y + t(x−y)) − ∇Φ*(y), x−y⟩ dt ≤ ‖x−y‖_*²/α · ∫₀¹ t dt``.
    """

    readings: ClassVar[dict[str, int]] = {"literal": 0}
    claim_id: ClassVar[str] = "bregman-dual"
    constant: Rational

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        constant = rational("constant", self.constant)
        words = f"{constant} > integral of t over [0, 1], so D* <= ({constant}/alpha) |x - y|*^2"
        return ball(constant), ball(Fraction(1, 2)), words


class BregmanDualTight(Witness, frozen=True, kw_only=True):
    """``D_Φ*(x‖y) > (constant/α)‖x − y‖_*²`` for three potentials at once, so 1/2 cannot be made `constant`.

    The Euclidean one (p = 2), ``½‖·‖_p²`` and the entropy on the simplex, at the pair of :func:`curvatures`. The
    argument of :class:`BregmanDualConstant` gives 1/2 and holds in all three: no quotient may exceed it.
    """

    readings: ClassVar[dict[str, int]] = {"literal": 0, "tight": 0}
    claim_id: ClassVar[str] = "bregman-dual"
    p: Rational
    step: Rational
    constant: Rational

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        p, step, constant = (rational(k, getattr(self, k)) for k in ("p", "step", "constant"))
        require(holds=1 < p < 2, reason=f"p={p} is outside (1, 2)")
        least = flint.arb(1) / 2
        for exponent in (Fraction(2), p, Fraction(1)):
            _, dual, alpha = curvatures(exponent, step)
            quotient = dual * ball(alpha) / 2
            require(holds=not quotient > ball(Fraction(1, 2)), reason="a quotient exceeds 1/2")
            least = least.min(quotient)
        words = f"alpha D*/|x - y|*^2 > {constant} at step {step}: Euclidean, p = {p}, entropy on the simplex"
        return least, ball(constant), words
