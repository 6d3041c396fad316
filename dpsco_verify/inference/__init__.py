"""Binomial bounds, e-processes, confidence sequences, their power, and the error budget."""

from dpsco_verify.inference import (
    binomial,
    bounded_mean,
    goodness_of_fit,
    privacy_event_test,
)
from dpsco_verify.inference.bounded_mean import BoundedMeanTest
from dpsco_verify.inference.budget import ErrorBudget, Expense, Part, Share, Spending
from dpsco_verify.inference.confidence_sequence import BettingConfidenceSequence
from dpsco_verify.inference.e_process import BettingEProcess, EProcessDecision
from dpsco_verify.inference.privacy_event_test import CellCounts, PrivacyEventTest

__all__ = [
    "BettingConfidenceSequence",
    "BettingEProcess",
    "BoundedMeanTest",
    "CellCounts",
    "EProcessDecision",
    "ErrorBudget",
    "Expense",
    "Part",
    "PrivacyEventTest",
    "Share",
    "Spending",
    "binomial",
    "bounded_mean",
    "goodness_of_fit",
    "privacy_event_test",
]
