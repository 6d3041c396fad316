"""One-pass SGD with privacy by iteration (label related:iteration-sgd)."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping

from dpsco_verify.choices import Profile
from dpsco_verify.evidence import Consequence, Quantity, Sharpness, Stance, Verdict
from dpsco_verify.evidence.checker import evaluate
from dpsco_verify.ledger import Decision, Discrepancy, Reading
from dpsco_verify.ledger.systems.calibration import Implemented, Place, compare, with_implementation
from dpsco_verify.ledger.systems.privacy_statement import (
    AUDIT_WEIGHT,
    CONCENTRATED,
    Call,
    PrivacyStatement,
    audit_null,
)
from dpsco_verify.papers.feldman2020.iteration_sgd.certificates import (
    IterationBatches,
    IterationStepViolation,
)
from dpsco_verify.related.iteration_schedule import constant_batches

BATCH = 2
"""The constant of ``B_t = ⌈2√d/(κ√(T − t + 1))⌉``."""

_GUARANTEE = "the last iterate is (α, ακ²/2)-RDP for all α, hence (ε, δ)-DP"
_METHOD = (
    "Exact: the Rényi divergence of amplification by iteration for all t, T, d and κ, and the linear instance "
    "that attains it; for steps above 2/β a two-step instance whose divergence is bounded in balls. Beside it "
    "the batches of the implementation on a grid, and an audit of its last iterate."
)
_GRID = (Place(200, 1), Place(2000, 5), Place(10**5, 20))
_BELOW = "199/100"
_STEP = IterationStepViolation(
    dimension=10_000, factor="10", epsilon="1", delta="1/1000000", threshold="7/20"
)


class StepSize(enum.Enum):
    """The step sizes that a reading admits."""

    NON_EXPANSIVE = "η ≤ 2/β"
    ANY = "every η > 0"


def implemented_batches() -> tuple[Implemented, ...]:
    """Return the smallest κ over that which the implementation's batches and noise give, on a grid at (1, 1e-6)."""

    def ratio(figures: Mapping[str, float], at: Place) -> float:
        kappa = at.budget.concentrated
        batches = constant_batches(at.n, at.dimension, kappa)
        steps = len(batches)
        spent = max(2.0 / (int(b) * figures["σ"] * math.sqrt(steps - t)) for t, b in enumerate(batches))
        return kappa / spent

    return compare("iteration-sgd", _GRID, ratio)


class IterationSgdPrivacy(PrivacyStatement[StepSize, tuple[Implemented, ...]]):
    """``iteration-sgd-privacy``."""

    id = "iteration-sgd-privacy"
    system = "iteration-sgd"
    title = "One pass with a private last iterate"
    reference = "Feldman, Koren and Talwar 2020, Algorithm 1 and Theorem 3.2"
    label = "related:iteration-sgd"
    text = (
        "For β-smooth losses and η ≤ 2/β, with noise of σ = L/√d and batches B_t = ⌈2√d/(κ√(T − t + 1))⌉, "
        + _GUARANTEE
    )
    readings = (
        Reading(
            id="printed",
            stance=Stance.PRINTED,
            parameters=StepSize.NON_EXPANSIVE,
            text="κ is the source's ρ; steps of size η ≤ 2/β; the last iterate alone is released.",
            statement=_GUARANTEE,
            method=_METHOD,
            weight=AUDIT_WEIGHT,
            null=audit_null(system, CONCENTRATED),
        ),
        Reading(
            id="any-step-size",
            stance=Stance.EXTENSION,
            parameters=StepSize.ANY,
            text="The same for steps above 2/β, which expand distances.",
            statement=f"{_GUARANTEE}, for every η > 0",
            method=_METHOD,
        ),
    )
    discrepancies = (
        Discrepancy(
            id="iteration-step-size",
            title="Privacy by iteration rests on the step size",
            lines=(),
            consequence=Consequence.NOTHING,
            text="The source's condition η ≤ 2/β is needed for privacy and not for the risk alone: with η = 10/β "
            "and two steps the last iterate is not (1, 10⁻⁶)-DP, since the second step spreads what the first "
            "has leaked.",
            repair="keep the condition, as the source states it; a run has to check it, since no output shows it",
            shown_by=("iteration-sgd-privacy/any-step-size",),
            rests_on=("iteration-sgd-privacy/printed",),
        ),
    )
    witness_kinds = (IterationBatches, IterationStepViolation)

    def exact(self, reading: Reading[StepSize], profile: Profile) -> Call[tuple[Implemented, ...]]:
        """Return the comparison of the implementation with the printed batches."""
        return implemented_batches, {}

    def decide(self, reading: Reading[StepSize], value: tuple[Implemented, ...]) -> Decision:
        """Certify by the argument, refute by the instance."""
        if reading.parameters is StepSize.ANY:
            return _refuted(self.id, reading.id)
        proven = Decision(
            verdict=Verdict.CERTIFIED,
            summary="holds for all n, d and κ, with equality at the first step of a linear loss",
            evidence={},
            sharpness=(
                Sharpness(
                    constant="2 in B_t = ⌈2√d/(κ√(T − t + 1))⌉",
                    claimed=float(BATCH),
                    holds_with=float(BATCH),
                    needed=float(BATCH),
                    how="by amplification by iteration; needed at t = 1 by a linear loss wherever the ceiling is exact",
                ),
            ),
            witness=IterationBatches(dimension=1, kappa="1/100", steps=1, below=_BELOW),
        )
        return with_implementation(
            proven, value, words=lambda _: "the implementation's batches give more than κ"
        )


def _refuted(claim: str, reading: str) -> Decision:
    words, left, _ = evaluate(_STEP, claim, reading)
    gap = float(left)
    return Decision(
        verdict=Verdict.REFUTED,
        summary=f"false: with η = {_STEP.factor}/β, d = {_STEP.dimension} and T = 2 the δ at ε = 1 is at least "
        f"{gap:.3g}, above 10⁻⁶",
        evidence={
            "δ at ε = 1 of the instance": Quantity(
                value=gap, note=f"at least; η = {_STEP.factor}/β, d = {_STEP.dimension}, T = 2; claimed 10⁻⁶"
            )
        },
        counterexample="A Huber loss of the first coordinate: the first point of the first batch pulls by ±L, "
        f"and step 2, where all others lie, expands distances by {_STEP.factor} − 1. {words}: "
        f"{gap:.6g} > 1e-06.",
        sharpness=(
            Sharpness(
                constant="2 in η ≤ 2/β",
                claimed=None,
                holds_with=2.0,
                needed=float(_STEP.factor),
                at=f"a Huber loss, d = {_STEP.dimension}, ε = {_STEP.epsilon}, δ = {_STEP.delta}",
                larger_is_stronger=True,
                how="non-expansive up to 2; refuted at the value needed",
            ),
        ),
        witness=_STEP,
    )
