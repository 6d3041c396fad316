"""Audit a training run by canaries: examples that a fair coin puts in or leaves out, and their scores."""

from dpsco_verify.auditing.canaries.audit import audit_canaries, minimum_detectable_epsilon
from dpsco_verify.auditing.canaries.families import Family
from dpsco_verify.auditing.canaries.insertion import SealedCoins, UpdateScores, canary_gradients
from dpsco_verify.auditing.canaries.methods import Method
from dpsco_verify.auditing.canaries.result import CanaryAudit, CanaryMDV
from dpsco_verify.auditing.canaries.scores import split_by_coins
from dpsco_verify.auditing.canaries.sequential import SequentialCanaryAudit

__all__ = [
    "CanaryAudit",
    "CanaryMDV",
    "Family",
    "Method",
    "SealedCoins",
    "SequentialCanaryAudit",
    "UpdateScores",
    "audit_canaries",
    "canary_gradients",
    "minimum_detectable_epsilon",
    "split_by_coins",
]
