"""Choose, on one part of the samples, the event that is judged on the other."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betainccinv, betaincinv

from dpsco_verify.arrays import FloatArray
from dpsco_verify.auditing.features import Feature, bit_features, standard_features
from dpsco_verify.auditing.likelihood_ratio import learned_likelihood_ratio
from dpsco_verify.auditing.outputs import Outputs, join
from dpsco_verify.auditing.parts import amount_features, label_candidates
from dpsco_verify.auditing.regions import (
    Aims,
    Candidate,
    Order,
    atom_candidates,
    feature_candidates,
    rating,
    remoteness,
)
from dpsco_verify.inference.bets import bet_fractions, log_factors

_FINALISTS = 24
_CAUTION = 0.1
"""One-sided level of the bounds of P(E) and P'(E) at which candidates are compared."""
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
        A cautious estimate of the log wealth that a pair of outputs adds at the best bet; at most 0 where the
        sample shows no violation.
    frequency, frequency_neighbour
        How often the event occurred there on the data set on which it is likelier, and on the other.
    remoteness
        How far it is from what the test finds, and a little more for each further piece of the event.
    rating
        ``z`` on the part of the sample that had no say in building the event.
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

    @property
    def score(self) -> float:
        """What a search over pairs maximises: the growth, or where there is none the rating on a smaller scale."""
        return self.growth if self.growth > 0 else 1e-6 * (self.rating - 100.0)


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
        Outputs on d and d_prime. The first half builds what could be fitted to noise, the other compares.
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
    half_a, half_b = first.size // 2, second.size // 2
    build = (first.take(slice(0, half_a)), second.take(slice(0, half_b)))
    rest = (first.take(slice(half_a, None)), second.take(slice(half_b, None)))
    sample = join(*build)
    features = [
        *standard_features(sample),
        *amount_features(sample),
        *extra_features,
        *(bit_features(sample) if floating_point else ()),
    ]
    if log_ratio is not None:
        features.append(Feature(name="log-likelihood ratio", values=_OnRaw(log_ratio)))
    candidates = atom_candidates(*build, aims, sample) + label_candidates(*build, aims)
    for feature in features:
        candidates += feature_candidates(feature, feature.values(first), feature.values(second), aims)
    candidates += _learned(first, second, aims, classifier)
    if not candidates:
        return None
    finalists = sorted(candidates, key=lambda c: -c.rating)[:_FINALISTS]
    finalists += [
        c for c in sorted(candidates, key=lambda c: c.remoteness)[:_FINALISTS] if c not in finalists
    ]
    return max(
        (_judged(candidate, *rest, aims, tried=len(candidates)) for candidate in finalists),
        key=lambda choice: (choice.growth if choice.growth >= aims.needed else 0.0, -choice.remoteness),
    )


def floating_point_leak(first: Outputs, second: Outputs, aims: Aims) -> str | None:
    """Return the event on the bits of the outputs that breaks the claim beyond doubt, in words, or None.

    One half of the outputs builds it; the other shows it, with exact bounds that miss with probability 1e-9 each.
    """
    half_a, half_b = first.size // 2, second.size // 2
    build = (first.take(slice(0, half_a)), second.take(slice(0, half_b)))
    rest = (first.take(slice(half_a, None)), second.take(slice(half_b, None)))
    candidates = [
        candidate
        for feature in bit_features(join(*build))
        for candidate in feature_candidates(feature, feature.values(build[0]), feature.values(build[1]), aims)
    ]
    if not candidates:
        return None
    best = max(candidates, key=lambda c: c.rating)
    choice = _judged(best, *rest, aims, tried=len(candidates), level=_BEYOND_DOUBT)
    return str(best.region) if choice.growth > 0 else None


@dataclass(frozen=True)
class _OnRaw:
    function: Callable[[Any], FloatArray]

    def __call__(self, outputs: Outputs) -> FloatArray:
        return self.function(outputs.raw)


def _learned(first: Outputs, second: Outputs, aims: Aims, classifier: str) -> list[Candidate]:
    """Learn on a quarter of the outputs and cut on the others, so that the cut is not fitted to what was learned."""
    cut_a, cut_b = first.size // 4, second.size // 4
    feature = learned_likelihood_ratio(
        first.take(slice(0, cut_a)), second.take(slice(0, cut_b)), classifier=classifier
    )
    if feature is None:
        return []
    values = (feature.values(first.take(slice(cut_a, None))), feature.values(second.take(slice(cut_b, None))))
    return feature_candidates(feature, *values, aims, built_from=1 / 3)


def _judged(
    candidate: Candidate, first: Outputs, second: Outputs, aims: Aims, *, tried: int, level: float = _CAUTION
) -> Choice:
    """Rate a candidate on outputs that did not build it."""
    if candidate.swapped:
        first, second = second, first
    n_p, n_q = first.size, second.size
    in_p = int(np.count_nonzero(candidate.region.contains(first)))
    in_q = int(np.count_nonzero(candidate.region.contains(second)))
    low = float(betaincinv(in_p, n_p - in_p + 1, level)) if in_p else 0.0
    high = float(betainccinv(in_q + 1, n_q - in_q, level)) if in_q < n_q else 1.0
    p, q = in_p / n_p, in_q / n_q
    frequencies = (np.array([p]), np.array([q]))
    z = float(rating(*frequencies, [candidate.order], n_p, n_q)[0, 0])
    far = float(remoteness(*frequencies, [candidate.order], n_p, n_q, reach=aims.reach)[0][0, 0])
    return Choice(
        candidate=candidate,
        growth=growth_rate(low, high, candidate.order),
        frequency=p,
        frequency_neighbour=q,
        remoteness=far + _SIMPLICITY * abs(far) * min(candidate.region.pieces - 1, 4),
        rating=z,
        tried=tried,
    )


def growth_rate(p: float, q: float, order: Order) -> float:
    """Return the largest expected log factor, over the grid of bets, against the order for P(E) = p and P'(E) = q."""
    factor = math.exp(order.epsilon)
    payoffs = np.array([0.0, -factor, 1.0, 1.0 - factor]) - order.delta
    weights = np.array([(1 - p) * (1 - q), (1 - p) * q, p * (1 - q), p * q])
    logs = log_factors(bet_fractions(depth=14), payoffs / (factor + order.delta))
    return float((logs @ weights).max())
