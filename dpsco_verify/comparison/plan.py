"""The plan of a comparison, by profile."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dpsco_verify.comparison.measure import DesignPoint


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
    problems
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
        self, *, problems: tuple[str, ...], sizes: tuple[int, ...], epsilons: tuple[float, ...]
    ) -> ComparisonPlan:
        """Return the plan for a user's own choice; what is not chosen stays as it is.

        With one ε chosen it is that of the sweep over n; with several the first is, and the sweep over ε has them all.
        The open questions have no part in it.
        """
        plan = replace(self, problems=problems or self.problems, sizes=sizes or self.sizes)
        if problems or sizes or epsilons:
            plan = replace(plan, schedules=None, potentials=None)
        if sizes:
            plan = replace(plan, epsilon_size=sorted(sizes)[len(sizes) // 2], large_sizes=())
        if epsilons:
            plan = replace(plan, epsilon=epsilons[0], epsilons=epsilons if len(epsilons) > 1 else ())
        return plan
