"""Choose, on one part of the samples, the event that is judged on the other."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import betainccinv, betaincinv

from dpsco_verify.arrays import FloatArray
from dpsco_verify.auditing.features import Feature, bit_features, standard_features
from dpsco_verify.auditing.likelihood_ratio import learned_features
from dpsco_verify.auditing.orders import Aims, Order, rating, remoteness
from dpsco_verify.auditing.outputs import Outputs, join
from dpsco_verify.auditing.parts import amount_features, label_candidates
from dpsco_verify.auditing.region_search import atom_candidates, feature_candidates
from dpsco_verify.auditing.regions import Candidate, FeatureRegion, Region, sorted_values
from dpsco_verify.execution.threads import one_thread_of_linear_algebra
from dpsco_verify.inference.bets import bet_fractions, log_factors

_FINALISTS = 24
_FINALISTS_OF_AN_ORDER = 5
_MOST_BUILT = 200_000
_MOST_CUT = 100_000
_MOST_ENTRIES = 1 << 21
"""More outputs, and more entries in all, do not make an event on a number better by what their sorting costs."""
_CAUTION = 0.1
"""One-sided level of the bounds of P(E) and P'(E) at which candidates are compared."""
_PLAIN = 3.0
"""From this rating on a simple event, of one piece and with one end, is not taken for a fluke, nor its growth for less
than it looks: events of a part in a hundred, which the test does find, are rarely seen often enough for cautious
bounds."""
_CHANCES = 1.5
"""So is an interval, which is the best of some thousand, from ``sqrt(2 log(tried^_CHANCES))`` on: about the largest of
so many ratings that are chance."""
_FAR = 3.0
"""The remoteness from which on an event is nothing to pass on: its ε would have to be larger by so much to be found."""
_BEYOND_DOUBT = 1e-9
_SIMPLICITY = 0.15
"""By what part of its remoteness each further piece of an event makes it less promising."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The event that looks best, and how fast a bet on it is expected to grow.

    Attributes
    ----------
    candidate
        The event, the direction of the pair and the order.
    growth
        An estimate of the log wealth that a pair of outputs adds at the best bet, cautious where the event's rating
        does not speak for itself; at most 0 where the sample shows no violation.
    frequency, frequency_neighbour
        How often the event occurred there on the data set on which it is likelier, and on the other.
    remoteness
        How far it is from what the test finds, and a little more for each further piece of the event.
    rating
        ``z`` on the part of the sample that had no say in building the event.
    best_rating
        The largest rating of any event that was compared.
    tried
        How many candidates were built.
    """

    candidate: Candidate
    growth: float
    frequency: float
    frequency_neighbour: float
    remoteness: float
    rating: float
    tried: int
    best_rating: float = -math.inf

    @property
    def score(self) -> float:
        """What a search over pairs maximises: the growth, or where there is none the best rating on a smaller scale."""
        return self.growth if self.growth > 0 else 1e-6 * (max(self.rating, self.best_rating) - 100.0)


def select(
    first: Outputs,
    second: Outputs,
    aims: Aims,
    *,
    extra_features: Sequence[Feature] = (),
    classifier: str = "built-in",
    log_ratio: Callable[[Any], FloatArray] | None = None,
    floating_point: bool = False,
) -> Choice | None:
    """Return the event that looks best against the claim, or None where the outputs show no feature at all.

    Parameters
    ----------
    first, second
        Outputs on d and d_prime. The first half builds what could be fitted to noise, which the other judges.
        Half-lines and intervals are judged by all outputs of which their feature was not learned: the more judge an
        event, the less its choice is left to chance.
    aims
        The points of the claim's curve at which to look, and what the test can see.
    extra_features
        A user's own features.
    classifier
        The learner of the likelihood ratio.
    log_ratio
        ``log p(x | d) − log p(x | d_prime)`` of the outputs as the mechanism returned them, where it is known.
    floating_point
        Whether the grid of floating-point numbers on which an output lies counts as part of it.
    """
    build, _ = _cut(first, second, 1 / 2)
    sample = join(*build)
    candidates = atom_candidates(*build, aims) + label_candidates(*build, aims)
    for feature in _given(sample, extra_features, log_ratio, floating_point=floating_point):
        values = feature.values(first), feature.values(second)
        candidates += feature_candidates(feature, *values, aims, fitted=0.0)
    # Learned on a quarter and cut on the others, so that the cut is not fitted to what was learned.
    candidates += _learned(*_cut(first, second, 1 / 4), aims, classifier, built_from=1 / 3, fitted=1 / 4)
    if not candidates:
        return None
    finalists = _finalists(candidates)
    judges = {
        fitted: _Judge(*_cut(first, second, fitted)[1], aims, tried=len(candidates))
        for fitted in {candidate.fitted for candidate in finalists}
    }
    choices = [judges[candidate.fitted](candidate) for candidate in finalists]
    # What is not expected to be found gives way to what can be passed on, if there is such a thing.
    enough = aims.needed if min(choice.remoteness for choice in choices) <= _FAR else 0.0
    best = max(
        choices, key=lambda choice: (choice.growth if choice.growth >= enough else 0.0, -choice.remoteness)
    )
    return replace(best, best_rating=max(choice.rating for choice in choices))


def _finalists(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the most promising candidates, half-lines and intervals apart from unions of cells.

    A union looks better on the outputs that built it than it is, and against a claim of ε = 0 by far: noise makes the
    best 64 cells of some feature look six standard errors apart. There is one for each feature, so where features are
    many, as of vectors, they would leave no place to the half-line that is right.
    """
    found: list[Candidate] = []
    for pieces in (False, True):
        alike = [c for c in candidates if (c.fitted > 0.0 and c.region.pieces > 1) is pieces]
        for merit in (lambda c: -c.rating, lambda c: c.remoteness):
            found += [c for c in sorted(alike, key=merit)[:_FINALISTS] if c not in found]
    return found


def select_largest(
    first: Outputs,
    second: Outputs,
    aims: Aims,
    promise: Callable[[float, float, float], float],
    *,
    extra_features: Sequence[Feature] = (),
    classifier: str = "built-in",
    log_ratio: Callable[[Any], FloatArray] | None = None,
    floating_point: bool = False,
) -> Choice | None:
    """Return the event that promises most; None where no event is likelier on either data set.

    Parameters
    ----------
    first, second
        Outputs on d and d_prime. The first quarter learns, the next builds events, the last half compares.
    aims
        Orders, apart: the best event is the one that rates best at one of them.
    promise
        What an event promises, by its frequencies on the data set on which it is likelier and on the other, and the
        number of outputs among which they were seen.
    extra_features, classifier, log_ratio, floating_point
        As :func:`select` takes them.
    """
    known, rest = _cut(first, second, 1 / 2)
    learn, cut = _cut(*known, 1 / 2)
    build = known[0].take(slice(0, _MOST_BUILT)), known[1].take(slice(0, _MOST_BUILT))
    cut = cut[0].take(slice(0, _MOST_CUT)), cut[1].take(slice(0, _MOST_CUT))
    candidates = atom_candidates(*build, aims) + label_candidates(*build, aims)
    rows = slice(0, max(_MOST_ENTRIES // max(build[0].width, build[1].width, 1), 1))
    given = build[0].take(rows), build[1].take(rows)
    sample = join(*given)
    for feature in _given(sample, extra_features, log_ratio, floating_point=floating_point):
        values = feature.values(given[0]), feature.values(given[1])
        candidates += feature_candidates(feature, *values, aims, built_from=1.0)
    candidates += _learned(learn, cut, aims, classifier, built_from=1.0)
    judge = _Judge(*rest, aims, tried=len(candidates))
    finalists: list[Candidate] = []
    for order in aims.orders:
        of_order = sorted((c for c in candidates if c.order == order), key=lambda c: -c.rating)
        # What is made of many pieces looks better where it was built than it is, and must crowd out no half-line.
        for simple in (True, False):
            of_kind = (c for c in of_order if c.is_simple is simple)
            finalists += itertools.islice(of_kind, _FINALISTS_OF_AN_ORDER)
    return max(
        map(judge, finalists),
        key=lambda choice: promise(choice.frequency, choice.frequency_neighbour, rest[0].size),
        default=None,
    )


def floating_point_leak(first: Outputs, second: Outputs, aims: Aims) -> str | None:
    """Return the event on the bits of the outputs that breaks the claim beyond doubt, in words, or None.

    One half of the outputs builds it; the other shows it, with exact bounds that miss with probability 1e-9 each.
    """
    build, rest = _cut(first, second, 1 / 2)
    candidates = [
        candidate
        for feature in bit_features(join(*build))
        for candidate in feature_candidates(feature, feature.values(build[0]), feature.values(build[1]), aims)
    ]
    if not candidates:
        return None
    best = max(candidates, key=lambda c: c.rating)
    choice = _Judge(*rest, aims, tried=len(candidates), level=_BEYOND_DOUBT)(best)
    return str(best.region) if choice.growth > 0 else None


@dataclass(frozen=True)
class _OnRaw:
    function: Callable[[Any], FloatArray]

    def __call__(self, outputs: Outputs) -> FloatArray:
        return self.function(outputs.raw)


_Pair = tuple[Outputs, Outputs]


def _cut(first: Outputs, second: Outputs, part: float) -> tuple[_Pair, _Pair]:
    """Return the first part of the outputs on each data set, and the others."""
    at = int(part * first.size), int(part * second.size)
    return (
        (first.take(slice(0, at[0])), second.take(slice(0, at[1]))),
        (first.take(slice(at[0], None)), second.take(slice(at[1], None))),
    )


def _given(
    sample: Outputs,
    extra_features: Sequence[Feature],
    log_ratio: Callable[[Any], FloatArray] | None,
    *,
    floating_point: bool,
) -> Iterator[Feature]:
    """Yield the features that nothing has to be learned for."""
    yield from standard_features(sample)
    yield from amount_features(sample)
    yield from extra_features
    if floating_point:
        yield from bit_features(sample)
    if log_ratio is not None:
        yield Feature(name="log-likelihood ratio", values=_OnRaw(log_ratio))


def _learned(
    learn: _Pair, cut: _Pair, aims: Aims, classifier: str, *, built_from: float, fitted: float = 1 / 2
) -> list[Candidate]:
    found: list[Candidate] = []
    # The order of a sum depends on the threads that share it: with one, what is learned is the same everywhere.
    with one_thread_of_linear_algebra():
        for feature in learned_features(*learn, classifier=classifier):
            values = feature.values(cut[0]), feature.values(cut[1])
            found += feature_candidates(feature, *values, aims, built_from=built_from, fitted=fitted)
    return found


class _Judge:
    """Rates candidates on outputs that did not build them."""

    def __init__(
        self, first: Outputs, second: Outputs, aims: Aims, *, tried: int, level: float = _CAUTION
    ) -> None:
        self._outputs = first, second
        self._aims = aims
        self._tried = tried
        self._level = level
        self._values: dict[Feature, tuple[FloatArray, ...]] = {}

    def __call__(self, candidate: Candidate) -> Choice:
        """Return the choice that the candidate is."""
        inside = self._inside(candidate.region)
        in_p, in_q = reversed(inside) if candidate.swapped else inside
        first, second = reversed(self._outputs) if candidate.swapped else self._outputs
        n_p, n_q = first.size, second.size
        p, q = in_p / n_p, in_q / n_q
        frequencies = (np.array([p]), np.array([q]))
        z = float(rating(*frequencies, [candidate.order], n_p, n_q)[0, 0])
        plain = _PLAIN if candidate.ends == 1 else math.sqrt(2.0 * _CHANCES * math.log(self._tried))
        simple = candidate.region.pieces == 1
        level = 0.5 if simple and z >= plain and self._level == _CAUTION else self._level
        low = float(betaincinv(in_p, n_p - in_p + 1, level)) if in_p else 0.0
        high = float(betainccinv(in_q + 1, n_q - in_q, level)) if in_q < n_q else 1.0
        ((far,),), _ = remoteness(*frequencies, [candidate.order], n_p, n_q, reach=self._aims.reach)
        return Choice(
            candidate=candidate,
            growth=growth_rate(low, high, candidate.order),
            frequency=p,
            frequency_neighbour=q,
            remoteness=float(far + _SIMPLICITY * abs(far) * min(candidate.region.pieces - 1, 4)),
            rating=z,
            tried=self._tried,
        )

    def _inside(self, region: Region) -> tuple[int, int]:
        """Return how many outputs lie in the region; a feature's values, which may be costly, are sorted once."""
        if not isinstance(region, FeatureRegion):
            first, second = (int(np.count_nonzero(region.contains(x))) for x in self._outputs)
            return first, second
        if region.feature not in self._values:
            self._values[region.feature] = tuple(
                sorted_values(region.feature.values(x)) for x in self._outputs
            )
        first, second = (region.event.count(x) for x in self._values[region.feature])
        return first, second


def growth_rate(p: float, q: float, order: Order) -> float:
    """Return the largest expected log factor, over the grid of bets, against the order for P(E) = p and P'(E) = q."""
    factor = math.exp(order.epsilon)
    payoffs = np.array([0.0, -factor, 1.0, 1.0 - factor]) - order.delta
    weights = np.array([(1 - p) * (1 - q), (1 - p) * q, p * (1 - q), p * q])
    logs = log_factors(bet_fractions(depth=14), payoffs / (factor + order.delta))
    return float((logs @ weights).max())
