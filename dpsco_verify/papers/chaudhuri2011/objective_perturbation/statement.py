"""Objective perturbation (label related:objective-perturbation): the minimiser of a randomly tilted objective."""

from __future__ import annotations

import math
from collections.abc import Mapping

from dpsco_verify.choices import Profile
from dpsco_verify.evidence import Sharpness, Stance, Verdict
from dpsco_verify.ledger import Decision, Reading
from dpsco_verify.ledger.systems.calibration import Implemented, Place, compare, with_implementation
from dpsco_verify.ledger.systems.privacy_statement import (
    AUDIT_WEIGHT,
    PURE,
    Call,
    PrivacyStatement,
    audit_null,
)
from dpsco_verify.papers.chaudhuri2011.objective_perturbation.certificates import ObjectivePerturbationLoss
from dpsco_verify.problems import Logistic

POWER = 2
"""The factor of ``log(1 + c/(nΛ))`` in ε'."""

_GUARANTEE = "the minimiser of the perturbed objective is ε-DP"
_METHOD = (
    "Exact, for all n, Λ, c and ε: the ratio of the densities by the change of variables, the ratio of the "
    "determinants for a replaced point included; beside it the implementation's ε' and noise on a grid, and an "
    "audit of its outputs."
)
_GRID = tuple(
    Place(n, d, epsilon, loss=Logistic())
    for n, d, epsilon in ((8, 1, 1.0), (100, 1, 0.05), (1000, 5, 1.0), (10**5, 20, 4.0))
)


def implemented_loss() -> tuple[Implemented, ...]:
    """Return ε over the largest privacy loss of the implementation's numbers by the source's account, on a grid."""

    def ratio(figures: Mapping[str, float], at: Place) -> float:
        curvature = (at.task.smoothness or 0.0) / (at.n * (figures["Λ"] + figures["Δ"]))
        loss = 2.0 * at.task.lipschitz / figures["noise scale"] + POWER * math.log1p(curvature)
        return at.epsilon / loss

    return compare("objective-perturbation", _GRID, ratio)


class ObjectivePerturbationPrivacy(PrivacyStatement[None, tuple[Implemented, ...]]):
    """``objective-perturbation-privacy``."""

    id = "objective-perturbation-privacy"
    system = "objective-perturbation"
    title = "Objective perturbation is private"
    reference = "Chaudhuri, Monteleoni and Sarwate 2011, Algorithm 2 and Theorem 9"
    label = "related:objective-perturbation"
    text = (
        "With ε' = ε − 2 log(1 + c/(nΛ)), or, where that is not positive, Δ = c/(n(e^{ε/4} − 1)) − Λ and ε' = "
        f"ε/2, and b of density ∝ exp(−ε'‖b‖/2), {_GUARANTEE}"
    )
    readings = (
        Reading(
            id="printed",
            stance=Stance.PRINTED,
            parameters=None,
            text="Smooth losses with curvature at most c, |ℓ'| ≤ 1, ‖x‖ ≤ 1, no constraint, and an exact "
            "minimiser; a point is replaced.",
            statement=f"{_GUARANTEE} for all n, Λ, c and ε",
            method=_METHOD,
            weight=AUDIT_WEIGHT,
            null=audit_null(system, PURE),
        ),
    )
    witness_kinds = (ObjectivePerturbationLoss,)

    def exact(self, reading: Reading[None], profile: Profile) -> Call[tuple[Implemented, ...]]:
        """Return the implementation's privacy loss on a grid."""
        return implemented_loss, {}

    def decide(self, reading: Reading[None], value: tuple[Implemented, ...]) -> Decision:
        """Certify by the closed form."""
        proven = Decision(
            verdict=Verdict.CERTIFIED,
            summary="holds for all parameters; half of the logarithm in ε' would be enough, since a replaced "
            "point can raise the determinant once and not twice",
            evidence={},
            sharpness=(
                Sharpness(
                    constant="2 in 2 log(1 + c/(nΛ))",
                    claimed=float(POWER),
                    holds_with=1.0,
                    needed=1.0,
                    how="by the rank-one update of a common Hessian; needed on a line, where one point is at the "
                    "edge of its curvature and its replacement beyond",
                ),
            ),
            witness=ObjectivePerturbationLoss(curvature="1/10", epsilon="1"),
        )
        return with_implementation(
            proven, value, words=lambda ratio: f"the implementation's numbers give {1.0 / ratio:.4g} ε"
        )
