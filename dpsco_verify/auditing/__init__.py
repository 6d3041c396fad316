"""Audit any mechanism from samples: event selection, confirmation on fresh samples, verdict."""

from dpsco_verify.auditing.audit import AuditResult, Sampler, audit
from dpsco_verify.auditing.event import Event, select_event

__all__ = ["AuditResult", "Event", "Sampler", "audit", "select_event"]
