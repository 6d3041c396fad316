"""Witnesses about ``objective-perturbation``, as the independent checker evaluates them."""

from __future__ import annotations

from typing import ClassVar

from dpsco_verify.evidence.checker import (
    Rational,
    Shows,
    Sides,
    Witness,
    ball,
    rational,
    require,
)


class ObjectivePerturbationLoss(Witness, frozen=True, kw_only=True):
    """The privacy loss of objective perturbation is below ε for all ``x = c/(nΛ) > 0`` and ε > 0.

    The released w solves ``b = −(Σ∇ℓ_i(w) + nΛw)``, so its density is that of b there times the determinant of the
    Hessian ``H = nΛI + Σ∇²ℓ_i``. Neighbours change b by at most 2, hence its density by at most e^{ε'}. With H₀ the
    Hessian without the differing point, ``det H/det H' ≤ det(H₀ + c x xᵀ)/det H₀ ≤ 1 + c/(nΛ)``, since H' ⪰ H₀. The
    loss is at most ``ε' + log(1 + x)``, which is reached in one dimension; the source allows twice the logarithm.

    * ``ε > 2 log(1 + x)``: ``ε' = ε − 2 log(1 + x)``, so ε is left by log(1 + x) > 0.
    * Else x becomes ``e^{ε/4} − 1`` and ``ε' = ε/2``: the loss is 3ε/4.
    """

    readings: ClassVar[dict[str, int]] = {"printed": 0}
    claim_id: ClassVar[str] = "objective-perturbation-privacy"
    shows: ClassVar[Shows] = Shows.CERTIFIES
    over: ClassVar[str] = "every n, Λ, c and ε"
    argument: ClassVar[str] = (
        "the released point determines b, neighbours move it by at most 2, and the determinants differ by at "
        "most 1 + c/(nΛ); computed is one instance"
    )
    curvature: Rational
    epsilon: Rational

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        x, epsilon = (rational(k, getattr(self, k)) for k in ("curvature", "epsilon"))
        require(holds=x > 0 and epsilon > 0, reason="curvature and epsilon must be positive")
        logarithm = ball(x).log1p()
        rest = ball(epsilon) - 2 * logarithm
        require(holds=bool(rest > 0), reason=f"curvature={x} is not in the first case; give a smaller one")
        first = rest + logarithm
        changed = ball(epsilon / 4).expm1()
        second = ball(epsilon / 2) + changed.log1p()
        require(holds=bool(second < ball(epsilon)), reason="the second case exceeds epsilon")
        return (
            ball(epsilon),
            first,
            f"{epsilon} > eps' + log(1 + x) at x = {x}, and so for all x > 0 and epsilon > 0",
        )
