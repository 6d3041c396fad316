"""The independent checker of certificates.

It imports the standard library, python-flint and msgspec, and nothing of the code that found a witness. Each kind
of certificate is a strict record; what it proves is evaluated here from the witness alone, in exact rationals or in
ball arithmetic, and accepted only if the inequality is strict and the two sides are the ones that the certificate
states, to all their digits. So a changed digit is noticed even where the inequality would survive it.

Numbers stand in certificates as canonical rationals (``"7/16"``), so NaN and infinity cannot be written.
"""

from dpsco_verify.evidence.checker.accumulation import (
    AccumulatedEventEvidence,
    AccumulatedMeanEvidence,
    EventRun,
    MeanRun,
)
from dpsco_verify.evidence.checker.arithmetic import (
    Count,
    Rational,
    Rejected,
    Unreadable,
    ball,
    rational,
    require,
    root_up,
    upper_tail,
)
from dpsco_verify.evidence.checker.certificate import (
    EVIDENCE_KINDS,
    Certificate,
    Kinds,
    check,
    evaluate,
    issue,
)
from dpsco_verify.evidence.checker.statistical import EventEvidence, MeanEvidence
from dpsco_verify.evidence.checker.whole_run import WholeRunPrivacy
from dpsco_verify.evidence.checker.witness import Sides, Witness

__all__ = [
    "EVIDENCE_KINDS",
    "AccumulatedEventEvidence",
    "AccumulatedMeanEvidence",
    "Certificate",
    "Count",
    "EventEvidence",
    "EventRun",
    "Kinds",
    "MeanEvidence",
    "MeanRun",
    "Rational",
    "Rejected",
    "Sides",
    "Unreadable",
    "WholeRunPrivacy",
    "Witness",
    "ball",
    "check",
    "evaluate",
    "issue",
    "rational",
    "require",
    "root_up",
    "upper_tail",
]
