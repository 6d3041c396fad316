"""Where text, proof and constants disagree around the corollary on the regret."""

from __future__ import annotations

from dpsco_verify.evidence import Consequence
from dpsco_verify.ledger import Discrepancy

DISCREPANCIES = (
    Discrepancy(
        id="diameter-or-norm",
        title="D is once the diameter and once a bound on the norm",
        lines=(88, 177, 217, 265, 379),
        consequence=Consequence.GUARANTEE,
        text=(
            "The set-up and the utility theorem let D bound the norm of every element of W; the regret and "
            "the main theorem let it bound the diameter. The algorithm takes any initial point. With a bound "
            "on the norm and any initial point the comparator may be 2D away, and the regret, the risk, and "
            "the risk at the noise of the main theorem all exceed their bounds."
        ),
        repair=(
            "Let D be the diameter throughout, or keep the bound on the norm and start at the minimiser of "
            "the potential: under both the printed constants hold. Without either, the constants have to "
            "grow."
        ),
        shown_by=(
            "regret/norm-arbitrary",
            "regret/norm-arbitrary#distance",
            "regret/norm-arbitrary#constant",
            "utility/norm-arbitrary",
            "risk/norm-arbitrary",
        ),
        constants=(
            ("regret/norm-arbitrary", "2"),
            ("utility/norm-arbitrary", "5/2"),
            ("risk/norm-arbitrary", "5"),
            ("risk/norm-arbitrary", "20"),
        ),
    ),
    Discrepancy(
        id="mean-for-the-corollary",
        title="The bound on the mean stopping time does not give the constant of the corollary",
        lines=(219, 224, 225, 227, 435),
        consequence=Consequence.NOTHING,
        text=(
            "The corollary multiplies η(L² + σ²d) by E[τ], for which the paper has only O(n); the bound that it "
            "derives is not below 2n, and 2n gives 5/2, not 2."
        ),
        repair=(
            "Use the exact mean of the stopping time, which is below n for n ≥ 16: the constant of the corollary then "
            "holds, with room to spare."
        ),
        shown_by=("regret#own-mean",),
        rests_on=("regret/diameter", "stopping-mean/loop"),
        constants=(("regret/diameter", "2"), ("stopping-mean/loop", "C in E[τ] ≤ C n")),
    ),
    Discrepancy(
        id="noise-variance",
        title="The noise has variance σ in one section and σ² in the next",
        lines=(213, 217, 237, 265, 289, 300),
        consequence=Consequence.GUARANTEE,
        text=(
            "The regret and the utility theorem draw the noise from N(0, σI), the lemma and the privacy "
            "section from N(0, σ²I). The step size and the bounds are those of the second. With variance σ "
            "the bounds fail for small σ and L, without limit."
        ),
        repair="Write N(0, σ²I) throughout.",
        shown_by=(
            "regret/diameter-variance-sigma",
            "utility/diameter-variance-sigma",
            "regret#noise-energy",
            "utility#noise-energy",
        ),
        constants=(("regret/diameter-variance-sigma", "2"), ("utility/diameter-variance-sigma", "5/2")),
    ),
)
