"""The run stops as soon as the stated number of distinct points has been used, neither before nor after."""

from __future__ import annotations

from collections import Counter

from dpsco_verify.algorithm.conformance.bench import Bench
from dpsco_verify.algorithm.conformance.explanation import first_uses
from dpsco_verify.algorithm.conformance.finding import Check, Outcome
from dpsco_verify.algorithm.conformance.problems import LINEAR, LINEAR_ODD


def _judge(bench: Bench, alpha: float) -> Outcome:
    wrong, unknown, runs = 0, 0, 0
    parts = []
    for problem in (LINEAR, LINEAR_ODD):
        stop_at = bench.options.stopping.distinct_points(problem.n)
        seen: Counter[int] = Counter()
        for uses in bench.uses(problem, alpha=alpha / 2.0):
            runs += 1
            if uses is None:
                unknown += 1
                continue
            times, points = first_uses(uses)
            seen[len(points)] += 1
            wrong += len(points) != stop_at or times[-1] != len(uses)
        counts = ", ".join(f"{count} runs at {points}" for points, count in sorted(seen.items()))
        parts.append(f"n = {problem.n}: {counts or 'no run'}, where {stop_at} is right")
    detail = f"{wrong} of {runs} runs stop wrongly (points used by then: {'; '.join(parts)})"
    return Outcome(
        violated=True if wrong else (None if unknown else False),
        detail=detail + (f"; {unknown} could not be read" if unknown else ""),
        detectable="one run that stops early or late",
        runs=runs,
    )


STOPPING_RULE = Check(
    id="stopping-rule",
    null="a run stops as soon as the stated number of distinct points has been used",
    judge=_judge,
)
