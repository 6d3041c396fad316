"""The paper: Bassily, Feldman, Talwar and Thakurta 2019: noisy mini-batch SGD."""

from __future__ import annotations

from dpsco_verify.evidence import Paper
from dpsco_verify.ledger.expectations import package_expectations
from dpsco_verify.ledger.ledger import PaperEntry
from dpsco_verify.papers.bassily2019.minibatch.certificates import (
    MinibatchViolation,
    SmoothedMinibatchViolation,
)
from dpsco_verify.papers.bassily2019.minibatch.statement import MinibatchPrivacy, SmoothedMinibatchPrivacy
from dpsco_verify.papers.bassily2019.risk_bounds import RISK_BOUNDS

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
        *RISK_BOUNDS,
    ),
    expectations=package_expectations("dpsco_verify.papers.bassily2019"),
    witness_kinds=(
        MinibatchViolation,
        SmoothedMinibatchViolation,
    ),
)
