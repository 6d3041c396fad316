"""The bench: an implementation, run on each problem once and kept, so that the checks share the runs."""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from dpsco_verify.algorithm.conformance.explanation import Explanation, Steps, Use, explain
from dpsco_verify.algorithm.conformance.gaussian import noise_radius
from dpsco_verify.algorithm.conformance.observation import ConformanceError, Implementation, Seen, read
from dpsco_verify.algorithm.conformance.problems import Problem
from dpsco_verify.algorithm.options import NoiseConvention, Options
from dpsco_verify.arrays import FloatArray
from dpsco_verify.execution import stream

_FEWEST_RUNS = 8


@dataclass(frozen=True, kw_only=True)
class Bench:
    """An implementation and its runs.

    Attributes
    ----------
    implementation, name
        What is judged, and how messages name it.
    options
        The reading of Algorithm 1 that it is held against.
    seed
        The root seed; each problem has a stream of its own, which its runs share one after the other.
    effort
        Factor of the numbers of runs.
    batched
        Whether the implementation takes batches; without, it is asked for batches of one point alone.
    """

    implementation: Implementation
    name: str
    options: Options
    seed: int
    effort: float
    batched: bool
    _kept: dict[tuple[str, str], Any] = field(default_factory=dict, repr=False, compare=False)

    def run_once(self, problem: Problem, rng: np.random.Generator, call: str) -> Seen | None:
        """Return one run, or None if it was refused and may be.

        Raises
        ------
        ConformanceError
            If the implementation raises, changes its data or returns what is no run of the problem.
        """
        convention = self.options.noise
        squared = convention is NoiseConvention.COVARIANCE_SIGMA_SQUARED
        arguments: dict[str, Any] = {
            "loss": problem.loss,
            "convex_set": problem.convex_set,
            "step_size": problem.step_size,
            "sigma": problem.noise if squared else problem.noise**2,
            "lipschitz": problem.lipschitz,
            "initial_point": problem.initial_point.copy(),
        }
        if self.batched or self._requires_batch_size:
            arguments["batch_size"] = problem.batch_size
        data = problem.data.copy()
        try:
            observed = self.implementation(data, rng, **arguments)
        except ValueError as error:
            if problem.may_refuse:
                return None
            raise ConformanceError(f"{call} raised {type(error).__name__}: {error}; mend it") from error
        except Exception as error:
            raise ConformanceError(f"{call} raised {type(error).__name__}: {error}; mend it") from error
        if not np.array_equal(data, problem.data):
            raise ConformanceError(f"{call} changed the data that it was given; work on a copy")
        return read(
            observed, dimension=problem.dimension, n=problem.n, batch_size=problem.batch_size, call=call
        )

    @cached_property
    def _requires_batch_size(self) -> bool:
        """Whether the implementation cannot be called without `batch_size`, whatever it does with it."""
        try:
            parameter = inspect.signature(self.implementation).parameters.get("batch_size")
        except (TypeError, ValueError):
            return False
        return parameter is not None and parameter.default is parameter.empty

    def runs(self, problem: Problem) -> tuple[Seen, ...]:
        """Return the runs of a problem that were not refused."""
        return tuple(run for run in self._all_runs(problem) if run is not None)

    def number_of_runs(self, problem: Problem) -> int:
        """Return how many runs a problem gets, refused ones included."""
        return max(_FEWEST_RUNS, math.ceil(problem.runs * self.effort))

    def steps(self, problem: Problem) -> Steps:
        """Return all steps of all runs of a problem."""
        key = ("steps", problem.name)
        if key not in self._kept:
            runs = self.runs(problem)
            counts = [len(run.iterates) - 1 for run in runs]
            before = _stacked([run.iterates[:-1] for run in runs], problem.dimension)
            after = _stacked([run.iterates[1:] for run in runs], problem.dimension)
            self._kept[key] = Steps(
                run=np.repeat(np.arange(len(runs)), counts),
                time=np.concatenate([np.arange(1, count + 1) for count in counts] or [np.arange(0)]),
                before=before,
                after=after,
                increments=(before - after) / problem.step_size,
            )
        steps: Steps = self._kept[key]
        return steps

    def explained(self, problem: Problem) -> Explanation:
        """Return the nearest explanation of each step of a problem."""
        key = ("explained", problem.name)
        if key not in self._kept:
            self._kept[key] = explain(problem, self.steps(problem))
        explanation: Explanation = self._kept[key]
        return explanation

    def radius(self, problem: Problem, *, alpha: float, steps: int | None = None) -> float:
        """Return the length that no noise vector of the problem exceeds, but for probability `alpha`."""
        count = len(self.steps(problem)) if steps is None else steps
        return problem.noise * noise_radius(alpha=alpha, steps=max(count, 1), dimension=problem.dimension)

    def uses(self, problem: Problem, *, alpha: float) -> tuple[list[Use] | None, ...]:
        """Return what each run used, step by step; None for a run with a step whose use is not known.

        With probability at least ``1 − alpha`` what is known is right, if the implementation is.
        """
        explanation = self.explained(problem)
        known = explanation.known(self.radius(problem, alpha=alpha))
        ends = np.cumsum([len(run.iterates) - 1 for run in self.runs(problem)])[:-1]
        return tuple(
            [explanation.uses[best] for best in nearest] if all_known.all() else None
            for nearest, all_known in zip(
                np.split(explanation.nearest, ends), np.split(known, ends), strict=True
            )
        )

    def noise(self, problem: Problem) -> tuple[FloatArray, ...]:
        """Return the noise of a problem without gradients, in units of its standard deviation; (T, d) a run."""
        scale = problem.step_size * problem.noise
        return tuple(-np.diff(run.iterates, axis=0) / scale for run in self.runs(problem))

    def _all_runs(self, problem: Problem) -> tuple[Seen | None, ...]:
        key = ("runs", problem.name)
        if key not in self._kept:
            rng = stream(self.seed, f"conformance/{problem.name}")
            self._kept[key] = tuple(
                self.run_once(problem, rng, f"run {i + 1} of {self.name} on the problem '{problem.name}'")
                for i in range(self.number_of_runs(problem))
            )
        runs: tuple[Seen | None, ...] = self._kept[key]
        return runs


def _stacked(parts: list[FloatArray], dimension: int) -> FloatArray:
    return np.concatenate(parts) if parts else np.empty((0, dimension))
