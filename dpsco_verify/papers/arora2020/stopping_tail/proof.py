"""The steps of the paper's proof of Theorem ``thm:bins_and_balls``, each checked by itself."""

from __future__ import annotations

import math
from fractions import Fraction

import flint
from scipy.optimize import brentq

from dpsco_verify.algorithm.stopping_law import tail_exact
from dpsco_verify.evidence import ProofStep, Quantity, Verdict
from dpsco_verify.privacy.balls import ball

SMALLEST_N = 16


def proof_steps() -> tuple[ProofStep, ...]:
    """Return the verdict on each step; the steps do not depend on the reading."""
    return (_expected_distinct(), _expectation_is_enough(), _margin(), _event_identity(), _later_horizons())


def _expected_distinct() -> ProofStep:
    """``(1 − 1/n)^T ≤ e^{−T/n}``, from ``ln(1 − x) < −x``: the power series' terms are all negative.

    Evaluated as ``−x − ln(1 − x)`` on balls that cover (0, 1/16], each minus its second-order term x²/2.
    """
    cells = 256
    holds = True
    for k in range(1, cells + 1):
        x = ball(Fraction(k, 16 * cells))
        holds = holds and bool(-x - (1 - x).log() > x * x / 2)
    return ProofStep(
        id="expected-distinct",
        statement="E[q] = n(1 − (1 − 1/n)^T) ≥ n − n e^{−T/n}",
        verdict=Verdict.HOLDS_ON_GRID if holds else Verdict.REFUTED,
        evidence={
            "points checked": Quantity(value=cells, note="x = 1/n on a grid over (0, 1/16], ball arithmetic")
        },
    )


def _expectation_is_enough() -> ProofStep:
    """``T ≥ n`` draws see n/2 distinct points in the mean only; the text says that the loop then has stopped."""
    n = SMALLEST_N
    missed = tail_exact(n, n // 2, n)
    return ProofStep(
        id="expectation-is-enough",
        statement="after T ≥ n draws at least n/2 distinct points have been seen, so the stopping condition is reached",
        verdict=Verdict.REFUTED if missed > 0 else Verdict.CERTIFIED,
        evidence={
            f"P(fewer than n/2 distinct after n draws), n = {n}": Quantity(
                value=float(missed), note="exact rational arithmetic; the text argues from the mean alone"
            )
        },
    )


def _margin() -> ProofStep:
    """``n − n e^{−2} − √(n·n/16) ≥ n/2``: the same inequality for every n, once divided by n."""
    left = 1 - flint.arb(-2).exp() - ball(Fraction(1, 4))
    return ProofStep(
        id="mcdiarmid-at-2n",
        statement="n − n e^{−2} − √(n · n/16) ≥ n/2",
        verdict=Verdict.CERTIFIED if left > ball(Fraction(1, 2)) else Verdict.REFUTED,
        evidence={
            "left side over n": Quantity(value=float(left), note="to be at least 1/2; ball arithmetic, all n")
        },
    )


def _event_identity() -> ProofStep:
    """``P(τ ≥ T) = P(q(Y_1..Y_T) ≤ n/2)``: the loop runs at least T times iff q after T − 1 draws is at most n/2."""
    n = SMALLEST_N
    m, t = n // 2 + 1, 2 * n
    at_least, few = tail_exact(n, m, t - 1), tail_exact(n, m, t)
    return ProofStep(
        id="event-identity",
        statement="P(τ ≥ T) = P(q(Y_1, …, Y_T) ≤ n/2)",
        verdict=Verdict.REFUTED if at_least != few else Verdict.CERTIFIED,
        evidence={
            "P(τ ≥ T), n = 16, T = 32": Quantity(value=float(at_least), note="τ counts iterations; exact"),
            "P(q ≤ n/2), n = 16, T = 32": Quantity(
                value=float(few), note="off by one draw: it is P(τ > T); no constant depends on it"
            ),
        },
    )


def _later_horizons() -> ProofStep:
    """McDiarmid with ``δ = 2e^{−T/16}`` needs ``1 − e^{−x} − x/√32 ≥ 1/2`` at T = xn, which fails soon after x = 2."""

    def margin(x: float) -> float:
        return 0.5 - math.exp(-x) - x / math.sqrt(32.0)

    last = float(brentq(margin, 2.0, 3.0))
    at_three = ball(Fraction(1, 2)) - flint.arb(-3).exp() - 3 / flint.arb(32).sqrt()
    return ProofStep(
        id="mcdiarmid-beyond-2n",
        statement="the derivation gives P(q ≤ n/2) ≤ 2e^{−T/16} for every T ≥ 2n",
        verdict=Verdict.REFUTED if at_three < 0 else Verdict.INCONCLUSIVE,
        evidence={
            "largest T/n that it reaches": Quantity(value=last, note="from there on its margin is negative"),
            "margin at T = 3n, over n": Quantity(
                value=float(at_three), note="negative: the step does not follow"
            ),
        },
    )
