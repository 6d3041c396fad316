"""Certificates for refutations that rest on observations: the e-value, to be computed anew by the checker."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

from dpsco_verify.evidence.checker import (
    AccumulatedEventEvidence,
    AccumulatedMeanEvidence,
    Certificate,
    EventEvidence,
    EventRun,
    MeanEvidence,
    MeanRun,
    Rejected,
    issue,
)
from dpsco_verify.store import EventObservations, MeanObservations, RunEvidence

_DENOMINATOR = 2**60


def rational_text(value: float | Fraction) -> str:
    """Return the rational that a double or a fraction is, in lowest terms."""
    return str(Fraction(value))


def _rounded(value: float, *, up: bool) -> Fraction:
    scaled = Fraction(value) * _DENOMINATOR
    return Fraction(math.ceil(scaled) if up else math.floor(scaled), _DENOMINATOR)


def mean_certificate(
    claim: str,
    reading: str,
    *,
    observations: Sequence[float],
    bound: float,
    low: float,
    alpha: float,
    fractions: Sequence[float],
) -> Certificate:
    """Return the certificate that `observations` reject ``mean ≤ bound`` at level `alpha`.

    `fractions` are the bets as fractions of the largest one, ``1/(bound − low)``.
    """
    return issue(
        claim,
        reading,
        MeanEvidence(
            low=rational_text(low),
            bound=rational_text(bound),
            alpha=rational_text(alpha),
            bets=_mean_bets(fractions, bound=bound, low=low),
            observations=tuple(rational_text(x) for x in observations),
        ),
    )


def event_certificate(
    claim: str,
    reading: str,
    *,
    epsilon: float,
    delta: float,
    alpha: float,
    fractions: Sequence[float],
    counts: tuple[int, int, int, int],
) -> Certificate:
    """Return the certificate that counts (both, first only, second only, neither) reject ``P − e^ε P' ≤ δ``."""
    both, first, second, neither = counts
    return issue(
        claim,
        reading,
        EventEvidence(
            epsilon=rational_text(epsilon),
            delta=rational_text(delta),
            alpha=rational_text(alpha),
            bets=_event_bets(fractions, epsilon=epsilon, delta=delta),
            both=both,
            first_only=first,
            second_only=second,
            neither=neither,
        ),
    )


def accumulated_certificate(
    claim: str, reading: str, *, null_hypothesis: str, alpha: float, runs: Sequence[RunEvidence]
) -> Certificate:
    """Return the certificate that the observations of several runs together reject a null hypothesis at level `alpha`.

    Raises
    ------
    Rejected
        Also if the runs do not speak of one claim.
    """
    seen = [one.observations for one in runs]
    means = [one for one in seen if isinstance(one, MeanObservations)]
    events = [one for one in seen if isinstance(one, EventObservations)]
    if len(means) == len(seen):
        witness: AccumulatedMeanEvidence | AccumulatedEventEvidence = AccumulatedMeanEvidence(
            null_hypothesis=null_hypothesis,
            bound=_one_of("bound", (one.bound for one in means)),
            alpha=rational_text(alpha),
            runs=tuple(_mean_run(run.seed, one) for run, one in zip(runs, means, strict=True)),
        )
    elif len(events) == len(seen):
        witness = AccumulatedEventEvidence(
            null_hypothesis=null_hypothesis,
            epsilon=_one_of("epsilon", (one.epsilon for one in events)),
            delta=_one_of("delta", (one.delta for one in events)),
            alpha=rational_text(alpha),
            runs=tuple(_event_run(run.seed, one) for run, one in zip(runs, events, strict=True)),
        )
    else:
        raise Rejected(f"the runs against {null_hypothesis} hold means and events")
    return issue(claim, reading, witness)


def _mean_run(seed: int, seen: MeanObservations) -> MeanRun:
    return MeanRun(
        seed=str(seed),
        low=rational_text(seen.low),
        bets=_mean_bets(seen.fractions.tolist(), bound=seen.bound, low=seen.low),
        values=tuple(rational_text(x) for x in seen.values.tolist()),
        counts=tuple(seen.counts.tolist()),
    )


def _event_run(seed: int, seen: EventObservations) -> EventRun:
    return EventRun(
        seed=str(seed),
        bets=_event_bets(seen.fractions.tolist(), epsilon=seen.epsilon, delta=seen.delta),
        both=seen.both,
        first_only=seen.first_only,
        second_only=seen.second_only,
        neither=seen.neither,
    )


def _one_of(name: str, values: Iterable[float]) -> str:
    """Return the value that all runs share, which their certificate states once."""
    texts = sorted({rational_text(value) for value in values})
    if len(texts) != 1:
        raise Rejected(f"{name}={', '.join(texts)} differ from run to run")
    return texts[0]


def _mean_bets(fractions: Sequence[float], *, bound: float, low: float) -> tuple[str, ...]:
    bets = [_rounded(float(theta / (bound - low)), up=False) for theta in fractions]
    return tuple(str(bet) for bet in bets if bet > 0)


def _event_bets(fractions: Sequence[float], *, epsilon: float, delta: float) -> tuple[str, ...]:
    largest = 1.0 / (math.exp(epsilon) + delta)
    # As doubles, not in multiples of some 2^-60: against a large ε all bets are smaller than that.
    bets = [Fraction(float(theta) * largest) for theta in fractions]
    return tuple(str(bet) for bet in bets if bet > 0)
