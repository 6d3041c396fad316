"""The independent checker of certificates.

It imports the standard library, python-flint and msgspec, and nothing of the code that found a witness. Each kind
of certificate is a strict record; what it proves is evaluated here from the witness alone, in exact rationals or in
ball arithmetic, and accepted only if the inequality is strict and the two sides are the ones that the certificate
states, to all their digits. So a changed digit is noticed even where the inequality would survive it.

Numbers stand in certificates as canonical rationals (``"7/16"``), so NaN and infinity cannot be written.
"""

from dpsco_verify.evidence.checker.arithmetic import Rejected, Unreadable
from dpsco_verify.evidence.checker.certificate import Certificate, Witness, check, decode, issue
from dpsco_verify.evidence.checker.single_step import SingleStepRepair, SingleStepViolation
from dpsco_verify.evidence.checker.statistical import EventEvidence, MeanEvidence
from dpsco_verify.evidence.checker.stopping import StoppingTailExponent, StoppingTailViolation
from dpsco_verify.evidence.checker.utility import (
    UtilityConstant,
    UtilityDriftViolation,
    UtilityVarianceViolation,
)

__all__ = [
    "Certificate",
    "EventEvidence",
    "MeanEvidence",
    "Rejected",
    "SingleStepRepair",
    "SingleStepViolation",
    "StoppingTailExponent",
    "StoppingTailViolation",
    "Unreadable",
    "UtilityConstant",
    "UtilityDriftViolation",
    "UtilityVarianceViolation",
    "Witness",
    "check",
    "decode",
    "issue",
]
