"""Bounds on what sampling with replacement releases of one point, for witnesses about sampled steps.

One point has gradient L in S and −L in S', all others −L. Drawn K ~ Bin(N, 1/n) times in N draws, it moves the sum of
the noisy gradients, which is a function of what is released, by 2L a draw: in units of L the sum is, up to the same
shift, ``N(2K, v)`` under S and ``N(0, v)`` under S'.
"""

from __future__ import annotations

from fractions import Fraction

import flint

from dpsco_verify.evidence.checker.arithmetic import ball, require, require_terms, upper_tail


def check_claim(epsilon: Fraction, delta: Fraction, threshold: Fraction) -> None:
    """Refuse (ε, δ) and a threshold that are out of range."""
    require(holds=epsilon > 0, reason=f"epsilon={epsilon} is not positive")
    require(holds=0 < delta < 1, reason=f"delta={delta} is outside (0, 1)")
    require(holds=threshold > 0, reason=f"threshold={threshold} is not positive")


def least_gap(
    draws: int, n: int, variance: flint.arb, *, epsilon: Fraction, threshold: Fraction
) -> flint.arb:
    """Return a lower bound on ``P(N(2K, v) > t) − e^ε P(N(0, v) > t)``: terms beyond 10 times the mean are left out."""
    require(holds=n >= 2, reason=f"n={n} is below 2")
    terms = min(draws, 50 + 10 * (draws // n)) + 1
    require_terms(terms, "the mixture over the draws of the differing point")
    deviation = variance.sqrt()
    odds = ball(Fraction(1, n - 1))
    weight = ball(Fraction(n - 1, n)) ** draws
    total = flint.arb(0)
    for k in range(terms):
        total += weight * upper_tail((ball(threshold) - 2 * k) / deviation)
        weight = weight * (draws - k) / (k + 1) * odds
    return total - ball(epsilon).exp() * upper_tail(ball(threshold) / deviation)
