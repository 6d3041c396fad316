"""A lower bound on δ for noisy means of batches drawn with replacement, where one point differs."""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import numpy as np
from scipy.special import ndtr

from dpsco_verify.privacy.balls import ball, upper_tail

_TERMS = 200
_GRID = np.linspace(-2.0, 20.0, 4401)


def drawn_sum_delta(
    *, n: int, batch: int, steps: int, epsilon: float, ratio: Fraction, threshold: Fraction
) -> flint.arb:
    """Return ``P(E|S) − e^ε P(E|S')``, which is a lower bound on δ(ε), for E a half-line of the sum of `steps` answers.

    An answer is the mean of the gradients of `batch` points drawn with replacement out of n, plus N(0, σ²). In S'
    all gradients are −L; in S one point's is +L. The point is drawn ``K ~ Bin(batch·steps, 1/n)`` times in all,
    and the sum of the answers, centred and over ``σ√steps``, has the law of ``K·ratio/√steps + N(0, 1)`` for S
    and N(0, 1) for S', with ``ratio = 2L/(batch·σ)``. E is the event that it exceeds `threshold`. The terms K >
    200 are left out, as they may be from a lower bound.
    """
    draws = batch * steps
    p, t = ball(Fraction(1, n)), ball(threshold)
    shift = ball(ratio) / flint.arb(steps).sqrt()
    inside = flint.arb(0)
    for k in range(min(draws, _TERMS) + 1):
        weight = flint.arb(flint.fmpz(math.comb(draws, k))) * p**k * (1 - p) ** (draws - k)
        inside += weight * upper_tail(t - k * shift)
    return inside - ball(epsilon).exp() * upper_tail(t)


def best_threshold(*, n: int, batch: int, steps: int, epsilon: float, ratio: float) -> Fraction:
    """Return the threshold of a grid at which doubles find the difference largest."""
    from scipy.stats import binom  # noqa: PLC0415  slow to load, and few claims need it

    k = np.arange(min(batch * steps, _TERMS) + 1)
    weights = binom.pmf(k, batch * steps, 1.0 / n)
    inside = weights @ ndtr((k * (ratio / math.sqrt(steps)))[:, np.newaxis] - _GRID)
    return Fraction(float(_GRID[np.argmax(inside - math.exp(epsilon) * ndtr(-_GRID))]))
