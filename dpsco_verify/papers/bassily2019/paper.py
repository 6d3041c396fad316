"""The paper: Bassily, Feldman, Talwar and Thakurta 2019: noisy mini-batch SGD.

The risk bounds have the labels related:minibatch-sgd, related:smoothed-minibatch-sgd and
related:smoothed-minibatch-sgd-2l.
"""

from __future__ import annotations

from dpsco_verify.evidence import Paper, Stance
from dpsco_verify.ledger import PaperEntry, package_expectations
from dpsco_verify.ledger.systems.risk_statement import RiskClaim
from dpsco_verify.papers.bassily2019.minibatch.statement import MinibatchPrivacy, SmoothedMinibatchPrivacy

PAPER = PaperEntry(
    paper=Paper(
        id="bassily2019",
        title="Private Stochastic Convex Optimization with Optimal Rates",
        authors=("Raef Bassily", "Vitaly Feldman", "Kunal Talwar", "Abhradeep Thakurta"),
        identifier="arXiv:1908.09970",
        unconfirmed="the numbers of algorithms and theorems, T, m, σ², the step size, and the conditions ε ≤ 1 and δ ≤ "
        "1/n²",
    ),
    statements=(
        MinibatchPrivacy(),
        SmoothedMinibatchPrivacy(),
        RiskClaim(
            system="minibatch-sgd",
            title="The excess risk of noisy mini-batch SGD",
            reference="Bassily, Feldman, Talwar and Thakurta 2019, Theorem 3.2",
            bound="10LD max(√(d log(1/δ))/(εn), 1/√n)",
            cells=(("drift", 400),),
            standard=(("signs-5", 1000), ("drift", 2000)),
        ),
        RiskClaim(
            system="smoothed-minibatch-sgd",
            title="The excess risk of noisy mini-batch SGD on Moreau envelopes",
            reference="Bassily, Feldman, Talwar and Thakurta 2019, Theorem 4.4",
            bound="10LD max(√(d log(1/δ))/(εn), 1/√n) + L²/(2β)",
            cells=(("median", 1000),),
            standard=(("drift", 400), ("signs-5", 1000)),
        ),
        RiskClaim(
            system="smoothed-minibatch-sgd-2l",
            title="The excess risk of noisy mini-batch SGD on Moreau envelopes with noise for 2L",
            reference="Bassily, Feldman, Talwar and Thakurta 2019, Theorem 4.4",
            bound="24LD max(√(d log(1/δ))/(εn), 1/√n)",
            stance=Stance.EXTENSION,
            cells=(("median", 1000),),
            standard=(("drift", 400), ("signs-5", 1000)),
        ),
    ),
    expectations=package_expectations("dpsco_verify.papers.bassily2019"),
)
