"""Where text, proof and constants disagree around the rate."""

from __future__ import annotations

from dpsco_verify.evidence import Consequence
from dpsco_verify.ledger.errata import Discrepancy

DISCREPANCIES = (
    Discrepancy(
        id="regime",
        title="The regime of the abstract is not that of the theorem",
        lines=(60, 83, 379),
        consequence=Consequence.NOTHING,
        text=(
            "The abstract and the introduction let the privacy parameter fall like 1/n. At ε = c/n the term "
            "√d/(εn) does not depend on n, so the rate does not fall with more data, and for c up to "
            "20√(d log(1/δ)) the bound is above the largest risk there is. The main theorem allows ε up to "
            "1/(2√n), and only near that end does its bound fall like 1/√n."
        ),
        repair=(
            "Write that the privacy parameter is inversely proportional to the square root of the number of samples."
        ),
        shown_by=("rate#regime",),
        rests_on=("rate/upper",),
    ),
)
