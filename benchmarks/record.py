"""What a benchmark reports: rows, and the file that holds them.

The file is JSON, one object with the fields of :class:`Report`; its `rows` have those of :class:`Row`. Figures that are
compared between machines are ratios of times measured in turn in one run, so that the machine cancels.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

import msgspec

SCHEMA_VERSION = 1


class Row(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One figure.

    Attributes
    ----------
    group, name
        What was measured; unique together.
    unit
        ``x`` for a ratio, ``1`` for an exponent or an error, else of one machine: ``s``, ``ms``, ``points/s``.
    median, low, high
        The median of the repetitions, the smallest and the largest.
    repetitions
        How many there were.
    at_least, at_most
        The target, where there is one.
    met
        Whether the median meets it; null without one.
    note
        What the figure needs to be understood.
    """

    group: str
    name: str
    unit: str
    median: float
    low: float
    high: float
    repetitions: int
    at_least: float | None = None
    at_most: float | None = None
    met: bool | None = None
    note: str = ""


class Report(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All figures of one run, and what it ran on; `seconds` is what it took, `load` the machine's at its start."""

    schema_version: int
    size: str
    started: str
    seconds: float
    machine: dict[str, str]
    load: float | None
    rows: list[Row]


def row(
    group: str,
    name: str,
    values: Sequence[float],
    *,
    unit: str,
    at_least: float | None = None,
    at_most: float | None = None,
    note: str = "",
) -> Row:
    """Return the row of repeated measurements."""
    median = statistics.median(values)
    met = None
    if at_least is not None or at_most is not None:
        met = (at_least is None or median >= at_least) and (at_most is None or median <= at_most)
    return Row(
        group=group,
        name=name,
        unit=unit,
        median=median,
        low=min(values),
        high=max(values),
        repetitions=len(values),
        at_least=at_least,
        at_most=at_most,
        met=met,
        note=note,
    )
