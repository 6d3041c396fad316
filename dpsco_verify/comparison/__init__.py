"""Algorithm 1 beside its neighbours: the same samples, the same privacy, risk and cost measured."""

from __future__ import annotations

from dpsco_verify.comparison.plan import ComparisonPlan, plan_for
from dpsco_verify.comparison.run import audit_units, comparison_units, conclude_comparison, run_comparison

__all__ = [
    "ComparisonPlan",
    "audit_units",
    "comparison_units",
    "conclude_comparison",
    "plan_for",
    "run_comparison",
]
