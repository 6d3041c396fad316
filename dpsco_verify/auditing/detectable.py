"""The minimum detectable violation (MDV): what an audit that found nothing can promise of the event that it judged.

Let ``p = P(E)`` and ``q = P'(E)`` be the true probabilities of the event on the two data sets, ``log((p − δ)/q)`` its ε
at the tested δ, and ``p − e^ε q`` its δ at the tested ε. The event and the bets are fixed before the test's n pairs are
drawn, so the power of the test is a function of (p, q) alone, which grows with p and falls with q
(:mod:`dpsco_verify.inference.fixed_size_test`; where the betting test rejects before, the violation is found as well).
The promise, for every mechanism whatever:

    ``P(the audit finds no violation, and the MDV is below the event's ε) ≤ 0.1``,

and the same of δ.

*Proof.* Let q*(p) be the largest q at which the power is at least 0.9, as far as its lower bound shows. If
q ≤ q*(p), the audit finds no violation with probability at most 0.1, whatever it then says. If q > q*(p), the event's
ε is below ``log((p − δ)/q*(p))`` and its δ below ``p − e^ε q*(p)``; the MDV is the largest that these become for any p
within exact binomial bounds, which miss the true p with probability at most 0.1 (Clopper and Pearson 1934; two tails of
0.05, from all n outputs). So the MDV is too small with probability at most 0.1. Only one of the two cases is the
truth's. □

The first falls as p grows, and the second rises and then falls, so that both are taken at the ends, and the second also
between them. What was seen of q has no part in it: to miss makes a violation look small, and with it every MDV that
builds on the violation that was seen. What is asked for is in fact a little more than 0.9, so that the audit of
another mechanism that breaks the claim by the MDV, which chooses its event anew and not quite the best, finds it too.
And as no (p, q) within the claim is found with probability 0.9, no MDV is below the claim.

The factor of the privacy loss is an estimate and no part of the promise: along ``logit p + t``, ``logit q − t`` from
the frequencies, which is how randomised response moves, it is by what ``log(p/q)`` has grown where the power is 0.9.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

from scipy.optimize import brentq
from scipy.special import betainccinv, betaincinv, expit, logit, ndtr, ndtri

from dpsco_verify.arrays import FloatArray
from dpsco_verify.auditing.confirmation import Confirmation, planned_at_once, planned_fractions
from dpsco_verify.auditing.orders import Order
from dpsco_verify.auditing.request import POWER
from dpsco_verify.auditing.result import MinimumDetectableViolation
from dpsco_verify.inference.privacy_event_test import power_function

_TAIL = (1.0 - POWER) / 2.0
_SEEN = 6.0
"""Below this many standard errors no privacy loss has been seen, and a multiple of it means nothing."""
_LARGEST_TILT = 100.0
_WANTED = float(ndtr(ndtri(POWER) + 0.6))
"""The choice of the event costs up to 0.6 standard errors, as measured on the Laplace mechanism at a level of 5 %:
of 400 audits of one that breaks the claim by the MDV 88.5 % find it, and 86 % where 0.4 are left for the choice."""
_PRECISION = 1e-4
_FIRST_GUESS = 0.1
_TINY = 1e-12
_RAREST = 1e-12
"""An event that is not found although it is so rare on the second data set is taken not to be found at all."""
_MOST_SAMPLES = 2.0**50
_MARGIN = 1.25
"""More samples choose another event, not always a better one."""
_ROUNDED = 0.05
"""The relative precision of the number of samples that is asked for."""


@dataclass(frozen=True)
class _Detectable:
    """The smallest ε at δ, and δ at ε, that a test finds; infinite where it finds none."""

    epsilon: float
    delta: float


def detectable(confirmation: Confirmation) -> MinimumDetectableViolation | None:
    """Return the MDV of a test that rejected nothing; None where no violation would have been found."""
    order, counts = confirmation.choice.candidate.order, confirmation.counts
    found = _smallest(order, counts.n11 + counts.n10, confirmation.samples, _power_of(confirmation))
    if math.isinf(found.epsilon):
        return None
    return MinimumDetectableViolation(
        epsilon=found.epsilon,
        delta=found.delta,
        delta_excess=found.delta - order.delta,
        privacy_loss_factor=_factor(confirmation),
        power=POWER,
    )


def _factor(confirmation: Confirmation) -> float | None:
    """Return by how much a privacy loss that was seen would have to be larger to be found, or None."""
    counts, n = confirmation.counts, confirmation.samples
    p, q = (
        min(max(x / n, 0.5 / n), 1.0 - 0.5 / n) for x in (counts.n11 + counts.n10, counts.n11 + counts.n01)
    )
    if p - q <= _SEEN * math.sqrt((p * (1.0 - p) + q * (1.0 - q)) / n):
        return None
    power = _power_of(confirmation)

    def sides(t: float) -> tuple[float, float]:
        return float(expit(logit(p) + t)), float(expit(logit(q) - t))

    if power(p, q) >= _WANTED:
        return 1.0
    t = _found_from(lambda t: power(*sides(t)), _FIRST_GUESS, _LARGEST_TILT)
    if math.isinf(t):
        return None
    first, second = sides(t)
    return math.log(first / second) / math.log(p / q)


def pairs_needed(confirmation: Confirmation, *, epsilon: float, delta: float) -> int | None:
    """Return how many pairs a test of this event would need for an MDV of ε ≤ `epsilon`, or of δ ≤ `delta`.

    At the frequencies that were seen; None where 2^50 are not enough, as for what is within the claim.
    """
    order, counts, n = confirmation.choice.candidate.order, confirmation.counts, confirmation.samples
    if epsilon <= order.epsilon and delta <= order.delta:
        return None
    p, q = (counts.n11 + counts.n10) / n, (counts.n11 + counts.n01) / n

    def enough(log_n: float) -> bool:
        size = round(math.exp(log_n))
        power = _planned_power(confirmation, p, q, size)
        low, high = _bounds(p * size, size)
        # The largest q at which the event breaks the claim by so much.
        found = (low - order.delta) * math.exp(-epsilon)
        if epsilon > order.epsilon and found > _RAREST and power(low, found) >= _WANTED:
            return True
        rates = [(x, (x - delta) * math.exp(-order.epsilon)) for x in (low, high)]
        return delta > order.delta and all(y > _RAREST and power(x, y) >= _WANTED for x, y in rates)

    # Beyond 2^53 doubles are no counts, and the power's bisection over them would not end.
    low, step, most = math.log(n), 0.5, math.log(_MOST_SAMPLES)
    while not enough(min(low + step, most)):
        low, step = low + step, 2.0 * step
        if low >= most:
            return None
    high = min(low + step, most)
    while high - low > _ROUNDED:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return math.ceil(_MARGIN * math.exp(high))


def _power_of(confirmation: Confirmation) -> Callable[[float, float], float]:
    """Return the power of the test of all outputs, or where there is none of the one that bets."""
    if confirmation.at_once is not None:
        return partial(confirmation.at_once.test.power, alpha=confirmation.at_once.alpha)
    order = confirmation.choice.candidate.order
    return _power_of_bets(
        order, confirmation.samples, alpha=confirmation.alpha, fractions=confirmation.fractions
    )


def _planned_power(
    confirmation: Confirmation, p: float, q: float, size: int
) -> Callable[[float, float], float]:
    """Return the power of a like test of so many outputs, planned for an event of these frequencies."""
    order, alpha = confirmation.choice.candidate.order, confirmation.alpha
    if confirmation.at_once is not None:
        planned = planned_at_once(order, p, alpha=confirmation.at_once.alpha, samples=size)
        if planned is not None:
            return partial(planned.test.power, alpha=planned.alpha)
        alpha += confirmation.at_once.alpha
    bets = planned_fractions(order, p, q, alpha=alpha, samples=size)
    return _power_of_bets(order, size, alpha=alpha, fractions=bets)


def _power_of_bets(
    order: Order, n: int, *, alpha: float, fractions: FloatArray
) -> Callable[[float, float], float]:
    return power_function(
        epsilon=order.epsilon,
        delta=order.delta,
        samples=n,
        alpha=alpha,
        fractions=fractions,
        precision=_WANTED,
    )


def _smallest(order: Order, count: float, n: int, power: Callable[[float, float], float]) -> _Detectable:
    """Return what is detectable of an event in which `count` of n outputs on the first data set lie."""
    low, high = _bounds(count, n)
    found = [_at(order, low, power, _FIRST_GUESS)]
    for p in (0.5 * (low + high), high):
        found.append(_at(order, p, power, max(found[-1].epsilon - order.epsilon, _FIRST_GUESS)))
    return _Detectable(max(one.epsilon for one in found), max(one.delta for one in found))


def _bounds(count: float, n: int) -> tuple[float, float]:
    """Return the exact bounds of a probability, each missed with probability at most a half of 1 − 0.9."""
    low = float(betaincinv(count, n - count + 1.0, _TAIL)) if count > 0.0 else 0.0
    return low, float(betainccinv(count + 1.0, n - count, _TAIL)) if count < n else 1.0


def _at(order: Order, p: float, power: Callable[[float, float], float], guess: float) -> _Detectable:
    """Return ε and δ at q*(p); `guess` is about by how much ε exceeds the claim there."""
    # The test is blind up to the boundary of the claim.
    boundary = min((p - order.delta) * math.exp(-order.epsilon), 1.0)
    if boundary <= _RAREST:
        return _Detectable(math.inf, math.inf)
    depth = _found_from(
        lambda depth: power(p, boundary * math.exp(-depth)), guess, math.log(boundary / _RAREST)
    )
    if math.isinf(depth):
        return _Detectable(math.inf, math.inf)
    return _Detectable(order.epsilon + depth, order.delta - math.expm1(-depth) * (p - order.delta))


def _found_from(power: Callable[[float], float], guess: float, most: float) -> float:
    """Return the smallest t > 0 from which on a power that grows with t is what is wanted; infinity beyond `most`."""

    @cache
    def lack(t: float) -> float:
        # Along t the power is about a normal distribution function: by its quantiles the search is for a line's zero.
        return float(ndtri(_WANTED) - ndtri(min(max(power(t), _TINY), 1.0 - _TINY)))

    low, high = 0.0, min(guess, most)
    while lack(high) > 0.0:
        if high >= most:
            return math.inf
        low, high = high, min(2.0 * high, most)
    while low == 0.0 and high > _PRECISION:
        if lack(0.5 * high) > 0.0:
            low = 0.5 * high
        else:
            high *= 0.5
    return float(brentq(lack, low, high, rtol=_PRECISION)) if low > 0.0 else high
