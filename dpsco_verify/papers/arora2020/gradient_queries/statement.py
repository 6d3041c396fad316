"""The number of gradient queries: "linear time" in Section 6 (``sec:other_appr``) and the abstract."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import cast

import numpy as np

from dpsco_verify.algorithm import Options, StoppingRule, private_sgd, run_ensemble
from dpsco_verify.choices import Profile
from dpsco_verify.evidence import (
    Quantity,
    Sharpness,
    Stance,
    Table,
    Verdict,
    columns,
)
from dpsco_verify.execution import stream
from dpsco_verify.geometry import Box
from dpsco_verify.ledger import Context, Decision, Handle, OneUnit, Reading, Units
from dpsco_verify.papers.arora2020.gradient_queries.certificates import GradientQueries
from dpsco_verify.papers.arora2020.stopping_tail import law
from dpsco_verify.problems import Linear, Loss
from dpsco_verify.problems.losses.loss import CountedLoss

_SIZES = {
    Profile.QUICK: (2, 3, 4, 5, 16, 17),
    Profile.STANDARD: (2, 3, 4, 5, 8, 9, 16, 17, 64, 101),
    Profile.DEEP: (*range(2, 34), 64, 101, 256, 1001),
}
_RUNS = {Profile.QUICK: 5, Profile.STANDARD: 20, Profile.DEEP: 50}
_ENSEMBLE = 50


@dataclass(frozen=True, kw_only=True)
class Counts:
    """At one n: the number that the reading names, and all numbers that occurred, counted in three ways."""

    n: int
    expected: int
    observed: tuple[int, ...]
    iterations: tuple[int, int]


def count(*, rule: StoppingRule, sizes: tuple[int, ...], runs: int, seed: int, name: str) -> list[Counts]:
    """Run Algorithm 1 and count: calls of the loss, the oracle's own count, and the ensemble's, over many runs."""
    found = []
    options = Options(stopping=rule)
    for n in sizes:
        rng = stream(seed, name, chunk=n)
        observed: set[int] = set()
        lengths = []
        for _ in range(runs):
            loss = CountedLoss(Linear())
            run = private_sgd(
                rng.uniform(-1.0, 1.0, size=(n, 1)),
                loss=cast(Loss, loss),
                convex_set=Box([-1.0], [1.0]),
                step_size=0.1,
                sigma=1.0,
                lipschitz=1.0,
                rng=rng,
                options=options,
            )
            observed |= {loss.queries, run.gradient_queries, run.distinct_points}
            lengths.append(run.iterations)
        ensemble = run_ensemble(
            np.zeros((_ENSEMBLE, n, 1)),
            loss=Linear(),
            convex_set=Box([-1.0], [1.0]),
            step_size=0.1,
            sigma=1.0,
            lipschitz=1.0,
            rng=rng,
            options=options,
        )
        observed |= {int(q) for q in ensemble.gradient_queries}
        lengths += [int(t) for t in ensemble.iterations]
        found.append(
            Counts(
                n=n,
                expected=law.points_at_stop(rule, n),
                observed=tuple(sorted(observed)),
                iterations=(min(lengths), max(lengths)),
            )
        )
    return found


def _reading(rule: StoppingRule, text: str) -> Reading[StoppingRule]:
    return Reading(
        id=rule.value,
        stance=Stance.PRINTED,
        parameters=rule,
        text=text,
        statement="the number of gradient queries is at most C n for every n ≥ 2, in every run",
        method="a query is made at a fresh draw and nowhere else, and the loop ends when a fixed number of "
        "points has been fresh: the count is deterministic, its supremum over n by monotonicity; beside it "
        "the implementation's queries, counted in the loss, in many runs",
    )


class GradientQueriesStatement(OneUnit[StoppingRule, list[Counts]]):
    """``gradient-queries``: a linear number of gradient queries."""

    id = "gradient-queries"
    title = "The number of gradient queries is linear in n"
    reference = "Abstract and Section 6"
    label = "sec:other_appr"
    text = "Algorithm 1 makes a number of gradient queries that is linear in n"
    readings = (
        _reading(StoppingRule.LOOP, "as the loop is written: ⌊n/2⌋ + 1 queries"),
        _reading(StoppingRule.TEXT, "as Section 4 says, stopping at |F| ≥ n/2: ⌈n/2⌉ queries"),
        _reading(StoppingRule.ALL_POINTS, "τ = min{t : S_t = n}: n queries"),
    )
    witness_kinds = (GradientQueries,)

    def plan(self, reading: Reading[StoppingRule], context: Context, units: Units) -> Handle[list[Counts]]:
        """Plan the one unit."""
        arguments = {
            "rule": reading.parameters,
            "sizes": _SIZES[context.profile],
            "runs": _RUNS[context.profile],
        }
        return units.add("count", count, arguments, random=True)

    def decide(self, reading: Reading[StoppingRule], found: list[Counts]) -> Decision:
        """Certify if every run made the number of queries that the reading names."""
        strange = [c for c in found if c.observed != (c.expected,)]
        supremum = max(Fraction(c.expected, c.n) for c in found)
        evidence = {
            "sizes at which each run made the same number": Quantity(
                value=len(found) - len(strange),
                unit=f"of {len(found)}",
                note="exact: no probability is involved",
            ),
            "largest queries/n": Quantity(value=float(supremum), note="attained; the smallest constant C"),
        }
        table = Table(
            id="counts",
            title="Queries in the runs of the implementation",
            columns=columns(
                ("n", "points"),
                "queries expected",
                "queries observed",
                "fewest iterations",
                "most iterations",
            ),
            rows=tuple((c.n, c.expected, " ".join(map(str, c.observed)), *c.iterations) for c in found),
        )
        if strange:
            return Decision(
                verdict=Verdict.INCONCLUSIVE,
                summary=f"at n = {strange[0].n} the implementation made {strange[0].observed} queries, not "
                f"{strange[0].expected}",
                evidence=evidence,
                tables=(table,),
            )
        constant = supremum + Fraction(1, 1000)
        return Decision(
            verdict=Verdict.CERTIFIED,
            summary="the number of queries is the same in every run of a size, at most "
            f"{'n' if supremum == 1 else f'{supremum} n'}",
            evidence=evidence,
            tables=(table,),
            sharpness=(
                Sharpness(
                    constant="C in C n queries",
                    claimed=None,
                    holds_with=float(supremum),
                    needed=float(supremum),
                    how="exactly, for all n ≥ 2: the count is the same in every run; this is its largest share of n",
                ),
            ),
            witness=GradientQueries(constant=str(constant)),
        )
