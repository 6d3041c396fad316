"""Bounds on the functional: by the sum of the steps' laws on a grid, by one use of a point, by one step.

Each is a logarithm, and rounding is allowed for.
"""

from __future__ import annotations

import math
from functools import lru_cache

from scipy import special

from dpsco_verify.privacy.gaussian import log_gaussian_delta
from dpsco_verify.privacy.whole_run.convolution import log_hockey_stick
from dpsco_verify.privacy.whole_run.functional import Sum
from dpsco_verify.privacy.whole_run.law import LatticeLaw, attained, envelope
from dpsco_verify.privacy.whole_run.plan import (
    CHECKABLE,
    FINE,
    Grid,
    Plan,
    plan_attained,
    plan_envelope,
    plan_narrow,
)
from dpsco_verify.privacy.whole_run.refinement import narrowed

CLOSED_FORM = 1e-11
"""More than the relative error of the closed forms in doubles: their logarithms are below 700, of 16 digits."""
_DROPS = (10.0, 5.0, 2.0)
"""How much smaller than δ what is beyond T is tried to be, in logarithms."""


def log_upper(problem: Sum) -> float:
    """Return an upper bound on the log of the functional, by the sum or by one use, whichever is less.

    A narrowed law is planned on either grid, and may be better on the coarse one, which calibration and certificates
    take: what they show is never below this.
    """
    sums = (sharpest(problem, grid)[0] for grid in (FINE, CHECKABLE))
    return min(problem.log_one_use() + CLOSED_FORM, *sums, 0.0)


def log_upper_coarse(problem: Sum) -> float:
    """Return the bound of the envelope alone, sooner: several epochs need a hundred of them."""
    return min(problem.log_one_use() + CLOSED_FORM, planned_upper(problem, CHECKABLE)[0], 0.0)


@lru_cache(maxsize=256)
def sharpest(problem: Sum, grid: Grid) -> tuple[float, Plan | None]:
    """Return the log of the bound by the sum of envelopes, narrowed where that is less, and where it was taken.

    A coarse grid loses nothing of a narrowed law.
    """
    best, chosen = planned_upper(problem, grid)
    if chosen is not None:
        plan = plan_narrow(problem, chosen, best - _DROPS[0])
        if plan is not None:
            value = log_sum(log_planned_upper(problem, plan), log_cut(problem, plan))
            if value < best:
                return value, plan
    return best, chosen


def planned_upper(problem: Sum, grid: Grid) -> tuple[float, Plan | None]:
    """Return the log of the bound by the sum on such a grid, and where it was taken; (∞, None) where it cannot be.

    A step's law ends at T, where the rest is a small part of δ: a T too small spoils the bound, and one too large
    the tilt. As δ is only guessed at first, and far out badly, that may take another go.
    """
    best, chosen = math.inf, None
    guess, drops = problem.guess(), iter(_DROPS)
    drop = next(drops)
    while problem.summable:
        plan = plan_envelope(problem, guess - drop, grid)
        if plan is None or plan == chosen:
            break
        main, cut = log_planned_upper(problem, plan), log_cut(problem, plan)
        total = log_sum(main, cut)
        better = total < best - 0.01
        if total < best:
            best, chosen = total, plan
        if not math.isfinite(best) or (abs(total - guess) < 3.0 and cut < total - 5.0):
            break
        if not better:
            drop = next(drops, 0.0)
            if drop == 0.0:
                break
        guess = best
    return best, chosen


def log_planned_upper(problem: Sum, plan: Plan) -> float:
    """Return the log of the bound by the sum alone, to which that of :func:`log_cut` is to be added; or ∞."""
    epsilon, mu, narrow = problem.epsilon, problem.mu, plan.narrow
    law: LatticeLaw | None
    if narrow is None:
        law = envelope(epsilon=epsilon, mu=mu, step=plan.step, below=plan.below, above=plan.above)
    else:
        law = narrowed(
            epsilon=epsilon, mu=mu, narrow=narrow, step=plan.step, below=plan.below, above=plan.above
        )
    if law is None:
        return math.inf
    return log_hockey_stick(law, plan, problem.steps, problem.threshold, upper=True) - math.log(problem.scale)


def log_cut(problem: Sum, plan: Plan) -> float:
    """Return ``log((K/n) E(W̄ − T)₊)``, what the part beyond the last point T of a step's law adds at most."""
    order = problem.epsilon + math.log1p(plan.last * math.exp(-problem.epsilon))
    slope = 1.0 if plan.narrow is None else plan.narrow.bend.slope
    share = slope * problem.steps / problem.scale
    return math.log(share) + float(log_gaussian_delta(order, problem.mu)) + CLOSED_FORM


def log_lower(problem: Sum, grid: Grid = FINE) -> float:
    """Return a lower bound on the log of the functional with ``W = Y − e^ε``: by the sum, one step, or an event."""
    best = max(problem.log_one_step() - CLOSED_FORM, problem.log_any_step())
    if not problem.summable:
        return best
    plan = plan_attained(problem, problem.guess() - _DROPS[0], grid)
    if plan is None:
        return best
    law = attained(epsilon=problem.epsilon, mu=problem.mu, step=plan.step, highest=plan.above * plan.step)
    if law is None:
        return best
    found = log_hockey_stick(law, plan, problem.steps, problem.threshold, upper=False)
    found = log_sum(found - math.log(problem.scale), _log_excess(problem, law.last))
    return max(best, found)


def _log_excess(problem: Sum, last: float) -> float:
    """Return the log of a lower bound on what the part of the steps beyond the last point adds.

    With ``V = min(W, T)``, ``(ΣW − c)₊ ≥ (ΣV − c)₊ + Σ_s (W_s − T)₊ 1{ΣV ≥ c}``, and where W_s > T the sum of
    the others needs to pass c − T only. The probability of that is at least ``1 − 1/(1 + k²)``, k being how
    many of its standard deviations the mean of that sum is above c − T (Cantelli).
    """
    order = math.log(last + math.exp(problem.epsilon))
    beyond = math.exp(float(log_gaussian_delta(order, problem.mu)))
    mu, others = problem.mu, problem.steps - 1
    z = order / mu + 0.5 * mu
    square = math.exp(mu * mu) * float(special.ndtr(z - 2.0 * mu)) + math.exp(2.0 * order) * float(
        special.ndtr(-z)
    )
    mean = 1.0 - beyond  # of min(Y, T + α)
    spread = math.sqrt(max(others * (square * 1.0001 - mean * mean), 1e-300))
    above = others * (mean - math.exp(problem.epsilon)) + last - problem.threshold
    if not above > 0.0 or beyond == 0.0:
        return -math.inf
    k = 0.999 * above / spread
    return math.log(problem.steps / problem.scale * beyond) + math.log(k * k / (1.0 + k * k)) - CLOSED_FORM


def log_sum(a: float, b: float) -> float:
    """Return ``log(e^a + e^b)``."""
    high, low = max(a, b), min(a, b)
    return high if low == -math.inf or high == math.inf else high + math.log1p(math.exp(low - high))
