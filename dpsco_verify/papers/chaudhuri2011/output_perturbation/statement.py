"""Output perturbation (label related:output-perturbation): a regularised minimiser with noise of exponential norm."""

from __future__ import annotations

import enum
from fractions import Fraction

from dpsco_verify.choices import Profile
from dpsco_verify.evidence import Consequence, Quantity, Sharpness, Stance, Verdict
from dpsco_verify.evidence.checker import evaluate
from dpsco_verify.ledger import Decision, Discrepancy, Reading
from dpsco_verify.ledger.systems.calibration import Implemented, Place, compare, with_implementation
from dpsco_verify.ledger.systems.privacy_statement import (
    AUDIT_WEIGHT,
    PURE,
    Call,
    PrivacyStatement,
    audit_null,
)
from dpsco_verify.papers.chaudhuri2011.output_perturbation.certificates import (
    OutputPerturbationRate,
    OutputPerturbationViolation,
)

NOISE = 2
"""The constant of the noise's scale, ``2/(nΛε)``."""

_GUARANTEE = "the noisy minimiser is ε-DP"
_METHOD = (
    "Exact: the sensitivity of the minimiser times the rate of the noise, for all n, Λ and ε, and an instance "
    "that attains it; beside it the noise of the implementation on a grid, and an audit of its outputs."
)
_GRID = (Place(100, 1), Place(1000, 5, epsilon=0.1), Place(10**5, 20, epsilon=4.0))
_VIOLATION = OutputPerturbationViolation(lipschitz="2", n=100, regularisation="1/10", epsilon="1")


class Losses(enum.Enum):
    """The losses that a reading admits, by their Lipschitz constant."""

    UNIT = "L = 1"
    ANY = "every L"


def implemented_scale() -> tuple[Implemented, ...]:
    """Return the implementation's scale over ``2/(nΛε)`` for L = 1 on a grid of n, d and ε."""
    return compare(
        "output-perturbation",
        _GRID,
        lambda figures, at: figures["noise scale"] / (NOISE / (at.n * figures["Λ"] * at.epsilon)),
    )


class OutputPerturbationPrivacy(PrivacyStatement[Losses, tuple[Implemented, ...]]):
    """``output-perturbation-privacy``."""

    id = "output-perturbation-privacy"
    system = "output-perturbation"
    title = "Output perturbation is private"
    reference = "Chaudhuri, Monteleoni and Sarwate 2011, Algorithm 1 and Theorem 6"
    label = "related:output-perturbation"
    text = f"With noise of density ∝ exp(−(nΛε/2)‖b‖) on the minimiser of (1/n)Σℓ + (Λ/2)‖w‖², {_GUARANTEE}"
    readings = (
        Reading(
            id="unit-lipschitz",
            stance=Stance.PRINTED,
            parameters=Losses.UNIT,
            text="|ℓ'| ≤ 1 and ‖x‖ ≤ 1, as the source has it, so L = 1; the minimiser is exact, or the noise "
            "covers the solver's certified distance.",
            statement=f"{_GUARANTEE} for all n, Λ, ε and 1-Lipschitz convex losses",
            method=_METHOD,
            weight=AUDIT_WEIGHT,
            null=audit_null(system, PURE),
        ),
        Reading(
            id="any-lipschitz",
            stance=Stance.EXTENSION,
            parameters=Losses.ANY,
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
    witness_kinds = (OutputPerturbationRate, OutputPerturbationViolation)

    def exact(self, reading: Reading[Losses], profile: Profile) -> Call[tuple[Implemented, ...]]:
        """Return the comparison of the implementation's noise with the printed one."""
        return implemented_scale, {}

    def decide(self, reading: Reading[Losses], value: tuple[Implemented, ...]) -> Decision:
        """Certify for L = 1, refute for L = 2."""
        if reading.parameters is Losses.ANY:
            return _refuted(self.id, reading.id)
        proven = Decision(
            verdict=Verdict.CERTIFIED,
            summary="holds for all n, Λ and ε, with equality on a line",
            evidence={},
            sharpness=(
                Sharpness(
                    constant="2 in 2/(nΛε)",
                    claimed=float(NOISE),
                    holds_with=float(NOISE),
                    needed=float(NOISE),
                    how="by strong convexity; needed by a linear loss on a line, beyond both minimisers",
                ),
            ),
            witness=OutputPerturbationRate(n=100, regularisation="1/10", epsilon="1", below="199/100"),
        )
        return with_implementation(proven, value)


def _refuted(claim: str, reading: str) -> Decision:
    words, left, right = evaluate(_VIOLATION, claim, reading)
    L = Fraction(_VIOLATION.lipschitz)
    return Decision(
        verdict=Verdict.REFUTED,
        summary=f"false for L > 1: at L = {L} the loss is {L} ε",
        evidence={"privacy loss at L = 2": Quantity(value=float(L), unit="ε", note="attained")},
        counterexample="f = −Lwz on a line, one point 1 in S and −1 in S', the others 0: "
        f"{words}: {float(left):.6g} > {float(right):.6g}.",
        sharpness=(
            Sharpness(
                constant="2 in 2/(nΛε)",
                claimed=float(NOISE),
                holds_with=None,
                needed=float(NOISE * L),
                at=f"L = {L}",
                how=f"2L is enough and needed; here at L = {L}",
            ),
        ),
        witness=_VIOLATION,
    )
