"""The paper: Chaudhuri, Monteleoni and Sarwate 2011: output and objective perturbation.

The risk bounds have the labels related:output-perturbation and related:objective-perturbation.
"""

from __future__ import annotations

from dpsco_verify.evidence import Paper, Stance
from dpsco_verify.ledger import PaperEntry, package_expectations
from dpsco_verify.ledger.systems.risk_statement import RiskClaim
from dpsco_verify.papers.chaudhuri2011.objective_perturbation.statement import ObjectivePerturbationPrivacy
from dpsco_verify.papers.chaudhuri2011.output_perturbation.statement import OutputPerturbationPrivacy

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
        RiskClaim(
            system="output-perturbation",
            title="The excess risk of output perturbation",
            reference="Chaudhuri, Monteleoni and Sarwate 2011; the bound with its constants by this project",
            bound="ΛD²/2 + 2L²/(nΛ) + Lr + 1.001 · 2dL²/(nΛε)",
            stance=Stance.EXTENSION,
            cells=(("drift", 400), ("signs-5", 1000)),
            standard=(("median", 1000),),
        ),
        RiskClaim(
            system="objective-perturbation",
            title="The excess risk of objective perturbation",
            reference="Chaudhuri, Monteleoni and Sarwate 2011; the bound with its constants by this project",
            bound="(Λ + Δ)D²/2 + 2L²/(n(Λ + Δ)) + 2d(d + 1)L²/(ε'²n²(Λ + Δ)) + L(r + 2rd/ε₂)",
            stance=Stance.EXTENSION,
            cells=(("drift", 400), ("signs-5", 1000)),
        ),
    ),
    expectations=package_expectations("dpsco_verify.papers.chaudhuri2011"),
)
