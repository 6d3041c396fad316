"""The paper: Chaudhuri, Monteleoni and Sarwate 2011: output and objective perturbation."""

from __future__ import annotations

from dpsco_verify.evidence import Paper
from dpsco_verify.ledger.expectations import package_expectations
from dpsco_verify.ledger.ledger import PaperEntry
from dpsco_verify.papers.chaudhuri2011.objective_perturbation.certificates import ObjectivePerturbationLoss
from dpsco_verify.papers.chaudhuri2011.objective_perturbation.statement import ObjectivePerturbationPrivacy
from dpsco_verify.papers.chaudhuri2011.output_perturbation.certificates import (
    OutputPerturbationRate,
    OutputPerturbationViolation,
)
from dpsco_verify.papers.chaudhuri2011.output_perturbation.statement import OutputPerturbationPrivacy
from dpsco_verify.papers.chaudhuri2011.risk_bounds import RISK_BOUNDS

PAPER = PaperEntry(
    paper=Paper(
        id="chaudhuri2011",
        title="Differentially Private Empirical Risk Minimization",
        authors=("Kamalika Chaudhuri", "Claire Monteleoni", "Anand D. Sarwate"),
        identifier="arXiv:0912.0071",
        unconfirmed="the numbers of algorithms and theorems",
    ),
    statements=(
        OutputPerturbationPrivacy(),
        ObjectivePerturbationPrivacy(),
        *RISK_BOUNDS,
    ),
    expectations=package_expectations("dpsco_verify.papers.chaudhuri2011"),
    witness_kinds=(
        ObjectivePerturbationLoss,
        OutputPerturbationRate,
        OutputPerturbationViolation,
    ),
)
