"""The independent checker of certificates.

It imports the standard library, python-flint and msgspec, and nothing of the code that found a witness. Each kind
of certificate is a strict record; what it proves is evaluated here from the witness alone, in exact rationals or in
ball arithmetic, and accepted only if the inequality is strict and the two sides are the ones that the certificate
states, to all their digits. So a changed digit is noticed even where the inequality would survive it.

Numbers stand in certificates as canonical rationals (``"7/16"``), so NaN and infinity cannot be written.
"""

from dpsco_verify.evidence.checker.accumulated import (
    AccumulatedEventEvidence,
    AccumulatedMeanEvidence,
    EventRun,
    MeanRun,
)
from dpsco_verify.evidence.checker.arithmetic import Rejected, Unreadable
from dpsco_verify.evidence.checker.certificate import Certificate, Witness, check, decode, issue
from dpsco_verify.evidence.checker.duality import (
    BregmanDualConstant,
    BregmanDualTight,
    DualityConstant,
    DualityEntropyViolation,
)
from dpsco_verify.evidence.checker.elementary import (
    AzumaMismatch,
    AzumaRepair,
    DualNormSign,
    ExpLinear,
    KlConstant,
)
from dpsco_verify.evidence.checker.iterations import (
    FreshSumInstance,
    FreshSumViolation,
    GradientQueries,
    McDiarmidGap,
    OutputDefined,
    StoppingMeanConstant,
    StoppingMeanUnbounded,
    TailIntegralExponent,
    TailIntegralViolation,
)
from dpsco_verify.evidence.checker.osmd import OsmdLiteralViolation
from dpsco_verify.evidence.checker.regret import (
    RegretConstant,
    RegretDriftViolation,
    RegretVarianceViolation,
)
from dpsco_verify.evidence.checker.related_noise import (
    IterationBatches,
    IterationStepViolation,
    ObjectivePerturbationLoss,
    OutputPerturbationRate,
    OutputPerturbationViolation,
    PhasedErmNoise,
    PhasedSgdNoise,
)
from dpsco_verify.evidence.checker.related_sampled import (
    MinibatchViolation,
    NoisySgdViolation,
    SmoothedMinibatchViolation,
)
from dpsco_verify.evidence.checker.risk import RateConstant, RiskConstants, RiskDriftViolation
from dpsco_verify.evidence.checker.single_step import SingleStepRepair, SingleStepViolation
from dpsco_verify.evidence.checker.statistical import EventEvidence, MeanEvidence
from dpsco_verify.evidence.checker.stopping import StoppingTailExponent, StoppingTailViolation
from dpsco_verify.evidence.checker.transcript import CompositionViolation, PrivacyRange
from dpsco_verify.evidence.checker.utility import (
    UtilityConstant,
    UtilityDriftViolation,
    UtilityVarianceViolation,
)

__all__ = [
    "AccumulatedEventEvidence",
    "AccumulatedMeanEvidence",
    "AzumaMismatch",
    "AzumaRepair",
    "BregmanDualConstant",
    "BregmanDualTight",
    "Certificate",
    "CompositionViolation",
    "DualNormSign",
    "DualityConstant",
    "DualityEntropyViolation",
    "EventEvidence",
    "EventRun",
    "ExpLinear",
    "FreshSumInstance",
    "FreshSumViolation",
    "GradientQueries",
    "IterationBatches",
    "IterationStepViolation",
    "KlConstant",
    "McDiarmidGap",
    "MeanEvidence",
    "MeanRun",
    "MinibatchViolation",
    "NoisySgdViolation",
    "ObjectivePerturbationLoss",
    "OsmdLiteralViolation",
    "OutputDefined",
    "OutputPerturbationRate",
    "OutputPerturbationViolation",
    "PhasedErmNoise",
    "PhasedSgdNoise",
    "PrivacyRange",
    "RateConstant",
    "RegretConstant",
    "RegretDriftViolation",
    "RegretVarianceViolation",
    "Rejected",
    "RiskConstants",
    "RiskDriftViolation",
    "SingleStepRepair",
    "SingleStepViolation",
    "SmoothedMinibatchViolation",
    "StoppingMeanConstant",
    "StoppingMeanUnbounded",
    "StoppingTailExponent",
    "StoppingTailViolation",
    "TailIntegralExponent",
    "TailIntegralViolation",
    "Unreadable",
    "UtilityConstant",
    "UtilityDriftViolation",
    "UtilityVarianceViolation",
    "Witness",
    "check",
    "decode",
    "issue",
]
