"""Audit any mechanism from samples: event selection, confirmation on fresh samples, verdict."""

from dpsco_verify.auditing.audit import audit
from dpsco_verify.auditing.canaries import CanaryAudit, audit_canaries
from dpsco_verify.auditing.density import DensityAudit, audit_density
from dpsco_verify.auditing.estimate import EpsilonEstimate, epsilon_lower_bound, estimate_epsilon
from dpsco_verify.auditing.event import Event, select_event
from dpsco_verify.auditing.mechanism import Mechanism, MechanismError, PerCall, per_call
from dpsco_verify.auditing.pairs import describe_pair, require_neighbours
from dpsco_verify.auditing.relations import OwnRelation, one_user, relation_of, same_records, some_records
from dpsco_verify.auditing.result import AuditResult, MinimumDetectableViolation, Witness
from dpsco_verify.auditing.samplers import Sampler, SamplersAudit, audit_samplers
from dpsco_verify.choices import Relation
from dpsco_verify.evidence import AuditVerdict

__all__ = [
    "AuditResult",
    "AuditVerdict",
    "CanaryAudit",
    "DensityAudit",
    "EpsilonEstimate",
    "Event",
    "Mechanism",
    "MechanismError",
    "MinimumDetectableViolation",
    "OwnRelation",
    "PerCall",
    "Relation",
    "Sampler",
    "SamplersAudit",
    "Witness",
    "audit",
    "audit_canaries",
    "audit_density",
    "audit_samplers",
    "describe_pair",
    "epsilon_lower_bound",
    "estimate_epsilon",
    "one_user",
    "per_call",
    "relation_of",
    "require_neighbours",
    "same_records",
    "select_event",
    "some_records",
]
