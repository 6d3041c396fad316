"""Guarantees about a mean: at most, or at least, a bound."""

from __future__ import annotations

from dataclasses import dataclass

from dpsco_verify.arrays import FloatArray
from dpsco_verify.choices import ERROR_BUDGET, SAMPLES, Profile
from dpsco_verify.errors import InputError
from dpsco_verify.evidence.checker import Evidence
from dpsco_verify.guarantees.calls import Draw, Sampler
from dpsco_verify.guarantees.mean_tests import (
    BoundedMean,
    MeanTest,
    Observed,
    UnboundedMean,
    observe,
    within,
)
from dpsco_verify.guarantees.result import GuaranteeResult, guarantee, name_of, sampled
from dpsco_verify.guarantees.witnesses import of_mean, of_unbounded_mean
from dpsco_verify.inference.checks import require_range
from dpsco_verify.inference.unbounded_mean import Spread
from dpsco_verify.validation import (
    require_finite,
    require_integer,
    require_open_interval,
    require_positive,
)

_MULTIPLE = 3.0
"""By default a mean three times as far from `low` as the claimed one is of interest, or half the way to `high`."""


@dataclass(frozen=True, kw_only=True)
class _Claim:
    """What a call claims: ``sign·E X ≤ sign·bound``, and what is known of X."""

    sign: float
    bound: float
    low: float | None
    high: float | None
    scale: float | None
    spread: Spread | None
    of_interest: float

    @property
    def relation(self) -> str:
        return "≤" if self.sign > 0 else "≥"

    @property
    def text(self) -> str:
        known = (
            f"for X in [{self.low:g}, {self.high:g}]"
            if self.spread is None
            else f"for X of {self.spread.value} at most {self.scale:g}"
        )
        return f"E X {self.relation} {self.bound:g} {known}"

    def test(self, alpha: float) -> MeanTest:
        bound = self.sign * self.bound
        if self.spread is None:
            assert self.low is not None  # noqa: S101  checked when the claim was made
            assert self.high is not None  # noqa: S101  the same
            low, high = sorted((self.sign * self.low, self.sign * self.high))
            return BoundedMean(bound=bound, low=low, high=high, alpha=alpha)
        assert self.scale is not None  # noqa: S101  the same
        return UnboundedMean(bound=bound, scale=self.scale, spread=self.spread, alpha=alpha)


@guarantee
def mean_at_most(
    draw: Draw,
    bound: float,
    *,
    low: float | None = None,
    high: float | None = None,
    standard_deviation: float | None = None,
    sub_gaussian: float | None = None,
    alpha: float = ERROR_BUDGET,
    samples: int = SAMPLES[Profile.QUICK],
    seed: int = 0,
    violation_of_interest: float | None = None,
    time_limit: float = 60.0,
    name: str | None = None,
) -> GuaranteeResult:
    """Check that the mean of a random number is at most `bound`.

    Parameters
    ----------
    draw
        ``draw(size, rng)`` returns `size` independent observations, shape (size,).
    bound
        The claimed bound.
    low, high
        Bounds of every observation, where there are such. Or else
    standard_deviation
        a bound on its standard deviation; or else
    sub_gaussian
        a σ with ``E e^{λ(X − E X)} ≤ e^{λ²σ²/2}`` for all λ.
    alpha
        The probability, at most, of finding a true claim violated.
    samples
        Observations, at most; a violation that shows earlier ends the check.
    seed
        The root seed.
    violation_of_interest
        The verdict is ``undecided`` unless a mean larger than the bound by this much would have been found. By default,
        for bounded observations, the smaller of twice ``bound − low`` and half of ``high − bound``; else σ.
    time_limit
        Seconds that one call of `draw` may take.
    name
        How reports name what is judged.

    Raises
    ------
    InputError
        For a bad argument, or an observation outside of the bounds that were stated.
    FunctionError
        If `draw` raises, hangs, ignores the generator, or returns something else than `size` finite numbers.

    Notes
    -----
    A betting e-process, valid at every time (:mod:`dpsco_verify.inference.e_process`,
    :mod:`dpsco_verify.inference.unbounded_mean`); :mod:`dpsco_verify.guarantees.detectable` says what the MDV means.

    Examples
    --------
    >>> roll = lambda size, rng: rng.integers(1, 7, size)
    >>> print(mean_at_most(roll, 3.6, low=1, high=6).verdict)
    not_violated
    >>> wrong = mean_at_most(roll, 3.0, low=1, high=6)
    >>> print(wrong.verdict, wrong.counterexample)
    violated the mean of 500 observations is 3.588, and E X ≥ 3.12554 (p-value 2.38e-13, seed 0)
    """
    claim = _claim(1.0, bound, low, high, standard_deviation, sub_gaussian, violation_of_interest)
    return _check(claim, draw, alpha=alpha, samples=samples, seed=seed, time_limit=time_limit, name=name)


@guarantee
def mean_at_least(
    draw: Draw,
    bound: float,
    *,
    low: float | None = None,
    high: float | None = None,
    standard_deviation: float | None = None,
    sub_gaussian: float | None = None,
    alpha: float = ERROR_BUDGET,
    samples: int = SAMPLES[Profile.QUICK],
    seed: int = 0,
    violation_of_interest: float | None = None,
    time_limit: float = 60.0,
    name: str | None = None,
) -> GuaranteeResult:
    """Check that the mean of a random number is at least `bound`; everything else is as in :func:`mean_at_most`.

    Examples
    --------
    >>> roll = lambda size, rng: rng.integers(1, 7, size)
    >>> print(mean_at_least(roll, 3.4, low=1, high=6).verdict, mean_at_least(roll, 4.0, low=1, high=6).verdict)
    not_violated violated
    """
    claim = _claim(-1.0, bound, low, high, standard_deviation, sub_gaussian, violation_of_interest)
    return _check(claim, draw, alpha=alpha, samples=samples, seed=seed, time_limit=time_limit, name=name)


def _claim(
    sign: float,
    bound: float,
    low: float | None,
    high: float | None,
    standard_deviation: float | None,
    sub_gaussian: float | None,
    of_interest: float | None,
) -> _Claim:
    bound = require_finite("bound", bound)
    bounded = low is not None or high is not None
    if bounded + (standard_deviation is not None) + (sub_gaussian is not None) != 1:
        raise InputError(
            f"low={low!r}, high={high!r}, standard_deviation={standard_deviation!r} and "
            f"sub_gaussian={sub_gaussian!r} do not say one thing about the observations; give low and high, or one of "
            "the others"
        )
    if bounded:
        if low is None or high is None:
            raise InputError(f"low={low!r} and high={high!r} do not bound the observations; give both")
        low, high = require_range(low, high)
        if not low < bound < high:
            raise InputError(
                f"bound={bound!r} leaves nothing to test for values in [{low!r}, {high!r}]; give low < bound < high"
            )
        best, worst = (low, high) if sign > 0 else (high, low)
        default = min((_MULTIPLE - 1.0) * abs(bound - best), 0.5 * abs(worst - bound))
        scale, spread = None, None
    else:
        spread = Spread.SUB_GAUSSIAN if sub_gaussian is not None else Spread.STANDARD_DEVIATION
        scale = require_positive(
            "sub_gaussian" if sub_gaussian is not None else "standard_deviation",
            sub_gaussian if sub_gaussian is not None else standard_deviation or 0.0,
        )
        default = scale
    if of_interest is not None:
        default = require_positive("violation_of_interest", of_interest)
    return _Claim(sign=sign, bound=bound, low=low, high=high, scale=scale, spread=spread, of_interest=default)


def _check(
    claim: _Claim, draw: Draw, *, alpha: float, samples: int, seed: int, time_limit: float, name: str | None
) -> GuaranteeResult:
    alpha = require_open_interval("alpha", alpha, 0.0, 1.0)
    samples = require_integer("samples", samples, minimum=1)
    shown = name or name_of(draw)
    sampler = Sampler(draw, name=shown, seed=seed, time_limit=time_limit)

    def drawn(size: int, chunk: int) -> FloatArray:
        return claim.sign * within(sampler.draw(size, chunk=chunk), claim.low, claim.high, name=shown)

    test = claim.test(alpha)
    observed = observe(test, drawn, samples)
    values, decision = claim.sign * observed.values, observed.decision
    mean = float(values.mean())
    mdv = None if decision.rejected else test.detectable(observed.values, samples)
    seen = f"the mean of {values.size:,} observations is {mean:.6g}"
    figures = {"mean": mean}
    if isinstance(test, BoundedMean):
        bound = claim.sign * test.interval(observed.values, side="lower")[0]
        figures["mean_lower_bound" if claim.sign > 0 else "mean_upper_bound"] = bound
        seen += f", and E X {'≥' if claim.sign > 0 else '≤'} {bound:.6g}"
    return sampled(
        name=shown,
        claim=claim.text,
        seen=seen,
        violated=decision.rejected,
        p_value=decision.p_value,
        log_e_value=decision.log_wealth,
        alpha=alpha,
        mdv=mdv,
        of_interest=claim.of_interest,
        would=f"a mean of {claim.bound + claim.sign * (mdv or 0.0):.4g}",
        nothing=f"{samples:,} observations",
        samples=values.size,
        seed=seed,
        figures=figures,
        witness=_witness(claim, shown, observed),
    )


def _witness(claim: _Claim, name: str, observed: Observed) -> Evidence | None:
    words = f"{name}: {claim.text}" + ("" if claim.sign > 0 else ", of which the negative is observed")
    bound = claim.sign * claim.bound
    if claim.low is not None and claim.high is not None:
        low, high = sorted((claim.sign * claim.low, claim.sign * claim.high))
        return of_mean(words, observed.values, observed.decision, bound=bound, low=low, high=high)
    assert claim.scale is not None  # noqa: S101  checked when the claim was made
    assert claim.spread is not None  # noqa: S101  the same
    return of_unbounded_mean(
        words, observed.values, observed.decision, bound=bound, scale=claim.scale, spread=claim.spread
    )
