"""A lower bound on ε that is tied to no claim: the largest ε that the outputs refute.

The event that counts is the one that is best against the bound that it gives. Events are sought against a grid of ε,
and the one that promises the largest bound is kept. It is judged once on fresh outputs, by the test of a fixed number
of them of every ε, whose weights were fixed before (:mod:`dpsco_verify.inference.fixed_size_test`), or, for δ = 0 and
where that promises more, by an exact conditional one: with probability 1 − α no ε that is true is refuted, so that the
bound, the end of the refuted ones, is true (:mod:`dpsco_verify.auditing.bounds`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri

from dpsco_verify.arrays import ArrayLike
from dpsco_verify.auditing import bounds
from dpsco_verify.auditing.confirmation import count_fresh
from dpsco_verify.auditing.mechanism import Caller, Mechanism, mechanism_name
from dpsco_verify.auditing.one_pair import choose, draw_more, looks, searchable
from dpsco_verify.auditing.orders import Aims, Order
from dpsco_verify.auditing.outputs import Outputs
from dpsco_verify.auditing.pairs import require_pair
from dpsco_verify.auditing.relations import OwnRelation
from dpsco_verify.auditing.repeats import repeats
from dpsco_verify.auditing.request import (
    MISSING,
    AuditRequest,
    checked_claim,
    checked_pairs,
    checked_relation,
)
from dpsco_verify.auditing.selection import Choice, select_largest
from dpsco_verify.choices import (
    DEFAULT_PROFILE,
    ERROR_BUDGET,
    FEWEST_SAMPLES,
    MULTIPLE_OF_INTEREST,
    SAMPLES,
    ClassifierName,
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

_SEARCH = 0.4
"""The part of the samples that the choice of the event may use; a bound grows slowly with the others."""
_MOST_SEARCHED = 500_000
_ORDERS = tuple(float(epsilon) for epsilon in np.geomspace(0.005, 20.0, 25))
"""Values of ε about which events are sought, with a factor of 1.4 between them."""
_LARGEST_EPSILON = 60.0
_DOUBT = 1.5
_DOUBT_OF_RARE = 3.0
"""Standard errors of what was seen that are doubted, since the best of many events looks better than it is: more for
rare events, of which there are more and whose counts are further from normal."""
_FEWEST_SEEN = 32
"""An event that was seen less often is not trusted to be as likely as it looked."""


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

    Examples
    --------
    >>> flip = lambda data, size, rng: np.where(rng.random(size) < 0.9, data[0], 1 - data[0])
    >>> found = estimate_epsilon(flip, ([0], [1]))
    >>> print(round(found.frequency, 1), round(found.frequency_neighbour, 1), found.samples)
    0.9 0.1 10000
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
    """Return the largest ε that the outputs refute at `delta`; :func:`estimate_epsilon` returns its event too.

    Examples
    --------
    >>> flip = lambda data, size, rng: np.where(rng.random(size) < 0.9, data[0], 1 - data[0])
    >>> bool(1.9 < epsilon_lower_bound(flip, ([0], [1])) < np.log(9))
    True
    """
    return estimate_epsilon(mechanism, pair, delta, **options).epsilon


def estimate_epsilon(
    mechanism: Mechanism,
    pair: tuple[Any, Any],
    delta: float = 0.0,
    *,
    alpha: float = ERROR_BUDGET,
    samples: int = SAMPLES[DEFAULT_PROFILE],
    seed: int = 0,
    relation: Relation | RelationName | OwnRelation | None = None,
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

    Examples
    --------
    >>> flip = lambda data, size, rng: np.where(rng.random(size) < 0.9, data[0], 1 - data[0])
    >>> found = estimate_epsilon(flip, ([0], [1]))  # ε = log 9 = 2.2
    >>> bool(1.9 < found.epsilon <= np.log(9))
    True
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
    searched = searchable(caller, min(int(_SEARCH * samples), _MOST_SEARCHED))
    outputs = draw_more(caller, searched, "estimate/search")
    fresh = samples - searched
    choice, plan = _sought(request, outputs, fresh)
    repeated = repeats(*outputs)
    counts = count_fresh(caller, choice.candidate, fresh, "estimate/confirm")
    in_p, in_q = counts.n11 + counts.n10, counts.n11 + counts.n01
    if plan.conditional:
        epsilon = bounds.epsilon_lower_bound_at_once(in_p, in_q, fresh, alpha=alpha)
    else:
        epsilon = bounds.epsilon_lower_bound_of_all(counts, delta=delta, alpha=alpha, p=choice.frequency)
    return EpsilonEstimate(
        epsilon=epsilon,
        delta=delta,
        alpha=alpha,
        event=str(choice.candidate.region),
        swapped=choice.candidate.swapped,
        frequency=in_p / fresh,
        frequency_neighbour=in_q / fresh,
        samples=samples,
        mechanism=request.name,
        notes=() if repeated is None else (repeated,),
    )


class _Plan(NamedTuple):
    """The bound that is expected, and whether it is the one given the number of all occurrences."""

    promised: float
    conditional: bool


def _sought(request: AuditRequest, outputs: tuple[Outputs, Outputs], fresh: int) -> tuple[Choice, _Plan]:
    """Return the event that promises the largest bound from `fresh` outputs a data set, and the bound to be had."""
    delta = request.claim.delta(0.0)
    threshold = math.log(1.0 / request.alpha)
    # The tests' bounds lose about as much as half of the level.
    reach = -float(ndtri(0.5 * request.alpha)) / math.sqrt(fresh)
    orders = tuple(Order(epsilon, delta) for epsilon in (0.0, *_ORDERS))

    def plan(p: float, q: float, seen: float) -> _Plan:
        plain = _promised(p, q, delta, reach + _DOUBT_OF_RARE / math.sqrt(seen), fresh)
        if delta > 0.0 or p * seen < _FEWEST_SEEN:
            return _Plan(plain, conditional=False)
        doubt = _DOUBT * math.sqrt(((1.0 - p) / p + (1.0 - q) / (q + 1.0 / seen)) / seen)
        exact = bounds.epsilon_lower_bound_at_once(p * fresh, q * fresh, fresh, alpha=request.alpha) - doubt
        return _Plan(exact, conditional=True) if exact > plain else _Plan(plain, conditional=False)

    found = select_largest(
        *outputs,
        Aims(orders, reach, threshold / fresh, apart=True),
        lambda p, q, seen: plan(p, q, seen).promised,
        **looks(request, request.pairs[0]),
    )
    choice = found or choose(request, request.pairs[0], outputs, Aims(orders[:1], reach, threshold / fresh))
    if choice is None:
        raise InputError(
            f"mechanism={request.name} returned outputs without any content; there is nothing to judge"
        )
    return choice, plan(choice.frequency, choice.frequency_neighbour, outputs[0].size / 2.0)


def _promised(p: float, q: float, delta: float, reach: float, fresh: int) -> float:
    """Return the ε up to which the excess is `reach` standard errors of one pair at the frequencies seen, or 0."""
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
