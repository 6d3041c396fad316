"""Noisy mini-batch SGD, plain and smoothed (labels related:minibatch-sgd, related:smoothed-minibatch-sgd)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from dpsco_verify.evidence import Quantity, Sharpness, Verdict
from dpsco_verify.evidence.checker import MinibatchViolation, SmoothedMinibatchViolation, issue
from dpsco_verify.ledger.profile import Profile
from dpsco_verify.ledger.statement import Conclusion, Reading
from dpsco_verify.ledger.statements.related import grid
from dpsco_verify.ledger.statements.related.errata import MINIBATCH_DISCREPANCIES, SMOOTHED_DISCREPANCIES
from dpsco_verify.ledger.statements.related.grid import Implemented, Point, linear_task
from dpsco_verify.ledger.statements.related.privacy_statement import AUDIT_WEIGHT, Exact, PrivacyStatement
from dpsco_verify.ledger.statements.related.sampled import SampledSteps, lower_delta, upper_delta
from dpsco_verify.privacy.transcript import largest_factor, smallest_factor
from dpsco_verify.related import PrivacyBudget
from dpsco_verify.related.catalogue import SYSTEMS

NOISE = 8.0
"""The constant of σ²."""

_GUARANTEE = "the T noisy steps are (ε, δ)-DP"
_METHOD = (
    "Rigorous at each grid point, with the implementation's own T, m and σ: an upper bound on δ by composing a "
    "pair that dominates both directions, drawing with replacement included; a lower one by the sum of the noisy "
    "gradients where one gradient is opposite to all others, in balls for the certificate. Beside it an audit of "
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
"""The first three have T = 2, where the output, the mean of w₁ and w₂, tells the first step."""
_OUTPUT_TELLS = 2
_MANY = {
    Profile.QUICK: ((10**4, 1, 1.0),),
    Profile.STANDARD: (
        (10**4, 1, 1.0),
        (8000, 1, 1.0),
        (10**4, 1, 0.5),
        (10**4, 5, 1.0),
        (10**5, 1, 1.0),
        (10**5, 1, 0.5),
        (10**5, 20, 1.0),
        (10**5, 20, 0.2),
    ),
    Profile.DEEP: tuple(
        (n, d, epsilon)
        for n in (8000, 10**4, 3 * 10**4, 10**5, 3 * 10**5)
        for d in (1, 5)
        for epsilon in (0.3, 0.5, 1.0)
        if min(n / 8, (epsilon * n) ** 2 / (32 * d * math.log(1e6))) >= 1000
    ),
}
_LARGE = ((1000, 1, 5.0), (1000, 1, 2.0), (10**4, 1, 5.0))
_DELTA = 1e-6


@dataclass(frozen=True, kw_only=True)
class Found:
    """The grid; where it fails, the worst parameters with the threshold; the noise proven and refuted at one point."""

    points: tuple[Point, ...]
    implemented: tuple[Implemented, ...]
    worst: tuple[int, int, float, float]
    proven: float
    failing: float | None


def printed(n: int, dimension: int, epsilon: float, delta: float = _DELTA) -> SampledSteps:
    """Return the steps with the printed T, m and σ."""
    logs = -math.log(delta)
    steps = math.floor(min(n / 8.0, (epsilon * n) ** 2 / (32.0 * dimension * logs)))
    batch = math.ceil(max(n * math.sqrt(epsilon / (4.0 * steps)), 1.0))
    return SampledSteps(n=n, batch=batch, steps=steps, noise=math.sqrt(NOISE * steps * logs) / (n * epsilon))


def examine(
    *, system: str, places: tuple[tuple[int, int, float], ...], upper: bool, sharp: bool, output: bool
) -> Found:
    """Bound δ at each (n, d, ε) from below, and from above on demand; compare the implementation where ε ≤ 1.

    With `output` the worst is sought where the output tells the first step, and judged by that step alone.
    """
    points, implemented = [], []
    worst: tuple[float, tuple[int, int, float, float]] = (-math.inf, (0, 0, 0.0, 0.0))
    for n, dimension, epsilon in places:
        steps = printed(n, dimension, epsilon)
        told = output and steps.steps == _OUTPUT_TELLS
        words = (
            f"{'the output' if told else 'all steps'}, n = {n}, d = {dimension}, ε = {epsilon:g}, T = "
            f"{steps.steps}, m = {steps.batch}"
        )
        low, threshold = lower_delta(replace(steps, steps=1) if told else steps, epsilon)
        if told or not output:
            worst = max(worst, (low, (n, dimension, epsilon, threshold)))
        if epsilon <= 1.0:
            budget = PrivacyBudget(epsilon, _DELTA)
            figures = SYSTEMS[system].calibrate(linear_task(dimension), n, budget).figures
            # The noise on the sum of a step's gradients; the batch and the number of steps must be the printed ones.
            same = (figures["T"], figures["m"]) == (steps.steps, steps.batch)
            implemented.append(Implemented(words=words, ratio=figures["σ"] / steps.noise if same else 0.0))
        above = upper_delta(steps, epsilon) if upper else None
        points.append(Point(words=words, claimed=_DELTA, lower=max(0.0, low), upper=above))
    proven, failing = 1.0, None
    if sharp:
        n, dimension, epsilon = places[0]
        steps = printed(n, dimension, epsilon)
        enough = smallest_factor(
            lambda f: upper_delta(steps.scaled(float(f)), epsilon) <= _DELTA, low=0.9, high=1.0
        )
        proven = enough or 1.0
        failing = _too_little(steps, epsilon, low=0.3, high=1.0)
    return Found(
        points=tuple(points),
        implemented=tuple(implemented),
        worst=worst[1],
        proven=proven,
        failing=failing,
    )


def _too_little(steps: SampledSteps, epsilon: float, *, low: float, high: float) -> float | None:
    """Return the largest factor on the noise in [low, high] that the lower bound refutes."""
    return largest_factor(
        lambda f: lower_delta(steps.scaled(float(f)), epsilon)[0] > _DELTA, low=low, high=high
    )


class _Minibatch(PrivacyStatement):
    audited = "thousand-steps"
    violation: ClassVar[type[MinibatchViolation]]
    searches: ClassVar[bool] = False
    """Whether it is searched how much less noise is proven and refuted."""

    def exact(self, reading: Reading, profile: Profile) -> Exact:
        """Return the grid of the reading."""
        many = reading.id == "thousand-steps"
        places = _MANY[profile] if many else _FEW if reading.id == "as-printed" else _LARGE
        sharp = many and profile is not Profile.QUICK and self.searches
        return examine, {
            "system": self.system,
            "places": places,
            "upper": many,
            "sharp": sharp,
            "output": reading.id == "as-printed",
        }

    def decide(self, reading: Reading, value: Any) -> Conclusion:
        """Decide by the grid."""
        found: Found = value
        evidence = grid.counts(found.points)
        if found.implemented:
            evidence |= grid.implementation_evidence(found.implemented)
        short = grid.implements(found.implemented)
        if short is not None:
            return Conclusion(
                verdict=Verdict.INCONCLUSIVE,
                summary=f"at {short.words} the implementation is not the printed one, or adds less noise",
                evidence=evidence,
                tables=(grid.table(found.points),),
            )
        if any(p.fails for p in found.points):
            return self._refuted(reading, found, evidence)
        holds = all(p.holds for p in found.points)
        n, d, epsilon = _MANY[Profile.QUICK][0]
        return Conclusion(
            verdict=Verdict.HOLDS_ON_GRID if holds else Verdict.INCONCLUSIVE,
            summary=f"holds at all {len(found.points)} points"
            if holds
            else "the upper bound does not reach the claim everywhere",
            evidence=evidence,
            tables=(grid.table(found.points),),
            sharpness=(
                Sharpness(
                    constant="8 in σ²",
                    claimed=NOISE,
                    holds_with=NOISE * found.proven**2 if holds else None,
                    needed=NOISE * found.failing**2 if found.failing is not None else None,
                    how=f"at n = {n}, d = {d}, ε = {epsilon:g}, δ = 10⁻⁶ by the two bounds, where they were "
                    "searched; on the grid with 8",
                ),
            ),
        )

    def _refuted(self, reading: Reading, found: Found, evidence: dict[str, Quantity]) -> Conclusion:
        n, dimension, epsilon, threshold = found.worst
        certificate = issue(
            self.id,
            reading.id,
            self.violation(
                n=n,
                dimension=dimension,
                epsilon=str(Fraction(epsilon)),
                delta="1/1000000",
                threshold=str(Fraction(threshold).limit_denominator(100)),
            ),
        )
        gap = float(certificate.left)
        steps = printed(n, dimension, epsilon)
        if reading.id == "as-printed":
            steps = replace(steps, steps=1)
        needed = _too_little(steps, epsilon, low=1.0, high=8.0)
        return Conclusion(
            verdict=Verdict.REFUTED,
            summary=f"false: at n = {n}, d = {dimension}, ε = {epsilon:g}, δ = 10⁻⁶ the true δ is at least {gap:.3g}",
            evidence={
                **evidence,
                "largest lower bound on δ": Quantity(
                    value=gap, note=f"n = {n}, d = {dimension}, ε = {epsilon:g}; claimed 10⁻⁶"
                ),
            },
            tables=(grid.table(found.points),),
            counterexample=f"All gradients are −L but one, which is L in S: {certificate.inequality}: {gap:.6g} > "
            "1e-06. Drawn with replacement the point occurs several times in a batch, and its number of draws is "
            "spread widely while they are few.",
            sharpness=(
                Sharpness(
                    constant="8 in σ²",
                    claimed=NOISE,
                    holds_with=None,
                    needed=None if needed is None else NOISE * needed**2,
                    how=f"needed at n = {n}, d = {dimension}, ε = {epsilon:g}, δ = 10⁻⁶",
                ),
            ),
            certificate=certificate,
        )


def _readings(*, every_epsilon: bool) -> tuple[Reading, ...]:
    first = (
        Reading(
            id="as-printed",
            text="The output, the mean of the T points at which gradients were taken; ε ≤ 1, and every n and d "
            "for which T is at least 1; batches are drawn with replacement.",
            statement="the output is (ε, δ)-DP for all ε ≤ 1, δ, and n and d with T ≥ 1",
            method=_METHOD,
        ),
        Reading(
            id="thousand-steps",
            text="ε ≤ 1, δ = 10⁻⁶, and n large enough for T to be at least 1000, where the number of draws of a "
            "point is close to normal.",
            statement=f"{_GUARANTEE} for ε ≤ 1, δ = 10⁻⁶ and T ≥ 1000",
            method=_METHOD,
            weight=AUDIT_WEIGHT,
        ),
    )
    if not every_epsilon:
        return first
    return (
        *first,
        Reading(
            id="every-epsilon",
            text="All steps, which the proof covers, for every ε > 0, with T at least 100: the source asks for ε "
            "below c₁(m/n)²T = c₁ε/4, and has no number for c₁.",
            statement=f"{_GUARANTEE} for every ε > 0, δ, and n and d with T ≥ 100",
            method=_METHOD,
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
    readings = _readings(every_epsilon=True)
    violation = MinibatchViolation
    searches = True
    discrepancies = MINIBATCH_DISCREPANCIES


class SmoothedMinibatchPrivacy(_Minibatch):
    """``smoothed-minibatch-sgd-privacy``."""

    id = "smoothed-minibatch-sgd-privacy"
    system = "smoothed-minibatch-sgd"
    title = "Noisy mini-batch SGD on Moreau envelopes is private"
    reference = "Bassily, Feldman, Talwar and Thakurta 2019, Section 4 and Theorem 4.4"
    label = "related:smoothed-minibatch-sgd"
    text = (
        "With gradients β(w − prox(w)) of the Moreau envelope, whose norm is at most L, and the T, m and σ of "
        "the smooth case, " + _GUARANTEE
    )
    readings = _readings(every_epsilon=False)
    violation = SmoothedMinibatchViolation
    discrepancies = SMOOTHED_DISCREPANCIES
