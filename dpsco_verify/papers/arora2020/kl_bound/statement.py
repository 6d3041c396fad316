"""Lemma 3.2 of Dwork, Rothblum and Vadhan (2010), as the proof of Theorem 5.1 (``thm:dp_guarantee``) uses it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import flint

from dpsco_verify.choices import Profile
from dpsco_verify.evidence import (
    Axis,
    LinePlot,
    Quantity,
    Scale,
    Series,
    SeriesStyle,
    Sharpness,
    Stance,
    Verdict,
)
from dpsco_verify.ledger import Context, Decision, Handle, OneUnit, Reading, Units
from dpsco_verify.papers.arora2020.kl_bound.certificates import KlConstant
from dpsco_verify.privacy.balls import ball, enclose

_POINTS = {Profile.QUICK: 33, Profile.STANDARD: 65, Profile.DEEP: 257}


def randomised_response_kl(epsilon: Fraction) -> flint.arb:
    """Return the KL divergence of randomised response, from its definition: ``P = (p, 1 − p)``, ``Q = (1 − p, p)``.

    With ``p = e^ε/(1 + e^ε)`` both log-ratios are ±ε, and the divergence is the largest that there is.
    """
    p = ball(epsilon).exp() / (1 + ball(epsilon).exp())
    return p * (p / (1 - p)).log() + (1 - p) * ((1 - p) / p).log()


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """At one ε: enclosures of the largest KL, of the bound, and of their ratio."""

    epsilon: float
    largest: tuple[float, float]
    bound: tuple[float, float]
    ratio: tuple[float, float]


def ratios(*, points: int, constant: Fraction) -> list[Ratio]:
    """Evaluate the largest KL over ``constant · ε(e^ε − 1)`` for ε between 2⁻¹⁰ and 2⁴, in ball arithmetic."""
    return [_ratio(Fraction(2.0 ** (-10 + 14 * k / (points - 1))), constant=constant) for k in range(points)]


def _ratio(epsilon: Fraction, *, constant: Fraction) -> Ratio:
    def bound() -> flint.arb:
        return ball(constant * epsilon) * ball(epsilon).expm1()

    return Ratio(
        epsilon=float(epsilon),
        largest=enclose(lambda: randomised_response_kl(epsilon)),
        bound=enclose(bound),
        ratio=enclose(lambda: randomised_response_kl(epsilon) / bound()),
    )


class KlBound(OneUnit[None, list[Ratio]]):
    """``kl-bound``: ``D_∞ ≤ ε`` both ways gives ``KL ≤ ε(e^ε − 1)``."""

    id = "kl-bound"
    title = "Bounded privacy loss has small mean"
    reference = "Lemma 3.2 of Dwork, Rothblum and Vadhan (2010), used in the proof of Theorem 5.1"
    label = "thm:dp_guarantee"
    text = "If D_∞(P‖Q) ≤ ε and D_∞(Q‖P) ≤ ε, then D_KL(P‖Q) ≤ ε(e^ε − 1)"
    constant = Fraction(1)
    readings = (
        Reading(
            id="literal",
            stance=Stance.PRINTED,
            parameters=None,
            text="as it is written, for every ε > 0",
            statement="D_KL(P‖Q) ≤ ε(e^ε − 1) whenever |log(dP/dQ)| ≤ ε",
            method="the largest KL is ε tanh(ε/2), attained by randomised response (convexity of r ln r on "
            "[e^{−ε}, e^ε] under E_Q r = 1); its ratio to the bound is 1/(e^ε + 1) in closed form, and in ball "
            "arithmetic from the definition of KL on a grid",
        ),
    )
    witness_kinds = (KlConstant,)

    def plan(self, reading: Reading[None], context: Context, units: Units) -> Handle[list[Ratio]]:
        """Plan the one unit."""
        return units.add(
            "ratios", ratios, {"points": _POINTS[context.profile], "constant": self.constant}, cost=0.1
        )

    def decide(self, reading: Reading[None], found: list[Ratio]) -> Decision:
        """Refute if randomised response lies above the bound, else certify by the closed form."""
        worst = max(found, key=lambda r: r.ratio[1])
        typical = min(found, key=lambda r: abs(math.log(r.epsilon)))
        limit = float(1 / (ball(0).exp() + 1))
        evidence = {
            "largest KL over the bound": Quantity(
                value=worst.ratio[1],
                note=f"at ε = {worst.epsilon:.3g}; its supremum over ε > 0 is 1/2, as ε → 0",
            ),
            f"the same at ε = {typical.epsilon:.3g}": Quantity(value=typical.ratio[1], note="1/(e^ε + 1)"),
            "smallest constant c in KL ≤ c ε(e^ε − 1)": Quantity(
                value=limit,
                note="the limit of 1/(e^ε + 1) as ε → 0; it suffices, and nothing smaller does; "
                f"at least {float(self.constant) * worst.ratio[0]:.6f} from the grid. The tight bound is ε tanh(ε/2)",
            ),
        }
        plot = _plot(found)
        above = [r for r in found if r.ratio[0] > 1]
        if above:
            return Decision(
                verdict=Verdict.REFUTED,
                summary=f"randomised response has a larger divergence, at ε = {above[0].epsilon:.3g}",
                evidence=evidence,
                plots=(plot,),
            )
        return Decision(
            verdict=Verdict.CERTIFIED,
            summary="holds for every ε; the largest divergence is ε tanh(ε/2), less than half of the bound",
            evidence=evidence,
            plots=(plot,),
            sharpness=(
                Sharpness(
                    constant="1 in front of ε(e^ε − 1)",
                    claimed=float(self.constant),
                    holds_with=limit,
                    needed=float(self.constant) * worst.ratio[0],
                    at=f"randomised response, ε = {worst.epsilon:.3g}",
                    how="by the closed form for every ε",
                ),
            ),
            witness=KlConstant(constant=str(self.constant)),
        )


def _plot(found: list[Ratio]) -> LinePlot:
    x = tuple(r.epsilon for r in found)
    return LinePlot(
        id="kl",
        title="Largest KL divergence against the bound",
        caption="Randomised response attains the largest KL divergence; it lies below half of the bound everywhere.",
        x_axis=Axis(label="ε", scale=Scale.LOG),
        y_axis=Axis(label="KL divergence (nats)", scale=Scale.LOG),
        series=(
            Series(name="largest, ε tanh(ε/2)", x=x, y=tuple(r.largest[1] for r in found)),
            Series(
                name="the bound, ε(e^ε − 1)",
                x=x,
                y=tuple(r.bound[1] for r in found),
                style=SeriesStyle.BOUND,
            ),
        ),
    )
