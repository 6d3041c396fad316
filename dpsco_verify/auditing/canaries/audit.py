"""Audit one training run, or many, by the scores of canaries that were put in or left out."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Protocol

import numpy as np
from scipy.special import ndtri

from dpsco_verify.arrays import ArrayLike
from dpsco_verify.auditing.canaries import scores as of_scores
from dpsco_verify.auditing.canaries.families import Family, claimed_epsilon, gaussian_mu
from dpsco_verify.auditing.canaries.guesses import planned_guesses
from dpsco_verify.auditing.canaries.lines import TradeOffLines, claim_lines
from dpsco_verify.auditing.canaries.many_runs import ManyRuns
from dpsco_verify.auditing.canaries.methods import Method
from dpsco_verify.auditing.canaries.one_run import OneRun, approximate_dp, f_dp
from dpsco_verify.auditing.canaries.result import CanaryAudit, CanaryMDV
from dpsco_verify.auditing.canaries.scores import RankedScores
from dpsco_verify.choices import CANARY_ERROR, EPSILON_FOR_NONE, MULTIPLE_OF_INTEREST
from dpsco_verify.errors import InputError
from dpsco_verify.evidence import AuditVerdict
from dpsco_verify.evidence.checker import CanaryEvidence
from dpsco_verify.privacy.claims import ApproximateDP, GaussianDP, PrivacyClaim, PureDP
from dpsco_verify.validation import (
    require_integer,
    require_non_negative,
    require_number,
    require_open_interval,
    require_positive,
)

_POWER = 0.9
_STEPS = 45
_SMALLEST = 1e-9
_SMALLEST_P = 1e-300
_MOST_CANARIES = 10_000_000


class _Test(Protocol):
    """What a method makes of the scores."""

    def rejects(self, lines: TradeOffLines, alpha: float) -> bool: ...

    def rejecting(self, lines: TradeOffLines, alpha: float) -> int | None: ...

    def finder(
        self, lines: TradeOffLines, family: Family, delta: float, *, alpha: float, power: float
    ) -> Callable[[float], bool]: ...

    def told(self, index: int) -> str: ...

    def witness(self, index: int, lines: TradeOffLines, alpha: float, null: str) -> CanaryEvidence: ...


def audit_canaries(
    scores_in: ArrayLike,
    scores_out: ArrayLike,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    claim: PrivacyClaim | None = None,
    method: str = Method.ONE_RUN_F_DP,
    alpha: float = CANARY_ERROR,
    family: str | None = None,
    guesses: int | tuple[int, int] | None = None,
    epsilon_of_interest: float | None = None,
    multiple_of_interest: float = MULTIPLE_OF_INTEREST,
    seed: int = 0,
    name: str = "the run",
) -> CanaryAudit:
    """Judge a claimed privacy guarantee of training by the scores of canaries.

    Each canary was put in by a fair coin of its own, before one training run; the adversary scored all of them from
    what the run released, the larger the likelier in. (With ``method="clopper-pearson"``: each score is from a run of
    its own.) The claim is one about a canary that is in or not, so about neighbours by adding, removing or zeroing
    out.

    Parameters
    ----------
    scores_in, scores_out
        Finite scores of the canaries that were in, and of those that were out; equal scores are ordered at random.
    epsilon, delta
        The claim: (ε, δ)-DP, δ in (0, 1); without `delta`, ε-DP. With a `claim`, `delta` is where ε is told.
    claim
        Any claim of :mod:`dpsco_verify.privacy.claims`, in place of `epsilon`.
    method
        A :class:`Method`.
    alpha
        The probability, at most, of finding a true claim violated, and that a bound is too large, each. A run may tell
        everything with probability δ, so that one run refutes no (ε, δ) at a level of δ or less.
    family
        The :class:`Family` within which bounds are told; by default ``approximate`` for (ε, δ) and ``gaussian`` for
        others. With `epsilon`, ``gaussian`` claims the largest μ for which μ-GDP implies (ε, δ)-DP: a claim that fits
        training with Gaussian noise, and that many fewer canaries refute.
    guesses
        How many canaries are guessed, decided before the scores were seen: half with the largest scores in and half
        with the smallest out, or ``(in, out)``. By default several numbers are tried, which costs part of the level.
    epsilon_of_interest, multiple_of_interest
        The audit is undecided unless ideal canaries would have shown this ε, or so many times the claimed one.
    seed
        Orders equal scores.
    name
        What messages call the run.

    Returns
    -------
    CanaryAudit

    Raises
    ------
    InputError
        For a bad argument; scores that are no finite numbers; a group that is empty; in one run, groups whose sizes
        fair coins do not give (true coins are refused with probability 1e-9); a method that does not know the claim.

    Examples
    --------
    A run that tells every one of 1,000 coins, and one that tells none:

    >>> rng = np.random.default_rng(0)
    >>> coins = rng.random(1000) < 0.5
    >>> told = audit_canaries(coins[coins] + 0.0, coins[~coins] + 0.0, epsilon=1.0, delta=1e-5)
    >>> print(told.verdict, round(told.epsilon_lower, 1))
    violated 5.6
    >>> kept = audit_canaries(rng.random(500), rng.random(500), epsilon=1.0, delta=1e-5)
    >>> print(kept.verdict, kept.epsilon_lower)
    not_violated 0.0
    """
    started = time.perf_counter()
    level = require_open_interval("alpha", alpha, 0.0, 1.0)
    chosen = Method(method)
    given = None if family is None else Family(family)
    stated, kind, at = _stated(epsilon, delta, claim, given)
    lines = claim_lines(stated)
    if chosen is Method.ONE_RUN_DP and (kind is not Family.APPROXIMATE or lines.slopes.size > 1):
        raise InputError(
            f"method={chosen.value!r} knows claims of (epsilon, delta) alone and not {stated}; give "
            f"method={Method.ONE_RUN_F_DP.value!r}"
        )
    if guesses is not None and chosen is Method.CLOPPER_PEARSON:
        raise InputError(f"guesses={guesses!r} has no meaning for method={chosen.value!r}; leave it out")
    interest = _interest(stated, at, epsilon_of_interest, multiple_of_interest)
    inside, outside = of_scores.checked_scores(scores_in, scores_out)
    rng = np.random.default_rng(require_integer("seed", seed, minimum=0))
    ranked = of_scores.ranked(inside, outside, rng)
    if chosen is not Method.CLOPPER_PEARSON:
        ranked.require_fair(
            f"give method={Method.CLOPPER_PEARSON.value!r} if each score is from a run of its own"
        )
    test = _test(chosen, ranked, guesses)
    refuting = test.rejecting(lines, level)
    lower = _lower(test, kind, at, level)
    mu_lower = None
    if chosen is not Method.ONE_RUN_DP:
        mu_lower = lower if kind is Family.GAUSSIAN else _lower(test, Family.GAUSSIAN, at, level)
    smallest = _smallest_found(test.finder(lines, kind, at, alpha=level, power=_POWER), kind, at)
    area = of_scores.area_under_roc(inside, outside)
    mdv = None if smallest is None else _mdv(smallest, kind, at, area)
    enough = mdv is not None and mdv.epsilon <= interest
    verdict = AuditVerdict.UNDECIDED
    if refuting is not None:
        verdict = AuditVerdict.VIOLATED
    elif enough:
        verdict = AuditVerdict.NOT_VIOLATED
    return CanaryAudit(
        verdict=verdict,
        name=name,
        claim=stated,
        method=chosen,
        family=kind,
        delta=at,
        epsilon_lower=kind.epsilon(lower, at),
        mu_lower=mu_lower,
        mdv=mdv,
        alpha=level,
        p_value=_p_value(test, lines),
        inside=ranked.inside,
        outside=ranked.outside,
        seen=test.told(refuting or 0),
        witness=None
        if refuting is None
        else test.witness(refuting, lines, level, f"{' '.join(name.split())}: {stated}"),
        area_under_roc=area,
        true_positive_rates=tuple(
            (rate, of_scores.true_positive_rate(inside, outside, rate)) for rate in of_scores.LOW_RATES
        ),
        canaries_needed=_needed(chosen, lines, kind, at, level, interest, guesses)
        if verdict is AuditVerdict.UNDECIDED
        else None,
        epsilon_of_interest=interest,
        notes=of_scores.notes_on(inside, outside, area),
        scores=(inside, outside),
        seconds=time.perf_counter() - started,
    )


def minimum_detectable_epsilon(
    canaries: int,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    claim: PrivacyClaim | None = None,
    method: str = Method.ONE_RUN_F_DP,
    alpha: float = CANARY_ERROR,
    family: str | None = None,
    guesses: int | tuple[int, int] | None = None,
) -> float:
    """Return the MDV of an audit before it is made: infinity where ideal canaries would show no violation.

    Parameters
    ----------
    canaries
        m: how many, half of them in.
    epsilon, delta, claim, method, alpha, family, guesses
        As :func:`audit_canaries` takes them.

    Examples
    --------
    >>> round(minimum_detectable_epsilon(2000, epsilon=1.0, delta=1e-5), 1)
    1.2
    """
    m = require_integer("canaries", canaries, minimum=2)
    level = require_open_interval("alpha", alpha, 0.0, 1.0)
    stated, kind, at = _stated(epsilon, delta, claim, None if family is None else Family(family))
    found = _design(Method(method), m, guesses).finder(
        claim_lines(stated), kind, at, alpha=level, power=_POWER
    )
    smallest = _smallest_found(found, kind, at)
    return math.inf if smallest is None else kind.epsilon(smallest, at)


def _stated(
    epsilon: float | None, delta: float | None, claim: PrivacyClaim | None, family: Family | None
) -> tuple[PrivacyClaim, Family, float]:
    """Return the claim, the family in which bounds are told, and the δ at which."""
    at = None if delta is None else require_open_interval("delta", delta, 0.0, 1.0)
    if claim is not None:
        if epsilon is not None:
            raise InputError(f"claim={claim} and epsilon={epsilon!r} were both given; give one")
        if not isinstance(claim, PrivacyClaim):
            raise InputError(
                f"claim={claim!r} is not a privacy claim; give one of dpsco_verify.privacy.claims"
            )
        kind = Family.of(claim) if family is None else family
        return claim, kind, claim.headline()[1] if at is None else at
    if epsilon is None:
        raise InputError("epsilon=None and claim=None: nothing is claimed; give epsilon, or a claim")
    order = require_non_negative("epsilon", epsilon)
    if family is Family.GAUSSIAN:
        if at is None:
            raise InputError(
                "delta=None does not say which Gaussian mechanism is meant; give delta in (0, 1)"
            )
        return GaussianDP(gaussian_mu(order, at)), family, at
    if at is None:
        return PureDP(order), Family.APPROXIMATE, 0.0
    return ApproximateDP(order, at), Family.APPROXIMATE, at


def _interest(claim: PrivacyClaim, delta: float, epsilon: float | None, multiple: float) -> float:
    """Return the ε that has to be detectable."""
    if epsilon is not None:
        return require_positive("epsilon_of_interest", epsilon)
    times = require_number("multiple_of_interest", multiple)
    if times <= 1.0:
        raise InputError(
            f"multiple_of_interest={times!r} is no violation of the claim; give a number above 1, such as 3"
        )
    return times * (claimed_epsilon(claim, delta) or EPSILON_FOR_NONE)


def _test(method: Method, ranked: RankedScores, guesses: int | tuple[int, int] | None) -> _Test:
    if method is Method.CLOPPER_PEARSON:
        return ManyRuns.of(ranked)
    rule = f_dp if method is Method.ONE_RUN_F_DP else approximate_dp
    return OneRun.of(rule, planned_guesses(ranked.canaries, guesses), ranked)


def _design(method: Method, canaries: int, guesses: int | tuple[int, int] | None) -> _Test:
    """Return the test of so many canaries whose scores are not known yet."""
    coins = np.arange(canaries) < canaries // 2
    return _test(method, RankedScores(np.zeros(canaries), coins), guesses)


def _lower(test: _Test, family: Family, delta: float, alpha: float) -> float:
    """Return the largest parameter of the family that is refuted, or 0."""
    if not test.rejects(family.lines(_SMALLEST, delta), alpha):
        return 0.0
    low, high = _SMALLEST, family.largest
    for _ in range(_STEPS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if test.rejects(family.lines(middle, delta), alpha) else (low, middle)
    return low


def _smallest_found(found: Callable[[float], bool], family: Family, delta: float) -> float | None:
    """Return the smallest parameter of the family that would have been found, or None."""
    low, high = _SMALLEST, family.largest
    if not found(high) or not math.isfinite(family.epsilon(high, delta)):
        return None
    for _ in range(_STEPS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if found(middle) else (middle, high)
    return high


def _mdv(parameter: float, family: Family, delta: float, area: float) -> CanaryMDV:
    seen = _seen(area, family)
    return CanaryMDV(
        epsilon=family.epsilon(parameter, delta),
        parameter=parameter,
        power=_POWER,
        privacy_loss_factor=None if seen is None else parameter / seen,
    )


def _seen(area: float, family: Family) -> float | None:
    """Return the parameter at which ideal canaries have this AUROC; None where it tells nothing, or everything."""
    if not 0.5 < area < 1.0:
        return None
    if family is Family.GAUSSIAN:
        return float(math.sqrt(2.0) * ndtri(area))
    return math.log(area / (1.0 - area))


def _p_value(test: _Test, lines: TradeOffLines) -> float:
    """Return the smallest level that refutes, to a part in a thousand; 1 where none does."""
    low, high = math.log(_SMALLEST_P), 0.0
    if not test.rejects(lines, 1.0 - _SMALLEST):
        return 1.0
    while high - low > 1e-3:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if test.rejects(lines, math.exp(middle)) else (middle, high)
    return math.exp(high)


def _needed(
    method: Method,
    lines: TradeOffLines,
    family: Family,
    delta: float,
    alpha: float,
    interest: float,
    guesses: int | tuple[int, int] | None,
) -> int | None:
    """Return about how many canaries would let the audit find what is of interest."""
    if guesses is not None or not math.isfinite(interest):
        return None

    def enough(canaries: int) -> bool:
        found = _design(method, canaries, None).finder(lines, family, delta, alpha=alpha, power=_POWER)
        smallest = _smallest_found(found, family, delta)
        return smallest is not None and family.epsilon(smallest, delta) <= interest

    number = 2
    while not enough(number):
        number *= 2
        if number > _MOST_CANARIES:
            return None
    low = number // 2
    while number - low > max(1.0, 0.02 * number):
        middle = (low + number) // 2
        low, number = (low, middle) if enough(middle) else (middle, number)
    return number
