"""Noisy mini-batch SGD, plain and smoothed (labels related:minibatch-sgd, related:smoothed-minibatch-sgd)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar

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
from dpsco_verify.papers.bassily2019.minibatch.bounds import (
    DELTA,
    ENOUGH,
    FEW,
    LARGE,
    MANY,
    NOISE,
    ONE_STEP,
    TEN,
    GridBounds,
    Places,
    Scope,
    examine,
    printed,
    too_little,
    without_replacement,
)
from dpsco_verify.papers.bassily2019.minibatch.certificates import (
    MinibatchViolation,
    SmoothedMinibatchViolation,
)

_GUARANTEE = "the T noisy steps are (ε, δ)-DP"
_METHOD = (
    "Rigorous at each grid point, with the implementation's own T, m and σ: an upper bound on δ by composing the "
    "losses of a pair that dominates both directions, drawing with replacement included; a lower one by the sum of the "
    "noisy gradients where one gradient is opposite to all others, in balls for the certificate. Beside it an audit of "
    "the implementation."
)


def _everywhere(places: Places) -> Mapping[Profile, Places]:
    return dict.fromkeys(Profile, places)


class _Minibatch(PrivacyStatement[Scope, GridBounds]):
    violation: ClassVar[type[MinibatchViolation]]

    def exact(self, reading: Reading[Scope], profile: Profile) -> Call[GridBounds]:
        """Return the grid of the reading."""
        return examine, {"scope": reading.parameters, "profile": profile}

    def decide(self, reading: Reading[Scope], value: GridBounds) -> Decision:
        """Decide by the grid."""
        evidence = grid.counts(value.points)
        if value.implemented:
            evidence |= calibration.implementation_evidence(value.implemented)
        short = calibration.shortfall(value.implemented)
        if short is not None:
            return Decision(
                verdict=Verdict.INCONCLUSIVE,
                summary=f"at {short.words} the implementation is not the printed one, or adds less noise",
                evidence=evidence,
                tables=(grid.table(value.points),),
            )
        if any(p.fails for p in value.points):
            return self._refuted(reading, value, evidence)
        holds = all(p.holds for p in value.points)
        scope = reading.parameters
        n, d, epsilon = scope.places[Profile.QUICK][0]
        place = f"n = {n}, d = {d}, ε = {epsilon:g}, δ = {value.points[0].claimed:.4g}"
        return Decision(
            verdict=Verdict.HOLDS_ON_GRID if holds else Verdict.INCONCLUSIVE,
            summary=f"holds at all {len(value.points)} points, with δ at most "
            f"{max((p.upper or 0.0) / p.claimed for p in value.points):.2g} of what is claimed"
            if holds
            else "the upper bound does not reach the claim everywhere",
            evidence=evidence,
            tables=(grid.table(value.points),),
            sharpness=(
                Sharpness(
                    constant="8 in σ²",
                    claimed=NOISE * scope.factor**2,
                    holds_with=NOISE * (scope.factor * value.proven) ** 2 if holds else None,
                    over=place,
                    needed=NOISE * (scope.factor * value.failing) ** 2 if value.failing is not None else None,
                    at=place,
                    how=f"by the two bounds at the one place; on the grid with {NOISE * scope.factor**2:g}",
                ),
            ),
        )

    def _refuted(self, reading: Reading[Scope], found: GridBounds, evidence: dict[str, Quantity]) -> Decision:
        n, dimension, epsilon, threshold = found.worst
        witness = self.violation(
            n=n,
            dimension=dimension,
            epsilon=str(Fraction(epsilon)),
            delta="1/1000000",
            threshold=str(Fraction(threshold).limit_denominator(100)),
        )
        words, left, _ = evaluate(witness, self.id, reading.id)
        gap = float(left)
        steps = printed(n, dimension, epsilon, DELTA)
        if reading.parameters.output_tells is not None:
            steps = replace(steps, steps=1)
        needed = too_little(steps, epsilon, DELTA, low=1.0, high=8.0)
        return Decision(
            verdict=Verdict.REFUTED,
            summary=f"false: at n = {n}, d = {dimension}, ε = {epsilon:g}, δ = 10⁻⁶ the true δ is at least {gap:.3g}",
            evidence={
                **evidence,
                "largest lower bound on δ": Quantity(
                    value=gap, note=f"n = {n}, d = {dimension}, ε = {epsilon:g}; claimed 10⁻⁶"
                ),
                **({} if steps.steps > 1 else without_replacement(steps, n, epsilon)),
            },
            tables=(grid.table(found.points),),
            counterexample=f"All gradients are −L but one, which is L in S: {words}: {gap:.6g} > 1e-06.",
            sharpness=(
                Sharpness(
                    constant="8 in σ²",
                    claimed=NOISE,
                    holds_with=None,
                    needed=None if needed is None else NOISE * needed**2,
                    at=f"n = {n}, d = {dimension}, ε = {epsilon:g}, δ = 10⁻⁶",
                    how="by the bound from below at the one place",
                ),
            ),
            witness=witness,
        )


_EVERY_N = "ε ≤ 1, δ ≤ 1/n², and every n and d for which T is at least 1; batches are drawn with replacement."
_STATED = "the output is (ε, δ)-DP for all ε ≤ 1, δ ≤ 1/n², and n and d with T ≥ 1"


def _many_steps(system: str, *, sharp: bool) -> Reading[Scope]:
    return Reading(
        id="many-steps",
        stance=Stance.REPAIR,
        parameters=Scope(system=system, places=MANY, upper=True, sharp=sharp, largest=True),
        text=f"ε ≤ 1, δ = 1/n², the largest that the source allows, and n large enough for T to be at least {ENOUGH}; "
        "all steps, and with them the output.",
        statement=f"{_GUARANTEE} for ε ≤ 1, δ = 1/n² and T ≥ {ENOUGH}",
        method=_METHOD,
        weight=AUDIT_WEIGHT,
        null=audit_null(system, APPROXIMATE),
    )


_DISCREPANCIES = (
    Discrepancy(
        id="minibatch-noise",
        title="Noisy mini-batch SGD: the noise is too small for few steps",
        lines=(),
        consequence=Consequence.GUARANTEE,
        text="The claim is for ε ≤ 1 and, as far as public texts show, δ ≤ 1/n²; an average of iterates is released. "
        "Its proof cites the moments accountant, whose constants are not given. With T = 1 or 2, for small n or large "
        "d, the average tells a whole noisy step, whose σ falls with √T, and shows more than 10⁻⁶ at ε = 1. So it does "
        "at T = 1 if the batch is drawn without replacement.",
        repair="for ε ≤ 1, δ = 1/n² and T ≥ 25 the printed noise is enough at every point of the grid; for fewer steps "
        "take σ from a bound on the composition itself",
        shown_by=(
            "minibatch-sgd-privacy/output-before",
            "minibatch-sgd-privacy/output-after",
        ),
        constants=(
            ("minibatch-sgd-privacy/output-before", "8 in σ²"),
            ("minibatch-sgd-privacy/output-after", "8 in σ²"),
        ),
    ),
)


class MinibatchPrivacy(_Minibatch):
    """``minibatch-sgd-privacy``."""

    id = "minibatch-sgd-privacy"
    system = "minibatch-sgd"
    title = "Noisy mini-batch SGD is private"
    reference = "Bassily, Feldman, Talwar and Thakurta 2019, Algorithm 1 and Theorem 3.1"
    label = "related:minibatch-sgd"
    text = (
        "With T = min(n/8, ε²n²/(32d log(1/δ))), m = max(n√(ε/(4T)), 1) and σ² = 8TL² log(1/δ)/(n²ε²), "
        + _GUARANTEE
    )
    readings = (
        Reading(
            id="output-before",
            stance=Stance.PRINTED,
            parameters=Scope(system=system, places=_everywhere(FEW), output_tells=2),
            text="The output is the mean of the T points at which gradients were taken; " + _EVERY_N,
            statement=_STATED,
            method=_METHOD,
        ),
        Reading(
            id="output-after",
            stance=Stance.PRINTED,
            parameters=Scope(system=system, places=_everywhere(ONE_STEP), output_tells=1),
            text="The output is the mean of the T points that the steps lead to; " + _EVERY_N,
            statement=_STATED,
            method=_METHOD,
        ),
        _many_steps(system, sharp=True),
        Reading(
            id="every-epsilon",
            stance=Stance.EXTENSION,
            parameters=Scope(system=system, places=_everywhere(LARGE)),
            text="All steps, which the proof covers, for every ε > 0, with T at least 100. It goes beyond the source, "
            "which is for ε ≤ 1; the theorem that its proof cites is for ε below c₁(m/n)²T = c₁ε/4, with no number for "
            "c₁.",
            statement=f"{_GUARANTEE} for every ε > 0, δ, and n and d with T ≥ 100",
            method=_METHOD,
        ),
    )
    violation = MinibatchViolation
    discrepancies = _DISCREPANCIES
    witness_kinds = (MinibatchViolation,)


class SmoothedMinibatchPrivacy(_Minibatch):
    """``smoothed-minibatch-sgd-privacy``."""

    id = "smoothed-minibatch-sgd-privacy"
    system = "smoothed-minibatch-sgd"
    title = "Noisy mini-batch SGD on Moreau envelopes is private"
    reference = "Bassily, Feldman, Talwar and Thakurta 2019, Section 4 and Theorem 4.4"
    label = "related:smoothed-minibatch-sgd"
    text = (
        "With gradients β(w − prox(w)) of the Moreau envelope and the T, m and σ of the smooth case for its Lipschitz "
        "constant, " + _GUARANTEE
    )
    readings = (
        Reading(
            id="noise-for-l",
            stance=Stance.EXTENSION,
            parameters=Scope(system=system, places=_everywhere(FEW), output_tells=2),
            text="σ has L, which the envelope's gradients keep to. Whether the source calibrates for L or for 2L no "
            "text at hand shows, so this is not counted as printed: if it is L, the claim is false where T is 2, as in "
            "the smooth case, since a linear loss is its own envelope's slope. The output is the mean of the T points "
            "at which gradients were taken; " + _EVERY_N,
            statement=_STATED,
            method=_METHOD,
        ),
        Reading(
            id="noise-for-2l",
            stance=Stance.REPAIR,
            parameters=Scope(
                system="smoothed-minibatch-sgd-2l", places=TEN, upper=True, factor=2.0, largest=True
            ),
            text="σ has 2L, the constant by which the envelope over W is often bounded; ε ≤ 1, δ = 1/n², and n large "
            "enough for T to be at least 10.",
            statement=f"{_GUARANTEE} for ε ≤ 1, δ = 1/n² and T ≥ 10",
            method=_METHOD,
        ),
        _many_steps(system, sharp=False),
    )
    violation = SmoothedMinibatchViolation
    witness_kinds = (SmoothedMinibatchViolation,)
