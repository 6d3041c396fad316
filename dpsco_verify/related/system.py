"""The protocol of all systems: what each is asked, and what it answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.privacy.claims import PrivacyClaim
from dpsco_verify.related.budget import Guarantee, PrivacyBudget
from dpsco_verify.related.conditions import Condition, require_conditions
from dpsco_verify.related.task import Task
from dpsco_verify.validation import require_integer


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """The numbers with which a system runs on n points.

    Attributes
    ----------
    figures
        Noise scales, step sizes, numbers of steps and the like by the names that the source gives them.
    gradient_queries
        The expected number of evaluations of a (sub)gradient of ``f(·, z)`` at one point z; for a system that calls
        a solver an estimate of it, before the solver has run.
    """

    figures: Mapping[str, float]
    gradient_queries: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Fit:
    """What independent runs, one for each leading index of the sample, came to.

    Attributes
    ----------
    solution
        Shape ``(..., d)``, points of W unless the system says otherwise.
    gradient_queries
        The gradients of single points that each run evaluated, shape ``(...)``.
    transcript
        What the privacy guarantee covers besides the solution: all vectors that were released, shape
        ``(..., T, d)``; None unless it was asked for.
    optimality_gap
        The largest certified gap of an inner solver's calls, in units of the objective; None without a solver.
    """

    solution: FloatArray
    gradient_queries: FloatArray
    transcript: FloatArray | None = None
    optimality_gap: float | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Sensitivity:
    """``sup ‖q(S) − q(S')‖₂ ≤ bound`` over replace-one neighbours, on which the noise rests.

    Attributes
    ----------
    what
        Which quantity q is.
    bound
        The bound that the source states, in force at the calibration.
    query
        q without any noise: from one sample, shape ``(n, k)``, to a vector. Where q depends on a random choice that
        is no part of the noise, or on earlier outputs, those are fixed.
    rounding
        A bound on the error of the computed ``‖q(S) − q(S')‖`` by floating point and inner solvers.
    """

    what: str
    bound: float
    query: Callable[[FloatArray], FloatArray]
    rounding: float = 0.0


class System(ABC):
    """A system for stochastic convex optimisation, private or not, for replace-one neighbours.

    `fit` takes many samples at once, shape ``(..., n, k)``: the leading axes are independent runs.
    """

    id: ClassVar[str]
    """The stable name."""
    title: ClassVar[str]
    """The name in reports."""
    source: ClassVar[str]
    """Where it was published, with the number of the algorithm or theorem."""
    section: ClassVar[str]
    """Where the paper speaks of it."""
    guarantee: ClassVar[Guarantee]
    """What is guaranteed for the outputs of a run."""

    @property
    def is_private(self) -> bool:
        """Whether there is a privacy guarantee at all."""
        return self.guarantee is not Guarantee.NONE

    @abstractmethod
    def conditions(self, task: Task, n: int, budget: PrivacyBudget) -> tuple[Condition, ...]:
        """Return all conditions of the guarantee, met or not."""

    @abstractmethod
    def _calibrate(self, task: Task, n: int, budget: PrivacyBudget) -> Calibration:
        """Return the calibration where the conditions hold."""

    @abstractmethod
    def _fit(
        self,
        sample: FloatArray,
        task: Task,
        budget: PrivacyBudget,
        rng: np.random.Generator,
        *,
        keep_transcript: bool,
    ) -> Fit:
        """Run on checked samples, shape ``(R, n, k)``, where the conditions hold."""

    def _risk_bound(self, task: Task, n: int, budget: PrivacyBudget) -> float | None:  # noqa: ARG002  the interface
        """Return the source's bound on the expected excess risk where the conditions hold."""
        return None

    def _sensitivities(self, task: Task, n: int, budget: PrivacyBudget) -> tuple[Sensitivity, ...]:  # noqa: ARG002  the interface
        """Return what the noise rests on, where the conditions hold."""
        return ()

    def calibrate(self, task: Task, n: int, budget: PrivacyBudget) -> Calibration:
        """Return the numbers with which the system runs on `n` points.

        Raises
        ------
        ConditionError
            It says which condition of the source is not met.
        """
        return self._calibrate(task, self._checked(task, n, budget), budget)

    def claim(self, task: Task, n: int, budget: PrivacyBudget) -> PrivacyClaim | None:
        """Return the privacy that the source guarantees for the run's outputs; None for a system without any.

        Raises
        ------
        ConditionError
            As :meth:`calibrate`.
        """
        self._checked(task, n, budget)
        return self.guarantee.claim(budget)

    def risk_bound(self, task: Task, n: int, budget: PrivacyBudget) -> float | None:
        """Return the source's bound on the expected excess risk; None where it gives no constant.

        Raises
        ------
        ConditionError
            As :meth:`calibrate`.
        """
        return self._risk_bound(task, self._checked(task, n, budget), budget)

    def sensitivities(self, task: Task, n: int, budget: PrivacyBudget) -> tuple[Sensitivity, ...]:
        """Return the sensitivities that the noise rests on.

        Raises
        ------
        ConditionError
            As :meth:`calibrate`.
        """
        return self._sensitivities(task, self._checked(task, n, budget), budget)

    def fit(
        self,
        sample: ArrayLike,
        *,
        task: Task,
        budget: PrivacyBudget,
        rng: np.random.Generator,
        keep_transcript: bool = False,
    ) -> Fit:
        """Run the system on each sample.

        Parameters
        ----------
        sample
            Data points, shape ``(..., n, k)``; each of the leading indices is a run of its own.
        task, budget
            What is to be minimised, and the privacy to spend.
        rng
            The only source of randomness.
        keep_transcript
            Whether to return all that was released.

        Raises
        ------
        InputError
            For a sample that does not fit the loss, holds NaN, or has features beyond the task's radius.
        ConditionError
            As :meth:`calibrate`.
        """
        points = task.loss.require_data(sample, dimension=task.dimension)
        if points.ndim < 2:
            raise InputError(f"sample.shape={points.shape} is no sample; give shape (..., n, k)")
        lead, (n, width) = points.shape[:-2], points.shape[-2:]
        n = self._checked(task, n, budget)
        features = task.loss.features(points)
        largest = float(np.sqrt(np.max(np.einsum("...d,...d->...", features, features), initial=0.0)))
        if largest > task.data_radius * (1.0 + 1e-9):
            raise InputError(
                f"sample has features of norm {largest:g}, above data_radius={task.data_radius:g}; "
                "scale or clip the features, or declare the larger radius"
            )
        runs = int(np.prod(lead, dtype=np.int64))
        found = self._fit(
            np.reshape(points, (runs, n, width)), task, budget, rng, keep_transcript=keep_transcript
        )
        return Fit(
            solution=found.solution.reshape(*lead, task.dimension),
            gradient_queries=np.broadcast_to(found.gradient_queries, (runs,)).reshape(lead),
            transcript=None
            if found.transcript is None
            else found.transcript.reshape(*lead, -1, task.dimension),
            optimality_gap=found.optimality_gap,
        )

    def _checked(self, task: Task, n: int, budget: PrivacyBudget) -> int:
        n = require_integer("n", n, minimum=1)
        require_conditions(self.id, self.conditions(task, n, budget))
        return n
