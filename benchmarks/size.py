"""How much a run of the benchmarks measures."""

from __future__ import annotations

import enum


class Size(enum.StrEnum):
    """FULL is what figures are quoted from; TINY only shows that everything runs."""

    FULL = "full"
    TINY = "tiny"

    def of(self, full: int, tiny: int) -> int:
        """Return the one or the other."""
        return full if self is Size.FULL else tiny

    @property
    def rounds(self) -> int:
        """Repetitions of a measurement."""
        return self.of(5, 1)
