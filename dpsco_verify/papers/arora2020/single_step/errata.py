"""Where text, proof and constants disagree around Lemma 5.2."""

from __future__ import annotations

from dpsco_verify.evidence import Consequence
from dpsco_verify.ledger.errata import Discrepancy

DISCREPANCIES = (
    Discrepancy(
        id="sensitivity",
        title="The noise is calibrated for half of the sensitivity",
        lines=(114, 307, 333),
        consequence=Consequence.GUARANTEE,
        text=(
            "Neighbouring data sets differ in one point by replacement, so the gradient that is used may move "
            "by 2L. The noise is that of a query that moves by L."
        ),
        repair=(
            "Double σ, and state the range of ε̃ and δ on which the Gaussian mechanism needs no more: as the "
            "lemma stands it has none, and outside it even the doubled noise is too small."
        ),
        shown_by=(
            "single-step/replace-one",
            "single-step/replace-one-minibatch",
            "single-step#with-the-point",
        ),
        rests_on=("single-step/corrected",),
        constants=(("single-step/replace-one", "1 on σ"), ("single-step/corrected", "2 on σ")),
    ),
    Discrepancy(
        id="other-points",
        title="Another point in place of the differing one is not within L either",
        lines=(325, 333),
        consequence=Consequence.GUARANTEE,
        text=(
            "The amplification step also needs the output with the differing point to be close to the output "
            "without it. There another point, or none, is used, whose gradient may lie 2L away. So the lemma "
            "fails even if the differing point is zeroed out and its own gradient moves by L only."
        ),
        repair="The doubled noise serves here too.",
        shown_by=("single-step/zero-out", "single-step/zero-out-minibatch", "single-step#without-the-point"),
        rests_on=("single-step/corrected",),
        constants=(("single-step/zero-out", "1 on σ"),),
    ),
)
