"""δ(ε) and ε(δ) of a whole run, from above and from below; the proof is in ``docs/whole-run.md``.

With ``W̄`` the envelope and ``c = (n − K)(e^ε − 1)``,

    δ(ε) ≤ (1/n) E(Σ_{s ≤ K} W̄_s − c)₊     for replace-one neighbours and K < n,

and with ``W = Y − e^ε`` in place of W̄ the same is attained by an instance whose pattern of repeats is shown. f
points averaged in a step are f·W̄ at μ/f, which is a run on n/f points with K/f steps. For K = n the bound is
that of one Gaussian step, ``G(e^ε)``. Removing a point's gradient (zero-out) is covered, 0 being a gradient;
adding or removing a point, which changes n, is not.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache

from scipy import optimize, special

from dpsco_verify.errors import InputError
from dpsco_verify.privacy.gaussian import log_gaussian_delta
from dpsco_verify.privacy.whole_run.convolution import log_hockey_stick
from dpsco_verify.privacy.whole_run.epochs import composed_lower, composed_upper
from dpsco_verify.privacy.whole_run.law import LatticeLaw, attained, envelope
from dpsco_verify.privacy.whole_run.output import LARGEST_OUTPUT, output_lower
from dpsco_verify.privacy.whole_run.plan import (
    CHECKABLE,
    FINE,
    Grid,
    Plan,
    Sum,
    plan_attained,
    plan_envelope,
    plan_narrow,
)
from dpsco_verify.privacy.whole_run.refinement import narrowed
from dpsco_verify.privacy.whole_run.run import View, WholeRun
from dpsco_verify.validation import require_non_negative, require_open_interval

_CLOSED_FORM = 1e-11
"""More than the relative error of the closed forms in doubles: their logarithms are below 700, of 16 digits."""
_CLOSE = 1e-12
"""More than what a logarithm above −745 loses when it is rounded."""
_DROPS = (10.0, 5.0, 2.0)
"""How much smaller than δ what is beyond T is tried to be, in logarithms."""
_ATOMS = 32
_QUANTILES = sorted(
    {k / 8 for k in range(1, 8)} | {e for i in range(4, 54, 4) for e in (2.0**-i, 1.0 - 2.0**-i)}
)
"""Where blocks of a law of K end."""


def delta_upper(run: WholeRun, epsilon: float, *, view: View = View.PATTERN) -> float:
    """Return an upper bound on δ(ε) of the run, for all neighbours, losses and dimensions; never 0.

    Parameters
    ----------
    run, epsilon
        The run, and ε ≥ 0.
    view
        What is seen. The bound is for the pattern shown and holds for the other views, which show less.

    Raises
    ------
    InputError
        For a negative ε, NaN, or infinity.

    Examples
    --------
    >>> f"{delta_upper(WholeRun(n=1000, sigma=1.5), 1.0):.2g}"
    '4.6e-08'
    """
    _require_view(view)
    epsilon = require_non_negative("epsilon", epsilon)

    def once(order: float) -> float:
        bound = log_upper if run.epochs == 1 else log_upper_coarse
        return exp_up(_mixture(run, order, bound, upper=True))

    return once(epsilon) if run.epochs == 1 else composed_upper(once, run.epochs, epsilon)


def delta_lower(run: WholeRun, epsilon: float, *, view: View = View.PATTERN) -> float:
    """Return a lower bound on the worst δ(ε) over neighbours and losses, of what is seen of a run.

    With the pattern of repeats shown it is attained by linear losses in one dimension: L the gradient of the
    differing point, −L that of its neighbour and of all others. For the output alone it is that of
    :mod:`dpsco_verify.privacy.whole_run.output`, and the transcript shows as much at least.

    Raises
    ------
    InputError
        For a negative ε, NaN, or infinity; for another view than the pattern also where :func:`output_is_known`
        says no.

    Examples
    --------
    >>> f"{delta_lower(WholeRun(n=1000, sigma=1.5), 1.0):.2g}"
    '4.3e-08'
    """
    _require_lower(run, view)
    epsilon = require_non_negative("epsilon", epsilon)
    if View(view) is not View.PATTERN:
        return output_lower(run.n, run.distance, epsilon)
    best = math.exp(_mixture(run, epsilon, log_lower, upper=False)) * (1.0 - _CLOSE)
    if run.epochs > 1:
        fewest = sum_of(run, run.law[0][0], epsilon)
        best = max(best, composed_lower(fewest, run.epochs))
    return best


def epsilon_upper(run: WholeRun, delta: float, *, view: View = View.PATTERN) -> float:
    """Return an ε, as small as is known, at which the run is (ε, δ)-DP.

    Raises
    ------
    InputError
        For a δ outside (0, 1).

    Examples
    --------
    >>> f"{epsilon_upper(WholeRun(n=1000, sigma=1.5), 1e-6):.2g}"
    '0.57'
    """
    delta = require_open_interval("delta", delta, 0.0, 1.0)

    def excess(epsilon: float) -> float:
        return math.log(delta_upper(run, epsilon, view=view)) - math.log(delta)

    return _crossing(excess, run, delta)[1]


def epsilon_lower(run: WholeRun, delta: float, *, view: View = View.PATTERN) -> float:
    """Return an ε, as large as is known, at which what is seen of some run is not (ε, δ)-DP; or 0.

    Raises
    ------
    InputError
        As :func:`delta_lower`, and for a δ outside (0, 1).

    Examples
    --------
    >>> f"{epsilon_lower(WholeRun(n=1000, sigma=1.5), 1e-6):.2g}"
    '0.56'
    """
    _require_lower(run, view)
    delta = require_open_interval("delta", delta, 0.0, 1.0)

    def excess(epsilon: float) -> float:
        return math.log(max(delta_lower(run, epsilon, view=view), sys.float_info.min)) - math.log(delta)

    return _crossing(excess, run, delta)[0]


def _crossing(excess: Callable[[float], float], run: WholeRun, delta: float) -> tuple[float, float]:
    """Return (low, high), close together, of a falling function: at most 0 at high, above 0 at low unless low = 0."""
    if excess(0.0) <= 0.0:
        return 0.0, 0.0
    # where the Gaussian mechanism that the run resembles has its ε, about
    like = math.sqrt(run.epochs * run.law[-1][0] * math.expm1(min(run.distance**2, 4.0))) / run.n
    high = min(max(like * math.sqrt(-2.0 * math.log(delta)), 1e-9), 10.0)
    low = 0.5 * high
    while excess(high) > 0.0:
        low, high = high, 2.0 * high
    while low > 1e-15 and excess(low) <= 0.0:
        low, high = 0.5 * low, low
    return bracket(excess, low, high)


def bracket(excess: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """Return the two ends, close together, of a crossing from above 0 at `low` to at most 0 at `high`."""
    root = float(optimize.brentq(excess, low, high, xtol=1e-12, rtol=1e-6))
    below = above = root
    step = 1e-7 * abs(root) + 1e-12
    while excess(above) > 0.0:
        above, step = min(root + step, high), 2.0 * step
    step = 1e-7 * abs(root) + 1e-12
    while below > low and excess(below) <= 0.0:
        below, step = max(root - step, low), 2.0 * step
    return below, above


def log_upper(problem: Sum) -> float:
    """Return an upper bound on the log of the functional, by the sum or by one use, whichever is less.

    A narrowed law is planned on either grid, and may be better on the coarse one, which calibration and certificates
    take: what they show is never below this.
    """
    sums = (sharpest(problem, grid)[0] for grid in (FINE, CHECKABLE))
    return min(problem.log_one_use() + _CLOSED_FORM, *sums, 0.0)


def log_upper_coarse(problem: Sum) -> float:
    """Return the bound of the envelope alone, sooner: several epochs need a hundred of them."""
    return min(problem.log_one_use() + _CLOSED_FORM, planned_upper(problem, CHECKABLE)[0], 0.0)


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
    return math.log(share) + float(log_gaussian_delta(order, problem.mu)) + _CLOSED_FORM


def log_lower(problem: Sum, grid: Grid = FINE) -> float:
    """Return a lower bound on the log of the functional with ``W = Y − e^ε``: by the sum, one step, or an event."""
    best = max(problem.log_one_step() - _CLOSED_FORM, problem.log_any_step())
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
    return math.log(problem.steps / problem.scale * beyond) + math.log(k * k / (1.0 + k * k)) - _CLOSED_FORM


def sum_of(run: WholeRun, points: int, epsilon: float) -> Sum:
    """Return the functional of a run that uses `points` points an epoch, in units of batches."""
    return Sum(epsilon=epsilon, mu=run.distance, n=run.n, points=points, batch=run.batch_size)


@lru_cache(maxsize=4096)
def _log_part(log_bound: Callable[[Sum], float], problem: Sum) -> float:
    return log_bound(problem)


def _mixture(run: WholeRun, epsilon: float, log_bound: Callable[[Sum], float], *, upper: bool) -> float:
    """Return the log of the bound for the law of K: given K the runs are mixtures, and K is revealed."""
    total = -math.inf
    for points, probability in _blocks(run.law, upper=upper):
        if upper and points == run.n:
            part = float(log_gaussian_delta(epsilon, run.distance)) + _CLOSED_FORM
        else:
            part = _log_part(log_bound, sum_of(run, points, epsilon))
        total = log_sum(total, part + math.log(probability))
    return min(total, 0.0)


def _blocks(law: Sequence[tuple[int, float]], *, upper: bool) -> list[tuple[int, float]]:
    """Return the law of K, in blocks where it has many atoms: at their larger ends for an upper bound.

    The functional rises with K, because a step more adds a variable of mean 0. The blocks end at quantiles.
    """
    if len(law) <= _ATOMS:
        return list(law)
    blocks: list[tuple[int, float]] = []
    members: list[tuple[int, float]] = []
    passed, ends = 0.0, iter(_QUANTILES)
    end = next(ends)
    for atom in law:
        members.append(atom)
        passed += atom[1]
        if passed >= end or atom is law[-1]:
            blocks.append((members[-1 if upper else 0][0], math.fsum(p for _, p in members)))
            members = []
            while end <= passed:
                end = next(ends, math.inf)
    return blocks


def log_sum(a: float, b: float) -> float:
    """Return ``log(e^a + e^b)``."""
    high, low = max(a, b), min(a, b)
    return high if low == -math.inf or high == math.inf else high + math.log1p(math.exp(low - high))


def exp_up(log_value: float) -> float:
    """Return ``e^x`` rounded up by more than the rounding of x; never 0, and at most 1."""
    return min(math.nextafter(math.exp(min(log_value, 0.0)) * (1.0 + _CLOSE), 2.0), 1.0)


def _require_view(view: View) -> None:
    if view not in set(View):
        raise InputError(f"view={view!r} is not a view; give one of {', '.join(View)}")


def output_is_known(run: WholeRun) -> bool:
    """Say whether there is a lower bound for the output alone: of a run under the loop's rule, in batches of one.

    Examples
    --------
    >>> output_is_known(WholeRun(n=1000, sigma=1.5)), output_is_known(WholeRun(n=1000, sigma=1.5, epochs=2))
    (True, False)
    """
    return (
        run.n <= LARGEST_OUTPUT and run.batch_size == run.epochs == 1 and run.law == ((run.n // 2 + 1, 1.0),)
    )


def _require_lower(run: WholeRun, view: View) -> None:
    _require_view(view)
    if View(view) is not View.PATTERN and not output_is_known(run):
        raise InputError(
            f"view={str(view)!r} has a lower bound for one epoch of ⌊n/2⌋ + 1 points in batches of one, n ≤ "
            f"{LARGEST_OUTPUT}, alone; give such a run or view={View.PATTERN.value!r}"
        )
