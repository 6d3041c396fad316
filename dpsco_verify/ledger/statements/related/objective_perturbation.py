"""Objective perturbation (label related:objective-perturbation): the minimiser of a randomly tilted objective."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpsco_verify.evidence import Sharpness, Verdict
from dpsco_verify.evidence.checker import ObjectivePerturbationLoss, issue
from dpsco_verify.geometry import L2Ball
from dpsco_verify.ledger.profile import Profile
from dpsco_verify.ledger.statement import Conclusion, Reading
from dpsco_verify.ledger.statements.related.grid import Implemented, implementation_evidence, implements
from dpsco_verify.ledger.statements.related.privacy_statement import AUDIT_WEIGHT, Exact, PrivacyStatement
from dpsco_verify.problems import Logistic
from dpsco_verify.related import PrivacyBudget, Task
from dpsco_verify.related.catalogue import SYSTEMS

POWER = 2
"""The factor of ``log(1 + c/(nΛ))`` in ε'."""

_GUARANTEE = "the minimiser of the perturbed objective is ε-DP"
_METHOD = (
    "Exact, for all n, Λ, c and ε: the ratio of the densities by the change of variables, the ratio of the "
    "determinants for a replaced point included; beside it the implementation's ε' and noise on a grid, and an "
    "audit of its outputs."
)
_GRID = ((8, 1, 1.0), (100, 1, 0.05), (1000, 5, 1.0), (10**5, 20, 4.0))


def implemented_loss() -> tuple[Implemented, ...]:
    """Return ε over the largest privacy loss of the implementation's numbers by the source's account, on a grid."""
    found = []
    for n, dimension, epsilon in _GRID:
        task = Task(Logistic(), L2Ball(np.zeros(dimension), 0.5), 1.0)
        figures = SYSTEMS["objective-perturbation"].calibrate(task, n, PrivacyBudget(epsilon, 1e-6)).figures
        ratio = (task.smoothness or 0.0) / (n * (figures["Λ"] + figures["Δ"]))
        loss = 2.0 * task.lipschitz / figures["noise scale"] + POWER * math.log1p(ratio)
        found.append(Implemented(words=f"n = {n}, d = {dimension}, ε = {epsilon:g}", ratio=epsilon / loss))
    return tuple(found)


class ObjectivePerturbationPrivacy(PrivacyStatement):
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
    audited = "printed"
    readings = (
        Reading(
            id="printed",
            text="Smooth losses with curvature at most c, |ℓ'| ≤ 1, ‖x‖ ≤ 1, no constraint, and an exact "
            "minimiser; a point is replaced.",
            statement=f"{_GUARANTEE} for all n, Λ, c and ε",
            method=_METHOD,
            weight=AUDIT_WEIGHT,
        ),
    )

    def exact(self, reading: Reading, profile: Profile) -> Exact:  # noqa: ARG002  the interface
        """Return the implementation's privacy loss on a grid."""
        return implemented_loss, {}

    def decide(self, reading: Reading, value: Any) -> Conclusion:
        """Certify by the closed form."""
        found: Sequence[Implemented] = value
        evidence = implementation_evidence(found)
        short = implements(found)
        if short is not None:
            return Conclusion(
                verdict=Verdict.INCONCLUSIVE,
                summary=f"at {short.words} the implementation's numbers give {1.0 / short.ratio:.4g} ε",
                evidence=evidence,
            )
        return Conclusion(
            verdict=Verdict.CERTIFIED,
            summary="holds for all parameters; half of the logarithm in ε' would be enough, since a replaced "
            "point can raise the determinant once and not twice",
            evidence=evidence,
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
            certificate=issue(self.id, reading.id, ObjectivePerturbationLoss(curvature="1/10", epsilon="1")),
        )
