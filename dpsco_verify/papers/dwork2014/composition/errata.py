"""Where text, proof and constants disagree around composition."""

from __future__ import annotations

from dpsco_verify.evidence import Consequence
from dpsco_verify.ledger import Discrepancy

ADVANCED = (
    Discrepancy(
        id="advanced-composition-range",
        title="δ' may be any nonnegative number, also where √(ln(1/δ')) has no meaning",
        lines=(),
        consequence=Consequence.NOTHING,
        text="Theorem 3.20 speaks of all δ' ≥ 0. For δ' > 1 the logarithm is negative under a square root, for δ' "
        "= 0 it is infinite.",
        repair="Take 0 < δ' ≤ 1; for δ' ≥ 1 there is nothing to show.",
        shown_by=("advanced-composition/literal",),
        rests_on=("advanced-composition/bounded-delta-prime",),
    ),
)

COROLLARY = (
    Discrepancy(
        id="corollary-delta-prime",
        title="Corollary 3.21 is false for δ' close to 1",
        lines=(),
        consequence=Consequence.GUARANTEE,
        text="The corollary bounds δ' from below only. As δ' comes near 1 the allowed ε = ε'/(2√(2k ln(1/δ'))) "
        "grows without bound, and randomised response of this ε is not (ε', δ')-DP, for δ' = 0.998 at k = 16 for "
        "example.",
        repair="Ask for δ' ≤ 7/10.",
        shown_by=("advanced-composition-corollary/printed",),
        rests_on=("advanced-composition-corollary/bounded-delta-prime",),
        constants=(("advanced-composition-corollary/bounded-delta-prime", "7/10 in δ' ≤ 7/10"),),
    ),
    Discrepancy(
        id="corollary-square",
        title="The proof of Corollary 3.21 has kε² where Theorem 3.20 has kε(e^ε − 1)",
        lines=(),
        consequence=Consequence.NOTHING,
        text="The proof says that Theorem 3.20 gives ε* = √(2k ln(1/δ'))ε + kε². It gives the larger kε(e^ε − 1).",
        repair="Use e^ε − 1; for δ' ≤ 7/10 the sum is at most ε' all the same.",
        shown_by=("advanced-composition-corollary#square",),
        rests_on=("advanced-composition-corollary/bounded-delta-prime",),
    ),
)

EXAMPLE = (
    Discrepancy(
        id="example-by-theorem",
        title="Theorem 3.20 does not give the 1/801 of Example 3.7",
        lines=(),
        consequence=Consequence.NOTHING,
        text="For k = 10000, δ' = e^(−32) and ε_0 = 1/801 the theorem gives ε' = 1.0143, above 1: the second term "
        "was left out. Section 13.1 repeats it.",
        repair="Write 1/813, which the theorem gives; the exact composition allows 1/801, and more.",
        shown_by=("composition-example#by-theorem",),
        rests_on=("composition-example/sufficient",),
    ),
    Discrepancy(
        id="example-tight",
        title="1/801 is not the most that can be allowed",
        lines=(),
        consequence=Consequence.NOTHING,
        text="Section 13.1 says that in the worst case the bounds are tight and rule out a more relaxed one than "
        "1/801. Even 1/716 for each database keeps the lifetime loss at 1 but for probability e^(−32).",
        repair="Call 1/801 sufficient.",
        shown_by=("composition-example/tight",),
        rests_on=("composition-example/sufficient",),
    ),
)
