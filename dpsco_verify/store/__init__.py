"""The evidence store: an audit that is killed goes on where it was, and earlier runs can be looked at."""

from dpsco_verify.store.accumulation import accumulate_in_store, earlier_evidence
from dpsco_verify.store.code import code_version
from dpsco_verify.store.database import StoreError
from dpsco_verify.store.e_values import Accumulated, EValue, RunEvidence, accumulate, null_name
from dpsco_verify.store.evidence_store import Computation, EvidenceStore, StoredRun
from dpsco_verify.store.keys import unit_key
from dpsco_verify.store.memory import RunMemory
from dpsco_verify.store.observations import EventObservations, MeanObservations, Observations
from dpsco_verify.store.run_history import Change, ClaimHistory, History, RunSummary, history

__all__ = [
    "Accumulated",
    "Change",
    "ClaimHistory",
    "Computation",
    "EValue",
    "EventObservations",
    "EvidenceStore",
    "History",
    "MeanObservations",
    "Observations",
    "RunEvidence",
    "RunMemory",
    "RunSummary",
    "StoreError",
    "StoredRun",
    "accumulate",
    "accumulate_in_store",
    "code_version",
    "earlier_evidence",
    "history",
    "null_name",
    "unit_key",
]
