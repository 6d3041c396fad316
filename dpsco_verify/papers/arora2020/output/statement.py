"""The output of Algorithm 1 (``alg:private_SGD``): which iterates it averages."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpsco_verify.algorithm import Averaging, Options, StoppingRule, private_sgd
from dpsco_verify.algorithm.stopping_law import tail_exact
from dpsco_verify.choices import Profile
from dpsco_verify.evidence import Consequence, Quantity, Stance, Table, Verdict, columns
from dpsco_verify.execution import stream
from dpsco_verify.geometry import Box
from dpsco_verify.ledger import Context, Decision, Discrepancy, Handle, Outcomes, Reading, Units
from dpsco_verify.papers.arora2020.output.certificates import OutputDefined
from dpsco_verify.papers.arora2020.stopping_tail import law
from dpsco_verify.problems import Linear

_SIZES = {
    Profile.QUICK: (2, 3, 4, 8, 16, 17, 32),
    Profile.STANDARD: (2, 3, 4, 8, 16, 17, 32, 64, 96),
    Profile.DEEP: (*range(2, 65), 96, 128, 160),
}
_RUNS = {Profile.QUICK: 8, Profile.STANDARD: 30, Profile.DEEP: 100}


def undefined_probability(n: int, m: int) -> Fraction:
    """Return ``P(max F > T + 1)`` exactly: the probability that the literal average names an iterate that is not there.

    F, as a set, is a uniform m-subset of [n] whatever T is: the times of the fresh draws do not depend on which points
    are drawn. So it is ``Σ_t P(T_m = t)(1 − C(t + 1, m)/C(n, m))``, whose terms vanish from t = n − 1 on.
    """
    total = Fraction(0)
    for t in range(m, n - 1):
        at = tail_exact(n, m, t - 1) - tail_exact(n, m, t)
        total += at * (1 - Fraction(math.comb(t + 1, m), math.comb(n, m)))
    return total


@dataclass(frozen=True, kw_only=True)
class Probability:
    """The exact probability at one n that the literal output is undefined, and an example if there is one."""

    n: int
    points: int
    probability: Fraction
    example: str | None


def probabilities(*, sizes: tuple[int, ...]) -> list[Probability]:
    """Return the probability at each n, for the loop as it is written."""
    found = []
    for n in sizes:
        m = law.points_at_stop(StoppingRule.LOOP, n)
        value = undefined_probability(n, m)
        example = None
        if value > 0:
            example = (
                f"with n = {n} the draws {', '.join(str(n - k) for k in range(m))} end the run at τ = {m + 1}, F holds "
                f"{n}, and there is no w_{n}"
            )
        found.append(Probability(n=n, points=m, probability=value, example=example))
    return found


@dataclass(frozen=True, kw_only=True)
class Replay:
    """Runs of the implementation, in which all that is averaged was looked up again in the transcript.

    Attributes
    ----------
    undefined
        Runs whose literal output is undefined.
    consistent
        Runs in which the oracle agrees with the transcript: which indices name no iterate, and the literal average if
        none does; that the fresh times are at most T; and their average.
    draws
        Draws (1-based) of one run, for the certificate.
    """

    n: int
    runs: int
    undefined: int
    consistent: int
    draws: tuple[int, ...]


def replay(*, sizes: tuple[int, ...], runs: int, seed: int, name: str) -> list[Replay]:
    """Run the implementation under both readings on the same draws and look everything up."""
    found = []
    for n in sizes:
        undefined = consistent = 0
        draws: tuple[int, ...] = ()
        for run in range(runs):
            literal_ok, corrected_ok, is_undefined, draws = _one_run(n, seed, f"{name}/{n}", run)
            consistent += literal_ok and corrected_ok
            undefined += is_undefined
        found.append(Replay(n=n, runs=runs, undefined=undefined, consistent=consistent, draws=draws))
    return found


def _one_run(n: int, seed: int, name: str, run: int) -> tuple[bool, bool, bool, tuple[int, ...]]:
    data = stream(seed, f"{name}/data", chunk=run).uniform(-1.0, 1.0, size=(n, 1))
    results = [
        private_sgd(
            data,
            loss=Linear(),
            convex_set=Box([-1.0], [1.0]),
            step_size=0.1,
            sigma=1.0,
            lipschitz=1.0,
            rng=stream(seed, name, chunk=run),
            options=Options(averaging=averaging),
            transcript=True,
        )
        for averaging in (Averaging.DATA_INDICES, Averaging.FRESH_TIMES)
    ]
    literal, corrected = results
    transcript = corrected.transcript
    if transcript is None or literal.transcript is None or corrected.output is None:
        return False, False, False, ()
    # Everything below counts from 1, as the paper does: w_1 … w_{T+1} are the rows 0 … T of the iterates.
    draws = [int(y) + 1 for y in transcript.draws[:, 0]]
    iterates = transcript.iterates
    members = sorted(set(draws))
    missing = tuple(j for j in members if j > len(iterates))
    literal_ok = literal.undefined_indices == missing and (literal.output is None) == bool(missing)
    if literal_ok and literal.output is not None:
        expected = np.mean([iterates[j - 1] for j in members], axis=0)
        literal_ok = bool(np.allclose(literal.output, expected, rtol=1e-12, atol=1e-14))
    times = [t for t, y in enumerate(draws, start=1) if y not in draws[: t - 1]]
    corrected_ok = max(times) <= corrected.iterations < len(iterates)
    if corrected_ok:
        average = np.mean([iterates[t - 1] for t in times], axis=0)
        corrected_ok = bool(np.allclose(corrected.output, average, rtol=1e-12, atol=1e-14))
    return literal_ok, corrected_ok, bool(missing), tuple(draws)


_DISCREPANCIES = (
    Discrepancy(
        id="averaged-indices",
        title="The output averages over data indices instead of times",
        lines=(141, 163),
        consequence=Consequence.GUARANTEE,
        text=(
            "F holds the indices of the data points that were drawn, and the output averages w_j over j in F. "
            "Those j are not times: an index may be larger than the number of iterations, and then w_j does "
            "not exist; where it does, it is an iterate that has nothing to do with the fresh draw."
        ),
        repair=(
            "Average over the times of fresh draws, as the analysis does; the guarantee is about that "
            "average."
        ),
        shown_by=("output/literal",),
    ),
)


@dataclass(frozen=True, kw_only=True)
class Work:
    """The handles: the runs, and for the literal output the exact probabilities that it is undefined."""

    runs: Handle[list[Replay]]
    exact: Handle[list[Probability]] | None


class Output:
    """``output``: ``ŵ_τ = (1/|F_τ|) Σ_{j∈F_τ} w_j``."""

    id = "output"
    title = "The output averages iterates that exist"
    reference = "Algorithm 1, ENSURE"
    label = "alg:private_SGD"
    text = "The output is the average iterate ŵ_τ = (1/|F_τ|) Σ_{j∈F_τ} w_j"
    readings = (
        Reading(
            id="literal",
            stance=Stance.PRINTED,
            parameters=Averaging.DATA_INDICES,
            text="F_τ holds indices of data points, as the algorithm fills it; the loop as it is written",
            statement="w_j is defined for every j ∈ F_τ, that is max F_τ ≤ τ = T + 1",
            method="the exact probability that it is not, from the law of T and the uniform law of F given T; the "
            "implementation's runs looked up in their transcripts",
        ),
        Reading(
            id="corrected",
            stance=Stance.REPAIR,
            parameters=Averaging.FRESH_TIMES,
            text="the sum runs over the times at which a fresh point was drawn",
            statement="ŵ = (1/|F_τ|) Σ_{t fresh} w_t, and w_t is defined at each fresh time t",
            method="a fresh time is a pass of the loop, so it is at most T, and w_1 … w_{T+1} exist; the "
            "implementation's runs looked up in their transcripts, one of them in the certificate",
        ),
    )
    discrepancies = _DISCREPANCIES
    witness_kinds = (OutputDefined,)

    def plan(self, reading: Reading[Averaging], context: Context, units: Units) -> Work:
        """Plan a unit for the runs, and one for the exact probabilities if the output averages over data indices."""
        sizes = _SIZES[context.profile]
        runs = units.add(
            "replay",
            replay,
            {"sizes": tuple(n for n in sizes if n <= 64), "runs": _RUNS[context.profile]},
            random=True,
        )
        exact = (
            units.add("exact", probabilities, {"sizes": sizes})
            if reading.parameters is Averaging.DATA_INDICES
            else None
        )
        return Work(runs=runs, exact=exact)

    def conclude(
        self, reading: Reading[Averaging], context: Context, work: Work, outcomes: Outcomes
    ) -> Decision:
        """Call the literal output ill posed if it is undefined with positive probability."""
        runs = outcomes[work.runs]
        total, consistent = sum(r.runs for r in runs), sum(r.consistent for r in runs)
        evidence = {
            "runs of the implementation that do what the reading says": Quantity(
                value=consistent, unit=f"of {total}", note="looked up in the transcripts"
            )
        }
        if consistent < total:
            return Decision(
                verdict=Verdict.INCONCLUSIVE,
                summary="the implementation's output is not the one of the reading",
                evidence=evidence,
            )
        if work.exact is None:
            sample = next(r for r in runs if r.n >= 4)
            return Decision(
                verdict=Verdict.CERTIFIED,
                summary="every time that is averaged is at most T, and the iterates go to T + 1",
                evidence=evidence,
                witness=OutputDefined(n=sample.n, draws=sample.draws),
            )
        return _literal(outcomes[work.exact], runs, evidence)


def _literal(found: list[Probability], runs: list[Replay], evidence: dict[str, Quantity]) -> Decision:
    undefined = [p for p in found if p.probability > 0]
    worst = found[-1]
    evidence[f"P(some w_j is undefined), n = {worst.n}"] = Quantity(
        value=float(worst.probability), note=f"exact; the average names {worst.points} iterates"
    )
    evidence["n at which it can be undefined"] = Quantity(value=len(undefined), unit=f"of {len(found)}")
    evidence["repair"] = Quantity(value="sum over the times of fresh draws", note="reading corrected")
    seen = {r.n: r for r in runs}
    table = Table(
        id="undefined",
        title="How often the literal output is undefined",
        columns=columns(("n", "points"), "exact probability", "runs", "runs undefined"),
        rows=tuple(
            (
                p.n,
                float(p.probability),
                seen[p.n].runs if p.n in seen else None,
                seen[p.n].undefined if p.n in seen else None,
            )
            for p in found
        ),
    )
    if not undefined:
        return Decision(
            verdict=Verdict.HOLDS_ON_GRID,
            summary="defined in every run at the sizes evaluated",
            evidence=evidence,
            tables=(table,),
        )
    return Decision(
        verdict=Verdict.ILL_POSED,
        summary=f"F holds an index beyond the last iterate with probability {float(worst.probability):.6g} at "
        f"n = {worst.n}: the output is then undefined",
        evidence=evidence,
        tables=(table,),
        counterexample=next(p.example for p in found if p.example is not None and p.n >= min(16, worst.n)),
    )
