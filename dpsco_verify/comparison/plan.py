"""The plan of a comparison: that of each profile, and a user's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dpsco_verify.comparison.measure import DesignPoint
from dpsco_verify.comparison.problems import PROBLEMS
from dpsco_verify.errors import InputError
from dpsco_verify.related import PrivacyBudget
from dpsco_verify.related.catalogue import SYSTEMS
from dpsco_verify.validation import require_integer, require_positive


@dataclass(frozen=True, kw_only=True)
class Study:
    """A grid of n, d and ε."""

    sizes: tuple[int, ...]
    dimensions: tuple[int, ...]
    epsilons: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class ComparisonPlan:
    """What is compared with what.

    Attributes
    ----------
    problems, systems
        By their ids.
    sizes
        The n at ε = `epsilon`.
    epsilons, epsilon_size
        The other ε, at n = `epsilon_size`.
    runs
        Independent runs at each place.
    most_seconds
        The nominal cost up to which a system is run at a place.
    thorough, large_sizes, thorough_seconds
        Problems on which larger n are added, and the nominal cost that stands there in the place of `most_seconds`.
    audit_samples
        Outputs a data set, at most, in the audit of a system.
    schedules, potentials
        Where the questions of Sections 6 and 7 are looked at; None for not at all.
    """

    problems: tuple[str, ...]
    sizes: tuple[int, ...]
    epsilons: tuple[float, ...]
    epsilon_size: int
    runs: int
    most_seconds: float
    thorough: tuple[str, ...] = ()
    large_sizes: tuple[int, ...] = ()
    thorough_seconds: float = 0.0
    audit_samples: int = 20_000
    schedules: Study | None = None
    potentials: Study | None = None
    epsilon: float = 1.0
    delta: float = 1e-6
    systems: tuple[str, ...] = tuple(SYSTEMS)

    def sizes_of(self, problem: str) -> tuple[int, ...]:
        """Return the n of a problem at ε = `epsilon`."""
        return (*self.sizes, *self.large_sizes) if problem in self.thorough else self.sizes

    def seconds_of(self, problem: str) -> float:
        """Return the nominal cost up to which a system is run at a place of a problem."""
        return self.thorough_seconds if problem in self.thorough else self.most_seconds

    def places(self, problem: str) -> tuple[DesignPoint, ...]:
        """Return all places of a problem: those of the sweep over n, then those of the sweep over ε."""
        along_n = [DesignPoint(n=n, epsilon=self.epsilon) for n in self.sizes_of(problem)]
        along_epsilon = [DesignPoint(n=self.epsilon_size, epsilon=epsilon) for epsilon in self.epsilons]
        return tuple(dict.fromkeys([*along_n, *along_epsilon]))

    def narrowed(
        self,
        *,
        problems: tuple[str, ...],
        systems: tuple[str, ...],
        sizes: tuple[int, ...],
        epsilons: tuple[float, ...],
    ) -> ComparisonPlan:
        """Return the plan for a user's own choice; what is not chosen stays as it is.

        With one ε chosen it is that of the sweep over n; with several the first is, and the sweep over ε has them all.
        The open questions have no part in it.
        """
        plan = replace(
            self,
            problems=problems or self.problems,
            systems=systems or self.systems,
            sizes=sizes or self.sizes,
        )
        if problems or systems or sizes or epsilons:
            plan = replace(plan, schedules=None, potentials=None)
        if sizes:
            plan = replace(plan, epsilon_size=sorted(sizes)[len(sizes) // 2], large_sizes=())
        if epsilons:
            plan = replace(plan, epsilon=epsilons[0], epsilons=epsilons if len(epsilons) > 1 else ())
        return plan


_SIZES = (100, 200, 300, 1000, 3000, 10_000)
_THOROUGH = ("linear-signs-5", "hinge", "breast-cancer-logistic")

_SCHEDULES = Study(sizes=(1000, 10_000, 100_000), dimensions=(5, 20), epsilons=(1.0,))

_PLANS = {
    "quick": ComparisonPlan(
        problems=_THOROUGH,
        sizes=(50, 200, 1000),
        epsilons=(0.25, 4.0),
        epsilon_size=200,
        runs=8,
        most_seconds=0.25,
        audit_samples=2000,
        schedules=Study(sizes=(1000,), dimensions=(5, 20), epsilons=(1.0,)),
        potentials=Study(sizes=(1000,), dimensions=(256,), epsilons=(8.0,)),
    ),
    "standard": ComparisonPlan(
        problems=tuple(PROBLEMS),
        sizes=_SIZES,
        epsilons=(0.125, 0.5, 2.0, 8.0),
        epsilon_size=1000,
        runs=8,
        most_seconds=2.0,
        thorough=_THOROUGH,
        large_sizes=(100_000,),
        thorough_seconds=9.0,
        schedules=_SCHEDULES,
        potentials=Study(sizes=(1000, 10_000), dimensions=(16, 256), epsilons=(1.0, 8.0)),
    ),
    "deep": ComparisonPlan(
        problems=tuple(PROBLEMS),
        sizes=_SIZES,
        epsilons=(0.125, 0.25, 0.5, 2.0, 4.0, 8.0),
        epsilon_size=1000,
        runs=32,
        most_seconds=12.0,
        thorough=_THOROUGH,
        large_sizes=(30_000, 100_000),
        thorough_seconds=60.0,
        schedules=_SCHEDULES,
        potentials=Study(sizes=(1000, 10_000, 100_000), dimensions=(16, 64, 256), epsilons=(1.0, 8.0)),
    ),
}


def plan_for(
    profile: str,
    *,
    problems: Sequence[str] = (),
    systems: Sequence[str] = (),
    sizes: Sequence[int] = (),
    epsilons: Sequence[float] = (),
    delta: float | None = None,
    runs: int | None = None,
    most_seconds: float | None = None,
) -> ComparisonPlan:
    """Return the plan of a profile, with what is given in the place of its own.

    Raises
    ------
    InputError
        For a problem or a system that is none, or a number out of range.
    """
    plan = _PLANS[profile]
    for problem in problems:
        if problem not in PROBLEMS:
            raise InputError(f"problem={problem!r} is not a problem; give one of {', '.join(PROBLEMS)}")
    for system in systems:
        if system not in SYSTEMS:
            raise InputError(f"system={system!r} is not a system; give one of {', '.join(SYSTEMS)}")
    checked = tuple(dict.fromkeys(PrivacyBudget(epsilon, 0.0).epsilon for epsilon in epsilons))
    plan = plan.narrowed(
        problems=tuple(dict.fromkeys(problems)),
        systems=tuple(name for name in SYSTEMS if name in systems),
        sizes=tuple(sorted({require_integer("n", n, minimum=2) for n in sizes})),
        epsilons=checked,
    )
    if delta is not None:
        plan = replace(plan, delta=PrivacyBudget(1.0, delta).delta)
    if runs is not None:
        plan = replace(plan, runs=require_integer("runs", runs, minimum=2))
    if most_seconds is not None:
        plan = replace(plan, most_seconds=require_positive("most_seconds", most_seconds))
    return plan
