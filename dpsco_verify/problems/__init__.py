"""Losses, and populations with certified minima."""

from __future__ import annotations

from dpsco_verify.problems.losses import (
    AbsoluteDeviation,
    EuclideanDistance,
    Hinge,
    Huber,
    Linear,
    LinearPredictorLoss,
    Logistic,
    Loss,
    Quantile,
)
from dpsco_verify.problems.minimisation import CertifiedMinimum
from dpsco_verify.problems.populations import (
    Drift,
    FinitePopulation,
    LinearSigns,
    Median,
    Population,
    breast_cancer,
    diabetes,
    digits,
    engel,
    fair,
    randhie,
)

__all__ = [
    "AbsoluteDeviation",
    "CertifiedMinimum",
    "Drift",
    "EuclideanDistance",
    "FinitePopulation",
    "Hinge",
    "Huber",
    "Linear",
    "LinearPredictorLoss",
    "LinearSigns",
    "Logistic",
    "Loss",
    "Median",
    "Population",
    "Quantile",
    "breast_cancer",
    "diabetes",
    "digits",
    "engel",
    "fair",
    "randhie",
]
