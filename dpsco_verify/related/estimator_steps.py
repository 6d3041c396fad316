"""The estimators' noisy steps for any loss and set, behind the protocol of their neighbours."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.estimators.noise import LARGEST_EPSILON, LEAST_DELTA, LEAST_EPSILON, Plan, plan
from dpsco_verify.related.batch_sensitivity import end_batches
from dpsco_verify.related.budget import Guarantee, PrivacyBudget
from dpsco_verify.related.conditions import Condition, bounded_problem, enough_points
from dpsco_verify.related.one_pass import mean_gradient, repeated
from dpsco_verify.related.system import Calibration, Fit, Sensitivity, System
from dpsco_verify.related.task import Task

_FEWEST = 26
"""A pass in batches has at least 25 steps."""
_PASSES = 100


class EstimatorBatches(System):
    """One pass in batches of f points, each point at most once, as :mod:`dpsco_verify.estimators` does it.

    ``w_{t+1} = P(w_t − (D/√2)(g_t + ξ_t)/√(Σ_{s≤t} ‖g_s + ξ_s‖²))`` with g_t the mean gradient of f points, in a
    secret uniformly random order of all n, and ``ξ_t = N(0, σ²I)``; the output is the average of w_2, …, w_{T+1},
    weighted by 1, …, T. So it is Algorithm 1 with batches, without repeats, with steps that need no tuning
    (AdaGrad's; Streeter and McMahan 2010) and another average. f and T are
    :func:`dpsco_verify.estimators.noise.plan`'s, and σ is the least that the bound on a whole run
    (:mod:`dpsco_verify.privacy.whole_run`) proves.

    The estimators clip records and release on a lattice besides; here a sample beyond the task's radius is refused.

    The transcript holds the noisy gradients, from which all iterates follow; the guarantee covers them.
    """

    id = "estimator-batches"
    title = "Algorithm 1 in batches, certified noise"
    source = "Arora, Marinov and Ullah, Algorithm 1, as the estimators of this project change it"
    section = "4, 5"
    guarantee = Guarantee.APPROXIMATE

    def conditions(self, task: Task, n: int, budget: PrivacyBudget) -> tuple[Condition, ...]:
        """W bounded, L > 0, ε and δ within the accountant's range, and points for all steps."""
        return (*_basic(task, budget), enough_points(n, _FEWEST, "1 + the number of steps"))

    def plan(self, task: Task, n: int, budget: PrivacyBudget) -> Plan:
        """Return f, T and σ/L."""
        return _plan(task, n, budget, batch_size="auto", epochs=1)

    def _calibrate(self, task: Task, n: int, budget: PrivacyBudget) -> Calibration:
        chosen = self.plan(task, n, budget)
        return Calibration(
            figures={
                "T": float(chosen.steps),
                "f": float(chosen.batch_size),
                "σ": chosen.ratio * task.lipschitz,
            },
            gradient_queries=float(chosen.epochs * chosen.points),
        )

    def _sensitivities(self, task: Task, n: int, budget: PrivacyBudget) -> tuple[Sensitivity, ...]:
        chosen = self.plan(task, n, budget)
        return end_batches(task, np.full(chosen.points // chosen.batch_size, chosen.batch_size))

    def _fit(
        self,
        sample: FloatArray,
        task: Task,
        budget: PrivacyBudget,
        rng: np.random.Generator,
        *,
        keep_transcript: bool,
    ) -> Fit:
        runs, n = sample.shape[:2]
        chosen = self.plan(task, n, budget)
        f, sigma, length = chosen.batch_size, chosen.ratio * task.lipschitz, task.diameter / math.sqrt(2.0)
        rows = np.arange(runs)[:, np.newaxis]
        order = np.tile(np.arange(n), (runs, 1))
        if f < n:
            order = rng.permuted(order, axis=1)
        w = repeated(task.initial_point, runs)
        average, squares = np.zeros_like(w), np.zeros((runs, 1))
        released = np.empty((runs, chosen.steps, task.dimension)) if keep_transcript else None
        for t in range(chosen.steps):
            points = sample if f == n else sample[rows, order[:, t * f : (t + 1) * f]]
            noisy = mean_gradient(task.loss, w, points) + sigma * rng.standard_normal(w.shape)
            squares += np.einsum("rd,rd->r", noisy, noisy)[:, np.newaxis]
            w = task.convex_set.project(w - length / np.sqrt(squares) * noisy)
            average += float(t + 1) * w
            if released is not None:
                released[:, t] = noisy
        return Fit(
            solution=average / (0.5 * chosen.steps * (chosen.steps + 1)),
            gradient_queries=np.full(runs, float(chosen.epochs * chosen.points)),
            transcript=released,
        )


class EstimatorPasses(EstimatorBatches):
    """The same with T = 100 full passes: each g_t is the mean gradient of all n points, and ``σ = 2L√T/(nμ)``.

    T Gaussian mechanisms of distance ``2L/(nσ)`` are one of distance μ, the largest that is (ε, δ)-private (Dong, Roth
    and Su 2022; Balle and Wang 2018), so the noise is exact, and that on the average of all steps does not grow with T.
    """

    id = "estimator-passes"
    title = "Full passes, exact noise"
    source = "Dong, Roth and Su (2022), Corollary 3.3; the steps of this project's estimators"

    def conditions(self, task: Task, n: int, budget: PrivacyBudget) -> tuple[Condition, ...]:
        """W bounded, L > 0, ε and δ within the accountant's range, n ≥ 2."""
        return (*_basic(task, budget), enough_points(n, 2, "two points"))

    def plan(self, task: Task, n: int, budget: PrivacyBudget) -> Plan:
        """Return n, T and σ/L."""
        return _plan(task, n, budget, batch_size=n, epochs=_PASSES)


def _basic(task: Task, budget: PrivacyBudget) -> tuple[Condition, ...]:
    return (
        *bounded_problem(task),
        Condition(
            holds=budget.delta >= LEAST_DELTA,
            words=f"delta={budget.delta:g} must be at least {LEAST_DELTA:g}; give a larger δ",
        ),
        Condition(
            holds=LEAST_EPSILON <= budget.epsilon <= LARGEST_EPSILON,
            words=f"epsilon={budget.epsilon:g} must be in [{LEAST_EPSILON:g}, {LARGEST_EPSILON:g}]; give such an ε",
        ),
    )


def _plan(
    task: Task, n: int, budget: PrivacyBudget, *, batch_size: int | Literal["auto"], epochs: int
) -> Plan:
    return plan(
        n=n,
        parameters=task.dimension,
        epsilon=budget.epsilon,
        delta=budget.delta,
        batch_size=batch_size,
        epochs=epochs,
    )
