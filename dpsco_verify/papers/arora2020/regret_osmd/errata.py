"""Where text, proof and constants disagree around Theorem 4.2."""

from __future__ import annotations

from dpsco_verify.evidence import Consequence
from dpsco_verify.ledger.errata import Discrepancy

DISCREPANCIES = (
    Discrepancy(
        id="osmd-dual-point",
        title="A gradient of the loss stands where that of the potential belongs",
        lines=(193,),
        consequence=Consequence.NOTHING,
        text=(
            "Inside the dual divergence the bound has the gradient of the loss at the iterate, where the "
            "cited theorem has the gradient of the potential. For a potential other than the Euclidean one "
            "the printed bound is false, and no factor in front saves it."
        ),
        repair=(
            "Write the gradient of Φ at w_t in both places. For the Euclidean potential, the only one that "
            "the analysis uses, the divergence does not depend on the point and both forms agree."
        ),
        shown_by=("regret-osmd/literal",),
        rests_on=("regret-osmd/corrected", "regret/diameter"),
    ),
)
