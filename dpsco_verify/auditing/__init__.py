"""Audit any mechanism from samples: event selection, confirmation on fresh samples, verdict."""

from dpsco_verify.auditing.audit import audit
from dpsco_verify.auditing.event import Event, select_event
from dpsco_verify.auditing.mechanism import Mechanism, MechanismError, PerCall, per_call
from dpsco_verify.auditing.pairs import Relation, describe_pair, require_neighbours
from dpsco_verify.auditing.result import AuditResult, AuditVerdict, MinimumDetectableViolation, Witness
from dpsco_verify.auditing.samplers import Sampler, SamplersAudit, audit_samplers
from dpsco_verify.auditing.whole_run import WholeRunAudit, audit_whole_runs

__all__ = [
    "AuditResult",
    "AuditVerdict",
    "Event",
    "Mechanism",
    "MechanismError",
    "MinimumDetectableViolation",
    "PerCall",
    "Relation",
    "Sampler",
    "SamplersAudit",
    "WholeRunAudit",
    "Witness",
    "audit",
    "audit_samplers",
    "audit_whole_runs",
    "describe_pair",
    "per_call",
    "require_neighbours",
    "select_event",
]
