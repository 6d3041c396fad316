"""The book: Dwork and Roth 2014: the basic mechanisms, composition, and the sparse vector technique."""

from __future__ import annotations

from dpsco_verify.evidence import Paper
from dpsco_verify.ledger import PaperEntry, package_expectations
from dpsco_verify.papers.dwork2014.composition import statement as composition
from dpsco_verify.papers.dwork2014.exponential import statement as exponential
from dpsco_verify.papers.dwork2014.gaussian.statement import GaussianMechanism
from dpsco_verify.papers.dwork2014.laplace import statement as laplace
from dpsco_verify.papers.dwork2014.noisy_max import statement as noisy_max
from dpsco_verify.papers.dwork2014.randomised_response.statement import RandomisedResponse
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
)
