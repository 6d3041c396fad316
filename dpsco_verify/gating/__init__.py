"""Gate claimed privacy guarantees: audits of a user's mechanisms, made into the record that reports are made from."""

from dpsco_verify.gating.audit_evidence import FindingNames, audit_finding
from dpsco_verify.gating.config import GateConfig, load_config
from dpsco_verify.gating.entries import AuditEntry
from dpsco_verify.gating.record import gate_record, record_of
from dpsco_verify.gating.run import run_gate

__all__ = [
    "AuditEntry",
    "FindingNames",
    "GateConfig",
    "audit_finding",
    "gate_record",
    "load_config",
    "record_of",
    "run_gate",
]
