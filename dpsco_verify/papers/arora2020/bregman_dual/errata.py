"""Where text, proof and constants disagree around the bound on the dual divergence."""

from __future__ import annotations

from dpsco_verify.evidence import Consequence
from dpsco_verify.ledger.errata import Discrepancy

DISCREPANCIES = (
    Discrepancy(
        id="smoothness-half",
        title="The equation that follows needs half of the constant before it",
        lines=(205, 209),
        consequence=Consequence.CONSTANT,
        text=(
            "The sentence bounds the dual divergence by 1/α times the squared norm; the equation after it has "
            "1/(2η), which follows only from 1/(2α)."
        ),
        repair="Write 1/(2α): it is true, and no smaller constant is.",
        shown_by=("bregman-dual#into-the-regret",),
        rests_on=("bregman-dual/literal", "bregman-dual/tight"),
        constants=(("bregman-dual/literal", "1 in 1/α"),),
    ),
)
