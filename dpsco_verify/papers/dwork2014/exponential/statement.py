"""The exponential mechanism: Theorem 3.10 (theorem-3.10) is its privacy, Theorem 3.11 (theorem-3.11) its utility."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dpsco_verify.evidence import Stance
from dpsco_verify.evidence.checker import Witness
from dpsco_verify.ledger import Reading
from dpsco_verify.papers.dwork2014.exact import Case, ExactStatement, Examined, exactly_sharp
from dpsco_verify.papers.dwork2014.exponential.certificates import (
    ExponentialFactor,
    ExponentialUtilityFactor,
)

_SIZE = 10**9


class ExponentialMechanism(ExactStatement[None]):
    """``exponential-mechanism``: outputs in proportion to ``exp(εu/2Δu)``."""

    id = "exponential-mechanism"
    title = "The exponential mechanism is private"
    reference = "Definition 3.4 and Theorem 3.10"
    label = "theorem-3.10"
    text = (
        "The exponential mechanism, which outputs r with probability proportional to exp(εu(x, r)/2Δu), preserves "
        "(ε, 0)-differential privacy"
    )
    factor = Fraction(2)
    readings = (
        Reading(
            id="printed",
            stance=Stance.PRINTED,
            parameters=None,
            text="Δu is the largest change of any output's utility between neighbours; the range is finite.",
            statement="P(r|x) ≤ e^ε P(r|y) for all utilities, ranges, r and ε > 0",
            method="the weight and the normaliser each change by e^(ε/2); outputs that move apart attain it in "
            "the limit",
        ),
    )
    witness_kinds = (ExponentialFactor,)

    def witness(self, reading: Reading[None]) -> Witness:
        """Return the witness."""
        return ExponentialFactor(factor=str(self.factor), below="1999/1000", epsilon="1", size=_SIZE)

    def case(self, reading: Reading[None], examined: Examined, studied: Any) -> Case:
        """Return the case."""
        return exactly_sharp(
            "holds for every range, and with no smaller factor: many outputs lose all but a little of ε",
            constant="2 in exp(εu/2Δu)",
            claimed=float(self.factor),
            exact=2.0,
            how="by the ratio of weights and normalisers; with a smaller factor enough outputs lose more "
            f"than ε, as the certificate shows for {_SIZE:.0e} of them",
        )


class ExponentialUtility(ExactStatement[None]):
    """``exponential-utility``: the utility is seldom far below the best."""

    id = "exponential-utility"
    title = "The exponential mechanism is useful"
    reference = "Theorem 3.11 and Corollary 3.12"
    label = "theorem-3.11"
    text = "P(u(M_E(x, u, R)) ≤ OPT_u(x) − (2Δu/ε)(ln(|R|/|R_OPT|) + t)) ≤ e^(−t)"
    factor = Fraction(2)
    readings = (
        Reading(
            id="printed",
            stance=Stance.PRINTED,
            parameters=None,
            text="For every finite range and real t; Corollary 3.12 is the case |R_OPT| = 1 of the bound.",
            statement="(N − M)q/(M + (N − M)q) ≤ e^(−t) with q = (M/N)e^(−t), for all N, M and t",
            method="the worst utilities put all other outputs at the bound: closed form",
        ),
    )
    witness_kinds = (ExponentialUtilityFactor,)

    def witness(self, reading: Reading[None]) -> Witness:
        """Return the witness."""
        return ExponentialUtilityFactor(
            factor=str(self.factor), below="199/100", size=1000, optimal=1, excess="10"
        )

    def case(self, reading: Reading[None], examined: Examined, studied: Any) -> Case:
        """Return the case."""
        return exactly_sharp(
            "holds for all ranges, utilities and t; large ranges come as near as one likes",
            constant="2 in (2Δu/ε)(ln(|R|/|R_OPT|) + t)",
            claimed=float(self.factor),
            exact=2.0,
            how="by the closed form; with less, a large t fails, as the certificate shows for 1.99 at t = 10",
        )
