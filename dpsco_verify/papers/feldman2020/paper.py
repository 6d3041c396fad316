"""The paper: Feldman, Koren and Talwar 2020: phases, and privacy by iteration.

The risk bounds have the labels related:phased-sgd, related:phased-erm and related:iteration-sgd.
"""

from __future__ import annotations

from dpsco_verify.evidence import Paper, Stance
from dpsco_verify.ledger import PaperEntry, package_expectations
from dpsco_verify.ledger.systems.risk_statement import RiskClaim
from dpsco_verify.papers.feldman2020.iteration_sgd.statement import IterationSgdPrivacy
from dpsco_verify.papers.feldman2020.phased.statement import PhasedErmPrivacy, PhasedSgdPrivacy

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
        RiskClaim(
            system="phased-sgd",
            title="The excess risk of phased SGD",
            reference="Feldman, Koren and Talwar 2020; the bound with its constants by this project",
            bound="Σ_i (E‖w_{i−1} − w̄_{i−1}‖²/(2η_i n_i) + η_i L²/2) + Lσ_k√d",
            stance=Stance.EXTENSION,
            cells=(("drift", 1000),),
            standard=(("signs-5", 4000),),
        ),
        RiskClaim(
            system="phased-erm",
            title="The excess risk of phased ERM",
            reference="Feldman, Koren and Talwar 2020; the bound with its constants by this project",
            bound="4D²/(n_1η) + bη with η at its best",
            stance=Stance.EXTENSION,
            cells=(("drift", 1000),),
            standard=(("median", 4000), ("signs-5", 10_000)),
        ),
        RiskClaim(
            system="iteration-sgd",
            title="The excess risk of one pass with privacy by iteration",
            reference="Feldman, Koren and Talwar 2020; the bound with its constants by this project",
            bound="D²/(2η(T + 1)) + ηL²(1 + H_T)",
            stance=Stance.EXTENSION,
            cells=(("drift", 1000),),
            standard=(("signs-5", 4000),),
        ),
    ),
    expectations=package_expectations("dpsco_verify.papers.feldman2020"),
)
