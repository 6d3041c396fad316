"""The systems that the paper builds on or compares with, one file each, behind one protocol."""

from __future__ import annotations

from dpsco_verify.related.budget import Guarantee, PrivacyBudget
from dpsco_verify.related.conditions import Condition, ConditionError
from dpsco_verify.related.system import Calibration, Fit, Sensitivity, System
from dpsco_verify.related.task import Task

__all__ = [
    "Calibration",
    "Condition",
    "ConditionError",
    "Fit",
    "Guarantee",
    "PrivacyBudget",
    "Sensitivity",
    "System",
    "Task",
]
