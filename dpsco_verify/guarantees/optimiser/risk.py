"""The claims about one run of an optimiser on the bank: its excess risk, and that w is in W.

The search tries every instance (a problem and a number of points) with a few runs, takes the one whose mean excess risk
is largest against the claimed bound, and of those within 90 % of it the one with the fewest dimensions and points. That
one is judged on fresh runs: by a betting e-process, as ``F(w) − min F`` lies in [0, LD].
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.execution import stream
from dpsco_verify.guarantees.mean_tests import BoundedMean, observe
from dpsco_verify.guarantees.optimiser.bank import BankProblem
from dpsco_verify.guarantees.optimiser.fits import Claim, Optimiser, Place, RefusedError
from dpsco_verify.guarantees.optimiser.report import Trial
from dpsco_verify.guarantees.result import POWER, GuaranteeResult, exact, sampled
from dpsco_verify.guarantees.witnesses import of_mean
from dpsco_verify.related import Task
from dpsco_verify.validation import require_integer, require_positive

PILOT = 16
_KEPT = 0.9
_MOST_TIMES = 4
"""How many times as many runs as were asked for may judge, where fewer would show nothing of interest."""
_MARGIN = 0.9
"""What is asked of the few runs' shape, which is not quite that of many."""
_ROUNDING = 1e-6
_CHUNK = 128


@dataclass(frozen=True, kw_only=True, eq=False)
class Instance:
    """A problem with n points."""

    problem: BankProblem
    n: int
    place: Place

    @property
    def words(self) -> str:
        """The instance in words."""
        return f"{self.problem.id} with n = {self.n}, d = {self.problem.population.dimension}"


class Runs:
    """Runs of an optimiser on instances of the bank, with what each of them showed on the way.

    `outside` is the first output outside of W: by how much, in words.
    """

    def __init__(self, optimiser: Optimiser, *, seed: int) -> None:
        self._optimiser = optimiser
        self._seed = seed
        self.outside: str | None = None
        self.total = 0

    def excess(self, instance: Instance, runs: int, purpose: str, chunk: int = 0) -> FloatArray:
        """Return ``F(w) − (an upper bound of min F)`` of fresh runs, shape (runs,); never more than LD.

        Raises
        ------
        RefusedError
            If the optimiser refuses the data.
        """
        population, convex_set = instance.problem.population, instance.problem.convex_set
        rng = stream(self._seed, f"optimiser/{purpose}/{instance.problem.id}/{instance.n}", chunk=chunk)
        sample = population.sample(rng, (runs, instance.n))
        found = self._optimiser.run(sample, instance.place, rng)
        self.total += runs
        slack = _ROUNDING * (convex_set.diameter + convex_set.max_norm)
        inside = convex_set.contains(found, tolerance=slack)
        if self.outside is None and not inside.all():
            w = found[np.argmin(inside)]
            missed = float(convex_set.violation(w))
            self.outside = f"on {instance.words} it returned a point {missed:.4g} outside of {convex_set!r}"
        # Where w is outside of W, the risk of the nearest point of W is no further from what is claimed of it.
        risks = population.risk(np.where(inside[:, np.newaxis], found, convex_set.project(found)))
        return np.asarray(np.clip(risks - instance.problem.minimum.value, -np.inf, width(instance)))


def width(instance: Instance) -> float:
    """Return ``LD``, which no excess risk exceeds."""
    task = instance.place.task
    # A problem on which every loss is the same everywhere has L = 0.
    return max(task.lipschitz, instance.problem.population.lipschitz) * task.diameter


def instances(
    problems: Sequence[BankProblem], sizes: Sequence[int], *, epsilon: float, delta: float
) -> Iterator[Instance]:
    """Yield each problem with each number of points."""
    for problem in problems:
        place = Place(task=Task.of(problem.population, problem.convex_set), epsilon=epsilon, delta=delta)
        for n in sizes:
            yield Instance(problem=problem, n=n, place=place)


def bound_of(claim: Claim, instance: Instance) -> float:
    """Return what is claimed of an instance.

    Raises
    ------
    InputError
        If it is not a positive finite number.
    """
    claimed = claim.at(instance.place, instance.n, problem=instance.problem.id)
    return require_positive(f"risk on {instance.words}", claimed)


def pilot(
    runs: Runs, places: Sequence[Instance], claim: Claim | None
) -> tuple[list[tuple[Instance, Trial]], list[str]]:
    """Return a few runs of every instance, and why the optimiser refused any."""
    tried: list[tuple[Instance, Trial]] = []
    refusals: list[str] = []
    for instance in places:
        bound = None if claim is None else bound_of(claim, instance)
        try:
            excess = runs.excess(instance, PILOT, "pilot")
        except RefusedError as refusal:
            refusals.append(f"{instance.words}: {refusal}")
            continue
        trial = Trial(
            problem=instance.problem.id,
            n=instance.n,
            dimension=instance.place.task.dimension,
            excess=float(excess.mean()),
            bound=bound,
            runs=PILOT,
        )
        tried.append((instance, trial))
    return tried, refusals


def worst(tried: Sequence[tuple[Instance, Trial]]) -> tuple[Instance, float] | None:
    """Return the simplest of the nearly worst instances, and its bound; None where all bounds are vacuous."""
    open_ones = [
        (instance, trial)
        for instance, trial in tried
        if trial.bound is not None and trial.bound < width(instance)
    ]
    if not open_ones:
        return None
    ratios = [trial.excess / trial.bound for _, trial in open_ones if trial.bound is not None]
    largest = max(ratios)
    near = [
        one
        for one, ratio in zip(open_ones, ratios, strict=True)
        if ratio >= largest - (1 - _KEPT) * abs(largest)
    ]
    instance, trial = min(near, key=lambda one: (one[1].dimension, one[1].n))
    assert trial.bound is not None  # noqa: S101  as chosen
    return instance, trial.bound


def judge_risk(
    runs: Runs,
    instance: Instance,
    bound: float,
    *,
    name: str,
    alpha: float,
    samples: int,
    seed: int,
    tried: int,
) -> GuaranteeResult:
    """Judge the claimed bound on fresh runs of one instance."""
    high = width(instance)
    low = -max(instance.problem.minimum.gap, 1e-9 * high)
    test = BoundedMean(bound=bound, low=low, high=high, alpha=alpha)

    def draw(size: int, chunk: int) -> FloatArray:
        parts = [
            runs.excess(instance, min(_CHUNK, size - start), f"judge/{chunk}", chunk=start)
            for start in range(0, size, _CHUNK)
        ]
        return np.maximum(np.concatenate(parts), low)

    # The shape of a few runs that judge nothing tells how many will show a violation of the size of interest.
    of_interest = min(2.0 * bound, 0.5 * (high - bound))
    few = np.maximum(runs.excess(instance, PILOT, "size"), low)
    for times in range(1, _MOST_TIMES + 1):
        size = times * samples
        seen_by = test.detectable(few, size)
        if seen_by is not None and seen_by <= _MARGIN * of_interest:
            break
    observed = observe(test, draw, size)
    decision = observed.decision
    mean = float(observed.values.mean())
    mdv = None if decision.rejected else test.detectable(observed.values, size)
    L, D, epsilon, delta = instance.place.told
    on = f"{instance.words}, L = {L:.4g}, D = {D:.4g}, ε = {epsilon:g}, δ = {delta:g}"
    of = f"{mean / bound:.3g} of the bound"
    seen = f"on {on} the mean excess risk of {observed.values.size:,} runs is {mean:.4g}, {of}"
    return sampled(
        name=name,
        claim=f"E F(w) − min F ≤ {bound:.4g} on the worst of {tried} instances ({on})",
        seen=seen,
        more=f"; {instance.problem.why}",
        violated=decision.rejected,
        p_value=decision.p_value,
        log_e_value=decision.log_wealth,
        alpha=alpha,
        mdv=mdv,
        of_interest=of_interest,
        would=f"a mean of {bound + (mdv or 0.0):.4g} there",
        nothing=f"{size:,} runs",
        samples=observed.values.size,
        seed=seed,
        figures={"mean_excess_risk": mean, "bound": bound},
        witness=of_mean(
            f"{name}: E F(w) - min F on {on}", observed.values, decision, bound=bound, low=low, high=high
        ),
    )


def judge_in_set(runs: Runs, *, name: str, seed: int) -> GuaranteeResult:
    """Judge, exactly, whether every output so far lies in W."""
    part = 1.0 - (1.0 - POWER) ** (1.0 / max(runs.total, 1))
    return exact(
        name=name,
        claim="w lies in W",
        seen=f"all {runs.total:,} points that it returned on the bank lie in W",
        counterexample=runs.outside,
        detectable=f"runs that leave W with probability {part:.3g} would have been met with probability {POWER:g}",
        mdv=part,
        samples=runs.total,
        seed=seed,
    )


def require_sizes(sizes: Sequence[int]) -> tuple[int, ...]:
    """Return the numbers of points, each at least 1."""
    if not sizes:
        raise InputError(f"sizes={sizes!r} is empty; give at least one number of points")
    return tuple(require_integer("sizes", n, minimum=1) for n in sizes)
