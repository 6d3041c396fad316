"""The paper: Arora, Marinov and Ullah 2020: noisy one-pass SGD and mirror descent.

The risk bounds have the labels related:algorithm-1, related:subsampled-one-pass, related:private-mirror-descent and
related:one-pass-sgd.
"""

from __future__ import annotations

from dpsco_verify.evidence import Paper, Stance
from dpsco_verify.ledger import PaperEntry, package_expectations
from dpsco_verify.ledger.systems.risk_statement import RiskClaim
from dpsco_verify.papers.arora2020.azuma_step.statement import AzumaStep
from dpsco_verify.papers.arora2020.bregman_dual.statement import BregmanDual
from dpsco_verify.papers.arora2020.certified_noise.statement import (
    AlgorithmOnePrivacy,
    PrivateMirrorDescentPrivacy,
    SubsampledOnePassPrivacy,
)
from dpsco_verify.papers.arora2020.composition.statement import Composition
from dpsco_verify.papers.arora2020.dual_norm.statement import DualNorm
from dpsco_verify.papers.arora2020.duality.statement import Duality
from dpsco_verify.papers.arora2020.exp_linear.statement import ExpLinearStatement
from dpsco_verify.papers.arora2020.fresh_sum.statement import FreshSum
from dpsco_verify.papers.arora2020.gradient_queries.statement import GradientQueriesStatement
from dpsco_verify.papers.arora2020.kl_bound.statement import KlBound
from dpsco_verify.papers.arora2020.output.statement import Output
from dpsco_verify.papers.arora2020.privacy.statement import Privacy
from dpsco_verify.papers.arora2020.rate.statement import Rate
from dpsco_verify.papers.arora2020.regret.statement import Regret
from dpsco_verify.papers.arora2020.regret_osmd.statement import RegretOsmd
from dpsco_verify.papers.arora2020.risk.statement import Risk
from dpsco_verify.papers.arora2020.single_step.statement import SingleStep
from dpsco_verify.papers.arora2020.stopping_mean.statement import StoppingMean
from dpsco_verify.papers.arora2020.stopping_tail.statement import StoppingTail
from dpsco_verify.papers.arora2020.tail_integral.statement import TailIntegral
from dpsco_verify.papers.arora2020.translation.statement import Translation
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
        RiskClaim(
            system="algorithm-1",
            title="The excess risk of Algorithm 1 with certified noise",
            reference="Arora, Marinov and Ullah 2020, Theorem 4.4",
            bound="(5/2) D(L + σ√d)/√n",
            cells=(("drift", 1000),),
            standard=(("signs-5", 4000), ("median", 1000)),
        ),
        RiskClaim(
            system="subsampled-one-pass",
            title="The excess risk of one pass with privacy by subsampling",
            reference="the bound by this project",
            bound="D√(Σ_t (L² + dσ_t²))/T",
            stance=Stance.EXTENSION,
            cells=(("drift", 1000),),
            standard=(("signs-5", 4000), ("median", 1000)),
        ),
        RiskClaim(
            system="private-mirror-descent-entropic",
            short="private-mirror-descent",
            title="The excess risk of Algorithm 1 with the entropic mirror step",
            reference="the bound by this project",
            bound="(R/η + (η/(2α))(m(G + N)² + (Eτ − m)N²))/m",
            stance=Stance.EXTENSION,
            cells=(("simplex-8", 1500),),
            standard=(("simplex-8", 4000),),
        ),
        RiskClaim(
            system="mirror-descent-euclidean",
            short="one-pass-sgd",
            title="The excess risk of one pass without privacy",
            reference="the bound by this project",
            bound="LD/√n",
            stance=Stance.EXTENSION,
            cells=(("drift", 100), ("signs-5", 100)),
        ),
    ),
    expectations=package_expectations("dpsco_verify.papers.arora2020"),
)
