"""Rigorous bounds on the privacy of the whole transcript of Algorithm 1, for replace-one neighbours.

**What the transcript is.** Whether a draw is fresh does not depend on which points were drawn before. So the
algorithm shuffles the data, processes the first K points one by one, and inserts noise-only steps at times that do
not depend on the data; K = ⌊n/2⌋ + 1 under the loop's rule, and K ≤ min(τ, n) when the number of iterations τ is
fixed. The transcript is a function of the K noisy gradients, each with noise N(0, σ²I) at a query that depends on
earlier noisy gradients alone. A transcript of fewer than K points is one with constant queries at the end, hence
covered by the bounds for K.

For fixed τ, with ``p = 1 − (1 − 1/n)^τ``, ``P(K ≥ k) ≤ β = exp(−n kl(k/n, p))`` for k ≥ np, kl being the divergence of
two coins: more than k − 1 points cost β of δ. For j given points are all drawn with probability at most ``p^j``:
that one of them is not drawn leaves more draws to the others. So ``E z^K = Σ_j C(n, j)(z − 1)^j P(j given are
drawn)`` is for z ≥ 1 at most what it is for n independent coins, and Chernoff's bound is theirs.

**Upper bounds.** Let μ = 2L/σ, ``q = K/n``, ``e^ε = 1 + q(e^ε̂ − 1)``.

1. The K points are a sample without replacement, so (Balle, Barthe and Gaboardi 2018, Theorem 9)
   ``δ(ε) ≤ q δ_K(ε̂)``, δ_K being the curve of K shuffled points of which one is replaced. Given where the replaced
   point stands, the two laws differ in one Gaussian step and the rest is post-processing: ``δ_K(ε̂) ≤ δ_G(ε̂; μ)``
   (one use).
2. For K < n the bound on a whole run of ``docs/whole-run.md``, by the envelope's exponential moment
   (:mod:`dpsco_verify.privacy.whole_run.moments`).

**Lower bounds.** By post-processing to one real number, with the differing gradient +L against −L.

* The first increment, all other gradients −L: ``(1/n) δ_G(ε̂; μ)`` with ``e^ε = 1 + (e^ε̂ − 1)/n``, exactly.
* The sum of the first t increments, all other gradients 0: ``N(±L, tσ²)`` with probability ``1 − (1 − 1/n)^t``,
  ``N(0, tσ²)`` otherwise. Under the loop's rule there are at least ⌊n/2⌋ + 1 increments.

They speak of increments before the projection, and hold of the iterates that are projected. Let W be a segment of
length D in d dimensions, which keeps one coordinate. The first increment is an event of w₂ if w₁ is an end of W: a
half-line beyond a threshold x > 0 is ``w₂ < w₁ − ηx``, inside W if ηx < D. For the sum let w₁ be the middle: as long as
W is not left the iterates tell all increments. A step size that the statement leaves open may be so small beside D
that W is left with a probability as small as one likes. Where it is ``D/(√n(L + σ√d))``, it falls like ``1/√d``, and
with it drift and spread of the sum beside D, while the statement is for every d. Each bound is a strict inequality, so
it remains true with that probability taken off.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import flint
from scipy import special

from dpsco_verify.errors import InputError, no_truth_value
from dpsco_verify.privacy.balls import ball, gaussian_delta, upper_tail
from dpsco_verify.privacy.single_step import inner_epsilon_ball
from dpsco_verify.privacy.whole_run.moments import moment_bound

PRECISION = 192
"""Bits of the balls; every decision is a strict comparison of balls."""

TAIL_SHARE = Fraction(1, 1000)
"""The part of δ that may be spent on a run with more distinct points than is typical."""


class Status(enum.StrEnum):
    """What is known of a claim at one point; OPEN lies between the bounds."""

    HOLDS = "holds"
    FAILS = "fails"
    OPEN = "open"

    __bool__ = no_truth_value("status is Status.HOLDS")


class Route(enum.StrEnum):
    """The bound that decided."""

    ONE_USE = "one use"
    WHOLE_RUN = "the whole run"
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


def whole_run_delta(
    transcript: Transcript, epsilon: flint.arb, mu: flint.arb, *, target: flint.arb
) -> flint.arb | None:
    """Return an upper bound on δ(ε), good where it is near `target`; None where there is none, as for K = n."""
    n, used = transcript.n, transcript.used
    if used == n:
        return None
    return moment_bound(n=n, points=used, epsilon=epsilon, mu=mu, target=target)


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
    if _whole_run_proves(transcript, epsilon, delta, mu):
        return Route.WHOLE_RUN
    beta = delta * ball(TAIL_SHARE)
    usual = used_at_most(transcript, beta)
    if usual.rare and _whole_run_proves(replace(transcript, used=usual.points), epsilon, delta - beta, mu):
        return Route.WHOLE_RUN
    return Route.NONE


def _whole_run_proves(transcript: Transcript, epsilon: flint.arb, delta: flint.arb, mu: flint.arb) -> bool:
    bound = whole_run_delta(transcript, epsilon, mu, target=delta)
    return bound is not None and bool(bound <= delta)


def refutes(transcript: Transcript, *, epsilon: flint.arb, delta: flint.arb, mu: flint.arb) -> Route:
    """Return the lower bound that shows that it is not (ε, δ)-differentially private, or NONE."""
    if first_increment_delta(transcript, epsilon, mu) > delta:
        return Route.FIRST_INCREMENT
    if sum_delta(transcript, epsilon, mu) > delta:
        return Route.SUM
    return Route.NONE


@dataclass(frozen=True, kw_only=True)
class Used:
    """A number of points that bounds how many are used, and whether that is so but for a rare event."""

    points: int
    rare: bool


def used_at_most(transcript: Transcript, beta: flint.arb) -> Used:
    """Return a number of points that is exceeded with probability at most β."""
    n, tau, cap = transcript.n, transcript.increments, transcript.used
    always = Used(points=cap, rare=False)
    if not (transcript.fixed and beta > 0 and beta < 1):
        return always
    chance = probability_drawn(n, tau)
    p, least = float(chance), -float(beta.log())
    low, high = math.ceil(n * p), cap
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if n * _coins(middle / n, p) >= least else (middle, high)
    points = high + n // 10**12 + 1  # what doubles may have missed
    if points >= cap or not points + 1 > n * chance:
        return always
    rare = n * _coins_ball(ball(Fraction(points + 1, n)), chance) >= -beta.log()
    return Used(points=points, rare=True) if rare else always


def used_at_least(transcript: Transcript, beta: flint.arb) -> Used:
    """Return a number of points that is not reached with probability at most β.

    j given points are all missed with probability ``(1 − j/n)^τ``, at most ``(1 − 1/n)^{jτ}``: as above, with the
    coins of the points that are missed.
    """
    n, tau = transcript.n, transcript.increments
    if not transcript.fixed:
        return Used(points=transcript.used, rare=False)
    chance = probability_drawn(n, tau)
    p, least = float(chance), -float(beta.log())
    low, high = 1, math.floor(n * p)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if n * _coins(middle / n, p) >= least else (low, middle)
    points = low - n // 10**12  # fewer than this have the probability
    share = ball(Fraction(points - 1, n))
    if points <= 1 or not n * _coins_ball(share, chance) >= -beta.log():
        return Used(points=1, rare=False)
    return Used(points=points, rare=True)


def _coins_ball(share: flint.arb, chance: flint.arb) -> flint.arb:
    heads = share * (share / chance).log()
    return heads if share >= 1 else heads + (1 - share) * ((1 - share) / (1 - chance)).log()


def _coins(share: float, chance: float) -> float:
    """Return ``kl(share, chance)``."""
    return float(special.rel_entr(share, chance) + special.rel_entr(1.0 - share, 1.0 - chance))


def largest_factor(fails: Callable[[Fraction], bool], *, low: float, high: float) -> float | None:
    """Return the largest factor in [low, high], to 0.1 %, at which `fails` by bisection; None if not at `low`."""
    if not fails(Fraction(low)):
        return None
    while high / low > 1.001:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if fails(Fraction(middle)) else (low, middle)
    return low


def smallest_factor(
    holds: Callable[[Fraction], bool], *, low: float, high: float, within: float = 1.001
) -> float | None:
    """Return the smallest factor in [low, high], up to `within`, at which `holds` by bisection; None if not at `high`.

    `holds` is checked at what is returned, so a bound that is not monotone costs sharpness, never soundness.
    """
    if not holds(Fraction(high)):
        return None
    while high / low > within:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if holds(Fraction(middle)) else (middle, high)
    return high
