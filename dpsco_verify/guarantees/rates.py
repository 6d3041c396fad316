"""The guarantee that a mean falls with a size like a power of it at least, and bounds of the exponent."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.choices import ERROR_BUDGET, SAMPLES, Profile
from dpsco_verify.errors import InputError
from dpsco_verify.evidence.checker import Evidence
from dpsco_verify.guarantees.calls import Sampler
from dpsco_verify.guarantees.detectable import grouped, smallest_detectable
from dpsco_verify.guarantees.mean_tests import within
from dpsco_verify.guarantees.result import GuaranteeResult, guarantee, name_of, sampled
from dpsco_verify.guarantees.witnesses import of_payoffs
from dpsco_verify.inference.bets import bet_fractions, log_factors, log_mean_exp, log_wealth_error
from dpsco_verify.inference.witnesses import are_few, coarser
from dpsco_verify.validation import (
    require_finite,
    require_integer,
    require_open_interval,
    require_positive,
)

_FRACTIONS = bet_fractions(depth=18)
"""One grid whatever the exponent, so that a test that rejects an exponent rejects every smaller one too."""

_FARTHEST = 8.0
_EXPONENT_OF_INTEREST = 0.5
_BISECTIONS = 40


@guarantee
def rate(
    draw: Callable[[Any, int, np.random.Generator], Any],
    sizes: Sequence[float],
    exponent: float,
    *,
    high: float,
    alpha: float = ERROR_BUDGET,
    samples: int = SAMPLES[Profile.QUICK],
    seed: int = 0,
    violation_of_interest: float | None = None,
    time_limit: float = 60.0,
    name: str | None = None,
) -> GuaranteeResult:
    """Check that a mean m(n) falls at least as fast as ``n^exponent``, and bound the exponent from both sides.

    Parameters
    ----------
    draw
        ``draw(n, size, rng)`` returns `size` independent observations of mean m(n), in ``[0, high]``.
    sizes
        Two or more sizes n, increasing. The smallest is paired with the largest, the second with the second largest,
        and so on.
    exponent
        The claim: ``m(n) n^{−exponent}`` does not increase from the smaller to the larger size of each pair; so it is
        of ``m(n) = C n^a`` with a ≤ exponent.
    high
        A bound of the observations.
    samples
        Observations at each size, looked at once they are all there.
    violation_of_interest
        The verdict is ``undecided`` unless an exponent larger by this much would have been found; by default 0.5.
    alpha, seed, time_limit, name
        As for :func:`~dpsco_verify.guarantees.mean_at_most`.

    Raises
    ------
    InputError
        For a bad argument.
    FunctionError
        If `draw` raises, hangs, or returns something else than `size` numbers in ``[0, high]``.

    Notes
    -----
    With ``ρ = n'/n`` for a pair n < n', an exponent of at most s implies ``E[X_{n'} ρ^{−s} − X_n] ≤ 0``. The sum of
    these over the pairs is bounded, a betting e-process tests its sign, and each of its factors falls in s; so the
    exponents that are rejected make up an interval, whose end is a lower confidence bound of a. The upper bound comes
    from ``E[X_n ρ^s − X_{n'}] ≤ 0``, which an exponent of at least s implies; each misses with probability alpha.

    Examples
    --------
    >>> fair = lambda n, size, rng: np.abs(rng.binomial(n, 0.5, size) / n - 0.5)
    >>> print(rate(fair, [100, 400, 1600], -0.4, high=0.5).verdict)
    not_violated
    >>> print(rate(fair, [100, 400, 1600], -1.0, high=0.5).verdict)
    violated
    """
    places = _places(sizes)
    exponent = _exponent(exponent)
    high = require_positive("high", high)
    alpha = require_open_interval("alpha", alpha, 0.0, 1.0)
    samples = require_integer("samples", samples, minimum=1)
    interest = (
        _EXPONENT_OF_INTEREST
        if violation_of_interest is None
        else require_positive("violation_of_interest", violation_of_interest)
    )
    shown = name or name_of(draw)
    columns = []
    for size in sizes:
        sampler = Sampler(draw, name=shown, seed=seed, time_limit=time_limit, arguments=(size,))
        columns.append(within(sampler.draw(samples), 0.0, high, name=shown))
    pairs = len(places) // 2
    ratios = np.array([places[-1 - i] / places[i] for i in range(pairs)])
    small = np.stack(columns[:pairs], axis=1) / high
    large = np.stack(columns[: -pairs - 1 : -1], axis=1) / high
    bounds = exponent_bounds(small, large, ratios, alpha)
    log_wealth = _log_wealth(small, large, ratios, exponent)
    violated = log_wealth >= -math.log(alpha)
    mdv = None if violated else _detectable_exponent(small, large, ratios, exponent, alpha)
    means = ", ".join(f"{column.mean():.4g} at {size:g}" for size, column in zip(sizes, columns, strict=True))
    seen = f"the exponent is in [{bounds[0]:.4g}, {bounds[1]:.4g}]; means: {means}"
    figures = {
        "exponent_lower_bound": bounds[0],
        "exponent_upper_bound": bounds[1],
        "exponent_estimate": _fitted(places, [float(column.mean()) for column in columns]),
    }
    return sampled(
        name=shown,
        claim=f"E X(n) falls at least like n^{exponent:g}",
        seen=seen,
        violated=violated,
        p_value=math.exp(-max(log_wealth, 0.0)),
        log_e_value=log_wealth,
        alpha=alpha,
        mdv=mdv,
        of_interest=interest,
        would=f"an exponent of {exponent + (mdv or 0.0):.4g}",
        nothing=f"{samples:,} observations a size",
        samples=samples * len(places),
        seed=seed,
        figures={key: value for key, value in figures.items() if math.isfinite(value)},
        witness=_witness(
            f"{shown}: the mean over pairs of (X(n')·(n'/n)^{-exponent:g} − X(n))/high, for {list(sizes)!r}",
            _payoffs(small, large, ratios, exponent),
            largest=float((ratios**-exponent).mean()),
            alpha=alpha,
        )
        if violated
        else None,
    )


def _places(sizes: Any) -> list[float]:
    if not isinstance(sizes, Sequence | np.ndarray) or isinstance(sizes, str):
        raise InputError(f"sizes={sizes!r} is no list; give at least two sizes, the smallest first")
    places = [require_positive("sizes", size) for size in sizes]
    if len(places) < 2 or any(b <= a for a, b in itertools.pairwise(places)):
        raise InputError(f"sizes={list(sizes)!r} do not increase; give at least two, the smallest first")
    return places


def _exponent(value: float) -> float:
    exponent = require_finite("exponent", value)
    if abs(exponent) > _FARTHEST:
        raise InputError(
            f"exponent={exponent!r} is outside [{-_FARTHEST:g}, {_FARTHEST:g}]; give one that means can have"
        )
    return exponent


def _witness(claim: str, payoffs: FloatArray, *, largest: float, alpha: float) -> Evidence:
    """Return the witness of a rejection: the payoffs up to where their wealth is large enough for the first time."""
    enough = -math.log(alpha) + log_wealth_error(_FRACTIONS, largest, payoffs.size)
    for told in (payoffs, coarser(payoffs, bets=_FRACTIONS.size)):
        wealth = log_mean_exp(np.cumsum(log_factors(_FRACTIONS, told), axis=1))
        stop = int(np.argmax(wealth >= enough)) + 1 if (wealth >= enough).any() else told.size
        if are_few(told[:stop], bets=_FRACTIONS.size):
            break
    return of_payoffs(claim, told[:stop], _FRACTIONS, alpha=alpha)


def exponent_bounds(
    small: FloatArray, large: FloatArray, ratios: FloatArray, alpha: float
) -> tuple[float, float]:
    """Return a lower and an upper confidence bound of the exponent, ±∞ where there is none within ±8."""
    threshold = -math.log(alpha)

    def last_rejected(rejects: Callable[[float], bool]) -> float:
        low, high = -_FARTHEST, _FARTHEST
        if not rejects(low):
            return -math.inf
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if rejects(middle) else (low, middle)
        return low

    lower = last_rejected(lambda s: _log_wealth(small, large, ratios, s) >= threshold)
    # The larger size takes the place of the smaller one, and its inverse ratio that of the ratio: exponents of at
    # least s become exponents of at most s in 1/n.
    upper = -last_rejected(lambda s: _log_wealth(large, small, ratios, s) >= threshold)
    return lower, upper


def _payoffs(small: FloatArray, large: FloatArray, ratios: FloatArray, s: float) -> FloatArray:
    """Return the payoffs over the largest loss, shape (N,): at least −1."""
    return np.asarray(np.maximum((large * ratios**-s - small).mean(axis=1), -1.0))


def _log_wealth(small: FloatArray, large: FloatArray, ratios: FloatArray, s: float) -> float:
    logs = log_factors(_FRACTIONS, _payoffs(small, large, ratios, s))
    error = log_wealth_error(_FRACTIONS, float((ratios**-s).mean()), small.shape[0])
    return float(log_mean_exp(logs.sum(axis=1)[:, np.newaxis])[0]) - error


def _detectable_exponent(
    small: FloatArray, large: FloatArray, ratios: FloatArray, exponent: float, alpha: float
) -> float | None:
    """Return the excess that is found: the observations of each larger size, scaled until their mean has it."""
    factor = small.mean(axis=0) / large.mean(axis=0) if (large.mean(axis=0) > 0.0).all() else None
    if factor is None:
        return None

    def law_of(v: float) -> tuple[FloatArray, FloatArray]:
        scaled = np.minimum(large * factor * ratios ** (exponent + v), 1.0)
        return grouped(_payoffs(small, scaled, ratios, exponent))

    return smallest_detectable(
        law_of,
        lambda values: log_factors(_FRACTIONS, values),
        samples=small.shape[0],
        log_threshold=-math.log(alpha),
        first=0.1,
        largest=_FARTHEST,
        looks=1,
    )


def _fitted(sizes: Sequence[float], means: Sequence[float]) -> float:
    if min(means) <= 0.0:
        return math.nan
    return float(np.polyfit(np.log(sizes), np.log(means), 1)[0])
