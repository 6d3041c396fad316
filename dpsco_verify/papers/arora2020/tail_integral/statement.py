"""The tail at all later times, from the proof of Theorem 4.1 (``thm:bins_and_balls``)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from dpsco_verify.algorithm import StoppingRule
from dpsco_verify.algorithm.stopping_law import relative_error, survival
from dpsco_verify.choices import Profile
from dpsco_verify.evidence import (
    Axis,
    Consequence,
    LinePlot,
    Quantity,
    Scale,
    Series,
    SeriesStyle,
    Sharpness,
    Stance,
    Table,
    Verdict,
    columns,
)
from dpsco_verify.evidence.checker import Rejected, evaluate
from dpsco_verify.ledger import Context, Decision, Discrepancy, Handle, OneUnit, Reading, Units
from dpsco_verify.papers.arora2020.stopping_tail import law
from dpsco_verify.papers.arora2020.stopping_tail.readings import StoppingTime
from dpsco_verify.papers.arora2020.tail_integral.certificates import (
    McDiarmidGap,
    TailIntegralExponent,
    TailIntegralViolation,
)
from dpsco_verify.papers.arora2020.tail_integral.derivation import Derivation, derivation, judged

RATE = Fraction(1, 16)
SIZES = {
    Profile.QUICK: (16, 17, 24, 37, 64),
    Profile.STANDARD: (*range(16, 33), 64, 128),
    Profile.DEEP: (*range(16, 65), 128, 256),
}
_HORIZON = 4
"""The exact tails reach from 2n to this many times n."""


@dataclass(frozen=True, kw_only=True)
class Tails:
    """Exact tails at one n: over t from 2n, the smallest rate ``−ln(P(τ ≥ t)/2)/t`` and where the bound fails."""

    n: int
    smallest_rate: float
    at: int
    failures: tuple[int, ...]
    curve: tuple[float, ...]


def exact_tails(*, rule: StoppingRule, counter: bool, sizes: tuple[int, ...]) -> list[Tails]:
    """Return the tails ``P(τ ≥ t) = P(T_m > t − 1)`` (t − 2 with `counter`) for 2n ≤ t ≤ 4n."""
    found = []
    for n in sizes:
        m = law.points_at_stop(rule, n)
        last = _HORIZON * n
        shift = 1 + int(counter)
        survive = survival(n, m, last)
        times = range(2 * n, last + 1)
        curve = [float(survive[t - shift]) for t in times]
        rates = [-math.log(p / 2.0) / t if p > 0 else math.inf for p, t in zip(curve, times, strict=True)]
        slack = relative_error(m, last)
        failures = tuple(
            t for p, t in zip(curve, times, strict=True) if p * (1 - slack) > 2.0 * math.exp(-float(RATE) * t)
        )
        best = min(range(len(rates)), key=rates.__getitem__)
        found.append(
            Tails(n=n, smallest_rate=rates[best], at=times[best], failures=failures, curve=tuple(curve))
        )
    return found


_EXACT = (
    "exact tails for 2n ≤ t ≤ 4n at a list of n; for all n and t Janson's bound for sums of geometric variables (2018, "
    "Theorem 2.1) in ball arithmetic, at its worst point n = 16, t = 2n"
)


_DISCREPANCIES = (
    Discrepancy(
        id="mcdiarmid-range",
        title="The concentration argument does not reach all later times",
        lines=(434, 435),
        consequence=Consequence.NOTHING,
        text=(
            "The bound on the tail is said to follow for every T of at least 2n from the derivation at T = "
            "2n. That derivation loses more than n/2 soon after 2n, whatever n is, and the integral runs to "
            "infinity."
        ),
        repair=(
            "Prove the tail by a bound for sums of geometric variables (Janson 2018, Theorem 2.1); it holds "
            "for all T ≥ 2n, with room to spare."
        ),
        shown_by=("tail-integral/derivation", "stopping-tail#mcdiarmid-beyond-2n"),
        rests_on=("tail-integral/literal", "stopping-mean/loop"),
        constants=(
            ("tail-integral/derivation", "T/n that the derivation reaches"),
            ("tail-integral/literal", "16 in e^{−t/16}"),
        ),
    ),
)


class TailIntegral(OneUnit[StoppingTime | None, list[Tails] | Derivation]):
    """``tail-integral``: ``P(τ ≥ t) ≤ 2e^{−t/16}`` for all t ≥ 2n."""

    id = "tail-integral"
    title = "The tail of the stopping time at all later times"
    reference = "Proof of Theorem 4.1"
    label = "thm:bins_and_balls"
    text = "For T ≥ 2n, P(τ ≥ T) ≤ 2 e^{−T/16}"
    readings: tuple[Reading[StoppingTime | None], ...] = (
        Reading(
            id="literal",
            stance=Stance.PRINTED,
            parameters=StoppingTime(rule=StoppingRule.LOOP, counter=True),
            text="the statement, for the loop as it is written and τ its counter, which includes all earlier stops",
            statement="P(τ ≥ t) ≤ 2 exp(−t/16) for all n ≥ 16 and all t ≥ 2n",
            method=_EXACT,
        ),
        Reading(
            id="all-points",
            stance=Stance.PRINTED,
            parameters=StoppingTime(rule=StoppingRule.ALL_POINTS, counter=False),
            text="as literal, with τ = min{t : S_t = n}, as the proof of the lemma after the theorem says",
            statement="P(τ ≥ t) ≤ 2 exp(−t/16) for all n ≥ 16 and all t ≥ 2n",
            method=_EXACT,
        ),
        Reading(
            id="derivation",
            stance=Stance.PRINTED,
            parameters=None,
            text="the derivation that is given: McDiarmid's inequality with δ = 2e^{−T/16}, for every T ≥ 2n",
            statement="n − n e^{−T/n} − √(log(2/δ) T/2) ≥ n/2 with δ = 2 exp(−T/16), for every T ≥ 2n",
            method="divided by n it depends on T/n alone: its margin in ball arithmetic on a grid, the last T/n that "
            "it reaches by bisection",
        ),
    )
    discrepancies = _DISCREPANCIES
    witness_kinds = (TailIntegralExponent, TailIntegralViolation, McDiarmidGap)

    def plan(
        self, reading: Reading[StoppingTime | None], context: Context, units: Units
    ) -> Handle[list[Tails] | Derivation]:
        """Plan the exact tails, or the margins of the derivation."""
        time = reading.parameters
        if time is None:
            return units.add("margins", derivation, cost=0.05)
        arguments = {"rule": time.rule, "counter": time.counter, "sizes": SIZES[context.profile]}
        return units.add("tails", exact_tails, arguments, cost=0.5)

    def decide(self, reading: Reading[StoppingTime | None], found: list[Tails] | Derivation) -> Decision:
        """Refute by an exact tail or a negative margin, certify by the exponent."""
        return judged(found) if isinstance(found, Derivation) else _judge_tails(found)


def _judge_tails(found: list[Tails]) -> Decision:
    slowest = min(found, key=lambda tail: tail.smallest_rate)
    failed = [tail for tail in found if tail.failures]
    evidence = {
        "smallest exact rate x in P(τ ≥ t) = 2 exp(−x t)": Quantity(
            value=slowest.smallest_rate,
            note=f"at n = {slowest.n}, t = {slowest.at}; the statement needs 1/16 = 0.0625",
        ),
        "n at which the bound fails": Quantity(value=len(failed), unit=f"of {len(found)}"),
    }
    if failed:
        first = failed[0]
        evidence["failures at the first n"] = Quantity(
            value=len(first.failures),
            note=f"n = {first.n}, t = {first.failures[0]} to {first.failures[-1]}",
        )
        return Decision(
            verdict=Verdict.REFUTED,
            summary=f"false at {len(failed)} of the {len(found)} sizes evaluated exactly",
            evidence=evidence,
            tables=(_table(found),),
            plots=(_plot(found[0]),),
            counterexample=f"With n = {first.n}, P(τ ≥ {first.failures[0]}) is "
            f"{first.curve[first.failures[0] - 2 * first.n]:.6g}; the bound is "
            f"{2 * math.exp(-first.failures[0] / 16):.6g}.",
            sharpness=(
                Sharpness(
                    constant="16 in e^{−t/16}",
                    claimed=16.0,
                    holds_with=None,
                    needed=1.0 / slowest.smallest_rate,
                    at=f"n = {slowest.n}, t = {slowest.at}",
                    how="by the exact tail; it grows with n without limit",
                ),
            ),
            witness=TailIntegralViolation(n=first.n, t=first.failures[0]),
        )
    proven = sharpest_rate()
    evidence["largest rate proven for all n ≥ 16, t ≥ 2n"] = Quantity(
        value=float(proven), note="P(τ ≥ t) ≤ exp(−rate t), by Janson's bound"
    )
    return Decision(
        verdict=Verdict.CERTIFIED,
        summary=f"holds for all n ≥ 16 and t ≥ 2n, even as P(τ ≥ t) ≤ exp(−{float(proven):.4f} t)",
        evidence=evidence,
        tables=(_table(found),),
        plots=(_plot(found[0]),),
        sharpness=(
            Sharpness(
                constant="16 in e^{−t/16}",
                claimed=16.0,
                holds_with=float(1 / proven),
                needed=1.0 / slowest.smallest_rate,
                at=f"n = {slowest.n}, t = {slowest.at}",
                how="by Janson's bound for all n ≥ 16 and t ≥ 2n, without the factor 2; what is needed by the "
                "exact tail",
            ),
        ),
        witness=TailIntegralExponent(rate=str(RATE)),
    )


def sharpest_rate() -> Fraction:
    """Return the largest rate on a grid of 1/10000 that Janson's bound proves at n = 16, t = 2n, rounded down."""
    a, h = math.log(16.0 / 7.0), 31.0 / 16.0
    candidate = math.floor((h - a - a * math.log(h / a)) / 4.0 * 10_000)
    while True:
        try:
            evaluate(TailIntegralExponent(rate=str(Fraction(candidate, 10_000))), TailIntegral.id, "literal")
        except Rejected:
            candidate -= 1
        else:
            return Fraction(candidate, 10_000)


def _table(found: list[Tails]) -> Table:
    return Table(
        id="rates",
        title="Smallest decay rate of the exact tail, 2n ≤ t ≤ 4n",
        columns=columns(("n", "points"), "smallest rate", "at t"),
        rows=tuple((tail.n, tail.smallest_rate, tail.at) for tail in found),
    )


def _plot(tail: Tails) -> LinePlot:
    x = tuple(float(t) for t in range(2 * tail.n, 2 * tail.n + len(tail.curve)))
    return LinePlot(
        id="tail",
        title=f"Tail of the stopping time at n = {tail.n}",
        caption="The exact tail and the bound; the statement holds where the exact curve lies below the dashed one.",
        x_axis=Axis(label="t (iterations)"),
        y_axis=Axis(label="P(τ ≥ t)", scale=Scale.LOG),
        series=(
            Series(name="exact", x=x, y=tail.curve),
            Series(
                name="2 exp(−t/16)",
                x=x,
                y=tuple(2.0 * math.exp(-t / 16.0) for t in x),
                style=SeriesStyle.BOUND,
            ),
        ),
    )
