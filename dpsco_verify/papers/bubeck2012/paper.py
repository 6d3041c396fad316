"""The paper: Bubeck and Cesa-Bianchi 2012: mirror descent without privacy."""

from __future__ import annotations

from dpsco_verify.evidence import Paper
from dpsco_verify.ledger.expectations import package_expectations
from dpsco_verify.ledger.ledger import PaperEntry
from dpsco_verify.papers.bubeck2012.risk_bounds import RISK_BOUNDS

PAPER = PaperEntry(
    paper=Paper(
        id="bubeck2012",
        title="Regret Analysis of Stochastic and Nonstochastic Multi-armed Bandit Problems",
        authors=("Sébastien Bubeck", "Nicolò Cesa-Bianchi"),
        identifier="arXiv:1204.5721",
        unconfirmed="the number of the theorem and its step size",
    ),
    statements=(*RISK_BOUNDS,),
    expectations=package_expectations("dpsco_verify.papers.bubeck2012"),
)
