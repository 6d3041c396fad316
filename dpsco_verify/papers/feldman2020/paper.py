"""The paper: Feldman, Koren and Talwar 2020: phases, and privacy by iteration."""

from __future__ import annotations

from dpsco_verify.evidence import Paper
from dpsco_verify.ledger.expectations import package_expectations
from dpsco_verify.ledger.ledger import PaperEntry
from dpsco_verify.papers.feldman2020.iteration_sgd.certificates import (
    IterationBatches,
    IterationStepViolation,
)
from dpsco_verify.papers.feldman2020.iteration_sgd.statement import IterationSgdPrivacy
from dpsco_verify.papers.feldman2020.phased.certificates import PhasedErmNoise, PhasedSgdNoise
from dpsco_verify.papers.feldman2020.phased.statement import PhasedErmPrivacy, PhasedSgdPrivacy
from dpsco_verify.papers.feldman2020.risk_bounds import RISK_BOUNDS

PAPER = PaperEntry(
    paper=Paper(
        id="feldman2020",
        title="Private Stochastic Convex Optimization: Optimal Rates in Linear Time",
        authors=("Vitaly Feldman", "Tomer Koren", "Kunal Talwar"),
        identifier="arXiv:2005.04763",
        unconfirmed="the numbers of algorithms and theorems, the step sizes, batches and σ_i",
    ),
    statements=(
        PhasedSgdPrivacy(),
        PhasedErmPrivacy(),
        IterationSgdPrivacy(),
        *RISK_BOUNDS,
    ),
    expectations=package_expectations("dpsco_verify.papers.feldman2020"),
    witness_kinds=(
        IterationBatches,
        IterationStepViolation,
        PhasedSgdNoise,
        PhasedErmNoise,
    ),
)
