"""Where text, proof and constants disagree around Theorem 5.3."""

from __future__ import annotations

from dpsco_verify.evidence import Consequence
from dpsco_verify.ledger.errata import Discrepancy

DISCREPANCIES = (
    Discrepancy(
        id="twice-delta",
        title="The composition theorem gives 2δ where the main theorem has δ",
        lines=(379, 385),
        consequence=Consequence.NOTHING,
        text=(
            "At τ = 2n the composition theorem pays δ for each of the two passes, so its second parameter is "
            "2δ + δ'; the main theorem has δ + δ'."
        ),
        repair=(
            "By the proof of the paper, write 2δ. The statement with δ holds all the same, by one use of a "
            "point and by the bound on a whole run."
        ),
        shown_by=("privacy#delta",),
        rests_on=("privacy/literal", "privacy/bounded-n"),
        constants=(("privacy/literal", "8 in σ"),),
    ),
    Discrepancy(
        id="negative-probability",
        title="A probability is printed with a minus sign",
        lines=(385,),
        consequence=Consequence.NOTHING,
        text="The event of a late stop is said to have probability −2e^{−n/16}.",
        repair="Write: at most 2e^{−n/16}.",
        shown_by=("privacy#tail",),
        rests_on=("stopping-tail/loop",),
    ),
)
