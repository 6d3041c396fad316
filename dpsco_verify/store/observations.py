"""The observations behind a run's e-value, so that a checker can compute a product over runs anew.

The wealth at the end does not depend on the order of the payoffs, so each value stands once, with how often it was
seen. Arrays are stored as their bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpsco_verify.arrays import ArrayLike, FloatArray, IntArray
from dpsco_verify.validation import require_finite_array


@dataclass(frozen=True, kw_only=True, eq=False)
class MeanObservations:
    """Observations of at least `low` that were bet on against ``mean ≤ bound``.

    Attributes
    ----------
    bound, low
        The claimed bound of the mean, and the lower bound of what is observed.
    fractions
        The bets as fractions of the largest, ``1/(bound − low)``, shape (K,).
    values, counts
        Each value that was seen, and how often, shapes (V,) and (V,).
    """

    bound: float
    low: float
    fractions: FloatArray
    values: FloatArray
    counts: IntArray

    @classmethod
    def of(
        cls, observations: ArrayLike, *, bound: float, low: float, fractions: FloatArray
    ) -> MeanObservations:
        """Return the record of observations of shape (N,)."""
        values, counts = np.unique(
            require_finite_array("observations", observations, shape=(None,)), return_counts=True
        )
        return cls(
            bound=bound,
            low=low,
            fractions=fractions,
            values=values,
            counts=counts.astype(np.int64, copy=False),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class EventObservations:
    """How often pairs of outputs lay in an event, bet on against ``P(E|S) ≤ e^ε P(E|S') + δ``.

    Attributes
    ----------
    epsilon, delta
        The claim.
    fractions
        The bets as fractions of the largest, ``1/(e^ε + δ)``, shape (K,).
    both, first_only, second_only, neither
        The cells of the pairs' counts.
    """

    epsilon: float
    delta: float
    fractions: FloatArray
    both: int
    first_only: int
    second_only: int
    neither: int


Observations = MeanObservations | EventObservations
