"""Noisy maxima: Claim 3.9 (claim-3.9) with Laplace noise, Theorem 3.13 (theorem-3.13) with exponential noise."""

from __future__ import annotations

import enum
from fractions import Fraction
from typing import Any

from dpsco_verify.evidence import Consequence, Stance, Verdict
from dpsco_verify.evidence.checker import Witness
from dpsco_verify.ledger import Discrepancy, Reading
from dpsco_verify.papers.dwork2014.exact import Case, ExactStatement, Examined, exactly_sharp
from dpsco_verify.papers.dwork2014.noisy_max.certificates import (
    ArgMaxDistribution,
    ArgMaxRate,
    NoisyMaxScale,
    NoisyMaxViolation,
)

_GAP = 10_000


class Queries(enum.Enum):
    """By how much one value can move against another when a person joins, at sensitivity 1."""

    MONOTONE = "by 1"
    ANY = "by 2"


class ReportNoisyMax(ExactStatement[Queries]):
    """``report-noisy-max``: the index of the largest of m counts with Lap(1/ε)."""

    id = "report-noisy-max"
    title = "Report Noisy Max is private"
    reference = "Claim 3.9"
    label = "claim-3.9"
    text = (
        "Add independent Lap(1/ε) to each of m counting queries and return the index of the largest noisy count: "
        "this is (ε, 0)-differentially private"
    )
    scale = Fraction(1)
    readings = (
        Reading(
            id="printed",
            stance=Stance.PRINTED,
            parameters=Queries.MONOTONE,
            text="Counting queries: with one more person each count stays or grows by 1; ties have probability 0.",
            statement="P(i|D) ≤ e^ε P(i|D') both ways, for all m, counts, i and ε > 0",
            method="the argument of the source for all m; two counts show that no smaller scale will do",
        ),
        Reading(
            id="general",
            stance=Stance.EXTENSION,
            parameters=Queries.ANY,
            text="Any queries of sensitivity 1: some may fall while others grow.",
            statement="the same for queries of sensitivity 1",
            method="two queries that move in opposite directions, in ball arithmetic",
        ),
    )
    witness_kinds = (NoisyMaxScale, NoisyMaxViolation)

    def witness(self, reading: Reading[Queries]) -> Witness:
        """Return the witness."""
        if reading.parameters is Queries.ANY:
            return NoisyMaxViolation(epsilon="1", gap=10)
        return NoisyMaxScale(scale=str(self.scale), below="999/1000", epsilon="1", gap=_GAP)

    def case(self, reading: Reading[Queries], examined: Examined, studied: Any) -> Case:
        """Return the case."""
        if reading.parameters is Queries.ANY:
            return Case(
                proves=Verdict.REFUTED,
                summary="false: queries that move in opposite directions lose up to 2ε",
                counterexample="Two queries, (0, 10) on D' and (1, 9) on D, ε = 1: the first wins with "
                f"probability {examined.left:.3g} on D, and e^ε times that on D' is {examined.right:.3g}.",
            )
        return exactly_sharp(
            "holds for every m; with less noise two counts that are far apart lose more than ε",
            constant="1 in Lap(1/ε)",
            claimed=float(self.scale),
            exact=1.0,
            how="by the source's argument; with less, two counts far enough apart lose more than ε, as "
            f"the certificate shows for 0.999 of it and a gap of {_GAP}",
        )


class ArgMax(enum.Enum):
    """What is said of the arg-max with exponential noise."""

    SAME_LAW = "of parameter ε/2Δu: distributed as the exponential mechanism"
    PRIVATE = "of parameter ε/2Δu: ε-DP"


class OneSidedNoisyArgMax(ExactStatement[ArgMax]):
    """``one-sided-noisy-arg-max``: exponential noise on the utilities."""

    id = "one-sided-noisy-arg-max"
    title = "Report One-Sided Noisy Arg-Max"
    reference = "Theorem 3.13"
    label = "theorem-3.13"
    text = (
        "First printing: Report One-Sided Noisy Arg-Max, when run with parameter ε/2, yields the same "
        "distribution on outputs as the exponential mechanism. Later printing: when run with parameter ε/2Δu it "
        "is ε-differentially private"
    )
    rate = Fraction(1, 2)
    readings = (
        Reading(
            id="first-printing",
            stance=Stance.PRINTED,
            parameters=ArgMax.SAME_LAW,
            text="The theorem as first printed; this wording is known to this project from a translation of the "
            "book.",
            statement="the two laws of the output agree for all utilities and ε",
            method="two outputs: both probabilities in closed form, in ball arithmetic",
        ),
        Reading(
            id="later-printing",
            stance=Stance.PRINTED,
            parameters=ArgMax.PRIVATE,
            text="The theorem as the authors have since corrected it.",
            statement="the arg-max of u(x, r) + Exp(ε/2Δu) is ε-DP for all utilities and ε > 0",
            method="memorylessness, for all numbers of outputs; two outputs attain the bound",
        ),
    )
    discrepancies = (
        Discrepancy(
            id="one-sided-distribution",
            title="Exponential noise does not give the exponential mechanism",
            lines=(),
            consequence=Consequence.GUARANTEE,
            text="Theorem 3.13 as first printed says that the arg-max with exponential noise is distributed as "
            "the exponential mechanism. For two outputs that are one Δu apart at ε = 1 the worse one has "
            "probability e^(−1/2)/2, not e^(−1/2)/(1 + e^(−1/2)). The law is that of permute-and-flip (Ding et "
            "al. 2021); Gumbel noise gives the exponential mechanism, as Remark 3.1 of the later printing says.",
            repair="Claim privacy alone, as the later printing does.",
            shown_by=("one-sided-noisy-arg-max/first-printing",),
        ),
    )
    witness_kinds = (ArgMaxRate, ArgMaxDistribution)

    def witness(self, reading: Reading[ArgMax]) -> Witness:
        """Return the witness."""
        if reading.parameters is ArgMax.SAME_LAW:
            return ArgMaxDistribution(epsilon="1", gap=1)
        return ArgMaxRate(rate=str(self.rate), above="501/1000", epsilon="1", gap=2)

    def case(self, reading: Reading[ArgMax], examined: Examined, studied: Any) -> Case:
        """Return the case."""
        if reading.parameters is ArgMax.SAME_LAW:
            return Case(
                proves=Verdict.REFUTED,
                summary="false: already for two outputs the worse one is chosen less often than by the "
                f"exponential mechanism, {examined.right:.3f} against {examined.left:.3f}",
                counterexample="Two outputs whose utilities are Δu apart, ε = 1: the worse one has probability "
                "e^(−1/2)/2 with exponential noise, and e^(−1/2)/(1 + e^(−1/2)) in the exponential mechanism.",
            )
        return exactly_sharp(
            "holds for every number of outputs, with equality for two",
            constant="2 in parameter ε/2Δu",
            claimed=float(1 / self.rate),
            exact=2.0,
            how="by memorylessness; with a smaller divisor two outputs lose more than ε",
        )
