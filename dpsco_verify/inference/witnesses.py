"""Witnesses of refutations that rest on observations: an e-value, to be computed anew by the checker."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TypeVar

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.evidence.checker import (
    EventAtOnce,
    EventEvidence,
    Evidence,
    MeanEvidence,
    OwnMechanismAtOnce,
    OwnMechanismEvidence,
)
from dpsco_verify.evidence.checker.arithmetic import MOST_STEPS
from dpsco_verify.inference.bets import bet_fractions, depth_for_range

E = TypeVar("E", bound=EventEvidence)
M = TypeVar("M", bound=MeanEvidence)

_DENOMINATOR = 2**60
_ROUNDING, _SHORT = Fraction(1, 2**50), 2**20
LEVEL_ROUNDING = 1 + 1e-9
"""A test's wealth is a little above 1/α when it rejects, and its bets are rounded in a witness."""


def rational_text(value: float | Fraction) -> str:
    """Return the rational that a double or a fraction is, in lowest terms."""
    return str(Fraction(value))


def rounded_up(value: float) -> Fraction:
    """Return a little more than `value`, which may be rounded; what has few binary digits is taken to be exact."""
    exact = Fraction(value)
    return exact if exact.denominator <= _SHORT else exact * (1 + _ROUNDING)


def are_few(values: FloatArray, *, bets: int) -> bool:
    """Return whether the checker evaluates that many bets on each of the different values."""
    return np.unique(values).size * max(bets, 10) <= MOST_STEPS


def coarser(values: FloatArray, *, bets: int) -> FloatArray:
    """Return observations of a mean that :func:`are_few`: neighbours are rounded down to the least of k.

    That makes no wealth larger, so that whatever it refutes is refuted. Of values that all differ it takes away little:
    each bet loses about (k − 1)/2 times the range of the observations, once, as the steps between them add up to it.
    """
    different, where = np.unique(values, return_inverse=True)
    k = -(-different.size * max(bets, 10) // MOST_STEPS)
    return np.asarray(different[where // k * k])


def mean_evidence(
    observations: Sequence[float],
    *,
    null_hypothesis: str,
    bound: float,
    low: float,
    high: float,
    alpha: float,
    fractions: Iterable[float] | None = None,
    kind: type[M] = MeanEvidence,  # type: ignore[assignment]  # the default of a type variable
) -> M:
    """Return the witness that `observations` in [low, high] reject ``mean ≤ bound`` at level `alpha`.

    `null_hypothesis` is its name (:func:`~dpsco_verify.store.null_name`), as the reading admits it. The
    bets are those of :func:`dpsco_verify.inference.bounded_mean.decide`, or `fractions` of the largest one.
    """
    if fractions is None:
        fractions = bet_fractions(depth=depth_for_range(low - bound, high - bound))
    return kind(
        null_hypothesis=null_hypothesis,
        low=rational_text(low),
        bound=rational_text(rounded_up(bound)),
        alpha=rational_text(alpha * LEVEL_ROUNDING),
        bets=mean_bets(fractions, bound=bound, low=low),
        observations=tuple(rational_text(x) for x in observations),
    )


def event_evidence(
    counts: tuple[int, int, int, int],
    *,
    null_hypothesis: str,
    epsilon: float,
    delta: float,
    alpha: float,
    fractions: Iterable[float] | None = None,
    kind: type[E] = EventEvidence,  # type: ignore[assignment]  # the default of a type variable
) -> E:
    """Return the witness that counts (both, first only, second only, neither) reject ``P − e^ε P' ≤ δ`` at `alpha`.

    The bets are those of :class:`dpsco_verify.inference.PrivacyEventTest`, or `fractions` of the largest one.
    """
    if fractions is None:
        fractions = bet_fractions(depth=depth_for_range(-math.exp(epsilon) - delta, 1.0 - delta))
    both, first, second, neither = counts
    return kind(
        null_hypothesis=null_hypothesis,
        epsilon=rational_text(rounded_up(epsilon)),
        delta=rational_text(rounded_up(delta)),
        alpha=rational_text(alpha * LEVEL_ROUNDING),
        bets=event_bets(fractions, epsilon=epsilon, delta=delta),
        both=both,
        first_only=first,
        second_only=second,
        neither=neither,
    )


def audit_witness(
    counts: tuple[int, int, int, int],
    *,
    null_hypothesis: str,
    epsilon: float,
    delta: float,
    alpha: float,
    fractions: Iterable[float],
    weights: tuple[float, float] | None,
    own: bool,
) -> Evidence:
    """Return the witness of an audit that found a violation, by betting or, with `weights`, by a test of fixed size.

    `own` says that it is of a mechanism of the user's own, and not of a paper's.
    """
    if weights is None:
        return event_evidence(
            counts,
            null_hypothesis=null_hypothesis,
            epsilon=epsilon,
            delta=delta,
            alpha=alpha,
            fractions=fractions,
            kind=OwnMechanismEvidence if own else EventEvidence,
        )
    both, first, second, neither = counts
    kind = OwnMechanismAtOnce if own else EventAtOnce
    return kind(
        null_hypothesis=null_hypothesis,
        epsilon=rational_text(rounded_up(epsilon)),
        delta=rational_text(rounded_up(delta)),
        alpha=rational_text(alpha * LEVEL_ROUNDING),
        samples=both + first + second + neither,
        first_weight=rational_text(weights[0]),
        second_weight=rational_text(weights[1]),
        first=both + first,
        second=both + second,
    )


def mean_bets(fractions: Iterable[float], *, bound: float, low: float) -> tuple[str, ...]:
    """Return bets, given as fractions of the largest one, ``1/(bound − low)``, rounded down."""
    bets = [
        Fraction(math.floor(Fraction(float(theta / (bound - low))) * _DENOMINATOR), _DENOMINATOR)
        for theta in fractions
    ]
    return tuple(str(bet) for bet in bets if bet > 0)


def event_bets(fractions: Iterable[float], *, epsilon: float, delta: float) -> tuple[str, ...]:
    """Return bets, given as fractions of the largest one, ``1/(e^ε + δ)``."""
    largest = 1.0 / (math.exp(epsilon) + delta)
    # As doubles, not in multiples of some 2^-60: against a large ε all bets are smaller than that.
    bets = [Fraction(float(theta) * largest) for theta in fractions]
    return tuple(str(bet) for bet in bets if bet > 0)
