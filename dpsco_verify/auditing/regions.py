"""Regions: the sets of outputs that an event can be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dpsco_verify.arrays import BoolArray, FloatArray
from dpsco_verify.auditing.event import Event
from dpsco_verify.auditing.features import Feature
from dpsco_verify.auditing.orders import Order
from dpsco_verify.auditing.outputs import Fingerprints, Outputs


class Region(Protocol):
    """A set of outputs."""

    @property
    def pieces(self) -> int:
        """Of how many pieces it is made."""
        ...

    def contains(self, outputs: Outputs) -> BoolArray:
        """Return whether each output lies in it, shape (size,)."""
        ...

    def __str__(self) -> str:
        """Return it in words."""
        ...


@dataclass(frozen=True)
class FeatureRegion:
    """The outputs whose feature lies in a union of intervals."""

    feature: Feature
    event: Event

    @property
    def pieces(self) -> int:
        """The number of intervals."""
        return len(self.event.intervals)

    def contains(self, outputs: Outputs) -> BoolArray:
        """Return whether each output lies in it."""
        values = finite(self.feature.values(outputs))
        return self.event.contains(values) & ~np.isnan(values)

    def __str__(self) -> str:
        """Return it in words."""
        if self.feature.yes_no is not None:
            no, yes = (bool(inside) for inside in self.event.contains(np.array([0.0, 1.0])))
            if yes != no:
                return self.feature.yes_no[0 if yes else 1]
        return f"{self.feature.name} in {_shortened(self.event)}"


@dataclass(frozen=True)
class AtomsRegion:
    """The outputs that are, to the bit, among some that were seen, or that are none of them."""

    prints: Fingerprints
    examples: tuple[str, ...]
    negated: bool

    @property
    def pieces(self) -> int:
        """The number of outputs that are named."""
        return len(self.prints)

    def contains(self, outputs: Outputs) -> BoolArray:
        """Return whether each output lies in it."""
        return np.isin(outputs.fingerprints, self.prints, invert=self.negated)

    def __str__(self) -> str:
        """Return it in words."""
        shown = ", ".join(self.examples[:3]) + (
            f" and {len(self.examples) - 3} more" if len(self.examples) > 3 else ""
        )
        if len(self.examples) == 1:
            return f"the output is {'not ' if self.negated else ''}{shown}"
        return f"the output is {'none' if self.negated else 'one'} of {shown}"


@dataclass(frozen=True, eq=False)
class Candidate:
    """A region, the direction of the pair, and the order at which it looks best.

    `swapped` says that the region is likelier on d_prime. `rating` is z on the sample that built the region, and
    `remoteness` its remoteness there. `fitted` is the part of the search's outputs, from the first, that it may be
    fitted to: the others judge it, to which it has `ends` fitted.
    """

    region: Region
    swapped: bool
    order: Order
    rating: float
    remoteness: float
    fitted: float = 0.5
    ends: int = 1

    @property
    def is_simple(self) -> bool:
        """Whether it is of one piece with one end, which is too little to be fitted by much to any outputs."""
        return self.ends == self.region.pieces == 1


def finite(values: FloatArray) -> FloatArray:
    """Return the values with ±∞ moved to the largest doubles, so that half-open intervals hold them; NaN stays."""
    largest = np.finfo(np.float64).max
    return np.clip(values, -largest, largest)


def _shortened(event: Event) -> str:
    if len(event.intervals) <= 4:
        return str(event)
    return f"{Event(event.intervals[:3])} ∪ … ({len(event.intervals)} intervals)"


def sorted_values(values: FloatArray) -> FloatArray:
    """Return what is no NaN in increasing order, made finite."""
    return finite(np.sort(values[~np.isnan(values)]))
