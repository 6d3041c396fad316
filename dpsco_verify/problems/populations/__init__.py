"""Populations: laws of data points whose risk is known exactly and whose minimum is known or certified."""

from __future__ import annotations

from dpsco_verify.problems.populations.cube import (
    biased_corners,
    logistic_model,
    majority_vote,
    quantile_model,
)
from dpsco_verify.problems.populations.drift import Drift
from dpsco_verify.problems.populations.finite import FinitePopulation
from dpsco_verify.problems.populations.linear_signs import LinearSigns
from dpsco_verify.problems.populations.median import Median
from dpsco_verify.problems.populations.population import Population
from dpsco_verify.problems.populations.real_data import breast_cancer, diabetes, digits, engel, fair, randhie

__all__ = [
    "Drift",
    "FinitePopulation",
    "LinearSigns",
    "Median",
    "Population",
    "biased_corners",
    "breast_cancer",
    "diabetes",
    "digits",
    "engel",
    "fair",
    "logistic_model",
    "majority_vote",
    "quantile_model",
    "randhie",
]
