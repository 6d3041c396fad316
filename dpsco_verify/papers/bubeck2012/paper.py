"""The paper: Bubeck and Cesa-Bianchi 2012: mirror descent without privacy.

The risk bound has the label related:mirror-descent.
"""

from __future__ import annotations

from dpsco_verify.evidence import Paper
from dpsco_verify.ledger import PaperEntry, package_expectations
from dpsco_verify.ledger.systems.risk_statement import RiskClaim

PAPER = PaperEntry(
    paper=Paper(
        id="bubeck2012",
        title="Regret Analysis of Stochastic and Nonstochastic Multi-armed Bandit Problems",
        authors=("Sébastien Bubeck", "Nicolò Cesa-Bianchi"),
        identifier="arXiv:1204.5721",
        unconfirmed="the number of the theorem and its step size",
    ),
    statements=(
        RiskClaim(
            system="mirror-descent-entropic",
            short="mirror-descent",
            title="The excess risk of online mirror descent",
            reference="Bubeck and Cesa-Bianchi 2012, Theorem 5.5, by averaging",
            bound="G√(2R/(αn))",
            cells=(("simplex-8", 100),),
            standard=(("simplex-8", 1000),),
        ),
    ),
    expectations=package_expectations("dpsco_verify.papers.bubeck2012"),
)
