"""Draws: uniform with replacement, a repeat without a gradient, the run's end with the stated number of points."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Literal

import numpy as np

from dpsco_verify.algorithm.conformance.bench import Bench
from dpsco_verify.algorithm.conformance.check import Outcome, check
from dpsco_verify.algorithm.conformance.explanation import first_uses
from dpsco_verify.algorithm.conformance.problems import LINEAR, LINEAR_ODD
from dpsco_verify.algorithm.stopping_law import mean_iterations, survival
from dpsco_verify.arrays import FloatArray, IntArray
from dpsco_verify.inference import binomial, goodness_of_fit


@check("repeat-draws", "no point is used twice in a run")
def repeat_draws(bench: Bench, alpha: float) -> Outcome:
    """Judge that repeat draws use no gradient: within a run no point is used twice."""
    steps, explanation = bench.steps(LINEAR), bench.explained(LINEAR)
    known = explanation.known(bench.radius(LINEAR, alpha=alpha))
    unknown = int((~known).sum())
    used = Counter(
        (int(run), point)
        for run, best in zip(steps.run[known], explanation.nearest[known], strict=True)
        for point in explanation.uses[best]
    )
    again = sum(count > 1 for count in used.values())
    runs = len(bench.runs(LINEAR))
    return Outcome(
        violated=True if again else (None if unknown else False),
        detail=(
            f"{again} of {len(used)} points that were used, in {runs} runs, were used again"
            + (f"; {unknown} of {np.size(known)} steps could not be read" if unknown else "")
        ),
        detectable="one point that is used twice in a run",
        runs=runs,
    )


@check("stopping-rule", "a run stops as soon as the stated number of distinct points has been used")
def stopping_rule(bench: Bench, alpha: float) -> Outcome:
    """Judge that a run stops as soon as the stated number of distinct points has been used, and not before."""
    wrong, unknown, runs = 0, 0, 0
    parts = []
    for problem in (LINEAR, LINEAR_ODD):
        stop_at = bench.options.stopping.distinct_points(problem.n)
        seen: Counter[str] = Counter()
        for uses in bench.uses(problem, alpha=alpha / 2.0):
            runs += 1
            if uses is None:
                unknown += 1
                continue
            times, points = first_uses(uses)
            if len(points) != stop_at:
                seen[f"{len(points)} points"] += 1
            elif times[-1] != len(uses):
                seen[f"{stop_at} points, but not with the last of them"] += 1
        wrong += seen.total()
        if seen:
            found = ", ".join(f"{number} at {where}" for where, number in sorted(seen.items()))
            parts.append(f"n = {problem.n}: {found}, where {stop_at} points is right")
    told = f" ({'; '.join(parts)})" if parts else ""
    detail = f"{wrong} of {runs} runs stop wrongly{told}"
    return Outcome(
        violated=True if wrong else (None if unknown else False),
        detail=detail + (f"; {unknown} could not be read" if unknown else ""),
        detectable="one run that stops early or late",
        runs=runs,
    )


@check("stopping-time", "the number of iterations has the exact law of the stopping time")
def stopping_time(bench: Bench, alpha: float) -> Outcome:
    """Judge the number of iterations by its exact law, that of drawing uniformly with replacement.

    By the Dvoretzky–Kiefer–Wolfowitz inequality against :mod:`dpsco_verify.algorithm.stopping_law`.
    """
    runs = bench.runs(LINEAR)
    times = np.array([len(run.iterates) - 1 for run in runs])
    points = bench.options.stopping.distinct_points(LINEAR.n)
    tails = survival(LINEAR.n, points, int(times.max()))

    def cdf(k: IntArray) -> FloatArray:
        return np.where(k < 0, 0.0, 1.0 - tails[np.maximum(k, 0)])

    decision = goodness_of_fit.decide(times, cdf, alpha=alpha)
    least = goodness_of_fit.minimum_detectable_distance(len(times), alpha=alpha)
    return Outcome(
        violated=decision.rejected,
        detail=(
            f"the distribution function of T is {decision.distance:.3g} from the exact one, where "
            f"{decision.critical_distance:.3g} alarms (mean {float(times.mean()):.4g}, exact "
            f"{float(mean_iterations(LINEAR.n, points)):.4g})"
        ),
        detectable=f"a distance of {least:.3g} between the distribution functions",
        runs=len(runs),
    )


_SIDES: tuple[Literal["less", "greater"], ...] = ("less", "greater")


def _uniform_cells(orders: IntArray, n: int, *, alpha: float) -> Outcome:
    """Test that each entry of `orders`, shape (runs, positions), is uniform on ``0..n-1``; rows are independent."""
    runs, positions = orders.shape
    tests = 2 * n * positions
    level = alpha / tests
    counts = np.stack([np.bincount(column, minlength=n) for column in orders.T])
    # Of the tests on one side the most extreme count has the smallest p-value.
    cells = {"less": int(counts.argmin()), "greater": int(counts.argmax())}
    p_values = {
        side: binomial.p_value(
            int(counts.flat[cells[side]]), runs, null_probability=1.0 / n, alternative=side
        )
        for side in _SIDES
    }
    worst = min(_SIDES, key=lambda side: p_values[side])
    position, point = divmod(cells[worst], n)
    low, high = _detectable(runs, n, level)
    return Outcome(
        violated=p_values[worst] <= level,
        detail=(
            f"point {point} came at place {position + 1} in {int(counts[position, point])} of {runs} runs, where 1/{n} "
            f"of them is right; p = {min(1.0, p_values[worst] * tests):.3g}"
        ),
        detectable=f"a probability below {low:.3g} or above {high:.3g}",
        runs=runs,
    )


@cache
def _detectable(runs: int, n: int, level: float) -> tuple[float, float]:
    """Return the probabilities below and above 1/n from which on a test at this level finds them."""
    below, above = (
        binomial.minimum_detectable_violation(runs, null_probability=1.0 / n, alpha=level, alternative=side)
        for side in _SIDES
    )
    return max(0.0, 1.0 / n - below), 1.0 / n + above


@check("uniform-draws", "the k-th new point of a run is uniform on all points")
def uniform_draws(bench: Bench, alpha: float) -> Outcome:
    """Judge that the k-th new point of a run is each of the n points with probability 1/n.

    Exact binomial tests, one for each k and point, two-sided, their level split equally.
    """
    orders = [None if uses is None else first_uses(uses)[1] for uses in bench.uses(LINEAR, alpha=alpha / 2.0)]
    read = [order for order in orders if order is not None]
    places = min((len(order) for order in read), default=0)
    if len(read) < len(orders) or places == 0:
        return Outcome(
            violated=None,
            detail=f"{len(orders) - len(read)} of {len(orders)} runs could not be read",
            detectable="nothing",
            runs=len(orders),
        )
    return _uniform_cells(np.array([order[:places] for order in read]), LINEAR.n, alpha=alpha / 2.0)


@check("reported-draws", "the reported draws are those that were used, and uniform")
def reported_draws(bench: Bench, alpha: float) -> Outcome | str:
    """Judge that the reported draws are those that the steps show, and uniform.

    A fresh draw is the point that the step used and a repeat draw is one used before; and as a run makes at least as
    many draws as it needs points, its first draws, as many as that, are independent and uniform.
    """
    runs = bench.runs(LINEAR)
    draws = [run.draws for run in runs]
    told = [draw[:, 0] for draw in draws if draw is not None]
    if len(told) < len(draws):
        return "the implementation does not tell its draws"
    unread, wrong = 0, 0
    for uses, drawn in zip(bench.uses(LINEAR, alpha=alpha / 2.0), told, strict=True):
        if uses is None:
            unread += 1
            continue
        seen: set[int] = set()
        for use, index in zip(uses, drawn.tolist(), strict=True):
            wrong += use != (() if index in seen else (index,))
            seen.add(index)
    places = min(bench.options.stopping.distinct_points(LINEAR.n), *(len(drawn) for drawn in told))
    cells = _uniform_cells(np.array([drawn[:places] for drawn in told]), LINEAR.n, alpha=alpha / 2.0)
    detail = f"{wrong} steps do not use what their draw says; {cells.detail}"
    return Outcome(
        violated=True if wrong or cells.violated else (None if unread else False),
        detail=detail + (f"; {unread} runs could not be read" if unread else ""),
        detectable=f"one step that does not fit its draw, or, at one place, {cells.detectable}",
        runs=len(runs),
    )
