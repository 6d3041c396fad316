"""Grids of the privacy claims: the points, what is known at each, and the tables that show it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dpsco_verify.errors import no_truth_value
from dpsco_verify.evidence import Quantity, Table, columns
from dpsco_verify.evidence.values import rounded_up


@dataclass(frozen=True, kw_only=True)
class Point:
    """One point of a grid: the claimed δ between a lower and an upper bound on the true one, where they are known."""

    words: str
    claimed: float
    lower: float | None = None
    upper: float | None = None

    __bool__ = no_truth_value("point.holds")

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
        columns=columns("point", "claimed δ", "δ at least", "δ at most", "claim"),
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
