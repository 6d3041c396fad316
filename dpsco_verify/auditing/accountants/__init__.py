"""Audit privacy accountants: their δ(ε) for an event beside exact, composed and sampled truth."""

from dpsco_verify.auditing.accountants.audit import audit_accountant
from dpsco_verify.auditing.accountants.dp_events import from_dp_event
from dpsco_verify.auditing.accountants.events import (
    Composed,
    Event,
    Gaussian,
    InTurn,
    Laplace,
    PoissonSampled,
    SampledWithoutReplacement,
)
from dpsco_verify.auditing.accountants.result import AccountantAudit, AccountantPoint, Route, RouteBounds

__all__ = [
    "AccountantAudit",
    "AccountantPoint",
    "Composed",
    "Event",
    "Gaussian",
    "InTurn",
    "Laplace",
    "PoissonSampled",
    "Route",
    "RouteBounds",
    "SampledWithoutReplacement",
    "audit_accountant",
    "from_dp_event",
]
