"""Audit any mechanism from samples: event selection, confirmation on fresh samples, verdict."""

from dpsco_verify.auditing.audit import AuditResult, Sampler, audit
from dpsco_verify.auditing.event import Event, select_event
from dpsco_verify.auditing.whole_run import WholeRunAudit, audit_whole_runs

__all__ = ["AuditResult", "Event", "Sampler", "WholeRunAudit", "audit", "audit_whole_runs", "select_event"]
