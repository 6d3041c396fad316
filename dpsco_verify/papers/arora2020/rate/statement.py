"""The rate of the abstract, ``1/√n + √d/(εn)`` (the formula stands in Section ``sec:other_appr``).

The upper bound follows from Theorem 5.3's proof with computed constants (:mod:`.upper`); that the algorithm's risk
does fall like ``√(d/n)`` at ``ε = 1/(2√n)``, on an instance where it falls no faster, is measured
(:mod:`.measured`).
"""

from __future__ import annotations

from fractions import Fraction

from dpsco_verify.evidence import Consequence, Stance
from dpsco_verify.ledger import Context, Decision, Discrepancy, Handle, Outcomes, Reading, Units
from dpsco_verify.papers.arora2020.rate import measured, upper
from dpsco_verify.papers.arora2020.rate.certificates import RateConstant
from dpsco_verify.papers.arora2020.rate.plan import PowerLaw, Variable

_MEASURED = (
    "Monte-Carlo runs of the implementation with Theorem 5.3's schedule on a cube with a linear loss, at five sizes "
    "over a factor of 16; regression of the runs with a logarithmic link and robust standard errors; beside it the "
    "exact expected risk at each size, which says how far the exponent is from its limit at these sizes"
)

_READINGS: tuple[Reading[PowerLaw | None], ...] = (
    Reading(
        id="upper",
        stance=Stance.PRINTED,
        parameters=None,
        text="Theorem 5.3's algorithm has this rate up to a constant and the √log(1/δ) that Õ hides, whatever D bounds "
        "(the diameter, or the norms) and wherever it starts.",
        statement="E[F(ŵ)] − F(w*) ≤ C (LD/√n + LD√(d log(1/δ))/(εn)) with C = 37.6, for every n ≥ 16, ε > 0, "
        "0 < δ < 1, d, W in the ball of radius D, and w₁ in W",
        method="Exact: the utility theorem's careful constant for all n, in ball arithmetic; and the smallest n at "
        "which the bound is below LD.",
    ),
    Reading(
        id="measured-n",
        stance=Stance.PRINTED,
        parameters=PowerLaw(variable=Variable.POINTS, exponent=-0.5),
        text="At ε = 1/(2√n) the algorithm's risk has the exponent −1/2 in n, where the rate is attained.",
        statement="E[F(ŵ)] − F(w*) ∝ n^(−1/2) at ε = 1/(2√n), d = 1, as n grows",
        method=_MEASURED,
        weight=1.0,
    ),
    Reading(
        id="measured-d",
        stance=Stance.PRINTED,
        parameters=PowerLaw(variable=Variable.DIMENSION, exponent=0.5),
        text="At ε = 1/(2√n) the algorithm's risk has the exponent 1/2 in d, where the rate is attained.",
        statement="E[F(ŵ)] − F(w*) ∝ d^(1/2) at ε = 1/(2√n), n fixed and large beside σ²d/L²",
        method=_MEASURED,
        weight=1.0,
    ),
)


Work = Handle[tuple[float, ...]] | measured.Work
"""Of the upper bound the handle of the exact risks in the abstract's regime, of an exponent what is measured."""


_DISCREPANCIES = (
    Discrepancy(
        id="regime",
        title="The regime of the abstract is not that of the theorem",
        lines=(60, 83, 379),
        consequence=Consequence.NOTHING,
        text=(
            "The abstract and the introduction let the privacy parameter fall like 1/n. At ε = c/n the term "
            "√d/(εn) does not depend on n, so the rate does not fall with more data, and for c up to "
            "20√(d log(1/δ)) the bound is above the largest risk there is. The main theorem allows ε up to "
            "1/(2√n), and only near that end does its bound fall like 1/√n."
        ),
        repair=(
            "Write that the privacy parameter is inversely proportional to the square root of the number of samples."
        ),
        shown_by=("rate#regime",),
        rests_on=("rate/upper",),
    ),
)


class Rate:
    """``rate``: ``1/√n + √d/(εn)``."""

    id = "rate"
    title = "The excess risk falls like 1/√n + √d/(εn)"
    reference = "Abstract, Section 6"
    label = "sec:other_appr"
    text = "a convergence rate of Õ(1/√n + √d/(εn)) for ε ≤ O(√(1/n)), optimal in this regime"
    constant = Fraction(188, 5)
    readings = _READINGS
    discrepancies = _DISCREPANCIES
    witness_kinds = (RateConstant,)

    def plan(self, reading: Reading[PowerLaw | None], context: Context, units: Units) -> Work:
        """Plan the runs and the exact risks of each size, or the exact risks in the abstract's regime."""
        if reading.parameters is None:
            return upper.plan_units(units)
        return measured.plan_units(reading.parameters, context, units)

    def conclude(
        self, reading: Reading[PowerLaw | None], context: Context, work: Work, outcomes: Outcomes
    ) -> Decision:
        """Decide by the careful proof, or by the regression."""
        if isinstance(work, Handle):
            return upper.conclude(self.constant, outcomes[work])
        return measured.conclude(work, context, outcomes)
