"""Which sizes are measured: enough points for the asymptotic range, at a δ that makes that possible.

The risk is that of the asymptotic range up to a factor ``1 − O(s²/n)``, ``s² = σ²d/L² = 256 d log(1/δ)`` (see
:mod:`dpsco_verify.papers.arora2020.rate.exact`), so n must be some tens of times ``256 d log(1/δ)``. A run costs 0.7 n
iterations. The exponents do not depend on δ, which Theorem 5.3 leaves free in (0, 1); so δ is as small as the profile's
time allows.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass

from dpsco_verify.choices import Profile


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One size: n points in d dimensions."""

    n: int
    dimension: int
    delta: float

    @property
    def name(self) -> str:
        """Its name among the cells of a reading."""
        return f"n={self.n}/d={self.dimension}"

    @property
    def noise(self) -> float:
        """``s = σ√d/L`` at ``ε = 1/(2√n)``: ``16 √(d log(1/δ))``."""
        return 16.0 * math.sqrt(-self.dimension * math.log(self.delta))


class Variable(enum.StrEnum):
    """What changes from cell to cell: the number of points, or the dimension."""

    POINTS = "n"
    DIMENSION = "d"


@dataclass(frozen=True, kw_only=True)
class PowerLaw:
    """The exponent of `variable` that a reading claims."""

    variable: Variable
    exponent: float


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The cells of a reading and the runs at each; `variable` is what changes from cell to cell."""

    variable: Variable
    cells: tuple[Cell, ...]
    runs: int

    def sizes(self) -> tuple[int, ...]:
        """Return the values of the variable."""
        return tuple(cell.n if self.variable is Variable.POINTS else cell.dimension for cell in self.cells)


def _in_n(first: int, *, delta: float, runs: int) -> Plan:
    cells = tuple(Cell(n=first * 2**i, dimension=1, delta=delta) for i in range(5))
    return Plan(variable=Variable.POINTS, cells=cells, runs=runs)


def _in_d(n: int, *, delta: float, runs: int) -> Plan:
    cells = tuple(Cell(n=n, dimension=2**i, delta=delta) for i in range(5))
    return Plan(variable=Variable.DIMENSION, cells=cells, runs=runs)


PLANS: Mapping[Variable, Mapping[Profile, Plan]] = {
    Variable.POINTS: {
        Profile.QUICK: _in_n(256, delta=0.95, runs=512),
        Profile.STANDARD: _in_n(1024, delta=0.9, runs=1024),
        Profile.DEEP: _in_n(16384, delta=0.1, runs=1024),
    },
    Variable.DIMENSION: {
        Profile.QUICK: _in_d(2048, delta=0.95, runs=512),
        Profile.STANDARD: _in_d(8192, delta=0.9, runs=1024),
        Profile.DEEP: _in_d(65536, delta=0.5, runs=1024),
    },
}
"""The plan of each variable and profile: five sizes over a factor of 16."""
