"""Records of what was found, their schema and their store; certificates and the checker of certificates."""

from dpsco_verify.evidence.museum import ExhibitRecord, MuseumRecord
from dpsco_verify.evidence.plots import Axis, LinePlot, MapPanel, MapPlot, Plot, Scale, Series, SeriesStyle
from dpsco_verify.evidence.records import (
    CONSEQUENCE_MEANING,
    SCHEMA_VERSION,
    AuditRecord,
    BudgetRecord,
    Consequence,
    ContradictionError,
    Erratum,
    Finding,
    Paper,
    ProofStep,
    RepairedConstant,
    Sharpness,
)
from dpsco_verify.evidence.values import VERDICT_MEANING, Column, Quantity, Scalar, Table, Verdict

__all__ = [
    "CONSEQUENCE_MEANING",
    "SCHEMA_VERSION",
    "VERDICT_MEANING",
    "AuditRecord",
    "Axis",
    "BudgetRecord",
    "Column",
    "Consequence",
    "ContradictionError",
    "Erratum",
    "ExhibitRecord",
    "Finding",
    "LinePlot",
    "MapPanel",
    "MapPlot",
    "MuseumRecord",
    "Paper",
    "Plot",
    "ProofStep",
    "Quantity",
    "RepairedConstant",
    "Scalar",
    "Scale",
    "Series",
    "SeriesStyle",
    "Sharpness",
    "Table",
    "Verdict",
]
