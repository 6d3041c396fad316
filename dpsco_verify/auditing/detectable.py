"""The minimum detectable violation (MDV): the smallest that an audit that found nothing would have found.

A violation of an event has two numbers, P(E) and P'(E), and a family of mechanisms is needed along which it grows from
the one that was seen. It is the family of the same shape: with the density p on the data set on which E is likelier and
p' on the other, the privacy loss ``l = log(p/p')`` is multiplied by a factor f ≥ 1,

    ``p_f ∝ sqrt(p p') e^{f l/2}``,  ``p'_f ∝ sqrt(p p') e^{−f l/2}``.

Randomised response moves so as its ε grows to f·ε, and the Gaussian mechanism as its noise shrinks to σ/f; the Laplace
mechanism of f·ε has the same losses at its tails, between which the two differ little. The densities are those of a few
cells within the event and a few outside it, counted on the samples of the search, and scaled to the frequencies of the
event among the samples of the test. As an audit of the other mechanism would choose its event anew, so is the event
here: for each f the one among the unions of cells that rates best.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from dpsco_verify.arrays import BoolArray, FloatArray
from dpsco_verify.auditing.confirmation import Confirmation, planned_fractions
from dpsco_verify.auditing.outputs import Outputs
from dpsco_verify.auditing.regions import Order, Region, rating
from dpsco_verify.auditing.request import POWER
from dpsco_verify.auditing.result import MinimumDetectableViolation
from dpsco_verify.inference.privacy_event_test import power_lower_bound

_CELLS_A_SIDE = 4
_CLEAR = 8.0
"""A cell is so large that its loss is known to about an eighth of the event's."""
_SEEN = 6.0
"""Below this many standard errors no privacy loss has been seen, and a multiple of it means nothing."""
_CHOICE = 0.25
"""An audit of the other mechanism does not choose quite the best event. Where it is a cut among many values that costs
0.1 to 0.3 standard errors, as measured on the Laplace and the Gaussian mechanism; where there are few, nothing."""
_FEW_VALUES = 32
_LARGEST_FACTOR = 2.0**30
_PRECISION = 1e-3


def detectable(
    confirmation: Confirmation, searched: tuple[Outputs, Outputs]
) -> MinimumDetectableViolation | None:
    """Return the violation that would have been found with probability at least 0.9, or None.

    `searched` are outputs on d and d_prime that the search saw.
    """
    order = confirmation.choice.candidate.order
    family = _family(confirmation, searched)
    values = np.concatenate([confirmation.choice.candidate.region.values(outputs) for outputs in searched])
    wanted = POWER if np.unique(values).size <= _FEW_VALUES else float(ndtr(ndtri(POWER) + _CHOICE))

    def lack(factor: float) -> float:
        p, q, _ = family.at(factor)
        return wanted - power_lower_bound(
            epsilon=order.epsilon,
            delta=order.delta,
            p=p,
            q=q,
            samples=confirmation.samples,
            alpha=confirmation.alpha,
            precision=wanted,
            fractions=planned_fractions(order, p, q, alpha=confirmation.alpha, samples=confirmation.samples),
        )

    found = 1.0
    if lack(found) > 0.0:
        high = 2.0
        while lack(high) > 0.0:
            high *= 2.0
            if high > _LARGEST_FACTOR:
                return None
        found = float(brentq(lack, max(1.0, high / 2.0), high, rtol=_PRECISION))
    p, q, largest_loss = family.at(found)
    excess = p - math.exp(order.epsilon) * q - order.delta
    return MinimumDetectableViolation(
        # A pure claim is broken as far as the largest loss goes, another one as far as the event shows.
        epsilon=largest_loss if order.delta == 0.0 else math.log((p - order.delta) / q),
        delta=order.delta + excess,
        delta_excess=excess,
        privacy_loss_factor=found if family.seen else None,
        power=POWER,
    )


@dataclass(frozen=True)
class _Family:
    """By cells, shape (C,): the base ``sqrt(p p')``, the losses, and what a unit of the factor adds to them."""

    order: Order
    base: FloatArray
    loss: FloatArray
    growth: FloatArray
    samples: int
    seen: bool

    def at(self, factor: float) -> tuple[float, float, float]:
        """Return P(E) and P'(E) of the event that rates best, and the largest loss, for a factor."""
        tilt = 0.5 * (self.loss + (factor - 1.0) * self.growth)
        first, second = (np.log(self.base) + sign * tilt for sign in (1.0, -1.0))
        first -= np.logaddexp.reduce(first)
        second -= np.logaddexp.reduce(second)
        descending = np.argsort(second - first, kind="stable")
        # An event that is never or always seen is taken to have half an observation otherwise.
        least = 0.5 / self.samples
        p, q = (np.clip(np.cumsum(np.exp(side[descending])), least, 1.0 - least) for side in (first, second))
        best = int(np.argmax(rating(p, q, [self.order], self.samples, self.samples)[0]))
        largest = float(np.abs(first - second).max())
        if self.seen:
            # The losses are known to an eighth, and at most ε where a pure claim holds; at ε = 0 those that were seen
            # are not the claim's.
            bound = self.order.epsilon or math.inf
            largest = factor * min((1.0 + 1.0 / _CLEAR) * float(np.abs(self.loss).max()), bound)
        return float(p[best]), float(q[best]), largest


def _family(confirmation: Confirmation, searched: tuple[Outputs, Outputs]) -> _Family:
    candidate, counts, n = confirmation.choice.candidate, confirmation.counts, confirmation.samples
    order = candidate.order
    least = 0.5 / n
    p = min(max((counts.n11 + counts.n10) / n, least), 1.0 - least)
    q = min(max((counts.n11 + counts.n01) / n, least), 1.0 - least)
    seen = p - q > _SEEN * math.sqrt((p * (1.0 - p) + q * (1.0 - q)) / n)
    if not seen:
        # Nothing is known of a shape: it is that of randomised response, whose one event this is.
        whole = np.array([[p, 1.0 - p], [q, 1.0 - q]])
        loss = np.log(whole[0] / whole[1])
        return _Family(order, np.sqrt(whole[0] * whole[1]), loss, np.array([1.0, -1.0]), n, seen)
    first, second = reversed(searched) if candidate.swapped else searched
    parts, inside = _cells(candidate.region, first, second, math.log(p / q))
    masses = np.where(inside, [[p], [q]], [[1.0 - p], [1.0 - q]]) * parts
    loss = np.log(masses[0] / masses[1])
    return _Family(order, np.sqrt(masses[0] * masses[1]), loss, loss, n, seen)


def _cells(region: Region, first: Outputs, second: Outputs, loss: float) -> tuple[FloatArray, BoolArray]:
    """Return the parts of E, and of its complement, that lie in each cell on both sides, (2, C), and which lie in E."""
    parts, inside = [], []
    events = [region.contains(outputs) for outputs in (first, second)]
    values = [region.values(outputs) for outputs in (first, second)]
    for within in (True, False):
        here = [v[event == within] for v, event in zip(values, events, strict=True)]
        fewest = min(v.size for v in here)
        wanted = int(np.clip(fewest * (loss / _CLEAR) ** 2 / 2.0, 1, _CELLS_A_SIDE))
        levels = np.arange(1, wanted) / wanted
        cuts: FloatArray = np.unique(np.quantile(np.concatenate(here), levels)) if wanted > 1 else levels
        found = [
            np.bincount(np.searchsorted(cuts, v, side="right"), minlength=len(cuts) + 1) + 0.5 for v in here
        ]
        parts.append(np.stack([x / x.sum() for x in found]))
        inside += [within] * (len(cuts) + 1)
    return np.concatenate(parts, axis=1), np.array(inside)
