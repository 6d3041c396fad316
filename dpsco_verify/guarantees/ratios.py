"""The guarantee that a mean is at most a constant times a bound, and the least constant that the data allow."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.choices import ERROR_BUDGET, SAMPLES, Profile
from dpsco_verify.errors import InputError
from dpsco_verify.evidence.checker import Evidence
from dpsco_verify.guarantees.calls import Sampler
from dpsco_verify.guarantees.mean_tests import BoundedMean, observe, within
from dpsco_verify.guarantees.result import GuaranteeResult, guarantee, name_of, sampled
from dpsco_verify.guarantees.witnesses import of_mean
from dpsco_verify.inference.checks import require_range
from dpsco_verify.validation import (
    require_integer,
    require_open_interval,
    require_positive,
)

_MULTIPLE_OF_INTEREST = 3.0


@guarantee
def ratio_at_most(
    draw: Callable[[Any, int, np.random.Generator], Any],
    bounds: Mapping[Any, float],
    constant: float,
    *,
    high: float,
    low: float = 0.0,
    alpha: float = ERROR_BUDGET,
    samples: int = SAMPLES[Profile.QUICK],
    seed: int = 0,
    violation_of_interest: float | None = None,
    time_limit: float = 60.0,
    name: str | None = None,
) -> GuaranteeResult:
    """Check ``E X(case) ≤ constant · bound(case)`` in several cases; the figures hold the least constant possible.

    Parameters
    ----------
    draw
        ``draw(case, size, rng)`` returns `size` independent observations in ``[low, high]``.
    bounds
        What the mean is compared with, positive, by case, such as a size.
    constant
        The claimed constant, positive.
    low, high
        Bounds of the observations.
    violation_of_interest
        The verdict is ``undecided`` unless a constant larger by this much would have been found in some case; by
        default twice the claimed one.
    alpha, samples, seed, time_limit, name
        As for :func:`~dpsco_verify.guarantees.mean_at_most`; `alpha` is shared by the cases equally, and `samples` is
        for each.

    Raises
    ------
    InputError
        For a bad argument, or where ``constant · bound`` leaves nothing to test in any case.
    FunctionError
        If `draw` raises, hangs, or returns something else than `size` numbers within the bounds.

    Examples
    --------
    >>> fair = lambda n, size, rng: np.abs(rng.binomial(n, 0.5, size) / n - 0.5)
    >>> bounds = {n: n**-0.5 for n in (100, 400)}  # the mean is 0.4 of that
    >>> print(ratio_at_most(fair, bounds, 0.5, high=0.5).verdict)
    not_violated
    >>> print(ratio_at_most(fair, bounds, 0.3, high=0.5).verdict)
    violated
    """
    right = _bounds(bounds)
    constant = require_positive("constant", constant)
    low, high = require_range(low, high)
    alpha = require_open_interval("alpha", alpha, 0.0, 1.0)
    samples = require_integer("samples", samples, minimum=1)
    interest = (
        (_MULTIPLE_OF_INTEREST - 1.0) * constant
        if violation_of_interest is None
        else require_positive("violation_of_interest", violation_of_interest)
    )
    shown = name or name_of(draw)
    for case, bound in right.items():
        if constant * bound <= low:
            raise InputError(
                f"constant={constant!r} times bounds[{case!r}]={bound!r} is not above low={low!r}, so no law on "
                f"[{low!r}, {high!r}] with anything to test keeps the claim; give low < constant * bound"
            )
    # A bound of `high` or more is kept by every law.
    testable = {case: bound for case, bound in right.items() if constant * bound < high}
    if not testable:
        raise InputError(
            f"constant={constant!r} times each of bounds={dict(bounds)!r} leaves nothing to test for values in "
            f"[{low!r}, {high!r}]; give constant * bound < high in some case"
        )
    level = alpha / len(testable)
    least, where, p_value, drawn = 0.0, None, 1.0, 0
    log_e_values, told = [], []
    witness: Evidence | None = None
    mdvs: dict[Any, float] = {}
    violated = False
    for case, bound in testable.items():
        sampler = Sampler(draw, name=shown, seed=seed, time_limit=time_limit, arguments=(case,))
        test = BoundedMean(bound=constant * bound, low=low, high=high, alpha=level)

        def take(size: int, chunk: int, sampler: Sampler = sampler) -> FloatArray:
            return within(sampler.draw(size, chunk=chunk), low, high, name=shown)

        observed = observe(test, take, samples)
        lower, _ = test.interval(observed.values, side="lower")
        if where is None or lower / bound > least:
            least, where = lower / bound, case
        violated |= observed.decision.rejected
        witness = witness or of_mean(
            f"{shown}: E X({case!r}) ≤ {constant:g} · {bound:g}",
            observed.values,
            observed.decision,
            bound=constant * bound,
            low=low,
            high=high,
        )
        p_value = min(p_value, observed.decision.p_value * len(testable))
        log_e_values.append(observed.decision.log_wealth)
        drawn += observed.values.size
        told.append(f"{observed.values.mean() / bound:.4g} at {case!r}")
        if not observed.decision.rejected:
            found = test.detectable(observed.values, samples)
            mdvs |= {case: found / bound} if found is not None else {}
    mdv = min(mdvs.values()) if mdvs and not violated else None
    sees = next((case for case, found in mdvs.items() if found == mdv), None)
    seen = f"the constant is at least {least:.4g} (at {where!r}); mean over bound: {', '.join(told)}"
    return sampled(
        name=shown,
        claim=f"E X(case) ≤ {constant:g} · bound(case) in {len(right)} cases",
        seen=seen,
        violated=violated,
        p_value=p_value,
        log_e_value=float(np.logaddexp.reduce(log_e_values) - math.log(len(log_e_values))),
        alpha=alpha,
        mdv=mdv,
        of_interest=interest,
        would=f"a constant of {constant + (mdv or 0.0):.4g} at {sees!r}",
        nothing=f"{samples:,} observations a case",
        samples=drawn,
        seed=seed,
        figures={"constant_lower_bound": least},
        witness=witness,
    )


def _bounds(bounds: Any) -> dict[Any, float]:
    if not isinstance(bounds, Mapping) or not bounds:
        raise InputError(f"bounds={bounds!r} holds no bound by case; give a mapping from cases to bounds")
    return {case: require_positive(f"bounds[{case!r}]", bound) for case, bound in bounds.items()}
