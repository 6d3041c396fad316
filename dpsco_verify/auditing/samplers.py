"""Audit an (ε, δ) claim of two samplers of numbers: choose an event on one stream, confirm it on another.

The samplers give a mechanism's outputs on two neighbouring data sets, reduced to one number each. For a mechanism as
it is see :func:`dpsco_verify.auditing.audit`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.auditing.event import Event, select_event
from dpsco_verify.errors import no_truth_value
from dpsco_verify.inference.e_process import EProcessDecision
from dpsco_verify.inference.privacy_event_test import (
    CellCounts,
    PrivacyEventTest,
    minimum_detectable_violation,
)
from dpsco_verify.validation import require_integer

Sampler = Callable[[np.random.Generator, int], FloatArray]
"""``sampler(rng, size)`` returns `size` independent outputs, reduced to one number each, shape (size,)."""


@dataclass(frozen=True, kw_only=True)
class SamplersAudit:
    """What an audit of one pair in one direction found.

    Attributes
    ----------
    event
        The event that was chosen on the search stream.
    decision
        The e-process on the confirmation stream.
    counts
        Cell counts of the confirmation stream up to the decision.
    frequency, frequency_neighbour
        How often the event occurred on the two data sets.
    mdv
        The smallest excess of ``P(E|D)`` over ``e^ε P(E|D') + δ`` that would have been found within the cap with
        power 0.9, at the observed ``P(E|D')``; infinite when there is none.

    Examples
    --------
    >>> uniform = lambda rng, size: rng.random(size)
    >>> streams = {"search_rng": np.random.default_rng(1), "confirm_rng": np.random.default_rng(2)}
    >>> found = audit_samplers(
    ...     uniform, uniform, epsilon=1.0, delta=0.0, alpha=1e-6, search_samples=3000, cap=3000, **streams
    ... )
    >>> print(found.decision.rejected, found.mdv < 0.2)
    False True
    """

    event: Event
    decision: EProcessDecision
    counts: CellCounts
    frequency: float
    frequency_neighbour: float
    mdv: float

    __bool__ = no_truth_value("not result.refuted")

    @property
    def refuted(self) -> bool:
        """Whether the claim was refuted at the test's level."""
        return self.decision.rejected


def audit_samplers(
    sampler: Sampler,
    neighbour: Sampler,
    *,
    epsilon: float,
    delta: float,
    alpha: float,
    search_rng: np.random.Generator,
    confirm_rng: np.random.Generator,
    search_samples: int,
    cap: int,
    chunk: int = 1 << 18,
) -> SamplersAudit:
    """Test ``P(E|D) ≤ e^ε P(E|D') + δ`` for an event chosen by the estimated likelihood ratio.

    Parameters
    ----------
    sampler, neighbour
        The mechanism on D and on D'.
    epsilon, delta
        The claim.
    alpha
        The level: the probability, at most, of refuting a true claim.
    search_rng, confirm_rng
        Streams of the search and of the confirmation; they must be different ones.
    search_samples, cap
        Outputs a data set for the search, and at most for the confirmation.
    chunk
        Outputs drawn at once; the e-process is looked at after each chunk and stops when it rejects.

    Examples
    --------
    >>> uniform = lambda rng, size: rng.random(size)
    >>> shifted = lambda rng, size: rng.random(size) + 0.5
    >>> streams = {"search_rng": np.random.default_rng(1), "confirm_rng": np.random.default_rng(2)}
    >>> found = audit_samplers(
    ...     uniform, shifted, epsilon=1.0, delta=0.1, alpha=1e-6, search_samples=3000, cap=3000, **streams
    ... )
    >>> print(found.decision.rejected, found.frequency_neighbour)
    True 0.0006666666666666666
    """
    search_samples = require_integer("search_samples", search_samples, minimum=4)
    cap = require_integer("cap", cap, minimum=1)
    chunk = require_integer("chunk", chunk, minimum=1)
    event = select_event(
        sampler(search_rng, search_samples), neighbour(search_rng, search_samples), epsilon=epsilon
    )
    test = PrivacyEventTest(epsilon=epsilon, delta=delta, alpha=alpha)
    total = np.zeros(4, dtype=np.int64)
    drawn = 0
    while drawn < cap and not test.decision.rejected:
        size = min(chunk, cap - drawn)
        counts = CellCounts.from_indicators(
            event.contains(sampler(confirm_rng, size)), event.contains(neighbour(confirm_rng, size))
        )
        test.update_counts(counts)
        total += (counts.n11, counts.n10, counts.n01, counts.n00)
        drawn += size
    n11, n10, n01, n00 = (int(x) for x in total)
    frequency_neighbour = (n11 + n01) / drawn
    return SamplersAudit(
        event=event,
        decision=test.decision,
        counts=CellCounts(n11=n11, n10=n10, n01=n01, n00=n00),
        frequency=(n11 + n10) / drawn,
        frequency_neighbour=frequency_neighbour,
        mdv=minimum_detectable_violation(
            epsilon=epsilon, delta=delta, q=frequency_neighbour, samples=cap, alpha=alpha
        ),
    )
