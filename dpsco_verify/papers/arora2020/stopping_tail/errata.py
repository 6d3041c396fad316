"""Where text, proof and constants disagree around Theorem 4.1."""

from __future__ import annotations

from dpsco_verify.evidence import Consequence
from dpsco_verify.ledger import Discrepancy

DISCREPANCIES = (
    Discrepancy(
        id="stopping-rule",
        title="Three different rules for when to stop",
        lines=(144, 152, 236),
        consequence=Consequence.NOTHING,
        text=(
            "The text stops once at least half of the points have been seen, the loop once more than half "
            "have, and the proof of the lemma on the fresh losses once all of them have, S_t = n. Under the "
            "third rule a run takes about n log n iterations and the theorem is false."
        ),
        repair=(
            "Write in the proof min{t : S_t > n/2}, which is the rule of the loop. The theorem then holds, "
            "under the rule of the text as well."
        ),
        shown_by=(
            "stopping-tail/all-points",
            "stopping-tail/all-points-counter",
            "stopping-mean/all-points",
            "stopping-mean/all-points-counter",
            "tail-integral/all-points",
            "fresh-sum#stop-at-all-points",
        ),
        rests_on=(
            "stopping-tail/loop",
            "stopping-tail/loop-counter",
            "stopping-tail/text",
            "stopping-tail/text-counter",
            "stopping-mean/loop",
            "stopping-mean/text",
            "tail-integral/literal",
        ),
        constants=(("stopping-mean/loop", "C in E[τ] ≤ C n"), ("stopping-mean/text", "C in E[τ] ≤ C n")),
    ),
    Discrepancy(
        id="mean-is-not-enough",
        title="A mean of at least n/2 does not stop a run",
        lines=(417,),
        consequence=Consequence.NOTHING,
        text=(
            "From an expected number of at least n/2 distinct points after n draws the proof concludes that "
            "the stopping condition is reached. A run may have seen fewer: the expectation bounds no single "
            "run."
        ),
        repair="Leave the sentence out: the concentration argument that follows it does not need it.",
        shown_by=("stopping-tail#expectation-is-enough",),
        rests_on=("stopping-tail/loop",),
    ),
    Discrepancy(
        id="event-off-by-one",
        title="The event of a late stop is off by one draw",
        lines=(433,),
        consequence=Consequence.NOTHING,
        text=(
            "Having at most n/2 distinct points after T draws is the event that more than T draws are needed, "
            "not that at least T are."
        ),
        repair=(
            "Write P(τ > T) in place of P(τ ≥ T); with τ the final value of the counter the printed equation "
            "is right."
        ),
        shown_by=("stopping-tail#event-identity",),
        rests_on=("stopping-tail/loop", "stopping-tail/loop-counter"),
    ),
)
