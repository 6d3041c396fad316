"""Output perturbation (label related:output-perturbation): a regularised minimiser with noise of exponential norm."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from dpsco_verify.evidence import Consequence, Quantity, Sharpness, Verdict
from dpsco_verify.evidence.checker import OutputPerturbationRate, OutputPerturbationViolation, issue
from dpsco_verify.ledger.errata import Discrepancy
from dpsco_verify.ledger.profile import Profile
from dpsco_verify.ledger.statement import Conclusion, Reading
from dpsco_verify.ledger.statements.related.grid import (
    Implemented,
    implementation_evidence,
    implements,
    linear_task,
)
from dpsco_verify.ledger.statements.related.privacy_statement import AUDIT_WEIGHT, Exact, PrivacyStatement
from dpsco_verify.related import PrivacyBudget
from dpsco_verify.related.catalogue import SYSTEMS

NOISE = 2
"""The constant of the noise's scale, ``2/(nΛε)``."""

_GUARANTEE = "the noisy minimiser is ε-DP"
_METHOD = (
    "Exact: the sensitivity of the minimiser times the rate of the noise, for all n, Λ and ε, and an instance "
    "that attains it; beside it the noise of the implementation on a grid, and an audit of its outputs."
)
_GRID = ((100, 1, 1.0), (1000, 5, 0.1), (10**5, 20, 4.0))
_VIOLATION = OutputPerturbationViolation(lipschitz="2", n=100, regularisation="1/10", epsilon="1")


def implemented_scale() -> tuple[Implemented, ...]:
    """Return the implementation's scale over ``2/(nΛε)`` for L = 1 on a grid of n, d and ε."""
    found = []
    for n, dimension, epsilon in _GRID:
        budget = PrivacyBudget(epsilon, 1e-6)
        figures = SYSTEMS["output-perturbation"].calibrate(linear_task(dimension), n, budget).figures
        printed = NOISE / (n * figures["Λ"] * epsilon)
        found.append(
            Implemented(
                words=f"n = {n}, d = {dimension}, ε = {epsilon:g}", ratio=figures["noise scale"] / printed
            )
        )
    return tuple(found)


class OutputPerturbationPrivacy(PrivacyStatement):
    """``output-perturbation-privacy``."""

    id = "output-perturbation-privacy"
    system = "output-perturbation"
    title = "Output perturbation is private"
    reference = "Chaudhuri, Monteleoni and Sarwate 2011, Algorithm 1 and Theorem 6"
    label = "related:output-perturbation"
    text = f"With noise of density ∝ exp(−(nΛε/2)‖b‖) on the minimiser of (1/n)Σℓ + (Λ/2)‖w‖², {_GUARANTEE}"
    audited = "unit-lipschitz"
    readings = (
        Reading(
            id="unit-lipschitz",
            text="|ℓ'| ≤ 1 and ‖x‖ ≤ 1, as the source has it, so L = 1; the minimiser is exact, or the noise "
            "covers the solver's certified distance.",
            statement=f"{_GUARANTEE} for all n, Λ, ε and 1-Lipschitz convex losses",
            method=_METHOD,
            weight=AUDIT_WEIGHT,
        ),
        Reading(
            id="any-lipschitz",
            text="The printed noise for any Lipschitz constant L.",
            statement=f"{_GUARANTEE} for all n, Λ, ε and L",
            method=_METHOD,
        ),
    )
    discrepancies = (
        Discrepancy(
            id="output-perturbation-scale",
            title="Output perturbation: the noise is for L = 1",
            lines=(),
            consequence=Consequence.NOTHING,
            text="The source normalises |ℓ'| ≤ 1 and ‖x‖ ≤ 1 and prints noise without L. Taken over to "
            "L-Lipschitz losses, as this paper's Section 3 speaks of them, it gives Lε in place of ε.",
            repair="use the density ∝ exp(−(nΛε/(2L))‖b‖)",
            shown_by=("output-perturbation-privacy/any-lipschitz",),
            rests_on=("output-perturbation-privacy/unit-lipschitz",),
        ),
    )

    def exact(self, reading: Reading, profile: Profile) -> Exact:  # noqa: ARG002  the interface
        """Return the comparison of the implementation's noise with the printed one."""
        return implemented_scale, {}

    def decide(self, reading: Reading, value: Any) -> Conclusion:
        """Certify for L = 1, refute for L = 2."""
        if reading.id == "any-lipschitz":
            return _refuted(self.id, reading.id)
        found: Sequence[Implemented] = value
        evidence = implementation_evidence(found)
        short = implements(found)
        if short is not None:
            return Conclusion(
                verdict=Verdict.INCONCLUSIVE,
                summary=f"at {short.words} the implementation adds {short.ratio:.4g} of the printed noise",
                evidence=evidence,
            )
        return Conclusion(
            verdict=Verdict.CERTIFIED,
            summary="holds for all n, Λ and ε, with equality on a line",
            evidence=evidence,
            sharpness=(
                Sharpness(
                    constant="2 in 2/(nΛε)",
                    claimed=float(NOISE),
                    holds_with=float(NOISE),
                    needed=float(NOISE),
                    how="by strong convexity; needed by a linear loss on a line, beyond both minimisers",
                ),
            ),
            certificate=issue(
                self.id,
                reading.id,
                OutputPerturbationRate(n=100, regularisation="1/10", epsilon="1", below="199/100"),
            ),
        )


def _refuted(claim: str, reading: str) -> Conclusion:
    certificate = issue(claim, reading, _VIOLATION)
    L = Fraction(_VIOLATION.lipschitz)
    return Conclusion(
        verdict=Verdict.REFUTED,
        summary=f"false for L > 1: at L = {L} the loss is {L} ε",
        evidence={"privacy loss at L = 2": Quantity(value=float(L), unit="ε", note="attained")},
        counterexample="f = −Lwz on a line, one point 1 in S and −1 in S', the others 0: "
        f"{certificate.inequality}: {float(certificate.left):.6g} > {float(certificate.right):.6g}.",
        sharpness=(
            Sharpness(
                constant="2 in 2/(nΛε)",
                claimed=float(NOISE),
                holds_with=None,
                needed=float(NOISE * L),
                how=f"2L is enough and needed; here at L = {L}",
            ),
        ),
        certificate=certificate,
    )
