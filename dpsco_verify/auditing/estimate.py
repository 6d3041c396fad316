"""A lower bound on ε that is tied to no claim: the largest ε that the outputs refute.

The event is sought where it matters. Starting from ε = 0, the best event against the current ε promises a bound; the
search is then repeated against that bound, until it promises no more. What it chose is judged once on fresh outputs, by
the betting test of every ε, whose bets were fixed before: with probability 1 − α no ε that is true is refuted, so that
the bound, the end of the refuted ones, is true (:mod:`dpsco_verify.auditing.bounds`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from scipy.optimize import brentq

from dpsco_verify.arrays import ArrayLike
from dpsco_verify.auditing import bounds
from dpsco_verify.auditing.confirmation import count_fresh, planned_fractions
from dpsco_verify.auditing.mechanism import Caller, Mechanism, mechanism_name
from dpsco_verify.auditing.one_pair import MOST_SEARCHED, choose, draw_more
from dpsco_verify.auditing.outputs import Outputs
from dpsco_verify.auditing.pairs import require_pair
from dpsco_verify.auditing.regions import Aims, Order
from dpsco_verify.auditing.repeats import repeats
from dpsco_verify.auditing.request import (
    MISSING,
    SEARCH,
    AuditRequest,
    checked_claim,
    checked_pairs,
    checked_relation,
)
from dpsco_verify.auditing.selection import Choice
from dpsco_verify.choices import (
    ERROR_BUDGET,
    FEWEST_SAMPLES,
    MULTIPLE_OF_INTEREST,
    SAMPLES,
    ClassifierName,
    Profile,
    Relation,
    RelationName,
)
from dpsco_verify.errors import InputError
from dpsco_verify.validation import (
    require_integer,
    require_non_negative,
    require_open_interval,
    require_positive,
)

_MOST_SEARCHES = 5
_GAIN = 0.01
"""A search that promises less than this part more is the last."""
_LARGEST_EPSILON = 60.0


@dataclass(frozen=True, kw_only=True)
class EpsilonEstimate:
    """A lower bound on ε at δ, and the event that shows it.

    Attributes
    ----------
    epsilon
        ε at `delta` is at least this, with confidence 1 − `alpha`.
    delta, alpha
        As they were given.
    event
        In words.
    swapped
        Whether the event is likelier on the second data set.
    frequency, frequency_neighbour
        How often it occurred among the fresh outputs on the data set on which it is likelier, and on the other.
    samples
        Outputs drawn a data set, the search's included.
    mechanism
        Its name.
    notes
        What else was noticed.
    """

    epsilon: float
    delta: float
    alpha: float
    event: str
    swapped: bool
    frequency: float
    frequency_neighbour: float
    samples: int
    mechanism: str
    notes: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """What was shown, in one sentence."""
        return ". Note: ".join((self._found, *self.notes))

    @property
    def _found(self) -> str:
        return (
            f"{self.mechanism}: ε ≥ {self.epsilon:.4g} at δ = {self.delta:.4g} with confidence 1 − {self.alpha:.3g}, "
            f"from {self.samples:,} outputs a data set; the event [{self.event}] has frequency {self.frequency:.4g} on "
            f"{'the second' if self.swapped else 'the first'} data set and {self.frequency_neighbour:.4g} on the other"
        )


def epsilon_lower_bound(
    mechanism: Mechanism, pair: tuple[Any, Any], delta: float = 0.0, **options: Any
) -> float:
    """Return the largest ε that the outputs refute at `delta`; :func:`estimate_epsilon` returns its event too."""
    return estimate_epsilon(mechanism, pair, delta, **options).epsilon


def estimate_epsilon(
    mechanism: Mechanism,
    pair: tuple[Any, Any],
    delta: float = 0.0,
    *,
    alpha: float = ERROR_BUDGET,
    samples: int = SAMPLES[Profile.QUICK],
    seed: int = 0,
    relation: Relation | RelationName | None = None,
    log_density: Callable[[Any, Any], ArrayLike] | None = None,
    time_limit: float = 60.0,
    features: Mapping[str, Callable[[Any], ArrayLike]] | None = None,
    classifier: ClassifierName = "built-in",
    floating_point: bool = False,
    name: str | None = None,
) -> EpsilonEstimate:
    """Return the largest ε that the outputs of a mechanism on a pair of data sets refute, whatever is claimed.

    Parameters
    ----------
    mechanism, relation, seed, log_density, time_limit, features, classifier, floating_point, name
        As :func:`dpsco_verify.auditing.audit` takes them.
    pair
        Two neighbouring data sets, which must differ.
    delta
        δ in [0, 1): the bound is on the smallest ε with which (ε, δ)-differential privacy holds on this pair.
    alpha
        The probability, at most, that the bound is too large.
    samples
        Outputs a data set; all are drawn.

    Raises
    ------
    InputError
        For a bad argument, or a pair that is not one.
    MechanismError
        If the mechanism cannot be audited.
    """
    delta = require_non_negative("delta", delta)
    if delta >= 1.0:
        raise InputError(f"delta={delta!r} allows everything; give a number in [0, 1)")
    alpha = require_open_interval("alpha", alpha, 0.0, 1.0)
    samples = require_integer("samples", samples, minimum=FEWEST_SAMPLES)
    [(d, d_prime)] = checked_pairs(MISSING, MISSING, [pair])
    request = AuditRequest(
        mechanism=mechanism,
        pairs=[(d, d_prime)],
        claim=checked_claim(0.0, delta, None),
        relation=None if relation is None else checked_relation(relation),
        alpha=alpha,
        samples=samples,
        seed=require_integer("seed", seed, minimum=0),
        log_density=log_density,
        time_limit=require_positive("time_limit", time_limit),
        epsilon_of_interest=None,
        multiple_of_interest=MULTIPLE_OF_INTEREST,
        features=dict(features or {}),
        classifier=classifier,
        pair_examples=1,
        floating_point=floating_point,
        name=name if name is not None else mechanism_name(mechanism),
    )
    require_pair(d, d_prime, request.relation)
    caller = Caller(
        mechanism, (d, d_prime), name=request.name, seed=request.seed, time_limit=request.time_limit
    )
    caller.trial()
    searched = min(int(SEARCH * samples), MOST_SEARCHED)
    fresh = samples - searched
    outputs = draw_more(caller, searched, "estimate/search")
    choice, promised = _sought(request, outputs, fresh)
    repeated = repeats(*outputs)
    bets = planned_fractions(
        Order(promised, delta), choice.frequency, choice.frequency_neighbour, alpha=alpha, samples=fresh
    )
    counts = count_fresh(caller, choice.candidate, fresh, "estimate/confirm")
    return EpsilonEstimate(
        epsilon=bounds.epsilon_lower_bound(counts, delta=delta, alpha=alpha, fractions=bets),
        delta=delta,
        alpha=alpha,
        event=str(choice.candidate.region),
        swapped=choice.candidate.swapped,
        frequency=(counts.n11 + counts.n10) / fresh,
        frequency_neighbour=(counts.n11 + counts.n01) / fresh,
        samples=samples,
        mechanism=request.name,
        notes=() if repeated is None else (repeated,),
    )


def _sought(request: AuditRequest, outputs: tuple[Outputs, Outputs], fresh: int) -> tuple[Choice, float]:
    """Return the event that promises the largest bound from `fresh` outputs a data set, and that bound."""
    threshold = math.log(1.0 / request.alpha)
    reach = math.sqrt(2.0 * threshold / fresh)
    [start] = request.aims.orders

    def best_against(order: Order) -> tuple[Choice, float]:
        choice = choose(request, request.pairs[0], outputs, Aims((order,), reach, threshold / fresh))
        if choice is None:
            raise InputError(
                f"mechanism={request.name} returned outputs without any content; there is nothing to judge"
            )
        return choice, _promised(choice, order.delta, reach, fresh)

    best = best_against(start)
    for _ in range(_MOST_SEARCHES):
        found = best_against(Order(best[1], start.delta))
        if found[1] <= best[1] * (1.0 + _GAIN):
            break
        best = found
    return best


def _promised(choice: Choice, delta: float, reach: float, fresh: int) -> float:
    """Return the ε up to which the excess is `reach` standard errors of one pair at the frequencies seen, or 0."""
    p, q = choice.frequency, choice.frequency_neighbour
    doubt = 1.0 / fresh

    def spare(epsilon: float) -> float:
        factor = math.exp(epsilon)
        return (
            p
            - factor * q
            - delta
            - reach * math.hypot(math.sqrt(p * (1.0 - p) + doubt), factor * math.sqrt(q * (1.0 - q) + doubt))
        )

    return float(brentq(spare, 0.0, _LARGEST_EPSILON)) if spare(0.0) > 0.0 else 0.0
