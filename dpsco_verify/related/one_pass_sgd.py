"""Stochastic gradient descent over the sample, once, without privacy: the yardstick of cost and risk."""

from __future__ import annotations

import math

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.related.budget import Guarantee, PrivacyBudget
from dpsco_verify.related.conditions import Condition
from dpsco_verify.related.one_pass import average_of_pass, repeated
from dpsco_verify.related.step_conditions import bounded_problem
from dpsco_verify.related.system import Calibration, Fit, System
from dpsco_verify.related.task import Task


class OnePassSgd(System):
    """``w_{t+1} = P(w_t − η∇f(w_t, z_t))`` with ``η = D/(L√n)``, and the average of ``w_1, …, w_n``.

    Excess risk at most ``D²/(2ηn) + ηL²/2 = LD/√n``; n gradients. Any convex loss that is L-Lipschitz.
    """

    id = "one-pass-sgd"
    title = "One-pass SGD, not private"
    source = "Zinkevich (2003), the proof of Theorem 1; average of iterates by Cesa-Bianchi, Conconi and Gentile (2004)"
    section = "1"
    guarantee = Guarantee.NONE

    def conditions(self, task: Task, n: int, budget: PrivacyBudget) -> tuple[Condition, ...]:  # noqa: ARG002  the interface
        """W bounded, L > 0."""
        return bounded_problem(task)

    def step_size(self, task: Task, n: int) -> float:
        """Return η."""
        return task.diameter / (task.lipschitz * math.sqrt(n))

    def _calibrate(self, task: Task, n: int, budget: PrivacyBudget) -> Calibration:  # noqa: ARG002  the interface
        return Calibration(figures={"η": self.step_size(task, n)}, gradient_queries=float(n))

    def _risk_bound(self, task: Task, n: int, budget: PrivacyBudget) -> float:  # noqa: ARG002  the interface
        return task.lipschitz * task.diameter / math.sqrt(n)

    def _fit(
        self,
        sample: FloatArray,
        task: Task,
        budget: PrivacyBudget,  # noqa: ARG002  the interface
        rng: np.random.Generator,  # noqa: ARG002  the interface
        *,
        keep_transcript: bool,  # noqa: ARG002  nothing but the solution is released
    ) -> Fit:
        runs, n = sample.shape[:2]
        solution = average_of_pass(
            sample,
            repeated(task.initial_point, runs),
            loss=task.loss,
            convex_set=task.convex_set,
            step_size=self.step_size(task, n),
        )
        return Fit(solution=solution, gradient_queries=np.full(runs, float(n)))
