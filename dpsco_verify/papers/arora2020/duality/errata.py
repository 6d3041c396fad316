"""Where text, proof and constants disagree around Theorem 2.1."""

from __future__ import annotations

from dpsco_verify.evidence import Consequence
from dpsco_verify.ledger.errata import Discrepancy

DISCREPANCIES = (
    Discrepancy(
        id="entropy-domain",
        title="The domain of the potential decides its conjugate",
        lines=(99, 107, 179),
        consequence=Consequence.NOTHING,
        text=(
            "Potentials are taken as functions on all of R^d. The negative entropy on the whole orthant is "
            "not strongly convex, and its conjugate, a sum of exponentials, is not smooth: the constants that "
            "it has on the simplex are not its own there."
        ),
        repair=(
            "State the domain: the conjugate is that of the potential restricted to the simplex, log-sum-exp, "
            "and then both constants are 1. The equivalence itself stands, as both of its sides fail "
            "together."
        ),
        shown_by=("duality/entropy-unrestricted",),
        rests_on=("duality/entropy-simplex", "duality/euclidean"),
        constants=(("duality/entropy-simplex", "1 in 1/α-smooth"),),
    ),
)
