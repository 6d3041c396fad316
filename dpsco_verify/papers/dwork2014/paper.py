"""The book: Dwork and Roth 2014: the basic mechanisms, composition, and the sparse vector technique."""

from __future__ import annotations

from dpsco_verify.evidence import Paper
from dpsco_verify.ledger.expectations import package_expectations
from dpsco_verify.ledger.ledger import PaperEntry
from dpsco_verify.papers.dwork2014.composition import certificates as composition_witnesses
from dpsco_verify.papers.dwork2014.composition import statement as composition
from dpsco_verify.papers.dwork2014.exponential import certificates as exponential_witnesses
from dpsco_verify.papers.dwork2014.exponential import statement as exponential
from dpsco_verify.papers.dwork2014.gaussian import certificates as gaussian_witnesses
from dpsco_verify.papers.dwork2014.gaussian.statement import GaussianMechanism
from dpsco_verify.papers.dwork2014.laplace import certificates as laplace_witnesses
from dpsco_verify.papers.dwork2014.laplace import statement as laplace
from dpsco_verify.papers.dwork2014.noisy_max import certificates as noisy_max_witnesses
from dpsco_verify.papers.dwork2014.noisy_max import statement as noisy_max
from dpsco_verify.papers.dwork2014.randomised_response.certificates import RandomisedResponseRatio
from dpsco_verify.papers.dwork2014.randomised_response.statement import RandomisedResponse
from dpsco_verify.papers.dwork2014.sparse_vector import certificates as sparse_witnesses
from dpsco_verify.papers.dwork2014.sparse_vector import statement as sparse_vector

PAPER = PaperEntry(
    paper=Paper(
        id="dwork2014",
        title="The Algorithmic Foundations of Differential Privacy",
        authors=("Cynthia Dwork", "Aaron Roth"),
        identifier="doi:10.1561/0400000042",
    ),
    statements=(
        RandomisedResponse(),
        laplace.LaplaceMechanism(),
        laplace.LaplaceAccuracy(),
        noisy_max.ReportNoisyMax(),
        exponential.ExponentialMechanism(),
        exponential.ExponentialUtility(),
        noisy_max.OneSidedNoisyArgMax(),
        composition.BasicComposition(),
        composition.AdvancedComposition(),
        composition.AdvancedCompositionCorollary(),
        composition.CompositionExample(),
        GaussianMechanism(),
        sparse_vector.AboveThreshold(),
        sparse_vector.AboveThresholdAccuracy(),
        sparse_vector.SparseVector(),
    ),
    expectations=package_expectations("dpsco_verify.papers.dwork2014"),
    witness_kinds=(
        RandomisedResponseRatio,
        laplace_witnesses.LaplaceScale,
        laplace_witnesses.LaplaceAccuracyFactor,
        noisy_max_witnesses.NoisyMaxScale,
        noisy_max_witnesses.NoisyMaxViolation,
        noisy_max_witnesses.ArgMaxRate,
        noisy_max_witnesses.ArgMaxDistribution,
        exponential_witnesses.ExponentialFactor,
        exponential_witnesses.ExponentialUtilityFactor,
        composition_witnesses.BasicCompositionSums,
        composition_witnesses.AdvancedCompositionConstants,
        composition_witnesses.CorollaryViolation,
        composition_witnesses.CorollaryRange,
        composition_witnesses.ExampleComposition,
        gaussian_witnesses.GaussianRange,
        gaussian_witnesses.GaussianViolation,
        sparse_witnesses.ThresholdScales,
        sparse_witnesses.ThresholdViolation,
        sparse_witnesses.ThresholdAccuracyFactor,
        sparse_witnesses.SparsePureScale,
        sparse_witnesses.SparseViolation,
        sparse_witnesses.SparseRange,
        sparse_witnesses.NumericSparseViolation,
    ),
)
