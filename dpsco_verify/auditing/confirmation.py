"""Confirm a chosen event on fresh samples, by a test after each chunk, and by another once all are drawn."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.auditing.mechanism import Caller
from dpsco_verify.auditing.orders import Order
from dpsco_verify.auditing.regions import Candidate
from dpsco_verify.auditing.selection import Choice
from dpsco_verify.execution.time_limit import TimeIsUp
from dpsco_verify.inference import CellCounts, EProcessDecision, PrivacyEventTest
from dpsco_verify.inference.bets import bet_fractions, depth_for_range
from dpsco_verify.inference.fixed_size_test import FixedSizeTest

_FIRST_CHUNK = 256
_LARGEST_CHUNK = 1 << 17
_MOST_ENTRIES = 1 << 22
_ON_AFTER_A_DECISION = 16
"""A violation that was found is followed until 16 times the samples that found it, so that the bounds, whose width
falls like the root, come within about a quarter of the excess; or to the cap."""


@dataclass(frozen=True, kw_only=True)
class AtOnce:
    """The test of fixed size that is made once all outputs of a round are drawn.

    Attributes
    ----------
    test
        The test, fixed before they are drawn.
    alpha
        Its level, beside that of the betting test.
    log_p_value
        The log of its p-value; 0 where it was not made, as the betting test had decided before, or the time was up.
    """

    test: FixedSizeTest
    alpha: float
    log_p_value: float = 0.0

    @property
    def rejected(self) -> bool:
        """Whether the claim was refuted by it."""
        return self.log_p_value <= math.log(self.alpha)


@dataclass(frozen=True, kw_only=True)
class Confirmation:
    """What fresh samples say about an event.

    Attributes
    ----------
    choice
        The event, and what the search thought of it.
    alpha
        The level of the betting test.
    fractions
        Its bets.
    decision
        Its decision: at the first rejection, or at the cap.
    at_once
        The test of all outputs; None in the rounds that have none, and of events that it has no power to judge.
    counts
        All pairs that were drawn; the first indicator is that of the data set on which the event is likelier.
    decision_counts
        Those up to the decision.
    samples, cap
        Outputs drawn a data set, and how many could have been.
    growth
        The log wealth up to the decision, each after so many outputs a data set.
    cut_short
        Whether the time was up before the test had all of its outputs.
    """

    choice: Choice
    alpha: float
    fractions: FloatArray
    decision: EProcessDecision
    counts: CellCounts
    decision_counts: CellCounts
    samples: int
    cap: int
    growth: tuple[tuple[int, float], ...] = ()
    cut_short: bool = False
    at_once: AtOnce | None = None

    @property
    def rejected(self) -> bool:
        """Whether the claim was refuted."""
        return self.decision.rejected or (self.at_once is not None and self.at_once.rejected)

    @property
    def tests(self) -> list[tuple[float, float, float]]:
        """Its tests: of each the level, the log of an e-value, and a p-value."""
        found = [(self.alpha, self.decision.log_wealth, self.decision.p_value)]
        if self.at_once is not None:
            cells = self.decision_counts
            first, second = cells.n11 + cells.n10, cells.n11 + cells.n01
            outputs = first + cells.n01 + cells.n00
            log_e_value = self.at_once.test.log_e_value(first, second, outputs)
            found.append((self.at_once.alpha, log_e_value, math.exp(self.at_once.log_p_value)))
        return found


def planned_fractions(order: Order, p: float, q: float, *, alpha: float, samples: int) -> FloatArray:
    """Return the bets for an event with ``P(E) = p`` and ``P'(E) = q``, half of whose weight serves the cap best.

    A bound from n payoffs of variance v is tightest with ``λ = sqrt(2 log(1/α)/(n v))`` (Hoeffding's and Bernstein's
    exponent). v is taken from the search, which the test's samples do not know of. The other half is on the grid for
    all violations, which finds gross ones early.
    """
    factor = math.exp(order.epsilon)
    grid = bet_fractions(depth=depth_for_range(-(factor + order.delta), 1.0 - order.delta))
    variance = p * (1.0 - p) + factor**2 * q * (1.0 - q) + (1.0 + factor**2) / samples
    tuned = math.sqrt(2.0 * math.log(1.0 / alpha) / (samples * variance)) * (factor + order.delta)
    return np.sort(np.concatenate([grid, np.full(grid.size, min(tuned, float(grid.max())))]))


def confirm(
    caller: Caller,
    choice: Choice,
    *,
    alpha: float,
    decide_within: int,
    cap: int,
    purpose: str,
    part_at_once: float = 0.0,
) -> Confirmation:
    """Test the candidate's order on fresh outputs from the streams of this purpose.

    The test gives up after `decide_within` outputs a data set; a violation is followed on, up to `cap`. Where the time
    is up it ends with what was drawn, which its level allows at any time; TimeIsUp is raised if that is nothing.

    A part `part_at_once` of the level is a test's that is made when all `cap` outputs are drawn and nothing is decided.
    """
    candidate = choice.candidate
    at_once = planned_at_once(
        candidate.order,
        choice.frequency,
        alpha=part_at_once * alpha,
        samples=cap,
    )
    if at_once is not None:
        alpha -= at_once.alpha
    fractions = planned_fractions(
        candidate.order, choice.frequency, choice.frequency_neighbour, alpha=alpha, samples=cap
    )
    test = PrivacyEventTest(
        epsilon=candidate.order.epsilon, delta=candidate.order.delta, alpha=alpha, fractions=fractions
    )
    total = np.zeros(4, dtype=np.int64)
    decision, decision_counts = test.decision, CellCounts(0, 0, 0, 0)
    drawn, chunk, limit, number = 0, _FIRST_CHUNK, min(decide_within, cap), 0
    growth: list[tuple[int, float]] = []
    cut_short = False
    while drawn < limit:
        size = min(chunk, limit - drawn)
        try:
            counts, width = _drawn(caller, candidate, size, purpose, number)
        except TimeIsUp:
            if not drawn:
                raise
            cut_short = True
            break
        total += (counts.n11, counts.n10, counts.n01, counts.n00)
        drawn += size
        number += 1
        if not decision.rejected:
            decision = test.update_counts(counts)
            growth.append((drawn, decision.log_wealth))
            decision_counts = CellCounts(*(int(x) for x in total))
            if decision.rejected:
                limit = min(cap, _ON_AFTER_A_DECISION * drawn)
        chunk = min(drawn, _LARGEST_CHUNK, max(_MOST_ENTRIES // width, 1))
    if at_once is not None and drawn == cap and not decision.rejected:
        first, second = int(total[0] + total[1]), int(total[0] + total[2])
        at_once = replace(at_once, log_p_value=at_once.test.log_p_value(first, second))
    return Confirmation(
        choice=choice,
        alpha=alpha,
        fractions=fractions,
        decision=decision,
        counts=CellCounts(*(int(x) for x in total)),
        decision_counts=decision_counts,
        samples=drawn,
        cap=cap,
        growth=tuple(growth),
        cut_short=cut_short,
        at_once=at_once,
    )


def planned_at_once(order: Order, p: float, *, alpha: float, samples: int) -> AtOnce | None:
    """Return the test of all outputs for an event with about ``P(E) = p``, or None."""
    if alpha <= 0.0:
        return None
    test = FixedSizeTest.aimed(epsilon=order.epsilon, delta=order.delta, p=p, samples=samples, alpha=alpha)
    return None if test is None else AtOnce(test=test, alpha=alpha)


def count_fresh(caller: Caller, candidate: Candidate, samples: int, purpose: str) -> CellCounts:
    """Return the cell counts of `samples` fresh pairs of outputs from the streams of this purpose."""
    total = np.zeros(4, dtype=np.int64)
    drawn, chunk, number = 0, _FIRST_CHUNK, 0
    while drawn < samples:
        size = min(chunk, samples - drawn)
        counts, width = _drawn(caller, candidate, size, purpose, number)
        total += (counts.n11, counts.n10, counts.n01, counts.n00)
        drawn, number = drawn + size, number + 1
        chunk = min(drawn, _LARGEST_CHUNK, max(_MOST_ENTRIES // width, 1))
    return CellCounts(*(int(x) for x in total))


def _drawn(
    caller: Caller, candidate: Candidate, size: int, purpose: str, number: int
) -> tuple[CellCounts, int]:
    """Return the cell counts of `size` pairs of outputs, and how wide an output is at most."""
    first, second = (caller.draw(side, size, purpose, number) for side in (0, 1))
    if candidate.swapped:
        first, second = second, first
    inside = candidate.region.contains(first), candidate.region.contains(second)
    return CellCounts.from_indicators(*inside), max(first.width, second.width, 1)
