"""Solvers whose accuracy is certified on each call, or the call fails."""

from __future__ import annotations

from dpsco_verify.related.solvers.minimise import (
    distinct,
    is_supported,
    minimise_regularised,
    solvable,
    typical_queries,
)
from dpsco_verify.related.solvers.predictor_terms import score_curvature
from dpsco_verify.related.solvers.solution import CertifiedPoint, SolverError

__all__ = [
    "CertifiedPoint",
    "SolverError",
    "distinct",
    "is_supported",
    "minimise_regularised",
    "score_curvature",
    "solvable",
    "typical_queries",
]
