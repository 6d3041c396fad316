"""Where text, proof and constants disagree around Theorem 4.4."""

from __future__ import annotations

from dpsco_verify.evidence import Consequence
from dpsco_verify.ledger.errata import Discrepancy

DISCREPANCIES = (
    Discrepancy(
        id="five-halves",
        title="The corollary and the lemma do not give the constant of the theorem",
        lines=(254, 262, 267),
        consequence=Consequence.NOTHING,
        text=(
            "As printed, the corollary and the lemma give 2, not 5/2; 5/2 is what the corollary's proof gives with "
            "2n for the mean stopping time. With the lemma repaired they give 2n/|F_τ|, which is close to 4."
        ),
        repair=(
            "Bound the squared gradients by their expectation (half of what the proof uses) and the mean "
            "stopping time by its exact value: the constant of the theorem holds, and a smaller one too."
        ),
        shown_by=("utility#combination",),
        rests_on=("utility/diameter", "utility/norm-argmin"),
        constants=(("utility/diameter", "5/2"), ("utility/norm-argmin", "5/2")),
    ),
)
