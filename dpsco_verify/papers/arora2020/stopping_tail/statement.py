"""Theorem 4.1 (``thm:bins_and_balls``): Algorithm 1 stops within 2n iterations but for probability 2e^{−n/16}."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpsco_verify.algorithm import StoppingRule
from dpsco_verify.algorithm.stopping_law import janson_exponent, tail_exact
from dpsco_verify.choices import Profile
from dpsco_verify.evidence import Quantity, Verdict
from dpsco_verify.evidence.checker import Witness
from dpsco_verify.inference.witnesses import mean_evidence
from dpsco_verify.ledger import Context, Decision, Handle, Outcomes, Reading, Units
from dpsco_verify.ledger.e_values import mean_e_value
from dpsco_verify.papers.arora2020.stopping_tail import present
from dpsco_verify.papers.arora2020.stopping_tail.certificates import (
    NULLS,
    TAIL,
    StoppingTailExponent,
    StoppingTailViolation,
)
from dpsco_verify.papers.arora2020.stopping_tail.errata import DISCREPANCIES
from dpsco_verify.papers.arora2020.stopping_tail.law import (
    Simulation,
    Tail,
    claimed_tail,
    exact_tails,
    points_at_stop,
    simulate,
)
from dpsco_verify.papers.arora2020.stopping_tail.proof import SMALLEST_N, proof_steps
from dpsco_verify.papers.arora2020.stopping_tail.readings import StoppingTime, stopping_readings
from dpsco_verify.store import EValue, null_name

_METHOD = (
    "exact recursion for the number of distinct points (rational arithmetic at the smallest n, doubles with a proven "
    "error up to the largest n shown); for all n at once Janson's bound for sums of geometric variables (2018, "
    "Theorem 2.1) in ball arithmetic; stopping times of the implementation against the exact law "
    "(Dvoretzky-Kiefer-Wolfowitz) and against the claimed tail (betting e-process)"
)


@dataclass(frozen=True, kw_only=True)
class _Effort:
    largest_n: int
    simulated: tuple[int, ...]
    runs: int


_EFFORT = {
    Profile.QUICK: _Effort(largest_n=128, simulated=(16, 37), runs=4_000),
    Profile.STANDARD: _Effort(largest_n=400, simulated=(16, 37, 100), runs=20_000),
    Profile.DEEP: _Effort(largest_n=512, simulated=(16, 17, 37, 100, 256), runs=100_000),
}


@dataclass(frozen=True, kw_only=True)
class Work:
    """The handles: the exact tails, and the runs of the implementation by n."""

    tails: Handle[list[Tail]]
    simulations: dict[int, Handle[Simulation]]


class StoppingTail:
    """``stopping-tail``: for n ≥ 16, ``P(τ ≤ 2n) ≥ 1 − 2e^{−n/16}``."""

    id = "stopping-tail"
    title = "The algorithm stops within 2n iterations with high probability"
    reference = "Theorem 4.1"
    label = "thm:bins_and_balls"
    text = "For any n ≥ 16, with probability at least 1 − 2 exp(−n/16), τ ≤ 2n"
    readings = stopping_readings(
        statement="P(τ > 2n) ≤ 2 exp(−n/16) for every n ≥ 16", method=_METHOD, weight=1.0, nulls=NULLS
    )
    discrepancies = DISCREPANCIES
    witness_kinds = (StoppingTailViolation, StoppingTailExponent)

    def plan(self, reading: Reading[StoppingTime], context: Context, units: Units) -> Work:
        """Plan one unit for the exact tails and one for each n at which the implementation is run."""
        rule, counter = reading.parameters.rule, reading.parameters.counter
        effort = _EFFORT[context.profile]
        tails = units.add(
            "exact",
            exact_tails,
            {"rule": rule, "counter": counter, "sizes": tuple(range(SMALLEST_N, effort.largest_n + 1))},
            cost=3.0,
        )
        names = {n: f"n={n}" for n in effort.simulated}
        levels = context.levels(list(names.values()), accumulated=list(names.values()))
        simulations = {
            n: units.add(
                f"simulation/{name}",
                simulate,
                {
                    "rule": rule,
                    "counter": counter,
                    "n": n,
                    "runs": effort.runs,
                    "alpha": levels[name],
                },
                cost=effort.runs * n * 1e-6,
                random=True,
            )
            for n, name in names.items()
        }
        return Work(tails=tails, simulations=simulations)

    def conclude(
        self, reading: Reading[StoppingTime], context: Context, work: Work, outcomes: Outcomes
    ) -> Decision:
        """Decide: an exact tail above the bound refutes, the closed-form exponent certifies all n."""
        time = reading.parameters
        tails = outcomes[work.tails]
        simulations = [outcomes[handle] for handle in work.simulations.values()]
        worst = max(tails, key=lambda tail: tail.ratio)
        violated = [tail for tail in tails if tail.ratio * (1.0 - tail.relative_error) > 1.0]
        exponent = _exponent(time.rule)
        witness, verdict, summary, counterexample = _decide(
            time, tails=tails, violated=violated, exponent=exponent, simulations=simulations
        )
        evidence = {
            "largest P(τ > 2n) / (2 exp(−n/16))": Quantity(
                value=worst.ratio, note=f"at n = {worst.n}; exact for n = {tails[0].n} to {tails[-1].n}"
            ),
            "n with an exact tail above the bound": Quantity(value=len(violated), unit=f"of {len(tails)}"),
        }
        if exponent is not None:
            evidence["proven decay exponent x in P(τ > 2n) ≤ exp(−x n)"] = Quantity(
                value=exponent, note="for every n ≥ 16, by Janson's bound; the statement needs 1/16 = 0.0625"
            )
        return Decision(
            verdict=verdict,
            summary=summary,
            evidence=evidence,
            tables=(present.tail_table(time, tails), present.simulation_table(simulations)),
            plots=(present.plot(reading, tails, exponent),),
            counterexample=counterexample,
            proof_steps=proof_steps(),
            sharpness=(present.sharpness(tails, exponent),),
            witness=witness,
            spent={f"n={s.n}": context.spent(s.alpha) for s in simulations},
            e_values=dict(_e_value(time, s) for s in simulations),
        )


def _decide(
    time: StoppingTime,
    *,
    tails: list[Tail],
    violated: list[Tail],
    exponent: float | None,
    simulations: list[Simulation],
) -> tuple[Witness | None, Verdict, str, str | None]:
    """Return the witness, the verdict, why, and the counterexample in words."""
    if violated:
        first = violated[0]
        exact = tail_exact(first.n, first.points, first.draws)
        words = (
            f"With n = {first.n} points the algorithm has not seen {first.points} distinct ones within "
            f"{first.draws} draws with probability {float(exact):.6g}; the statement allows "
            f"{claimed_tail(first.n):.6g}."
        )
        return (
            StoppingTailViolation(n=first.n, points=first.points, draws=first.draws),
            Verdict.REFUTED,
            f"false at {len(violated)} of the {len(tails)} sizes evaluated exactly, first at n = {first.n}",
            words,
        )
    late = [s for s in simulations if s.tail_rejected]
    if late:
        s = late[0]
        return (
            mean_evidence(
                [float(x) for x in s.late_flags],
                null_hypothesis=_null_name(time, s),
                bound=s.claimed,
                low=0.0,
                high=1.0,
                alpha=s.alpha / 2,
            ),
            Verdict.REFUTED,
            f"the implementation stops too late at n = {s.n}, although the law of this reading holds",
            (
                f"At n = {s.n}, {s.late} of {s.runs} runs of the implementation had τ > 2n; allowed is a "
                f"probability of {s.claimed:.4g}."
            ),
        )
    strangers = [s for s in simulations if not s.follows_law]
    if strangers:
        s = strangers[0]
        return (
            None,
            Verdict.INCONCLUSIVE,
            (
                f"the implementation's stopping times at n = {s.n} do not follow the exact law (distance "
                f"{s.distance:.4g}, allowed {s.threshold:.4g}), so the law says nothing about it"
            ),
            None,
        )
    if exponent is None or exponent <= 1.0 / 16.0:
        return (
            None,
            Verdict.HOLDS_ON_GRID,
            f"holds at each n from {tails[0].n} to {tails[-1].n}; no closed form reaches the rest",
            None,
        )
    late_word = "2n − 1 draws" if time.counter else "2n draws"
    return (
        StoppingTailExponent(from_n=SMALLEST_N),
        Verdict.CERTIFIED,
        (
            f"holds for every n ≥ 16: P(τ > 2n) (more than {late_word} needed) is at most exp(−{exponent:.4f} n), "
            "and the implementation's stopping times follow the exact law"
        ),
        None,
    )


def _null_name(time: StoppingTime, s: Simulation) -> str:
    return null_name(TAIL, {"stopping": time.rule.value, "counter": time.counter, "n": s.n})


def _e_value(time: StoppingTime, s: Simulation) -> tuple[str, EValue]:
    """Return the evidence that the implementation's tail at one n exceeds the claimed one."""
    return _null_name(time, s), mean_e_value(
        np.repeat([0.0, 1.0], [s.runs - s.late, s.late]),
        log_wealth=s.tail_log_wealth,
        bound=s.claimed,
        low=0.0,
        high=1.0,
        alpha=s.alpha,
    )


def _exponent(rule: StoppingRule) -> float | None:
    """Return the exponent x proven for all n ≥ 16, or None where the mean lies beyond the horizon.

    ``μ/n ≤ ln(n/(n − m)) ≤ ln(2/(1 − 2/n))`` falls with n and ``p ≥ 1/2``, so n = 16 is the worst.
    """
    n = SMALLEST_N
    if points_at_stop(rule, n) == n:
        return None
    return janson_exponent(
        fewest_left=0.5, mean_per_point=math.log(2.0 / (1.0 - 2.0 / n)), horizon_per_point=2.0
    )
