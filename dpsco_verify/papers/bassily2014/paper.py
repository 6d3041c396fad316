"""The paper: Bassily, Smith and Thakurta 2014: noisy SGD for empirical risk."""

from __future__ import annotations

from dpsco_verify.evidence import Paper
from dpsco_verify.ledger import PaperEntry, package_expectations
from dpsco_verify.papers.bassily2014.noisy_sgd_erm.statement import NoisySgdPrivacy

PAPER = PaperEntry(
    paper=Paper(
        id="bassily2014",
        title="Private Empirical Risk Minimization: Efficient Algorithms and Tight Error Bounds",
        authors=("Raef Bassily", "Adam Smith", "Abhradeep Thakurta"),
        identifier="arXiv:1405.7085",
        unconfirmed="the numbers of algorithm and theorem, the step sizes, and that no bound on ε is printed",
    ),
    statements=(NoisySgdPrivacy(),),
    expectations=package_expectations("dpsco_verify.papers.bassily2014"),
)
