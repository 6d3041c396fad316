"""Grids of the privacy claims: the points, what is known at each, and the tables that show it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpsco_verify.evidence import Column, Quantity, Table
from dpsco_verify.evidence.values import rounded_up
from dpsco_verify.geometry import L2Ball, Simplex
from dpsco_verify.problems import Linear
from dpsco_verify.related import Task

_ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class Point:
    """One point of a grid: the claimed δ between a lower and an upper bound on the true one, where they are known."""

    words: str
    claimed: float
    lower: float | None = None
    upper: float | None = None

    @property
    def holds(self) -> bool:
        """Whether the upper bound shows the claim."""
        return self.upper is not None and self.upper <= self.claimed

    @property
    def shown_upper(self) -> float | None:
        """The upper bound to three digits, rounded up: a Fourier transform's rounding is in the fifth.

        Where it shows the claim, so does the claimed δ.
        """
        if self.upper is None:
            return None
        up = rounded_up(self.upper, 3)
        return min(up, self.claimed) if self.holds else up

    @property
    def fails(self) -> bool:
        """Whether the lower bound contradicts it."""
        return self.lower is not None and self.lower > self.claimed


def table(points: Sequence[Point]) -> Table:
    """Return the table of the points."""
    return Table(
        id="grid",
        title="The claimed δ beside bounds on the true one",
        columns=(
            Column(name="point"),
            Column(name="claimed δ"),
            Column(name="δ at least"),
            Column(name="δ at most"),
            Column(name="claim"),
        ),
        rows=tuple(
            (
                p.words,
                p.claimed,
                p.lower,
                p.shown_upper,
                "holds" if p.holds else "fails" if p.fails else "open",
            )
            for p in points
        ),
    )


def counts(points: Sequence[Point]) -> dict[str, Quantity]:
    """Return how many points hold and fail."""
    unit = f"of {len(points)}"
    return {
        "grid points at which the claim holds": Quantity(value=sum(p.holds for p in points), unit=unit),
        "grid points at which it fails": Quantity(value=sum(p.fails for p in points), unit=unit),
    }


def linear_task(dimension: int, *, lipschitz: float = 1.0) -> Task:
    """Return the linear loss with constant L over the ball of diameter 1."""
    return Task(Linear(), L2Ball(np.zeros(dimension), 0.5), lipschitz)


def simplex_task(dimension: int) -> Task:
    """Return the linear loss with L = 1 over the simplex."""
    return Task(Linear(), Simplex(dimension), 1.0)


@dataclass(frozen=True, kw_only=True)
class Implemented:
    """A number of the implementation's calibration over the one that the source prints, at some point."""

    words: str
    ratio: float


def implementation_evidence(found: Sequence[Implemented]) -> dict[str, Quantity]:
    """Return the smallest and the largest noise of the implementation in units of the printed one, where it runs."""
    if not found:
        return {}
    ratios = [f.ratio for f in found]
    return {
        "least noise of the implementation": Quantity(
            value=min(ratios), unit="of the printed noise", note=f"at {len(found)} points"
        ),
        "most noise of the implementation": Quantity(value=max(ratios), unit="of the printed noise"),
    }


def implements(found: Sequence[Implemented]) -> Implemented | None:
    """Return a point at which the implementation adds less noise than is printed, if there is one."""
    return next((f for f in found if f.ratio < 1.0 - _ROUNDING), None)
