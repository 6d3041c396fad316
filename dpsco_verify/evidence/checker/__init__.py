"""The independent checker of certificates.

It imports the standard library, python-flint and msgspec, and nothing of the code that found a witness. Each kind
of certificate is a strict record; what it proves is evaluated here from the witness alone, in exact rationals or in
ball arithmetic, and accepted only if the inequality is strict and the two sides are the ones that the certificate
states, to all their digits. So a changed digit is noticed even where the inequality would survive it.

A true inequality is not enough. A kind is bound to the readings that it decides and knows what they claim, so nothing
weaker is accepted; observations are held to the null hypotheses that the reading admits and to its share of the error
budget; and how much is evaluated is bounded before it is. What is accepted says what it decides, over which range, and
what is not in the certificate (:class:`Decided`).

Numbers stand in certificates as canonical rationals (``"7/16"``), so NaN and infinity cannot be written.
"""

from dpsco_verify.evidence.checker.accumulation import (
    AccumulatedEventEvidence,
    AccumulatedMeanEvidence,
    EventRun,
    MeanRun,
)
from dpsco_verify.evidence.checker.arithmetic import (
    Cell,
    Count,
    Line,
    Rational,
    Rejected,
    Unreadable,
    ball,
    rational,
    require,
    require_steps,
    require_terms,
    root_up,
    shown,
    upper_tail,
)
from dpsco_verify.evidence.checker.at_once import EventAtOnce, OwnMechanismAtOnce
from dpsco_verify.evidence.checker.canaries import CanaryEvidence, Order, RightGuesses, ScoresBeyond, order
from dpsco_verify.evidence.checker.certificate import (
    OWN,
    Certificate,
    Draw,
    evaluate,
    issue,
)
from dpsco_verify.evidence.checker.concentrated import (
    concentrated,
)
from dpsco_verify.evidence.checker.guarantees import OwnMean, OwnTail, OwnUnboundedMean
from dpsco_verify.evidence.checker.kinds import (
    EVIDENCE_KINDS,
    Claims,
    Decided,
    Kinds,
)
from dpsco_verify.evidence.checker.nulls import (
    Between,
    EventNull,
    MeanNull,
    Null,
    OneOf,
    Parameters,
    Value,
    approximate,
)
from dpsco_verify.evidence.checker.statistical import (
    EventEvidence,
    Evidence,
    MeanEvidence,
    OwnMechanismEvidence,
)
from dpsco_verify.evidence.checker.whole_run import WholeRunPrivacy
from dpsco_verify.evidence.checker.witness import (
    ByReading,
    Scope,
    Shows,
    Sides,
    Witness,
)

__all__ = [
    "EVIDENCE_KINDS",
    "OWN",
    "AccumulatedEventEvidence",
    "AccumulatedMeanEvidence",
    "Between",
    "ByReading",
    "CanaryEvidence",
    "Cell",
    "Certificate",
    "Claims",
    "Count",
    "Decided",
    "Draw",
    "EventAtOnce",
    "EventEvidence",
    "EventNull",
    "EventRun",
    "Evidence",
    "Kinds",
    "Line",
    "MeanEvidence",
    "MeanNull",
    "MeanRun",
    "Null",
    "OneOf",
    "Order",
    "OwnMean",
    "OwnMechanismAtOnce",
    "OwnMechanismEvidence",
    "OwnTail",
    "OwnUnboundedMean",
    "Parameters",
    "Rational",
    "Rejected",
    "RightGuesses",
    "Scope",
    "ScoresBeyond",
    "Shows",
    "Sides",
    "Unreadable",
    "Value",
    "WholeRunPrivacy",
    "Witness",
    "approximate",
    "ball",
    "concentrated",
    "evaluate",
    "issue",
    "order",
    "rational",
    "require",
    "require_steps",
    "require_terms",
    "root_up",
    "shown",
    "upper_tail",
]
