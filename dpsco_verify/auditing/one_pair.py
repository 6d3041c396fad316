"""The audit of one pair of data sets.

It goes in rounds, each ten times as large as the one before and with its own part of the level: a gross fault shows in
the first, and the last has nine tenths of the level. In each the event is chosen among all features, both directions
and all orders of the claim on samples that its test does not see, so the levels of the tests are all that the audit
errs by. The last round has two: one bets, and may decide at any time; the other is made once, when all outputs are
drawn and nothing is decided, and needs less evidence as it leaves no room for other moments. Their levels add up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.special import ndtri

from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.auditing.conclusion import concluded
from dpsco_verify.auditing.confirmation import Confirmation, confirm
from dpsco_verify.auditing.features import user_features
from dpsco_verify.auditing.mechanism import Caller
from dpsco_verify.auditing.orders import Aims, rating
from dpsco_verify.auditing.outputs import Outputs, join
from dpsco_verify.auditing.raising import skipping_exceptions
from dpsco_verify.auditing.repeats import repeats, unseen
from dpsco_verify.auditing.request import SEARCH, Z_POWER, AuditRequest
from dpsco_verify.auditing.result import AuditResult
from dpsco_verify.auditing.selection import Choice, floating_point_leak, select
from dpsco_verify.errors import InputError
from dpsco_verify.evidence import AuditVerdict
from dpsco_verify.execution.time_limit import Deadline, TimeIsUp

_LAST_ROUND = 0.9
"""The last round's part of the level; the earlier ones share the rest equally."""
_PROMISING = 0.5
"""The part of the evidence that an early round's test needs which its event has to promise, by cautious bounds."""
AT_ONCE = 0.75
"""The part of the last round's level that is the test's of all its outputs."""
_GROWTH_OF_ROUNDS = 10
_SMALLEST_ROUND = 1000
MOST_SEARCHED = 100_000
"""More outputs than this do not make the choice of the event better by what their sorting costs."""
_FEWEST_SEARCHED = 24
_MOST_ENTRIES = 1 << 25
"""Numbers that the search keeps a data set, a quarter of a gigabyte: fewer outputs where they are wide."""
_BEYOND = 3.0
_LEAK = (
    "as floating-point numbers the outputs break the claim: [{event}] alone shows it; floating_point=True judges them "
    "so, and noise on a fixed grid would fix it"
)


@dataclass(frozen=True)
class _Round:
    """One round: how many outputs a data set its search has seen in the end, its test's cap, its part of the level."""

    searched: int
    confirmed: int
    weight: float


def _rounds(samples: int) -> list[_Round]:
    """Return rounds that use `samples` outputs a data set in all."""
    totals = [samples]
    while totals[0] >= _GROWTH_OF_ROUNDS * _SMALLEST_ROUND:
        totals.insert(0, totals[0] // _GROWTH_OF_ROUNDS)
    rounds: list[_Round] = []
    used = 0
    for total in totals:
        searched = min(max(int(SEARCH * total), _FEWEST_SEARCHED), MOST_SEARCHED)
        last = total == samples
        already = rounds[-1].searched if rounds else 0
        confirmed = samples - used - (searched - already) if last else total - searched
        weight = 1.0 if len(totals) == 1 else _LAST_ROUND if last else (1.0 - _LAST_ROUND) / (len(totals) - 1)
        rounds.append(_Round(searched, confirmed, weight))
        used += searched - already + confirmed
    return rounds


def _samples_for(pairs: int | None) -> int | None:
    """Return `samples`, rounded up to two digits, whose last round's test has so many pairs."""
    if pairs is None:
        return None
    samples = pairs
    while _rounds(samples)[-1].confirmed < pairs:
        samples += -(-samples // 50)
    unit: int = 10 ** max(len(str(samples)) - 2, 0)
    return -(-samples // unit) * unit


@dataclass(frozen=True)
class Progress:
    """A pair after a round that decided nothing: its search's growth, and the outputs drawn a data set so far."""

    growth: float
    samples: int


def audit_pair(
    request: AuditRequest,
    pair: tuple[Any, Any],
    *,
    alpha: float,
    number: int,
    deadline: Deadline,
) -> Generator[Progress, None, AuditResult]:
    """Audit pair number `number` at level `alpha`, round by round; see :func:`dpsco_verify.auditing.audit`.

    It yields after each round but the last, and returns the result. Its level does not depend on when, or whether, it
    is carried on.
    """
    done = _Done()
    try:
        yield from _rounds_of(request, pair, done, alpha=alpha, number=number, deadline=deadline)
    except TimeIsUp:
        done.cut_short = True
    result = concluded(
        request,
        pair,
        done.spent,
        done.used,
        alpha=alpha,
        reproducible=done.reproducible,
        ended_after=request.total_time_limit if done.cut_short else None,
        samples_for=_samples_for,
    )
    if done.outputs is None or done.cut_short:
        return result
    if result.verdict is AuditVerdict.NOT_VIOLATED and not request.features:
        hidden = unseen(*done.outputs)
        if hidden is not None:
            result = replace(result, verdict=AuditVerdict.UNDECIDED, unseen=hidden)
    repeated = repeats(*done.outputs)
    notes = [] if repeated is None else [repeated]
    beyond = _beyond(done.spent[-1])
    notes += [] if beyond is None else [beyond]
    if not request.floating_point and result.verdict is not AuditVerdict.VIOLATED:
        leak = floating_point_leak(*done.outputs, request.aims)
        notes += [] if leak is None else [_LEAK.format(event=leak)]
    return replace(result, notes=tuple(notes)) if notes else result


def _beyond(confirmation: Confirmation) -> str | None:
    """Return a sentence on a test that found nothing, though its event was seen well beyond the claim, or None."""
    if confirmation.rejected:
        return None
    order, counts, n = confirmation.choice.candidate.order, confirmation.counts, confirmation.samples
    p, q = (counts.n11 + counts.n10) / n, (counts.n11 + counts.n01) / n
    z = float(rating(np.array([p]), np.array([q]), [order], n, n)[0, 0])
    if z < _BEYOND:
        return None
    threshold = (
        math.sqrt(-2.0 * math.log(confirmation.alpha))
        if confirmation.at_once is None
        else -float(ndtri(confirmation.at_once.alpha))
    )
    wanted = threshold + Z_POWER
    needed = _samples_for(math.ceil(n * (wanted / z) ** 2))
    return (
        f"[{confirmation.choice.candidate.region}] was seen {z:.1f} standard errors beyond the claim, too few for "
        f"this level; chance shows three in about one of 700 audits of a right mechanism, and about {needed:,} "
        "outputs a data set would tell"
    )


@dataclass
class _Done:
    """What has been done of a pair: its rounds' tests, and the outputs drawn a data set."""

    spent: list[Confirmation] = field(default_factory=list)
    used: int = 0
    outputs: tuple[Outputs, Outputs] | None = None
    reproducible: bool = True
    cut_short: bool = False


def _rounds_of(
    request: AuditRequest,
    pair: tuple[Any, Any],
    done: _Done,
    *,
    alpha: float,
    number: int,
    deadline: Deadline,
) -> Iterator[Progress]:
    """Yield after each round that decides nothing but the last, and keep what is done in `done`."""
    caller = Caller(
        request.mechanism,
        pair,
        name=request.name,
        seed=request.seed,
        time_limit=request.time_limit,
        deadline=deadline,
    )
    done.reproducible = caller.reproducible
    caller.trial()
    aims = request.aims
    rounds = _rounds(request.samples)
    outputs = draw_more(caller, searchable(caller, rounds[0].searched), f"audit/{number}/search-0")
    done.outputs = outputs
    done.used = outputs[0].size
    for k, this in enumerate(rounds):
        more = searchable(caller, this.searched) - outputs[0].size
        if more > 0:
            done.outputs = outputs = draw_more(caller, more, f"audit/{number}/search-{k}", outputs)
            done.used += more
        choice = deadline.run(partial(choose, request, pair, outputs, aims))
        last = k + 1 == len(rounds)
        if choice is None and last:
            raise InputError(
                f"mechanism={request.name} returned outputs without any content; there is nothing to judge"
            )
        # What an early round has hardly a chance to find would only take outputs away from the last one.
        threshold = -math.log(this.weight * alpha)
        if choice is None or not (last or choice.growth * this.confirmed >= _PROMISING * threshold):
            yield Progress(-math.inf if choice is None else choice.growth, done.used)
            continue
        confirmation = confirm(
            caller,
            choice,
            alpha=this.weight * alpha,
            decide_within=request.samples - done.used if last else this.confirmed,
            cap=request.samples - done.used,
            purpose=f"audit/{number}/confirm-{k}",
            part_at_once=AT_ONCE if last else 0.0,
        )
        done.spent.append(confirmation)
        done.used += confirmation.samples
        done.cut_short = confirmation.cut_short and not confirmation.rejected
        if confirmation.rejected or confirmation.cut_short:
            return
        if not last:
            yield Progress(choice.growth, done.used)


def searchable(caller: Caller, size: int) -> int:
    """Return how many of so many outputs a data set the search can keep."""
    return min(size, max(_MOST_ENTRIES // caller.width, _FEWEST_SEARCHED))


def draw_more(
    caller: Caller, size: int, purpose: str, earlier: tuple[Outputs, Outputs] | None = None
) -> tuple[Outputs, Outputs]:
    """Return the earlier outputs on both data sets and `size` more."""
    first, second = (caller.draw(side, size, purpose) for side in (0, 1))
    return (first, second) if earlier is None else (join(earlier[0], first), join(earlier[1], second))


def choose(
    request: AuditRequest, pair: tuple[Any, Any], outputs: tuple[Outputs, Outputs], aims: Aims
) -> Choice | None:
    """Return the event that looks best on these outputs."""
    return select(*outputs, aims, **looks(request, pair))


def looks(request: AuditRequest, pair: tuple[Any, Any]) -> dict[str, Any]:
    """Return what the choice of an event is to look at, as :func:`select` takes it."""
    return {
        "extra_features": tuple(
            user_features({name: skipping_exceptions(f) for name, f in request.features.items()})
        ),
        "classifier": request.classifier,
        "log_ratio": None
        if request.log_density is None
        else skipping_exceptions(log_ratio_of(request.log_density, pair)),
        "floating_point": request.floating_point,
    }


def log_ratio_of(
    log_density: Callable[[Any, Any], ArrayLike], pair: tuple[Any, Any]
) -> Callable[[Any], FloatArray]:
    """Return the function of outputs that is the log ratio of their densities on the two data sets of the pair."""

    def ratio(raw: Any) -> FloatArray:
        first, second = (np.asarray(log_density(raw, data), dtype=np.float64) for data in pair)
        if first.shape != (len(raw),) or second.shape != (len(raw),):
            raise InputError(
                f"log_density returned shapes {first.shape} and {second.shape}; return one number an output, "
                f"({len(raw)},)"
            )
        # −∞ − (−∞) is where neither density lives; +∞ − finite is an output that only d can give.
        with np.errstate(invalid="ignore"):
            return first - second

    return ratio
