"""Tests of ``mean ≤ bound`` that also say what they would have found, and the drawing of their observations."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.errors import no_truth_value
from dpsco_verify.guarantees.calls import FunctionError
from dpsco_verify.guarantees.detectable import (
    Law,
    grouped,
    shifted,
    smallest_detectable,
    tilted,
    with_one_more,
)
from dpsco_verify.inference import BettingConfidenceSequence, BoundedMeanTest, EProcessDecision
from dpsco_verify.inference.bounded_mean import minimum_detectable_violation
from dpsco_verify.inference.confidence_sequence import Side
from dpsco_verify.inference.unbounded_mean import Spread, UnboundedMeanTest

_FIRST_CHUNK = 500


class MeanTest(Protocol):
    """What judges ``mean ≤ bound`` as observations come in, and what it would have found."""

    def update(self, observations: FloatArray) -> EProcessDecision:
        """Take in observations, shape (N,)."""
        ...

    @property
    def decision(self) -> EProcessDecision:
        """The decision so far."""
        ...

    def detectable(self, seen: FloatArray, samples: int) -> float | None:
        """Return the smallest violation that `samples` observations of the shape seen would have shown."""
        ...


class BoundedMean:
    """``E X ≤ bound`` for X in ``[low, high]``, by :class:`~dpsco_verify.inference.bounded_mean.BoundedMeanTest`.

    Whatever tests a mean here does so by this: :func:`~dpsco_verify.guarantees.mean_at_most`, the risk of an optimiser,
    and the statements of the ledger (:mod:`dpsco_verify.ledger.measured`).
    """

    __bool__ = no_truth_value("not test.decision.rejected")

    def __init__(self, *, bound: float, low: float, high: float, alpha: float) -> None:
        self._bound, self._low, self._high, self._alpha = bound, low, high, alpha
        self._test = BoundedMeanTest(bound=bound, low=low, high=high, alpha=alpha)

    def update(self, observations: FloatArray) -> EProcessDecision:
        """Take in observations, shape (N,)."""
        return self._test.update(observations)

    @property
    def decision(self) -> EProcessDecision:
        """The decision so far."""
        return self._test.decision

    def interval(self, seen: FloatArray, *, side: Side = "both") -> tuple[float, float]:
        """Return confidence bounds of the mean of observations, at the test's level; `low` or `high` for no bound."""
        sequence = BettingConfidenceSequence(low=self._low, high=self._high, alpha=self._alpha, side=side)
        sequence.update(seen)
        return sequence.interval

    def detectable(self, seen: FloatArray, samples: int) -> float | None:
        """Return the smallest violation that would have been found, for laws tilted from the one seen."""
        law = grouped(seen)
        deviation = math.sqrt(float(law[1] @ (law[0] - law[1] @ law[0]) ** 2))
        largest = self._high - self._bound
        first = max(6.0 * deviation / math.sqrt(samples), 1e-6 * largest)
        return self._found(law, samples, first, largest) or self._found(
            with_one_more(law, self._high, samples=seen.size), samples, first, largest
        )

    def surely_detectable(self, samples: int, *, standard_deviation: float | None = None) -> float | None:
        """Return the smallest violation that is found whatever the law is, among those of at most this deviation.

        A proven bound, and so larger than :meth:`detectable`, which speaks of laws of the shape seen.
        """
        found = minimum_detectable_violation(
            bound=self._bound,
            low=self._low,
            high=self._high,
            samples=samples,
            alpha=self._alpha,
            standard_deviation=standard_deviation,
        )
        return found if math.isfinite(found) else None

    def _found(self, law: Law, samples: int, first: float, largest: float) -> float | None:
        return smallest_detectable(
            lambda v: tilted(law, self._bound + v),
            self._test.log_factors,
            samples=samples,
            log_threshold=self.decision.log_threshold,
            first=first,
            largest=largest,
        )


class UnboundedMean:
    """``E X ≤ bound`` for X of a stated deviation or tail; :mod:`dpsco_verify.inference.unbounded_mean`."""

    __bool__ = no_truth_value("not test.decision.rejected")

    def __init__(self, *, bound: float, scale: float, spread: Spread, alpha: float) -> None:
        self._bound, self._scale = bound, scale
        self._test = UnboundedMeanTest(bound=bound, scale=scale, spread=spread, alpha=alpha)

    def update(self, observations: FloatArray) -> EProcessDecision:
        """Take in observations, shape (N,)."""
        return self._test.update(observations)

    @property
    def decision(self) -> EProcessDecision:
        """The decision so far."""
        return self._test.decision

    def detectable(self, seen: FloatArray, samples: int) -> float | None:
        """Return the smallest violation that would have been found, for the law seen, shifted."""
        law = grouped(seen)
        return smallest_detectable(
            lambda v: shifted(law, self._bound + v),
            self._test.log_factors,
            samples=samples,
            log_threshold=self.decision.log_threshold,
            first=6.0 * self._scale / math.sqrt(samples),
            largest=math.inf,
        )


@dataclass(frozen=True, kw_only=True)
class Observed:
    """The observations that a mean was judged on, in the order in which they came, and the decision."""

    values: FloatArray
    decision: EProcessDecision

    __bool__ = no_truth_value("not observed.decision.rejected")


def observe(test: MeanTest, draw: Callable[[int, int], FloatArray], samples: int) -> Observed:
    """Draw, in growing chunks ``draw(size, chunk)``, until the test rejects or `samples` are drawn."""
    parts: list[FloatArray] = []
    drawn, chunk = 0, 0
    while drawn < samples and not test.decision.rejected:
        size = min(_FIRST_CHUNK << chunk, samples - drawn)
        parts.append(draw(size, chunk))
        test.update(parts[-1])
        drawn += size
        chunk += 1
    return Observed(values=np.concatenate(parts), decision=test.decision)


def within(values: FloatArray, low: float | None, high: float | None, *, name: str) -> FloatArray:
    """Return the values, none of which may lie outside of the bounds that were stated."""
    if low is None or high is None:
        return values
    outside = values[(values < low) | (values > high)]
    if outside.size:
        raise FunctionError(
            f"function={name} returned {float(outside[0])!r}, outside of [{low!r}, {high!r}]; state bounds that every "
            "observation keeps"
        )
    return values
