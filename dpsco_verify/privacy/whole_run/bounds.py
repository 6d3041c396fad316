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

from scipy import optimize

from dpsco_verify.errors import InputError
from dpsco_verify.privacy.gaussian import log_gaussian_delta
from dpsco_verify.privacy.whole_run.epochs import composed_lower, composed_upper
from dpsco_verify.privacy.whole_run.functional import Sum
from dpsco_verify.privacy.whole_run.functional_bounds import (
    CLOSED_FORM,
    log_lower,
    log_sum,
    log_upper,
    log_upper_coarse,
)
from dpsco_verify.privacy.whole_run.output import LARGEST_OUTPUT, output_lower
from dpsco_verify.privacy.whole_run.run import View, WholeRun
from dpsco_verify.validation import require_non_negative, require_open_interval

_CLOSE = 1e-12
"""More than what a logarithm above −745 loses when it is rounded."""
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
            part = float(log_gaussian_delta(epsilon, run.distance)) + CLOSED_FORM
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
