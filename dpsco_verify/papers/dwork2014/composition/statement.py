"""Composition: Theorem 3.16 (theorem-3.16), Theorem 3.20 (theorem-3.20), its corollary-3.21 and its example-3.7."""

from __future__ import annotations

import enum
from fractions import Fraction
from typing import Any

from dpsco_verify.evidence import ProofStep, Quantity, Sharpness, Stance, Verdict
from dpsco_verify.evidence.checker import Witness
from dpsco_verify.ledger import Context, Reading
from dpsco_verify.papers.dwork2014.composition import errata
from dpsco_verify.papers.dwork2014.composition.certificates import (
    AdvancedCompositionConstants,
    BasicCompositionSums,
    CorollaryRange,
    CorollaryViolation,
    ExampleComposition,
)
from dpsco_verify.papers.dwork2014.composition.figures import (
    PLACE,
    AdvancedFigures,
    CorollaryFigures,
    ExampleFigures,
    advanced_figures,
    corollary_figures,
    example_figures,
)
from dpsco_verify.papers.dwork2014.exact import Case, ExactStatement, Examined, Study, exactly_sharp

_EXACT = "the exact composition of randomised response, which is the worst (Kairouz, Oh and Viswanath 2015)"


class DeltaPrime(enum.Enum):
    """Which δ' a reading admits."""

    ANY = "every δ' ≥ 0"
    BOUNDED = "δ' bounded"


class BasicComposition(ExactStatement[None]):
    """``basic-composition``: the epsilons and the deltas add up."""

    id = "basic-composition"
    title = "The epsilons and the deltas add up"
    reference = "Corollary 3.15 and Theorem 3.16"
    label = "theorem-3.16"
    text = "If M_i is (ε_i, δ_i)-differentially private for i ∈ [k], then (M_1, …, M_k) is (Σε_i, "
    "Σδ_i)-differentially private"
    factor = Fraction(1)
    readings = (
        Reading(
            id="printed",
            stance=Stance.PRINTED,
            parameters=None,
            text="As it is written; Corollary 3.15 is δ_i = 0. Appendix B admits mechanisms chosen adaptively.",
            statement="(M_1, …, M_k) is (Σε_i, Σδ_i)-DP for all k, ε_i and δ_i",
            method="the losses add up outside events whose probabilities add up; "
            + _EXACT
            + " attains both sums",
        ),
    )
    witness_kinds = (BasicCompositionSums,)

    def witness(self, reading: Reading[None]) -> Witness:
        """Return the witness."""
        return BasicCompositionSums(
            factor=str(self.factor), below="999/1000", mechanisms=10, delta="1/1000000"
        )

    def case(self, reading: Reading[None], examined: Examined, studied: Any) -> Case:
        """Return the case."""
        return exactly_sharp(
            "holds for all k, ε_i and δ_i; for δ_i = 0 with equality, else up to 1 − Π(1 − δ_i) for Σδ_i",
            constant="1 in 1·Σε_i and 1·Σδ_i",
            claimed=float(self.factor),
            exact=1.0,
            how="k equal answers of randomised response have the ratio e^(kε); the truth is revealed with "
            "probability 1 − (1 − δ)^k, which is kδ in the limit of small δ",
        )


class AdvancedComposition(ExactStatement[DeltaPrime]):
    """``advanced-composition``: ``ε' = √(2k ln(1/δ')) ε + kε(e^ε − 1)``."""

    id = "advanced-composition"
    title = "Advanced composition"
    reference = "Theorem 3.20"
    label = "theorem-3.20"
    text = (
        "For all ε, δ, δ' ≥ 0, the class of (ε, δ)-differentially private mechanisms satisfies (ε', kδ + "
        "δ')-differential privacy under k-fold adaptive composition for ε' = √(2k ln(1/δ'))ε + kε(e^ε − 1)"
    )
    spread, drift = Fraction(2), Fraction(1)
    readings = (
        Reading(
            id="literal",
            stance=Stance.PRINTED,
            parameters=DeltaPrime.ANY,
            text="δ' is any nonnegative number, as it is written.",
            statement="ε' is defined, and the composition (ε', kδ + δ')-DP, for all k, ε, δ, δ' ≥ 0",
            method="the sign of ln(1/δ') at δ' = 2",
        ),
        Reading(
            id="bounded-delta-prime",
            stance=Stance.REPAIR,
            parameters=DeltaPrime.BOUNDED,
            text="0 < δ' ≤ 1, where the square root has a meaning.",
            statement="every k-fold adaptive composition is (ε', kδ + δ')-DP, for all k, ε, δ ≥ 0 and 0 < δ' ≤ 1",
            method=_EXACT + ", whose tail Hoeffding's inequality bounds; what is needed by its exact law",
        ),
    )
    discrepancies = errata.ADVANCED
    witness_kinds = (AdvancedCompositionConstants,)

    def witness(self, reading: Reading[DeltaPrime]) -> Witness | None:
        """Return the witness."""
        if reading.parameters is DeltaPrime.ANY:
            return None
        return AdvancedCompositionConstants(spread=str(self.spread), drift=str(self.drift))

    def study(self, reading: Reading[DeltaPrime], context: Context) -> Study:
        """Return the figures."""
        return advanced_figures, {"spread": self.spread, "drift": self.drift}

    def case(self, reading: Reading[DeltaPrime], examined: Examined, studied: AdvancedFigures) -> Case:
        """Return the case."""
        if reading.parameters is DeltaPrime.ANY:
            return Case(
                proves=Verdict.ILL_POSED if studied.radicand < 0.0 else Verdict.INCONCLUSIVE,
                summary="for δ' > 1 the bound is the square root of a negative number, for δ' = 0 it is infinite",
                evidence={"2k ln(1/δ')": Quantity(value=studied.radicand, note="at k = 1, δ' = 2")},
            )
        k, epsilon, delta = PLACE
        at = f"k = {k}, ε = {float(epsilon):g}, δ' = {float(delta):g}"
        return Case(
            proves=Verdict.CERTIFIED,
            summary="holds for all k, ε, δ and δ'; the second term is twice what is needed, the first is sharp "
            "for small δ'",
            sharpness=(
                Sharpness(
                    constant="2 in √(2k ln(1/δ'))",
                    claimed=float(self.spread),
                    holds_with=2.0,
                    needed=studied.spread,
                    at="10^18 answers of 10^(−9)-DP randomised response, a δ' far out in the tail",
                    how="by Hoeffding's inequality",
                ),
                Sharpness(
                    constant="1 in 1·kε(e^ε − 1)",
                    claimed=float(self.drift),
                    holds_with=0.5,
                    needed=studied.drift,
                    at="10^18 answers of 10^(−5)-DP randomised response, δ' = 1/2, with the 2 as it is",
                    how="by tanh(ε/2) ≤ (e^ε − 1)/2",
                ),
            ),
            evidence={
                "ε' by Theorem 3.20": Quantity(value=studied.bound, note=at),
                "ε' by the sum": Quantity(value=float(k * epsilon), note=at),
                "exact ε'": Quantity(value=studied.exact, note=at),
            },
        )


class AdvancedCompositionCorollary(ExactStatement[DeltaPrime]):
    """``advanced-composition-corollary``: ``ε = ε'/(2√(2k ln(1/δ')))`` for each of k mechanisms."""

    id = "advanced-composition-corollary"
    title = "A safe ε for each of k mechanisms"
    reference = "Corollary 3.21"
    label = "corollary-3.21"
    text = (
        "Given target privacy parameters 0 < ε' < 1 and δ' > 0, to ensure (ε', kδ + δ') cumulative privacy loss "
        "over k mechanisms, it suffices that each mechanism is (ε, δ)-differentially private, where ε = ε'/(2√(2k "
        "ln(1/δ')))"
    )
    delta_max = Fraction(7, 10)
    readings = (
        Reading(
            id="printed",
            stance=Stance.PRINTED,
            parameters=DeltaPrime.ANY,
            text="Every δ' > 0 for which the formula has a meaning, so δ' < 1.",
            statement="k mechanisms of this ε compose to (ε', kδ + δ')-DP for all k, 0 < ε' < 1 and 0 < δ' < 1",
            method=_EXACT + ", at one k, ε' and δ', in ball arithmetic",
        ),
        Reading(
            id="bounded-delta-prime",
            stance=Stance.REPAIR,
            parameters=DeltaPrime.BOUNDED,
            text="δ' ≤ 7/10.",
            statement="the same for all k, δ, 0 < ε' ≤ 1 and 0 < δ' ≤ 7/10",
            method="Theorem 3.20, whose two terms are compared at the worst k, ε' and δ', in ball arithmetic",
        ),
    )
    discrepancies = errata.COROLLARY
    witness_kinds = (CorollaryViolation, CorollaryRange)

    def witness(self, reading: Reading[DeltaPrime]) -> Witness:
        """Return the witness."""
        if reading.parameters is DeltaPrime.BOUNDED:
            return CorollaryRange(delta_max=str(self.delta_max))
        return CorollaryViolation(mechanisms=16, agree=9, epsilon="99/100", delta="499/500")

    def study(self, reading: Reading[DeltaPrime], context: Context) -> Study:
        """Return the figures."""
        return corollary_figures, {}

    def case(self, reading: Reading[DeltaPrime], examined: Examined, studied: CorollaryFigures) -> Case:
        """Return the case."""
        steps = (
            ProofStep(
                id="square",
                statement="Theorem 3.20 gives ε* = √(2k ln(1/δ'))ε + kε²: its second term kε(e^ε − 1) is at most kε²",
                verdict=Verdict.REFUTED if studied.theorem > studied.square else Verdict.CERTIFIED,
                evidence={
                    "kε(e^ε − 1)": Quantity(value=studied.theorem, note="k = 1, ε' = 1, δ' = 7/10"),
                    "kε²": Quantity(value=studied.square),
                },
            ),
        )
        if reading.parameters is DeltaPrime.ANY:
            return Case(
                proves=Verdict.REFUTED,
                summary=f"false for δ' close to 1: found from δ' = {studied.delta:g} on, at k = {studied.k}",
                counterexample="16 answers of 1.96-DP randomised response, which is ε for ε' = 0.99 and δ' = "
                "0.998: at least 9 of them tell the truth with a probability that exceeds e^ε' times that of 9 "
                "lies by more than δ'.",
                proof_steps=steps,
            )
        return Case(
            proves=Verdict.CERTIFIED,
            summary="holds for all k and ε' ≤ 1, for δ' ≤ 7/10",
            sharpness=(
                Sharpness(
                    constant="7/10 in δ' ≤ 7/10",
                    claimed=float(self.delta_max),
                    holds_with=0.7,
                    needed=studied.delta,
                    at=f"{studied.k} answers of randomised response, ε' = 0.99",
                    larger_is_stronger=True,
                    how="by Theorem 3.20; false at this δ'",
                ),
            ),
            proof_steps=steps,
        )


class Allowed(enum.Enum):
    """What is said of 1/801 for each database."""

    SUFFICES = "it suffices"
    TIGHT = "nothing larger suffices"


class CompositionExample(ExactStatement[Allowed]):
    """``composition-example``: 10,000 databases, each (1/801)-DP."""

    id = "composition-example"
    title = "A lifetime of 10,000 databases"
    reference = "Example 3.7 and Section 13.1"
    label = "example-3.7"
    text = (
        "For Bob's cumulative privacy loss over 10,000 (ε_0, 0)-differentially private databases to be bounded by "
        "ε = 1 with probability at least 1 − e^(−32), Theorem 3.20 says that it suffices to have ε_0 ≤ 1/801; in "
        "the worst case these bounds are tight, ruling out a more relaxed bound than ε_0 = 1/801"
    )
    parts = 801
    relaxed = 716
    readings = (
        Reading(
            id="sufficient",
            stance=Stance.PRINTED,
            parameters=Allowed.SUFFICES,
            text="Example 3.7: 1/801 suffices for (1, e^(−32))-DP.",
            statement="every 10000-fold adaptive composition of (1/801)-DP mechanisms is (1, e^(−32))-DP",
            method=_EXACT + ", in ball arithmetic",
        ),
        Reading(
            id="tight",
            stance=Stance.PRINTED,
            parameters=Allowed.TIGHT,
            text="Section 13.1: no more relaxed bound than 1/801 will do. Example 3.7 has “essentially optimal”.",
            statement="for every ε_0 > 1/801 some composition of 10000 ε_0-DP mechanisms is not (1, e^(−32))-DP",
            method="the same at 1/716",
        ),
    )
    discrepancies = errata.EXAMPLE
    witness_kinds = (ExampleComposition,)

    def witness(self, reading: Reading[Allowed]) -> Witness:
        """Return the witness."""
        return ExampleComposition(
            parts=self.parts if reading.parameters is Allowed.SUFFICES else self.relaxed
        )

    def study(self, reading: Reading[Allowed], context: Context) -> Study:
        """Return the figures."""
        return example_figures, {"parts": self.parts}

    def case(self, reading: Reading[Allowed], examined: Examined, studied: ExampleFigures) -> Case:
        """Return the case."""
        step = ProofStep(
            id="by-theorem",
            statement=f"Theorem 3.20 gives ε' ≤ 1 for ε_0 = 1/{self.parts}, k = 10000, δ' = e^(−32)",
            verdict=Verdict.REFUTED if studied.total > 1.0 else Verdict.CERTIFIED,
            evidence={
                "ε' by Theorem 3.20": Quantity(value=studied.total),
                "N of the largest 1/N that it allows": Quantity(value=studied.by_theorem),
            },
        )
        if reading.parameters is Allowed.TIGHT:
            return Case(
                proves=Verdict.REFUTED,
                summary=f"false: 1/{studied.exact} suffices as well, and of the 1/N nothing larger",
                counterexample=f"ε_0 = 1/{self.relaxed}: the exact δ at ε = 1 of 10,000 answers of randomised "
                "response, and so of every composition, is below e^(−32).",
                proof_steps=(step,),
            )
        return Case(
            proves=Verdict.CERTIFIED,
            summary=f"holds: the exact δ is {examined.right:.3g}, below e^(−32) = {examined.left:.3g}, though "
            "Theorem 3.20 does not say so",
            sharpness=(
                Sharpness(
                    constant="801 in ε_0 ≤ 1/801",
                    claimed=float(self.parts),
                    holds_with=float(studied.exact),
                    needed=float(studied.exact - 1),
                    how="by the exact composition, among whole numbers",
                ),
            ),
            proof_steps=(step,),
        )
