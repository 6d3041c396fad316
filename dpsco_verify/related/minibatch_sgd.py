"""Noisy mini-batch stochastic gradient descent for smooth losses."""

from __future__ import annotations

import math
from typing import SupportsFloat

import numpy as np

from dpsco_verify.arrays import FloatArray, IntArray
from dpsco_verify.related.batch_sensitivity import ROUNDING
from dpsco_verify.related.budget import Guarantee, PrivacyBudget
from dpsco_verify.related.conditions import (
    Condition,
    at_most_epsilon,
    bounded_problem,
    nonexpansive_steps,
    positive_delta,
)
from dpsco_verify.related.one_pass import mean_gradient, repeated
from dpsco_verify.related.system import Calibration, Fit, Sensitivity, System
from dpsco_verify.related.task import Task
from dpsco_verify.validation import require_positive

_LARGEST_EPSILON = 1.0


class MinibatchSgd(System):
    """``w_{t+1} = P(w_t − η(g_t + N(0, σ²I)))`` with g_t the mean gradient of m points drawn with replacement, T times.

    ``T = ⌊min(n/8, ε²n²/(32d log(1/δ)))⌋``, ``m = ⌈max(n√(ε/(4T)), 1)⌉``, ``σ² = 8TL² log(1/δ)/(n²ε²)``,
    ``η = D/(L√T)``, with the diameter D where the source has a bound M on the points; the output is the average of the
    T points at which gradients were taken (of the T points after the steps, in another reading of the source).

    **Privacy.** A point that a batch holds j times moves g_t by at most 2Lj/m. The source invokes the moments
    accountant (Abadi et al. 2016, Theorem 1), which is for ``ε < c₁(m/n)²T = c₁ε/4`` with a constant c₁ that it
    does not give, and for batches in which a point occurs at most once. So the printed σ has no proof with
    constants, and for small n it is too small: with all other gradients −L and the point's +L or −L, the sum of all
    steps alone shows that (1, ·)-privacy with d = 5 and σ for δ = 1e-6 needs a δ of 1.08e-5 at n = 100 and 1.6e-6 at
    n = 150. The output is refuted where T = 2, as it reveals the first step: 1.05e-5 at n = 80, on a box that does
    not clip it; an average of the points after the steps would do so where T = 1. For n ≥ 250 an exact composition
    of the same instance stays below 1e-6. At ε = 3 the sum refutes n = 1000 too; ε ≤ 1 is a condition, as in the
    source.

    **Risk.** For smooth losses with ``β ≤ (L/D) min(√(n/2), εn/(2√(2d log(1/δ))))``, which is η ≤ 2/β, the
    stability of SGD gives at most ``10LD max(√(d log(1/δ))/(εn), 1/√n)``. Privacy does not need smoothness.

    The transcript holds the noisy gradients ``g_t + ξ_t``, from which all iterates follow; the guarantee covers
    them.

    Parameters
    ----------
    noise_factor
        What σ is multiplied by; 1 as printed. With another factor there is no risk bound.
    """

    id = "minibatch-sgd"
    title = "Noisy mini-batch SGD"
    source = "Bassily, Feldman, Talwar and Thakurta (2019), Algorithm 1 and its theorems"
    section = "3"
    guarantee = Guarantee.APPROXIMATE

    def __init__(self, *, noise_factor: SupportsFloat = 1.0) -> None:
        self._noise_factor = require_positive("noise_factor", noise_factor)

    def conditions(self, task: Task, n: int, budget: PrivacyBudget) -> tuple[Condition, ...]:
        """W bounded, L > 0, 0 < δ, ε ≤ 1, T ≥ 1, and smooth with η ≤ 2/β."""
        basic = self._conditions_of_steps(task, n, budget)
        if not all(condition.holds for condition in basic):
            return basic
        return (*basic, *nonexpansive_steps(task, self.step_size(task, n, budget), "η"))

    def _conditions_of_steps(self, task: Task, n: int, budget: PrivacyBudget) -> tuple[Condition, ...]:
        basic = (
            *bounded_problem(task),
            positive_delta(budget),
            at_most_epsilon(budget, _LARGEST_EPSILON),
        )
        if not all(condition.holds for condition in basic):
            return basic
        most = _most_steps(task, n, budget)
        return (
            *basic,
            Condition(
                holds=most >= 1.0,
                words=f"T=min(n/8, ε²n²/(32d log(1/δ)))={most:.3g} must be at least 1; give more points or a larger ε",
            ),
        )

    def steps(self, task: Task, n: int, budget: PrivacyBudget) -> int:
        """Return T."""
        return math.floor(_most_steps(task, n, budget))

    def batch_size(self, task: Task, n: int, budget: PrivacyBudget) -> int:
        """Return m."""
        return math.ceil(max(n * math.sqrt(budget.epsilon / (4.0 * self.steps(task, n, budget))), 1.0))

    def noise(self, task: Task, n: int, budget: PrivacyBudget) -> float:
        """Return σ."""
        logs = 8.0 * self.steps(task, n, budget) * budget.log_inverse_delta
        return self._noise_factor * task.lipschitz * math.sqrt(logs) / (n * budget.epsilon)

    def step_size(self, task: Task, n: int, budget: PrivacyBudget) -> float:
        """Return η."""
        return task.diameter / (task.lipschitz * math.sqrt(self.steps(task, n, budget)))

    def _calibrate(self, task: Task, n: int, budget: PrivacyBudget) -> Calibration:
        steps, batch = self.steps(task, n, budget), self.batch_size(task, n, budget)
        return Calibration(
            figures={
                "T": float(steps),
                "m": float(batch),
                "σ": self.noise(task, n, budget),
                "η": self.step_size(task, n, budget),
            },
            gradient_queries=float(steps * batch),
        )

    def _risk_bound(self, task: Task, n: int, budget: PrivacyBudget) -> float | None:
        if self._noise_factor != 1.0:
            return None
        return 10.0 * task.lipschitz * task.diameter * rate(task, n, budget)

    def _sensitivities(self, task: Task, n: int, budget: PrivacyBudget) -> tuple[Sensitivity, ...]:
        batch = self.batch_size(task, n, budget)
        found = []
        for times, words in ((1, "once"), (batch, "every time")):
            drawn = np.zeros(batch, dtype=np.int64)
            drawn[times:] = 1 + np.arange(batch - times) % (n - 1)

            def gradient(sample: FloatArray, *, drawn: IntArray = drawn) -> FloatArray:
                w = repeated(task.initial_point, 1)
                points: FloatArray = sample[np.newaxis, drawn]
                mean: FloatArray = self._mean_gradient(task, w, points, n, budget)[0]
                return mean

            found.append(
                Sensitivity(
                    what=f"mean gradient of a batch that holds the first point {words}",
                    bound=2.0 * task.lipschitz * times / batch,
                    query=gradient,
                    rounding=ROUNDING * task.lipschitz,
                )
            )
        return tuple(found)

    def _mean_gradient(
        self,
        task: Task,
        w: FloatArray,
        points: FloatArray,
        n: int,  # noqa: ARG002  for the smoothed variant
        budget: PrivacyBudget,  # noqa: ARG002  the same
    ) -> FloatArray:
        """Return ``g_t``, shape (R, d), for points of shape (R, m, k)."""
        return mean_gradient(task.loss, w, points)

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
        steps, batch = self.steps(task, n, budget), self.batch_size(task, n, budget)
        sigma, eta = self.noise(task, n, budget), self.step_size(task, n, budget)
        w = repeated(task.initial_point, runs)
        total = np.zeros_like(w)
        released = np.empty((runs, steps, task.dimension)) if keep_transcript else None
        rows = np.arange(runs)[:, np.newaxis]
        for t in range(steps):
            total += w
            points = sample[rows, rng.integers(n, size=(runs, batch))]
            noisy = self._mean_gradient(task, w, points, n, budget) + sigma * rng.standard_normal(w.shape)
            w = task.convex_set.project(w - eta * noisy)
            if released is not None:
                released[:, t] = noisy
        return Fit(
            solution=total / float(steps),
            gradient_queries=np.full(runs, float(steps * batch)),
            transcript=released,
        )


def rate(task: Task, n: int, budget: PrivacyBudget) -> float:
    """Return ``max(√(d log(1/δ))/(εn), 1/√n)``."""
    private = math.sqrt(task.dimension * budget.log_inverse_delta) / (budget.epsilon * n)
    return max(private, 1.0 / math.sqrt(n))


def _most_steps(task: Task, n: int, budget: PrivacyBudget) -> float:
    private = (budget.epsilon * n) ** 2 / (32.0 * task.dimension * budget.log_inverse_delta)
    return min(n / 8.0, private)
