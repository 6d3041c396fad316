"""Theorem 4.1 (``thm:bins_and_balls``): Algorithm 1 stops within 2n iterations but for probability 2e^{−n/16}."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dpsco_verify.algorithm.stopping_law import janson_exponent, tail_exact
from dpsco_verify.evidence import (
    Quantity,
    Verdict,
)
from dpsco_verify.evidence.checker import (
    Certificate,
    StoppingTailExponent,
    StoppingTailViolation,
    issue,
)
from dpsco_verify.execution import Outcome, WorkUnit
from dpsco_verify.inference.bets import bet_fractions, depth_for_range
from dpsco_verify.ledger.e_values import mean_e_value
from dpsco_verify.ledger.evidence_certificates import mean_certificate
from dpsco_verify.ledger.profile import Profile
from dpsco_verify.ledger.statement import Conclusion, Context, Reading
from dpsco_verify.ledger.statements.stopping_tail import present
from dpsco_verify.ledger.statements.stopping_tail.errata import DISCREPANCIES
from dpsco_verify.ledger.statements.stopping_tail.law import (
    Simulation,
    Tail,
    claimed_tail,
    exact_tails,
    points_at_stop,
    simulate,
)
from dpsco_verify.ledger.statements.stopping_tail.proof import SMALLEST_N, proof_steps
from dpsco_verify.ledger.statements.stopping_tail.readings import rule_and_counter, stopping_readings
from dpsco_verify.store import EValue, null_name

_METHOD = (
    "exact recursion for the number of distinct points (rational arithmetic at the smallest n, doubles with a proven "
    "error up to the largest n shown); for all n at once Janson's bound for sums of geometric variables (2018, "
    "Theorem 2.1) in ball arithmetic; stopping times of the implementation against the exact law "
    "(Dvoretzky-Kiefer-Wolfowitz) and against the claimed tail (betting e-process)"
)


@dataclass(frozen=True, kw_only=True)
class _Work:
    largest_n: int
    simulated: tuple[int, ...]
    runs: int


_WORK = {
    Profile.QUICK: _Work(largest_n=128, simulated=(16, 37), runs=4_000),
    Profile.STANDARD: _Work(largest_n=400, simulated=(16, 37, 100), runs=20_000),
    Profile.DEEP: _Work(largest_n=512, simulated=(16, 17, 37, 100, 256), runs=100_000),
}


class StoppingTail:
    """``stopping-tail``: for n ≥ 16, ``P(τ ≤ 2n) ≥ 1 − 2e^{−n/16}``."""

    id = "stopping-tail"
    title = "The algorithm stops within 2n iterations with high probability"
    reference = "Theorem 4.1"
    label = "thm:bins_and_balls"
    text = "For any n ≥ 16, with probability at least 1 − 2 exp(−n/16), τ ≤ 2n"
    readings = stopping_readings(
        statement="P(τ > 2n) ≤ 2 exp(−n/16) for every n ≥ 16", method=_METHOD, weight=1.0
    )
    discrepancies = DISCREPANCIES

    def units(self, reading: Reading, context: Context) -> Sequence[WorkUnit]:
        """Return one unit for the exact tails and one for each n at which the implementation is run."""
        rule, counter = rule_and_counter(reading)
        work = _WORK[context.profile]
        prefix = f"{self.id}/{reading.id}"
        units = [
            WorkUnit(
                name=f"{prefix}/exact",
                function=exact_tails,
                arguments={
                    "rule": rule,
                    "counter": counter,
                    "sizes": tuple(range(SMALLEST_N, work.largest_n + 1)),
                },
                cost=3.0,
            )
        ]
        names = [f"n={n}" for n in work.simulated]
        levels = context.levels(names, over_runs=names)
        for n in work.simulated:
            name = f"{prefix}/simulation/n={n}"
            units.append(
                WorkUnit(
                    name=name,
                    function=simulate,
                    arguments={
                        "rule": rule,
                        "counter": counter,
                        "n": n,
                        "runs": work.runs,
                        "alpha": levels[f"n={n}"],
                        "seed": context.seed,
                        "name": name,
                    },
                    cost=work.runs * n * 1e-6,
                )
            )
        return units

    def conclude(self, reading: Reading, context: Context, outcomes: Mapping[str, Outcome]) -> Conclusion:
        """Decide: an exact tail above the bound refutes, the closed-form exponent certifies all n."""
        prefix = f"{self.id}/{reading.id}"
        tails: list[Tail] = outcomes[f"{prefix}/exact"].value
        simulations: list[Simulation] = [
            outcomes[f"{prefix}/simulation/n={n}"].value for n in _WORK[context.profile].simulated
        ]
        worst = max(tails, key=lambda tail: tail.ratio)
        violated = [tail for tail in tails if tail.ratio * (1.0 - tail.relative_error) > 1.0]
        exponent = _exponent(reading)
        certificate, verdict, summary, counterexample = self._decide(
            reading, tails=tails, violated=violated, exponent=exponent, simulations=simulations
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
        return Conclusion(
            verdict=verdict,
            summary=summary,
            evidence=evidence,
            tables=(present.tail_table(reading, tails), present.simulation_table(simulations)),
            plots=(present.plot(reading, tails, exponent),),
            counterexample=counterexample,
            proof_steps=proof_steps(),
            sharpness=(present.sharpness(tails, exponent),),
            certificate=certificate,
            spent={f"n={s.n}": context.spent(s.alpha) for s in simulations},
            e_values=dict(_e_value(reading, s) for s in simulations),
        )

    def _decide(
        self,
        reading: Reading,
        *,
        tails: list[Tail],
        violated: list[Tail],
        exponent: float | None,
        simulations: list[Simulation],
    ) -> tuple[Certificate | None, Verdict, str, str | None]:
        _, counter = rule_and_counter(reading)
        if violated:
            first = violated[0]
            exact = tail_exact(first.n, first.points, first.draws)
            certificate = issue(
                self.id,
                reading.id,
                StoppingTailViolation(n=first.n, points=first.points, draws=first.draws),
            )
            words = (
                f"With n = {first.n} points the algorithm has not seen {first.points} distinct ones within "
                f"{first.draws} draws with probability {float(exact):.6g}; the statement allows "
                f"{claimed_tail(first.n):.6g}."
            )
            return (
                certificate,
                Verdict.REFUTED,
                f"false at {len(violated)} of the {len(tails)} sizes evaluated exactly, first at n = {first.n}",
                words,
            )
        late = [s for s in simulations if s.tail_rejected]
        if late:
            s = late[0]
            certificate = mean_certificate(
                self.id,
                reading.id,
                observations=[float(x) for x in s.late_flags],
                bound=s.claimed,
                low=0.0,
                alpha=s.alpha / 2 * (1 + 1e-9),
                fractions=list(bet_fractions(depth=depth_for_range(-s.claimed, 1.0 - s.claimed))),
            )
            return (
                certificate,
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
        certificate = issue(self.id, reading.id, StoppingTailExponent(from_n=SMALLEST_N))
        late_word = "2n − 1 draws" if counter else "2n draws"
        return (
            certificate,
            Verdict.CERTIFIED,
            (
                f"holds for every n ≥ 16: P(τ > 2n) (more than {late_word} needed) is at most exp(−{exponent:.4f} n), "
                "and the implementation's stopping times follow the exact law"
            ),
            None,
        )


def _e_value(reading: Reading, s: Simulation) -> tuple[str, EValue]:
    """Return the evidence that the implementation's tail at one n exceeds the claimed one."""
    rule, counter = rule_and_counter(reading)
    name = null_name(
        "P(τ > 2n) ≤ claimed", {"stopping": rule.value, "counter": counter, "n": s.n, "claimed": s.claimed}
    )
    return name, mean_e_value(
        np.repeat([0.0, 1.0], [s.runs - s.late, s.late]),
        log_wealth=s.tail_log_wealth,
        bound=s.claimed,
        low=0.0,
        high=1.0,
        alpha=s.alpha,
    )


def _exponent(reading: Reading) -> float | None:
    """Return the exponent x proven for all n ≥ 16, or None where the mean lies beyond the horizon.

    ``μ/n ≤ ln(n/(n − m)) ≤ ln(2/(1 − 2/n))`` falls with n and ``p ≥ 1/2``, so n = 16 is the worst.
    """
    rule, _ = rule_and_counter(reading)
    n = SMALLEST_N
    if points_at_stop(rule, n) == n:
        return None
    return janson_exponent(
        fewest_left=0.5, mean_per_point=math.log(2.0 / (1.0 - 2.0 / n)), horizon_per_point=2.0
    )
