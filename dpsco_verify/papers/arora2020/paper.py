"""The paper: Arora, Marinov and Ullah 2020: noisy one-pass SGD and mirror descent."""

from __future__ import annotations

from dpsco_verify.evidence import Paper
from dpsco_verify.ledger.expectations import package_expectations
from dpsco_verify.ledger.ledger import PaperEntry
from dpsco_verify.papers.arora2020.azuma_step.certificates import AzumaMismatch, AzumaRepair
from dpsco_verify.papers.arora2020.azuma_step.statement import AzumaStep
from dpsco_verify.papers.arora2020.bregman_dual.certificates import BregmanDualConstant, BregmanDualTight
from dpsco_verify.papers.arora2020.bregman_dual.statement import BregmanDual
from dpsco_verify.papers.arora2020.certified_noise.statement import (
    AlgorithmOnePrivacy,
    PrivateMirrorDescentPrivacy,
    SubsampledOnePassPrivacy,
)
from dpsco_verify.papers.arora2020.composition.certificates import CompositionViolation
from dpsco_verify.papers.arora2020.composition.statement import Composition
from dpsco_verify.papers.arora2020.dual_norm.certificates import DualNormSign
from dpsco_verify.papers.arora2020.dual_norm.statement import DualNorm
from dpsco_verify.papers.arora2020.duality.certificates import DualityConstant, DualityEntropyViolation
from dpsco_verify.papers.arora2020.duality.statement import Duality
from dpsco_verify.papers.arora2020.exp_linear.certificates import ExpLinear
from dpsco_verify.papers.arora2020.exp_linear.statement import ExpLinearStatement
from dpsco_verify.papers.arora2020.fresh_sum.certificates import FreshSumInstance, FreshSumViolation
from dpsco_verify.papers.arora2020.fresh_sum.statement import FreshSum
from dpsco_verify.papers.arora2020.gradient_queries.certificates import GradientQueries
from dpsco_verify.papers.arora2020.gradient_queries.statement import GradientQueriesStatement
from dpsco_verify.papers.arora2020.kl_bound.certificates import KlConstant
from dpsco_verify.papers.arora2020.kl_bound.statement import KlBound
from dpsco_verify.papers.arora2020.output.certificates import OutputDefined
from dpsco_verify.papers.arora2020.output.statement import Output
from dpsco_verify.papers.arora2020.privacy.certificates import PrivacyRange
from dpsco_verify.papers.arora2020.privacy.statement import Privacy
from dpsco_verify.papers.arora2020.rate.certificates import RateConstant
from dpsco_verify.papers.arora2020.rate.statement import Rate
from dpsco_verify.papers.arora2020.regret.certificates import (
    RegretConstant,
    RegretDriftViolation,
    RegretVarianceViolation,
)
from dpsco_verify.papers.arora2020.regret.statement import Regret
from dpsco_verify.papers.arora2020.regret_osmd.certificates import OsmdLiteralViolation
from dpsco_verify.papers.arora2020.regret_osmd.statement import RegretOsmd
from dpsco_verify.papers.arora2020.risk.certificates import RiskConstants, RiskDriftViolation
from dpsco_verify.papers.arora2020.risk.statement import Risk
from dpsco_verify.papers.arora2020.risk_bounds import RISK_BOUNDS
from dpsco_verify.papers.arora2020.single_step.certificates import SingleStepRepair, SingleStepViolation
from dpsco_verify.papers.arora2020.single_step.statement import SingleStep
from dpsco_verify.papers.arora2020.stopping_mean.certificates import (
    StoppingMeanConstant,
    StoppingMeanUnbounded,
)
from dpsco_verify.papers.arora2020.stopping_mean.statement import StoppingMean
from dpsco_verify.papers.arora2020.stopping_tail.certificates import (
    StoppingTailExponent,
    StoppingTailViolation,
)
from dpsco_verify.papers.arora2020.stopping_tail.statement import StoppingTail
from dpsco_verify.papers.arora2020.tail_integral.certificates import (
    McDiarmidGap,
    TailIntegralExponent,
    TailIntegralViolation,
)
from dpsco_verify.papers.arora2020.tail_integral.statement import TailIntegral
from dpsco_verify.papers.arora2020.translation.statement import Translation
from dpsco_verify.papers.arora2020.utility.certificates import (
    UtilityConstant,
    UtilityDriftViolation,
    UtilityVarianceViolation,
)
from dpsco_verify.papers.arora2020.utility.statement import Utility

PAPER = PaperEntry(
    paper=Paper(
        id="arora2020",
        title="Private Stochastic Convex Optimization: Efficient Algorithms for Non-smooth Objectives",
        authors=("Raman Arora", "Teodor V. Marinov", "Enayat Ullah"),
        identifier="arXiv:2002.09609",
    ),
    statements=(
        DualNorm(),
        Duality(),
        GradientQueriesStatement(),
        Output(),
        StoppingTail(),
        StoppingMean(),
        TailIntegral(),
        RegretOsmd(),
        BregmanDual(),
        Regret(),
        FreshSum(),
        Utility(),
        Composition(),
        SingleStep(),
        ExpLinearStatement(),
        KlBound(),
        AzumaStep(),
        Privacy(),
        Risk(),
        Translation(),
        Rate(),
        SubsampledOnePassPrivacy(),
        AlgorithmOnePrivacy(),
        PrivateMirrorDescentPrivacy(),
        *RISK_BOUNDS,
    ),
    expectations=package_expectations("dpsco_verify.papers.arora2020"),
    witness_kinds=(
        AzumaMismatch,
        AzumaRepair,
        BregmanDualConstant,
        BregmanDualTight,
        CompositionViolation,
        DualNormSign,
        DualityConstant,
        DualityEntropyViolation,
        ExpLinear,
        FreshSumViolation,
        FreshSumInstance,
        GradientQueries,
        KlConstant,
        OutputDefined,
        PrivacyRange,
        RateConstant,
        RegretConstant,
        RegretDriftViolation,
        RegretVarianceViolation,
        OsmdLiteralViolation,
        RiskConstants,
        RiskDriftViolation,
        SingleStepViolation,
        SingleStepRepair,
        StoppingMeanConstant,
        StoppingMeanUnbounded,
        StoppingTailViolation,
        StoppingTailExponent,
        TailIntegralExponent,
        TailIntegralViolation,
        McDiarmidGap,
        UtilityConstant,
        UtilityDriftViolation,
        UtilityVarianceViolation,
    ),
)
