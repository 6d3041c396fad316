"""Privacy of one pass over a random partition into batches of unequal sizes, for replace-one neighbours.

**Setting.** m of the n points are drawn without replacement and dealt out, in random order, to batches of sizes
``B_1, …, B_T``; step t releases ``g_t + N(0, σ_t²I)``, g_t the mean of B_t vectors of norm at most L that depend on
earlier releases. Replacing a point of batch t moves g_t by at most 2L/B_t: ``μ_t = 2L/(B_tσ_t)``, which depends on
the size alone.

**Bounds.** With ``q = m/n`` and ``e^ε = 1 + q(e^ε̂ − 1)``, ``δ(ε) ≤ q δ_m(ε̂)`` (Balle, Barthe and Gaboardi 2018,
Theorem 9). The replaced point lies in a batch of size g with probability ``p_g = K_g g/m``, K_g the number of
those, so by convexity ``δ_m(ε̂) ≤ Σ_g p_g δ_g(ε̂)``, where δ_g is the curve given the size. For it

1. given the batch, the two laws differ in one Gaussian step: ``δ_g ≤ δ_G(ε̂; μ_g)`` (one use);
2. given how the points are grouped, the order of the K_g groups of size g is uniform: they are K_g shuffled elements
   of which one is replaced, each met by a Gaussian local randomizer that may depend on earlier releases, and the
   shuffling theorem below holds with K_g. Its proof compares the replaced group with all the others, which are up to
   2L from it, not 2L/g: the randomizers' ratio is ``μ = gμ_g = 2L/σ``.

**Shuffling.** Each step is an (ε₀, δ₀) local randomizer with ``δ₀ = δ_G(ε₀; μ)``. Feldman, McMillan and Talwar (2021),
Theorem 3.1 and its extension to approximate local privacy, which allow adaptive randomizers: for ``ε₀ ≤ log(K/(16
log(2/δ_s)))`` and ``a = 8√(e^ε₀ log(4/δ_s)/K) + 8e^ε₀/K``, the order ``ε_s = log(1 + tanh(ε₀/2) a)`` has ``δ_K(ε_s) ≤
δ_s + (e^{ε_s} + 1)(1 + e^{−ε₀}/2) K δ₀``. The authors' own program asks for ``log(4/δ_s)`` in the condition and has
``(1 − e^{−ε₀})/(1 + e^{−ε₀}/(1 + a))`` for the tanh; both are the more cautious ones, and are what is used here.

So a point hides among the other batches only behind noise for a whole gradient, and the size of its batch helps
in (1) alone.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import flint

from dpsco_verify.arrays import IntArray
from dpsco_verify.privacy.balls import ball, gaussian_delta
from dpsco_verify.privacy.single_step import inner_epsilon_ball
from dpsco_verify.privacy.transcript import smallest_factor

_MOST_NOISE = 1e6
"""In units of L; more would drown any signal."""
_SHARES = (Fraction(1), Fraction(1, 2))
"""Parts of δ at which the shuffling bound is tried; what it leaves is for the sizes that only one use covers."""

_QUANTILES = tuple(Fraction(k, 4) for k in (*range(2, 33), *range(34, 61, 2)))
_SPLITS = (Fraction(1, 2), Fraction(99, 100))
"""What is tried for ε₀, in quantiles of the noise, and for the part of δ that is δ_s."""

Counts = tuple[tuple[int, int], ...]
"""Pairs of a size g and the number K_g of its batches."""


def proves_batches(
    counts: Counts, *, n: int, epsilon: flint.arb, delta: flint.arb, ratio: Callable[[int], flint.arb]
) -> bool:
    """Say whether the bounds show (ε, δ)-privacy, where ``ratio`` gives ``μ_g`` by the size g."""
    used = sum(size * count for size, count in counts)
    q = ball(Fraction(used, n))
    order, room = inner_epsilon_ball(q, epsilon), delta / q
    parts = [
        (count, size * ratio(size), ball(Fraction(size * count, used)), gaussian_delta(order, ratio(size)))
        for size, count in counts
    ]
    for share in _SHARES:
        level, total = room * ball(share), flint.arb(0)
        for count, full_ratio, weight, one_use in parts:
            shuffled = not one_use <= level and _shuffles(count, order, level, full_ratio)
            total += weight * (level if shuffled else one_use)
        if total <= room:
            return True
    return False


def batch_counts(batches: IntArray) -> Counts:
    """Return how many batches there are of each size."""
    return tuple(sorted(Counter(batches.tolist()).items()))


@functools.lru_cache(maxsize=256)
def least_constant_noise(counts: Counts, n: int, epsilon: float, delta: float) -> float:
    """Return the least c, to 0.1 %, for which the bounds show (ε, δ)-privacy with ``σ_t = cL``."""

    def holds(order: flint.arb, room: flint.arb, factor: flint.arb) -> bool:
        return proves_batches(counts, n=n, epsilon=order, delta=room, ratio=lambda size: 2 / (factor * size))

    return _least(holds, epsilon, delta)


def least_noise_by_size(counts: Counts, n: int, epsilon: float, delta: float) -> dict[int, float]:
    """Return for each size g the least c_g, to 0.1 %, for which δ_g alone is small enough with ``σ_t = c_gL/g``."""
    used = sum(size * count for size, count in counts)
    fewest = 16.0 * math.log(4.0 * used / (n * delta))
    # Below the shuffling bound's condition the number of batches does not matter: all share one search.
    return {
        size: _least_for_size(size, count, used, n, epsilon, delta)
        if count >= fewest
        else _least_for_size(1, 1, used, n, epsilon, delta)
        for size, count in counts
    }


@functools.lru_cache(maxsize=1024)
def _least_for_size(size: int, count: int, used: int, n: int, epsilon: float, delta: float) -> float:
    q = ball(Fraction(used, n))

    def holds(order: flint.arb, room: flint.arb, factor: flint.arb) -> bool:
        inner, level, mu = inner_epsilon_ball(q, order), room / q, 2 / factor
        return bool(gaussian_delta(inner, mu) <= level) or _shuffles(count, inner, level, size * mu)

    return _least(holds, epsilon, delta)


def shuffled_epsilon(k: int, epsilon_0: flint.arb, delta: flint.arb) -> flint.arb | None:
    """Return ε_s of the shuffling theorem for k pure ε₀ randomizers, or None where its condition is not met."""
    if not (delta > 0 and delta < 1):
        return None
    log_term = (4 / delta).log()
    if not epsilon_0.exp() * 16 * log_term <= k:
        return None
    a = 8 * (epsilon_0.exp() * log_term / k).sqrt() + 8 * epsilon_0.exp() / k
    share = -(-epsilon_0).expm1() / (1 + (-epsilon_0).exp() / (1 + a))
    return (1 + share * a).log()


def _shuffles(k: int, order: flint.arb, delta: flint.arb, mu: flint.arb) -> bool:
    """Say whether the shuffling theorem shows ``δ_k(ε̂) ≤ δ``."""
    if not 16 * (4 / delta).log() <= k:
        return False
    for quantile in _QUANTILES:
        epsilon_0 = mu * ball(quantile) + mu * mu / 2
        delta_0 = gaussian_delta(epsilon_0, mu)
        price = (order.exp() + 1) * (1 + (-epsilon_0).exp() / 2) * k * delta_0
        for part in _SPLITS:
            delta_s = delta * ball(part)
            if not price + delta_s <= delta:
                continue
            proven = shuffled_epsilon(k, epsilon_0, delta_s)
            if proven is not None and proven <= order:
                return True
    return False


def _least(holds: Callable[[flint.arb, flint.arb, flint.arb], bool], epsilon: float, delta: float) -> float:
    order, room = ball(Fraction(epsilon)), ball(Fraction(delta))
    found = smallest_factor(lambda factor: holds(order, room, ball(factor)), low=1e-3, high=_MOST_NOISE)
    if found is None:
        raise AssertionError(f"no noise up to {_MOST_NOISE:g} L proves ({epsilon:g}, {delta:g})")
    return found
