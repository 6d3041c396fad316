"""The result of a pair's audit: what its tests showed, or that the time was up before any."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpsco_verify.arrays import BoolArray
from dpsco_verify.auditing.bounds import (
    delta_lower_bound,
    delta_lower_bound_of_all,
    epsilon_lower_bound,
    epsilon_lower_bound_of_all,
)
from dpsco_verify.auditing.confirmation import Confirmation
from dpsco_verify.auditing.detectable import detectable, pairs_needed
from dpsco_verify.auditing.outputs import Outputs
from dpsco_verify.auditing.pairs import recognised
from dpsco_verify.auditing.portable import Portable
from dpsco_verify.auditing.request import AuditRequest
from dpsco_verify.auditing.result import AuditResult, Witness
from dpsco_verify.evidence import AuditVerdict
from dpsco_verify.inference import CellCounts


def concluded(
    request: AuditRequest,
    pair: tuple[Any, Any],
    spent: Sequence[Confirmation],
    used: int,
    *,
    alpha: float,
    reproducible: bool,
    ended_after: float | None,
    samples_for: Callable[[int | None], int | None],
) -> AuditResult:
    """Return the result of a pair's tests, the last of which decided or was cut short.

    Parameters
    ----------
    request, pair
        What was asked, of which pair.
    spent
        The rounds' tests.
    used
        Outputs drawn a data set in all.
    alpha
        The pair's level.
    reproducible
        Whether the mechanism draws from the generator alone.
    ended_after
        The seconds after which all ended before its end, or None. Then nothing is said of what would have been found:
        that is a statement about a test whose size does not hang on the clock.
    samples_for
        Returns the samples whose last test has so many pairs.
    """
    if not spent:
        return _unjudged(request, pair, used, ended_after=ended_after)
    confirmation = spent[-1]
    choice = confirmation.choice
    candidate, counts, level = choice.candidate, confirmation.counts, confirmation.alpha
    order, bets = candidate.order, confirmation.fractions
    pairs = confirmation.samples
    occurrences, occurrences_neighbour = counts.n11 + counts.n10, counts.n11 + counts.n01
    frequency_neighbour = occurrences_neighbour / pairs
    delta_lower = delta_lower_bound(counts, epsilon=order.epsilon, alpha=level, fractions=bets)
    epsilon_lower = epsilon_lower_bound(counts, delta=order.delta, alpha=level, fractions=bets)
    at_once = confirmation.at_once
    weights = None
    if at_once is not None and confirmation.samples == confirmation.cap:
        planned = {"alpha": at_once.alpha, "p": choice.frequency}
        delta_lower = max(delta_lower, delta_lower_bound_of_all(counts, epsilon=order.epsilon, **planned))
        epsilon_lower = max(epsilon_lower, epsilon_lower_bound_of_all(counts, delta=order.delta, **planned))
        if at_once.rejected:
            level, weights = at_once.alpha, (at_once.test.first_weight, at_once.test.second_weight)
    mdv = needed = None
    if confirmation.rejected:
        # What was rejected stays so, also when what was drawn later weakens the bounds.
        delta_lower, epsilon_lower = max(delta_lower, order.delta), max(epsilon_lower, order.epsilon)
        verdict = AuditVerdict.VIOLATED
        before = used - confirmation.samples
        decided = before + (confirmation.decision.rejected_at or confirmation.samples)
    elif ended_after is not None:
        decided, verdict = None, AuditVerdict.UNDECIDED
    else:
        decided = None
        mdv = detectable(confirmation)
        epsilon, delta = request.of_interest(order)
        if mdv is not None and (mdv.epsilon <= epsilon or mdv.delta <= delta):
            verdict = AuditVerdict.NOT_VIOLATED
        else:
            verdict = AuditVerdict.UNDECIDED
            needed = samples_for(pairs_needed(confirmation, epsilon=epsilon, delta=delta))
    tests = [(test[0] / alpha, *test[1:]) for one in spent for test in one.tests]
    p_value = min(1.0, *(p / weight for weight, _, p in tests))
    # The weighted mean of e-values is one; a round that was not needed counts with its bet not placed, 1.
    logs = [math.log(weight) + log_e_value for weight, log_e_value, _ in tests]
    unused = 1.0 - math.fsum(weight for weight, *_ in tests)
    log_e_value = float(np.logaddexp.reduce([*logs, math.log(unused)] if unused > 1e-12 else logs))
    first, second = (pair[1], pair[0]) if candidate.swapped else pair
    return AuditResult(
        verdict=verdict,
        mechanism=request.name,
        claim=request.claim,
        relation=None if request.relation is None else request.relation.value,
        order=order.epsilon,
        delta_at_order=order.delta,
        epsilon_lower=epsilon_lower,
        delta_lower=delta_lower,
        mdv=mdv,
        witness=Witness(
            d=first,
            d_prime=second,
            swapped=candidate.swapped,
            event=str(candidate.region),
            contains=Portable(candidate.region.contains),
            counts=counts,
            decision_counts=confirmation.decision_counts,
            frequency=occurrences / pairs,
            frequency_neighbour=frequency_neighbour,
            alpha=level,
            fractions=tuple(float(x) for x in bets),
            weights=weights,
            seed=request.seed,
        ),
        alpha=request.alpha,
        log_e_value=log_e_value,
        p_value=p_value,
        samples=used,
        samples_to_decision=decided,
        candidates=choice.tried,
        pairs=1,
        seconds=0.0,
        reproducible=reproducible and ended_after is None,
        epsilon_of_interest=request.epsilon_of_interest,
        multiple_of_interest=request.multiple_of_interest,
        samples_needed=needed,
        neighbours=recognised(*pair)[0] if request.relation is None else None,
        ended_after=ended_after,
        growth=confirmation.growth,
    )


def _unjudged(
    request: AuditRequest, pair: tuple[Any, Any], used: int, *, ended_after: float | None
) -> AuditResult:
    """Return what is known of a pair where the time was up before any event was tested: nothing."""
    order = request.aims.orders[0]
    none = CellCounts(0, 0, 0, 0)
    return AuditResult(
        verdict=AuditVerdict.UNDECIDED,
        mechanism=request.name,
        claim=request.claim,
        relation=None if request.relation is None else request.relation.value,
        order=order.epsilon,
        delta_at_order=order.delta,
        epsilon_lower=0.0,
        delta_lower=0.0,
        mdv=None,
        witness=Witness(
            d=pair[0],
            d_prime=pair[1],
            swapped=False,
            event="none was tested",
            contains=Portable(_nowhere),
            counts=none,
            decision_counts=none,
            frequency=0.0,
            frequency_neighbour=0.0,
            alpha=request.alpha,
            fractions=(),
            seed=request.seed,
        ),
        alpha=request.alpha,
        log_e_value=0.0,
        p_value=1.0,
        samples=used,
        samples_to_decision=None,
        candidates=0,
        pairs=1,
        seconds=0.0,
        reproducible=False,
        epsilon_of_interest=request.epsilon_of_interest,
        multiple_of_interest=request.multiple_of_interest,
        samples_needed=None,
        neighbours=recognised(*pair)[0] if request.relation is None else None,
        ended_after=ended_after,
    )


def _nowhere(outputs: Outputs) -> BoolArray:
    return np.zeros(outputs.size, dtype=np.bool_)
