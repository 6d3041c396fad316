"""Where text, proof and constants disagree around Theorem 5.1."""

from __future__ import annotations

from dpsco_verify.evidence import Consequence
from dpsco_verify.ledger.errata import Discrepancy

DISCREPANCIES = (
    Discrepancy(
        id="composition-noise",
        title="The noise is too small for neighbours that differ by a replacement",
        lines=(300, 372),
        consequence=Consequence.GUARANTEE,
        text=(
            "The theorem rests on the single-step lemma, whose noise is too small for a gradient that moves "
            "by 2L. For δ close to 1 the theorem is false with its own noise; for smaller δ it is neither "
            "proven nor refuted here at many points."
        ),
        repair=(
            "Enlarge the constant of σ and take δ at most 1/2: with the larger constant the theorem is proven "
            "on the whole grid, by other means than those of the paper."
        ),
        shown_by=("composition/literal", "composition#single-step"),
        constants=(("composition/literal", "√3 in σ"), ("composition/corrected", "9 in σ")),
    ),
    Discrepancy(
        id="conditioning-on-draws",
        title="The proof conditions on the very draws that amplify",
        lines=(345, 348, 350, 363, 364),
        consequence=Consequence.GUARANTEE,
        text=(
            "The privacy loss of an iteration is taken conditionally on the indices drawn so far, and those "
            "include the index that produced the iterate. Given that index nothing is amplified: the loss is "
            "the full one whenever the differing point is drawn. The bound by the single-step lemma, which "
            "averages over the index, has no meaning there."
        ),
        repair=(
            "Condition on the iterates alone, or use a composition theorem for the mechanism with hidden "
            "draws; each point is used at most once, so one use of it, or shuffling, gives a bound for the "
            "whole transcript."
        ),
        shown_by=("composition#conditioning",),
        constants=(("composition/literal", "√3 in σ"), ("composition/corrected", "9 in σ")),
    ),
    Discrepancy(
        id="drift-factor",
        title="The drift term has lost a factor",
        lines=(300, 372),
        consequence=Consequence.CONSTANT,
        text=(
            "With the printed bound of 2ε₀ on ε₁ the drift is 8τε̃²/n², twice what the theorem has, and for "
            "the largest ε̃ and small n the product of ε₀ and ε₁ does exceed 4ε̃²/n²."
        ),
        repair="Write the constant below in place of 4 (the printed bound on ε₁ gives 8), or ask for a smaller ε̃.",
        shown_by=("composition#drift",),
        constants=(("composition/literal", "4 in 4τε̃²/n²"),),
    ),
)
