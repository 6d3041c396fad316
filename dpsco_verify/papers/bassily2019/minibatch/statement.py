"""Noisy mini-batch SGD, plain and smoothed (labels related:minibatch-sgd, related:smoothed-minibatch-sgd)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from dpsco_verify.choices import Profile
from dpsco_verify.evidence import Quantity, Sharpness, Stance, Verdict
from dpsco_verify.evidence.checker import evaluate
from dpsco_verify.ledger.statement import Decision, Reading
from dpsco_verify.ledger.systems import calibration, grid
from dpsco_verify.ledger.systems.calibration import Implemented, Place
from dpsco_verify.ledger.systems.grid import Point
from dpsco_verify.ledger.systems.privacy_statement import (
    APPROXIMATE,
    AUDIT_WEIGHT,
    Call,
    PrivacyStatement,
    audit_null,
)
from dpsco_verify.ledger.systems.sampled import SampledSteps, lower_delta, upper_delta
from dpsco_verify.papers.bassily2019.minibatch.certificates import (
    MinibatchViolation,
    SmoothedMinibatchViolation,
)
from dpsco_verify.papers.bassily2019.minibatch.errata import MINIBATCH_DISCREPANCIES
from dpsco_verify.privacy.balls import ball
from dpsco_verify.privacy.single_step import replace_one_delta
from dpsco_verify.privacy.transcript import largest_factor, smallest_factor

NOISE = 8.0
"""The constant of σ²."""

_ENOUGH = 25
"""The T from which the printed noise is enough, wherever it was examined."""

_GUARANTEE = "the T noisy steps are (ε, δ)-DP"
_METHOD = (
    "Rigorous at each grid point, with the implementation's own T, m and σ: an upper bound on δ by composing the "
    "losses of a pair that dominates both directions, drawing with replacement included; a lower one by the sum of the "
    "noisy gradients where one gradient is opposite to all others, in balls for the certificate. Beside it an audit of "
    "the implementation."
)
_FEW = (
    (32, 1, 1.0),
    (80, 5, 1.0),
    (150, 20, 1.0),
    (100, 5, 1.0),
    (100, 1, 1.0),
    (1000, 1, 1.0),
    (1000, 100, 1.0),
)
"""The first three have T = 2, where the mean of the points before the steps, w₁ and w₂, tells the first step."""
_ONE_STEP = ((25, 1, 1.0), (80, 10, 1.0), (700, 1000, 1.0))
"""They have T = 1, where the mean of the points after the steps is the first step."""


def _with_steps(least: int) -> tuple[tuple[int, int, float], ...]:
    """Return the largest grid: where T is at least so much at δ = 1/n²."""
    return tuple(
        (n, d, epsilon)
        for n in (100, 200, 300, 1000, 3000, 8000, 10**4, 10**5, 3 * 10**5)
        for d in (1, 5, 20, 100)
        for epsilon in (0.2, 0.5, 1.0)
        if min(n / 8, (epsilon * n) ** 2 / (64 * d * math.log(n))) >= least
    )


_TEN = {
    Profile.QUICK: ((200, 1, 1.0),),
    Profile.STANDARD: (
        (100, 1, 1.0),
        (200, 1, 1.0),
        (200, 1, 0.5),
        (500, 5, 1.0),
        (1000, 1, 1.0),
        (1000, 100, 1.0),
        (10**4, 20, 0.2),
    ),
    Profile.DEEP: _with_steps(10),
}
_MANY = {
    Profile.QUICK: ((8000, 1, 1.0), (200, 1, 1.0)),
    Profile.STANDARD: (
        (8000, 1, 1.0),
        (200, 1, 1.0),
        (300, 1, 0.5),
        (500, 20, 1.0),
        (1000, 1, 1.0),
        (1000, 20, 1.0),
        (10**4, 1, 0.5),
        (10**4, 5, 1.0),
        (10**5, 1, 1.0),
        (10**5, 20, 0.2),
    ),
    Profile.DEEP: ((8000, 1, 1.0), *_with_steps(_ENOUGH)),
}
_LARGE = ((1000, 1, 5.0), (1000, 1, 2.0), (10**4, 1, 5.0))
_DELTA = 1e-6


@dataclass(frozen=True, kw_only=True)
class GridBounds:
    """The grid; where it fails, the worst parameters with the threshold; the noise proven and refuted at one point."""

    points: tuple[Point, ...]
    implemented: tuple[Implemented, ...]
    worst: tuple[int, int, float, float]
    proven: float
    failing: float | None


def largest_delta(n: int) -> float:
    """Return 1/n², the largest δ for which the source claims."""
    return 1.0 / (n * n)


def printed(n: int, dimension: int, epsilon: float, delta: float) -> SampledSteps:
    """Return the steps with the printed T, m and σ."""
    logs = -math.log(delta)
    steps = math.floor(min(n / 8.0, (epsilon * n) ** 2 / (32.0 * dimension * logs)))
    batch = math.ceil(max(n * math.sqrt(epsilon / (4.0 * steps)), 1.0))
    return SampledSteps(n=n, batch=batch, steps=steps, noise=math.sqrt(NOISE * steps * logs) / (n * epsilon))


def examine(
    *,
    system: str,
    places: tuple[tuple[int, int, float], ...],
    upper: bool = False,
    sharp: bool = False,
    output_tells: int | None = None,
    factor: float = 1.0,
    largest: bool = False,
) -> GridBounds:
    """Bound δ at each (n, d, ε) from below, and from above on demand; compare the implementation where ε ≤ 1.

    With `output_tells`, the T for which the output tells the first step, the worst is sought there, and judged by that
    step alone. The printed σ is multiplied by `factor`. δ is 10⁻⁶, or for `largest` the source's largest.
    """
    points, implemented = [], []
    worst: tuple[float, tuple[int, int, float, float]] = (-math.inf, (0, 0, 0.0, 0.0))
    for n, dimension, epsilon in places:
        delta = largest_delta(n) if largest else _DELTA
        steps = printed(n, dimension, epsilon, delta).scaled(factor)
        told = steps.steps == output_tells
        words = (
            f"{'the output' if told else 'all steps'}, n = {n}, d = {dimension}, ε = {epsilon:g}, T = "
            f"{steps.steps}, m = {steps.batch}{', δ = 1/n²' if largest else ''}"
        )
        low, threshold = lower_delta(replace(steps, steps=1) if told else steps, epsilon)
        if told or output_tells is None:
            worst = max(worst, (low, (n, dimension, epsilon, threshold)))
        if epsilon <= 1.0:
            figures = Place(n, dimension, epsilon, delta).figures(system)
            # The noise on the sum of a step's gradients; the batch and the number of steps must be the printed ones.
            same = (figures["T"], figures["m"]) == (steps.steps, steps.batch)
            implemented.append(Implemented(words=words, ratio=figures["σ"] / steps.noise if same else 0.0))
        above = upper_delta(steps, epsilon) if upper else None
        points.append(Point(words=words, claimed=delta, lower=max(0.0, low), upper=above))
    proven, failing = 1.0, None
    if sharp:
        n, dimension, epsilon = places[0]
        delta = largest_delta(n) if largest else _DELTA
        steps = printed(n, dimension, epsilon, delta).scaled(factor)
        enough = smallest_factor(
            lambda f: upper_delta(steps.scaled(float(f)), epsilon) <= delta, low=0.7, high=1.0
        )
        proven = enough or 1.0
        failing = _too_little(steps, epsilon, delta, low=0.3, high=1.0)
    return GridBounds(
        points=tuple(points),
        implemented=tuple(implemented),
        worst=worst[1],
        proven=proven,
        failing=failing,
    )


def _too_little(
    steps: SampledSteps, epsilon: float, delta: float, *, low: float, high: float
) -> float | None:
    """Return the largest factor on the noise in [low, high] that the lower bound refutes."""
    return largest_factor(
        lambda f: lower_delta(steps.scaled(float(f)), epsilon)[0] > delta, low=low, high=high
    )


@dataclass(frozen=True, kw_only=True)
class Scope:
    """What a reading is about: a system, the grid, and the arguments of :func:`examine`.

    Attributes
    ----------
    system
        The system whose noise is compared with the printed one.
    places
        (n, d, ε) for each profile.
    upper
        Whether the claim can hold, so that an upper bound is worth its time.
    sharp
        Whether it is searched, but in the quick profile, how much less noise is proven and refuted.
    output_tells, factor, largest
        As for :func:`examine`.
    """

    system: str
    places: Mapping[Profile, tuple[tuple[int, int, float], ...]]
    upper: bool = False
    sharp: bool = False
    output_tells: int | None = None
    factor: float = 1.0
    largest: bool = False


def _everywhere(
    places: tuple[tuple[int, int, float], ...],
) -> Mapping[Profile, tuple[tuple[int, int, float], ...]]:
    return dict.fromkeys(Profile, places)


class _Minibatch(PrivacyStatement[Scope, GridBounds]):
    violation: ClassVar[type[MinibatchViolation]]

    def exact(self, reading: Reading[Scope], profile: Profile) -> Call[GridBounds]:
        """Return the grid of the reading."""
        scope = reading.parameters
        return examine, {
            "system": scope.system,
            "places": scope.places[profile],
            "upper": scope.upper,
            "sharp": profile is not Profile.QUICK and scope.sharp,
            "output_tells": scope.output_tells,
            "factor": scope.factor,
            "largest": scope.largest,
        }

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
                    over=f"n = {n}, d = {d}, ε = {epsilon:g}, δ = {value.points[0].claimed:.4g}",
                    needed=NOISE * (scope.factor * value.failing) ** 2 if value.failing is not None else None,
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
        steps = printed(n, dimension, epsilon, _DELTA)
        if reading.parameters.output_tells is not None:
            steps = replace(steps, steps=1)
        needed = _too_little(steps, epsilon, _DELTA, low=1.0, high=8.0)
        return Decision(
            verdict=Verdict.REFUTED,
            summary=f"false: at n = {n}, d = {dimension}, ε = {epsilon:g}, δ = 10⁻⁶ the true δ is at least {gap:.3g}",
            evidence={
                **evidence,
                "largest lower bound on δ": Quantity(
                    value=gap, note=f"n = {n}, d = {dimension}, ε = {epsilon:g}; claimed 10⁻⁶"
                ),
                **({} if steps.steps > 1 else _without_replacement(steps, n, epsilon)),
            },
            tables=(grid.table(found.points),),
            counterexample=f"All gradients are −L but one, which is L in S: {words}: {gap:.6g} > 1e-06.",
            sharpness=(
                Sharpness(
                    constant="8 in σ²",
                    claimed=NOISE,
                    holds_with=None,
                    needed=None if needed is None else NOISE * needed**2,
                    how=f"needed at n = {n}, d = {dimension}, ε = {epsilon:g}, δ = 10⁻⁶",
                ),
            ),
            witness=witness,
        )


def _without_replacement(steps: SampledSteps, n: int, epsilon: float) -> dict[str, Quantity]:
    """Return the exact δ of the one step that the output tells, had its batch been drawn without replacement."""
    share, sigma = ball(Fraction(steps.batch, n)), ball(steps.batch * steps.noise)
    value = replace_one_delta(share, ball(epsilon), sigma)
    return {
        "the same without replacement": Quantity(
            value=float(value.lower()),
            note="at the same place; that points are drawn repeatedly is not what breaks it",
        )
    }


_EVERY_N = "ε ≤ 1, δ ≤ 1/n², and every n and d for which T is at least 1; batches are drawn with replacement."
_STATED = "the output is (ε, δ)-DP for all ε ≤ 1, δ ≤ 1/n², and n and d with T ≥ 1"


def _many_steps(system: str, *, sharp: bool) -> Reading[Scope]:
    return Reading(
        id="many-steps",
        stance=Stance.REPAIR,
        parameters=Scope(system=system, places=_MANY, upper=True, sharp=sharp, largest=True),
        text=f"ε ≤ 1, δ = 1/n², the largest that the source allows, and n large enough for T to be at least {_ENOUGH}; "
        "all steps, and with them the output.",
        statement=f"{_GUARANTEE} for ε ≤ 1, δ = 1/n² and T ≥ {_ENOUGH}",
        method=_METHOD,
        weight=AUDIT_WEIGHT,
        null=audit_null(system, APPROXIMATE),
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
            parameters=Scope(system=system, places=_everywhere(_FEW), output_tells=2),
            text="The output is the mean of the T points at which gradients were taken; " + _EVERY_N,
            statement=_STATED,
            method=_METHOD,
        ),
        Reading(
            id="output-after",
            stance=Stance.PRINTED,
            parameters=Scope(system=system, places=_everywhere(_ONE_STEP), output_tells=1),
            text="The output is the mean of the T points that the steps lead to; " + _EVERY_N,
            statement=_STATED,
            method=_METHOD,
        ),
        _many_steps(system, sharp=True),
        Reading(
            id="every-epsilon",
            stance=Stance.EXTENSION,
            parameters=Scope(system=system, places=_everywhere(_LARGE)),
            text="All steps, which the proof covers, for every ε > 0, with T at least 100. It goes beyond the source, "
            "which is for ε ≤ 1; the theorem that its proof cites is for ε below c₁(m/n)²T = c₁ε/4, with no number for "
            "c₁.",
            statement=f"{_GUARANTEE} for every ε > 0, δ, and n and d with T ≥ 100",
            method=_METHOD,
        ),
    )
    violation = MinibatchViolation
    discrepancies = MINIBATCH_DISCREPANCIES
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
            parameters=Scope(system=system, places=_everywhere(_FEW), output_tells=2),
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
                system="smoothed-minibatch-sgd-2l", places=_TEN, upper=True, factor=2.0, largest=True
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
