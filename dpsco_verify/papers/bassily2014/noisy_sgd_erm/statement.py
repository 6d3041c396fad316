"""Noisy SGD for the empirical risk (label related:noisy-sgd-erm), with n² steps or fewer."""

from __future__ import annotations

import enum
from dataclasses import replace
from fractions import Fraction

from dpsco_verify.choices import Profile
from dpsco_verify.evidence import Consequence, Quantity, Sharpness, Stance, Verdict
from dpsco_verify.evidence.checker import evaluate
from dpsco_verify.ledger import Decision, Discrepancy, Reading
from dpsco_verify.ledger.systems import calibration, grid
from dpsco_verify.ledger.systems.privacy_statement import (
    APPROXIMATE,
    AUDIT_WEIGHT,
    Call,
    PrivacyStatement,
    audit_null,
)
from dpsco_verify.papers.bassily2014.noisy_sgd_erm.bounds import (
    NOISE,
    SHARP,
    GridBounds,
    examine,
    printed_schedules,
    short_schedules,
)
from dpsco_verify.papers.bassily2014.noisy_sgd_erm.certificates import NoisySgdViolation

_BROKEN = NoisySgdViolation(n=2, epsilon="4000", delta="1/1000000", threshold="1/2")
_GUARANTEE = "the T = n² noisy steps are (ε, δ)-DP"
_METHOD = (
    "Rigorous at each grid point: an upper bound on δ by Rényi divergences of a subsampled Gaussian step that "
    "dominates both directions, composed adaptively, in balls; a lower one by the sum of the noisy gradients "
    "where one gradient is opposite to all others. Beside it an audit of the implementation."
)


class Scope(enum.Enum):
    """Which steps and which ε a reading speaks of."""

    PROOF = "n² steps, ε ≤ 2√log(1/δ)"
    SHORT = "(nε)²/√d steps, ε = 1"
    EVERY_EPSILON = "n² steps, every ε"


class NoisySgdPrivacy(PrivacyStatement[Scope, GridBounds | float]):
    """``noisy-sgd-erm-privacy``; of an instance outside the proof's range the exact figure is its δ."""

    id = "noisy-sgd-erm-privacy"
    system = "noisy-sgd-erm"
    title = "Noisy SGD for ERM is private"
    reference = "Bassily, Smith and Thakurta 2014, Algorithm 1 and Theorem 2.1"
    label = "related:noisy-sgd-erm"
    text = (
        f"With σ² = 32L²n² log(n/δ) log(1/δ)/ε² on n∇f(w, z_i), i uniform in 1..n at each step, {_GUARANTEE}"
    )
    readings = (
        Reading(
            id="proof-range",
            stance=Stance.REPAIR,
            parameters=Scope.PROOF,
            text="ε ≤ 2√log(1/δ), where the proof's one-step level is at most 1; n² iterates or fewer, as "
            "(nε)²/√d of Section 6 for ε² ≤ √d: fewer steps release less.",
            statement=f"{_GUARANTEE} for all n ≥ 2, 0 < δ < 1 and 0 < ε ≤ 2√log(1/δ)",
            method=_METHOD,
            weight=AUDIT_WEIGHT,
            null=audit_null(system, APPROXIMATE),
        ),
        Reading(
            id="fewer-steps",
            stance=Stance.EXTENSION,
            parameters=Scope.SHORT,
            text="T = ⌈(nε)²/√d⌉ steps, as Section 6 of the paper says suffice, with the noise of T steps in "
            "place of n², σ² = 32L²T log(n/δ) log(1/δ)/ε², which the empirical risk needs; ε = 1, n ≥ 100 and d "
            "up to 10⁴.",
            statement="the T noisy steps are (ε, δ)-DP for ε = 1, n ≥ 100 and d ≤ 10⁴",
            method=_METHOD,
        ),
        Reading(
            id="every-epsilon",
            stance=Stance.PRINTED,
            parameters=Scope.EVERY_EPSILON,
            text="As the theorem is printed: without a bound on ε; the last iterate alone, which is the output.",
            statement="the last of the T = n² iterates is (ε, δ)-DP for all n ≥ 2, 0 < δ < 1 and ε > 0",
            method="A witness on the output, in ball arithmetic: in a segment W, from whose upper end all gradients "
            "but one push outwards, the last iterate leaves that end if the differing point is drawn last.",
        ),
    )
    discrepancies = (
        Discrepancy(
            id="noisy-sgd-epsilon-range",
            title="Noisy SGD for ERM: the range of ε",
            lines=(),
            consequence=Consequence.NOTHING,
            text="The theorem is printed without a bound on ε. Its proof needs ε ≤ 2√log(1/δ), and beyond about "
            "16 log(n/δ) log(1/δ) the claim is false already of the last iterate, which tells the last step: the loss "
            "of a Gaussian grows as ε² there.",
            repair="state ε ≤ 2√log(1/δ)",
            shown_by=("noisy-sgd-erm-privacy/every-epsilon",),
            rests_on=("noisy-sgd-erm-privacy/proof-range",),
        ),
    )
    witness_kinds = (NoisySgdViolation,)

    def exact(self, reading: Reading[Scope], profile: Profile) -> Call[GridBounds | float]:
        """Return the grid, or the instance that decides without one."""
        match reading.parameters:
            case Scope.PROOF:
                return examine, {"places": printed_schedules(profile), "sharp": SHARP}
            case Scope.SHORT:
                return examine, {"places": short_schedules(profile), "sharp": replace(SHARP, dimension=100)}
            case Scope.EVERY_EPSILON:
                return violation_gap, {}

    def decide(self, reading: Reading[Scope], value: GridBounds | float) -> Decision:
        """Decide by the grid, or by the instance."""
        if not isinstance(value, GridBounds):
            return _refuted(self.id, reading.id, value)
        short = calibration.shortfall(value.implemented)
        evidence = grid.counts(value.points) | calibration.implementation_evidence(value.implemented)
        holds = all(p.holds for p in value.points) and short is None
        largest = max(p.upper / p.claimed for p in value.points if p.upper is not None)
        return Decision(
            verdict=Verdict.HOLDS_ON_GRID if holds else Verdict.INCONCLUSIVE,
            summary=f"holds at all {len(value.points)} points, with δ at most {largest:.2g} of what is claimed"
            if holds
            else f"at {short.words} the implementation adds less noise than is printed"
            if short is not None
            else "the upper bound does not reach the claim everywhere",
            evidence=evidence,
            tables=(grid.table(value.points),),
            sharpness=(_sharpness(value, holds=holds),),
        )


def _refuted(claim: str, reading: str, gap: float) -> Decision:
    words = evaluate(_BROKEN, claim, reading)[0]
    epsilon = Fraction(_BROKEN.epsilon)
    return Decision(
        verdict=Verdict.REFUTED,
        summary=f"false for large ε: at n = {_BROKEN.n}, ε = {epsilon}, δ = 10⁻⁶ the true δ is at least {gap:.3g}",
        evidence={
            "δ of the instance": Quantity(
                value=gap, note=f"at least; n = {_BROKEN.n}, ε = {epsilon}; claimed 10⁻⁶"
            )
        },
        counterexample="One dimension, W a segment, w₁ its upper end; all gradients are −L but one, which is L in S. "
        "E: "
        f"the last iterate is more than D/2 below the upper end. {words}: {gap:.6g} > 1e-06.",
        sharpness=(
            Sharpness(
                constant="32 in σ²",
                claimed=NOISE,
                holds_with=None,
                needed=None,
                how="no constant is enough: σ falls as 1/ε, while the loss of a Gaussian grows as 1/σ²",
            ),
        ),
        witness=_BROKEN,
    )


def violation_gap() -> float:
    """Return the least δ that the instance shows."""
    (reading,) = _BROKEN.readings
    return float(evaluate(_BROKEN, _BROKEN.claim_id, reading)[1])


def _sharpness(found: GridBounds, *, holds: bool) -> Sharpness:
    return Sharpness(
        constant="32 in σ²",
        claimed=NOISE,
        holds_with=NOISE * found.proven**2 if found.proven is not None and holds else None,
        over=str(found.sharp),
        needed=NOISE * found.failing**2 if found.failing is not None else None,
        at=str(found.sharp),
        how="by the two bounds at the one place; on the grid with 32",
    )
