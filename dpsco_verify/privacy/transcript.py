"""Rigorous bounds on the privacy of the whole transcript of Algorithm 1, for replace-one neighbours.

**What the transcript is.** Whether a draw is fresh does not depend on which points were drawn before. So the
algorithm shuffles the data, processes the first K points one by one, and inserts noise-only steps at times that do
not depend on the data; K = ⌊n/2⌋ + 1 under the loop's rule, and K ≤ min(τ, n) when the number of iterations τ is
fixed. For fixed τ, K is a function of τ independent draws each of which changes it by at most 1, so by McDiarmid's
inequality ``P(K > E K + √(τ log(1/β)/2)) ≤ β``, which costs β of δ. The transcript is a function of the K noisy
gradients, each with noise N(0, σ²I) at a query that depends on earlier noisy gradients alone. A transcript of fewer
than K points is one with constant queries at the end, hence covered by the bounds for K.

**Upper bounds.** Let μ = 2L/σ, ``q = K/n``, ``e^ε = 1 + q(e^ε̂ − 1)``.

1. The K points are a sample without replacement, so (Balle, Barthe and Gaboardi 2018, Theorem 9)
   ``δ(ε) ≤ q δ_K(ε̂)``, δ_K being the curve of K shuffled points of which one is replaced.
2. Given where the replaced point stands, the two laws differ in one Gaussian step and the rest is post-processing:
   ``δ_K(ε̂) ≤ δ_G(ε̂; μ)`` (one use).
3. Each step is an (ε₀, δ₀) local randomizer with ``δ₀ = δ_G(ε₀; μ)``. Feldman, McMillan and Talwar (2021), Theorem
   3.1 and its extension to approximate local privacy, which allow adaptive randomizers: for
   ``ε₀ ≤ log(K/(16 log(2/δ_s)))`` and ``a = 8√(e^ε₀ log(4/δ_s)/K) + 8e^ε₀/K``, the order
   ``ε_s = log(1 + tanh(ε₀/2) a)`` has ``δ_K(ε_s) ≤ δ_s + (e^{ε_s} + 1)(1 + e^{−ε₀}/2) K δ₀``. The authors' own
   program asks for ``log(4/δ_s)`` in the condition and has ``(1 − e^{−ε₀})/(1 + e^{−ε₀}/(1 + a))`` for the tanh;
   both are the more cautious ones, and are what is used here.

**Lower bounds.** By post-processing to one real number, with the differing gradient +L against −L.

* The first increment, all other gradients −L: ``(1/n) δ_G(ε̂; μ)`` with ``e^ε = 1 + (e^ε̂ − 1)/n``, exactly.
* The sum of the first t increments, all other gradients 0: ``N(±L, tσ²)`` with probability ``1 − (1 − 1/n)^t``,
  ``N(0, tσ²)`` otherwise. Under the loop's rule there are at least ⌊n/2⌋ + 1 increments.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import flint

from dpsco_verify.errors import InputError, no_truth_value
from dpsco_verify.privacy.balls import ball, gaussian_delta, upper_tail
from dpsco_verify.privacy.single_step import inner_epsilon_ball

PRECISION = 192
"""Bits of the balls; every decision is a strict comparison of balls."""

TAIL_SHARE = Fraction(1, 1000)
"""The part of δ that may be spent on a run with more distinct points than is typical."""

_QUANTILES = tuple(Fraction(k, 4) for k in (*range(2, 33), *range(34, 61, 2)))
_SPLITS = (Fraction(1, 2), Fraction(99, 100))


class Status(enum.StrEnum):
    """What is known of a claim at one point; OPEN lies between the bounds."""

    HOLDS = "holds"
    FAILS = "fails"
    OPEN = "open"

    __bool__ = no_truth_value("status is Status.HOLDS")


class Route(enum.StrEnum):
    """The bound that decided."""

    ONE_USE = "one use"
    SHUFFLING = "shuffling"
    FIRST_INCREMENT = "first increment"
    SUM = "sum of increments"
    NONE = "none"

    __bool__ = no_truth_value("route is not Route.NONE")


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What is known, and by which bound."""

    status: Status
    route: Route

    __bool__ = no_truth_value("decision.status is Status.HOLDS")


@dataclass(frozen=True, kw_only=True)
class Transcript:
    """A transcript of data of size n: at most `used` points enter it, and it has at least `increments` steps.

    `fixed` says that the number of steps is `increments` exactly, whatever has been drawn.
    """

    n: int
    used: int
    increments: int
    fixed: bool = False

    def __post_init__(self) -> None:
        """Refuse sizes that no run has."""
        if not (1 <= self.used <= self.n and self.increments >= 1):
            raise InputError(
                f"used={self.used}, increments={self.increments}, n={self.n} is not a transcript; "
                "give 1 ≤ used ≤ n and increments ≥ 1"
            )


def loop_transcript(n: int) -> Transcript:
    """Return the transcript of ⌊n/2⌋ + 1 points, the loop's rule; it covers the text's, with at most as many."""
    m = n // 2 + 1
    return Transcript(n=n, used=m, increments=m)


def fixed_transcript(n: int, tau: int) -> Transcript:
    """Return the transcript of τ iterations."""
    return Transcript(n=n, used=min(tau, n), increments=tau, fixed=True)


def one_use_delta(transcript: Transcript, epsilon: flint.arb, mu: flint.arb) -> flint.arb:
    """Return ``q δ_G(ε̂; μ)``."""
    q = ball(Fraction(transcript.used, transcript.n))
    return q * gaussian_delta(inner_epsilon_ball(q, epsilon), mu)


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


def shuffling_proves(transcript: Transcript, epsilon: flint.arb, delta: flint.arb, mu: flint.arb) -> bool:
    """Say whether the shuffling theorem shows ``δ(ε) ≤ δ``; a ladder of ε₀ and two divisions of δ are tried."""
    k = transcript.used
    q = ball(Fraction(k, transcript.n))
    order, budget = inner_epsilon_ball(q, epsilon), delta / q
    if not 16 * (4 / budget).log() <= k:
        return False
    for quantile in _QUANTILES:
        epsilon_0 = mu * ball(quantile) + mu * mu / 2
        delta_0 = gaussian_delta(epsilon_0, mu)
        price = (order.exp() + 1) * (1 + (-epsilon_0).exp() / 2) * k * delta_0
        for part in _SPLITS:
            delta_s = budget * ball(part)
            if not price + delta_s <= budget:
                continue
            proven = shuffled_epsilon(k, epsilon_0, delta_s)
            if proven is not None and proven <= order:
                return True
    return False


def first_increment_delta(transcript: Transcript, epsilon: flint.arb, mu: flint.arb) -> flint.arb:
    """Return the lower bound from the first increment."""
    p = ball(Fraction(1, transcript.n))
    return p * gaussian_delta(inner_epsilon_ball(p, epsilon), mu)


def probability_drawn(n: int, draws: int) -> flint.arb:
    """Return ``1 − (1 − 1/n)^draws``."""
    return 1 - ball(Fraction(n - 1, n)) ** draws


def sum_delta(transcript: Transcript, epsilon: flint.arb, mu: flint.arb) -> flint.arb:
    """Return the lower bound from the sum of the increments, at the best half-line that doubles find."""
    q = probability_drawn(transcript.n, transcript.increments)
    shift = mu / (2 * flint.arb(transcript.increments).sqrt())
    threshold = ball(_best_threshold(float(q), float(shift), float(epsilon)))
    inside = upper_tail(threshold - shift) - epsilon.exp() * upper_tail(threshold + shift)
    return q * inside - (1 - q) * epsilon.expm1() * upper_tail(threshold)


def _best_threshold(q: float, shift: float, epsilon: float) -> float:
    """Return t where the likelihood ratio of the mixtures, which rises in t, passes e^ε (or the largest tried)."""
    high = min(600.0 / shift, 1e4)

    def excess(t: float) -> float:
        base = math.exp(-0.5 * shift * shift)
        up, down = q * base * math.exp(shift * t), q * base * math.exp(-shift * t)
        return up + 1.0 - q - math.exp(min(epsilon, 300.0)) * (down + 1.0 - q)

    low = -high
    for _ in range(100):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if excess(middle) > 0 else (middle, high)
    return high


def decide(transcript: Transcript, *, epsilon: flint.arb, delta: flint.arb, mu: flint.arb) -> Decision:
    """Decide whether the transcript is (ε, δ)-differentially private by the bounds above."""
    proven = proves(transcript, epsilon=epsilon, delta=delta, mu=mu)
    if proven is not Route.NONE:
        return Decision(status=Status.HOLDS, route=proven)
    refuted = refutes(transcript, epsilon=epsilon, delta=delta, mu=mu)
    return Decision(status=Status.OPEN if refuted is Route.NONE else Status.FAILS, route=refuted)


def proves(transcript: Transcript, *, epsilon: flint.arb, delta: flint.arb, mu: flint.arb) -> Route:
    """Return the upper bound that shows (ε, δ)-differential privacy, or NONE."""
    if one_use_delta(transcript, epsilon, mu) <= delta:
        return Route.ONE_USE
    if shuffling_proves(transcript, epsilon, delta, mu):
        return Route.SHUFFLING
    if transcript.fixed:
        beta = delta * ball(TAIL_SHARE)
        typical = _typical(transcript, beta)
        if typical is not None and shuffling_proves(typical, epsilon, delta - beta, mu):
            return Route.SHUFFLING
    return Route.NONE


def refutes(transcript: Transcript, *, epsilon: flint.arb, delta: flint.arb, mu: flint.arb) -> Route:
    """Return the lower bound that shows that it is not (ε, δ)-differentially private, or NONE."""
    if first_increment_delta(transcript, epsilon, mu) > delta:
        return Route.FIRST_INCREMENT
    if sum_delta(transcript, epsilon, mu) > delta:
        return Route.SUM
    return Route.NONE


def _typical(transcript: Transcript, beta: flint.arb) -> Transcript | None:
    """Return the transcript with the number of points that is exceeded with probability at most β, if it is smaller."""
    n, tau = transcript.n, transcript.increments
    if not beta < 1:
        return None
    bound = n * probability_drawn(n, tau) + (-tau * beta.log() / 2).sqrt()
    used = math.ceil(float(bound.upper()) * (1.0 + 1e-12)) + 1
    if used >= transcript.used:
        return None
    return Transcript(n=n, used=used, increments=tau, fixed=True)


def largest_factor(fails: Callable[[Fraction], bool], *, low: float, high: float) -> float | None:
    """Return the largest factor in [low, high], to 0.1 %, at which `fails` by bisection; None if not at `low`."""
    if not fails(Fraction(low)):
        return None
    while high / low > 1.001:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if fails(Fraction(middle)) else (low, middle)
    return low


def smallest_factor(holds: Callable[[Fraction], bool], *, low: float, high: float) -> float | None:
    """Return the smallest factor in [low, high], to 0.1 %, at which `holds` by bisection; None if not at `high`.

    `holds` is checked at what is returned, so a bound that is not monotone costs sharpness, never soundness.
    """
    if not holds(Fraction(high)):
        return None
    while high / low > 1.001:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if holds(Fraction(middle)) else (middle, high)
    return high
