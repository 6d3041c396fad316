"""Deliberately wrong mechanisms and algorithms, each with what must catch it, and right ones as controls."""

from dpsco_verify.faults.exhibit import Exhibit, ExhibitKind, Judged, Judgement
from dpsco_verify.faults.museum import (
    EXHIBITS,
    MuseumRow,
    museum_record,
    museum_rows,
    museum_units,
    quick_exhibits,
    run_museum,
)

__all__ = [
    "EXHIBITS",
    "Exhibit",
    "ExhibitKind",
    "Judged",
    "Judgement",
    "MuseumRow",
    "museum_record",
    "museum_rows",
    "museum_units",
    "quick_exhibits",
    "run_museum",
]
