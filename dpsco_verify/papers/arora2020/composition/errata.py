"""Where text, proof and constants disagree around Theorem 5.1."""

from __future__ import annotations

from dpsco_verify.evidence import Consequence
from dpsco_verify.ledger import Discrepancy

DISCREPANCIES = (
    Discrepancy(
        id="composition-noise",
        title="For δ close to 1 the composition theorem is false with its own noise",
        lines=(300,),
        consequence=Consequence.GUARANTEE,
        text=(
            "The noise vanishes as δ tends to 1, faster than what is claimed becomes void: from δ = 0.9 on one "
            "iteration already tells too much."
        ),
        repair=(
            "Take δ at most 1/2. There the theorem holds with the noise that it prints, at every point of the grid, "
            "and would with less."
        ),
        shown_by=("composition/literal",),
        constants=(("composition/literal", "√3 in σ"), ("composition/small-delta", "√3 in σ")),
    ),
    Discrepancy(
        id="composition-single-step",
        title="The composition theorem rests on a lemma that is false, and holds without it",
        lines=(300, 372),
        consequence=Consequence.NOTHING,
        text=(
            "Each iteration is said to be private by the single-step lemma, whose noise is too small for a gradient "
            "that moves by 2L."
        ),
        repair=(
            "For δ at most 1/2 keep the statement and replace the proof: a point is used at most once, and the bound "
            "on a whole run that follows from that proves what is claimed."
        ),
        shown_by=("composition#single-step",),
        rests_on=("composition/small-delta",),
        constants=(("composition/small-delta", "√3 in σ"),),
    ),
    Discrepancy(
        id="conditioning-on-draws",
        title="The proof conditions on the very draws that amplify",
        lines=(345, 348, 350, 363, 364),
        consequence=Consequence.NOTHING,
        text=(
            "The privacy loss of an iteration is taken conditionally on the indices drawn so far, and those "
            "include the index that produced the iterate. Given that index nothing is amplified: the loss is "
            "the full one whenever the differing point is drawn. The bound by the single-step lemma, which "
            "averages over the index, has no meaning there."
        ),
        repair=(
            "Condition on the iterates alone, or on the other points' places, as the bound on a whole run does. For "
            "δ at most 1/2 that proves the statement as it is printed."
        ),
        shown_by=("composition#conditioning",),
        rests_on=("composition/small-delta",),
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
