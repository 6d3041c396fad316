"""Witnesses of violated guarantees, for the independent checker."""

from __future__ import annotations

import math

from dpsco_verify.arrays import FloatArray
from dpsco_verify.auditing import AuditResult
from dpsco_verify.evidence.checker import (
    Evidence,
    OwnMean,
    OwnTail,
    OwnUnboundedMean,
)
from dpsco_verify.inference import EProcessDecision
from dpsco_verify.inference.bets import bet_fractions, depth_for_range
from dpsco_verify.inference.bounded_mean import BoundedMeanTest
from dpsco_verify.inference.unbounded_mean import BETS, Spread, UnboundedMeanTest
from dpsco_verify.inference.witnesses import (
    LEVEL_ROUNDING,
    are_few,
    audit_witness,
    coarser,
    mean_evidence,
    rational_text,
    rounded_up,
)


def of_mean(
    claim: str, values: FloatArray, decision: EProcessDecision, *, bound: float, low: float, high: float
) -> Evidence | None:
    """Return the witness that observations in [low, high] reject ``mean ≤ bound``, or None if they do not."""
    if decision.rejected_at is None:
        return None
    told, bets = (
        values[: decision.rejected_at],
        bet_fractions(depth=depth_for_range(low - bound, high - bound)),
    )
    if not are_few(told, bets=bets.size):
        coarse = coarser(values, bets=bets.size)
        test = BoundedMeanTest(bound=bound, low=low, high=high, alpha=decision.alpha)
        told = coarse[: test.update(coarse).rejected_at]
    return mean_evidence(
        told.tolist(),
        null_hypothesis=claim,
        bound=bound,
        low=low,
        high=high,
        alpha=decision.alpha,
        kind=OwnMean,
    )


def of_unbounded_mean(
    claim: str, values: FloatArray, decision: EProcessDecision, *, bound: float, scale: float, spread: Spread
) -> Evidence | None:
    """Return the witness that observations of a stated spread reject ``mean ≤ bound``, or None if they do not."""
    if decision.rejected_at is None:
        return None
    told, bets = values[: decision.rejected_at], BETS.size + 10
    if not are_few(told, bets=bets):
        coarse = coarser(values, bets=bets)
        test = UnboundedMeanTest(bound=bound, scale=scale, spread=spread, alpha=decision.alpha)
        told = coarse[: test.update(coarse).rejected_at]
    return OwnUnboundedMean(
        null_hypothesis=claim,
        alpha=rational_text(decision.alpha * LEVEL_ROUNDING),
        spread=spread.value,
        scale=rational_text(rounded_up(scale)),
        bound=rational_text(rounded_up(bound)),
        bets=tuple(rational_text(bet) for bet in BETS.tolist()),
        observations=tuple(rational_text(x) for x in told.tolist()),
    )


def of_payoffs(claim: str, payoffs: FloatArray, fractions: FloatArray, *, alpha: float) -> Evidence:
    """Return the witness that payoffs of at least −1 reject ``mean ≤ 0``, with these fractions of the largest bet."""
    return mean_evidence(
        payoffs.tolist(),
        null_hypothesis=claim,
        bound=0.0,
        low=-1.0,
        high=math.inf,
        alpha=alpha,
        fractions=fractions.tolist(),
        kind=OwnMean,
    )


def of_tail(claim: str, above: int, samples: int, *, probability: float, alpha: float) -> Evidence:
    """Return the witness that so many observations exceed a threshold."""
    return OwnTail(
        null_hypothesis=claim,
        alpha=rational_text(alpha * LEVEL_ROUNDING),
        probability=rational_text(rounded_up(probability)),
        above=above,
        samples=samples,
    )


def of_audit(claim: str, found: AuditResult) -> Evidence:
    """Return the witness of a violated audit."""
    counts = found.witness.decision_counts
    return audit_witness(
        (counts.n11, counts.n10, counts.n01, counts.n00),
        own=True,
        null_hypothesis=claim,
        epsilon=found.order,
        delta=found.delta_at_order,
        alpha=found.witness.alpha,
        fractions=found.witness.fractions,
        weights=found.witness.weights,
    )
