"""Localisation by phases of stochastic gradient descent, each followed by noise on its average."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.related.budget import Guarantee, PrivacyBudget
from dpsco_verify.related.conditions import (
    Condition,
    bounded_problem,
    enough_points,
    nonexpansive_steps,
    positive_delta,
)
from dpsco_verify.related.one_pass import average_of_pass, repeated
from dpsco_verify.related.system import Calibration, Fit, Sensitivity, System
from dpsco_verify.related.task import Task

_FEWEST = 2
_ROUNDING = 1e-12
"""Of the computed average, in units of L."""


class PhasedSgd(System):
    """Phased SGD: ``k = ⌊log₂ n⌋`` phases of ``n_i = ⌊n/2^i⌋`` fresh points with ``η_i = η/4^i``.

    Phase i runs one pass from ``w_{i−1}``, takes the average w̄_i of its iterates, and releases
    ``w̄_i + N(0, σ_i²I)``, ``σ_i = 4Lη_i/κ``, of which the projection on W is w_i. Here κ is the source's ρ.

    **Privacy.** Each point is used in one phase, and what follows is post-processing. The source's noise is for a
    sensitivity of 4Lη_i of w̄_i, hence ``(α, ακ²/2)``-Rényi privacy for all α, which is κ²/2-zCDP. The passes must be
    non-expansive: smooth losses and ``η_i ≤ 2/β``; the largest step is η/4. By
    :func:`~dpsco_verify.related.one_pass.average_of_pass` the sensitivity is no more than ``2Lη_i``, and that is
    reached but for ``1/n_i``: the source's noise is twice what is needed, see :class:`TightPhasedSgd`.

    **Risk.** With ``w̄_0 = w*`` the bound of a pass gives
    ``E F(w̄_i) − F(w̄_{i−1}) ≤ E‖w_{i−1} − w̄_{i−1}‖²/(2η_i n_i) + η_i L²/2``, where the squared distance is at most
    D² for i = 1 and ``dσ_{i−1}²`` after; the last noise costs at most ``Lσ_k√d``. `risk_bound` is the sum for the
    numbers in force; with ``η = (D/L) min(4/√n, κ/(2√d))`` it is ``O(LD(1/√n + √d/(κn)))``, the source's theorem.

    The transcript holds the k noisy averages before their projection.
    """

    id = "phased-sgd"
    title = "Phased SGD"
    source = "Feldman, Koren and Talwar (2020), Algorithm 2 and its theorem"
    section = "3"
    guarantee = Guarantee.CONCENTRATED
    noise_factor: ClassVar[float] = 4.0
    """``σ_i κ/(Lη_i)``, the sensitivity in units of Lη_i."""

    def conditions(self, task: Task, n: int, budget: PrivacyBudget) -> tuple[Condition, ...]:
        """W bounded, L > 0, δ > 0, n ≥ 2, and non-expansive steps."""
        basic = (
            *bounded_problem(task),
            positive_delta(budget),
            enough_points(n, _FEWEST, "one phase's 2"),
        )
        if not all(condition.holds for condition in basic):
            return basic
        return (*basic, *nonexpansive_steps(task, self.step_size(task, n, budget) / 4.0, "η₁"))

    def step_size(self, task: Task, n: int, budget: PrivacyBudget) -> float:
        """Return η, of which phase i takes ``η/4^i``."""
        privacy = budget.concentrated / (2.0 * math.sqrt(task.dimension))
        return task.diameter / task.lipschitz * min(4.0 / math.sqrt(n), privacy)

    def phases(self, task: Task, n: int, budget: PrivacyBudget) -> tuple[tuple[int, float, float], ...]:
        """Return ``(n_i, η_i, σ_i)`` for i = 1, …, k."""
        eta = self.step_size(task, n, budget)
        steps = [(n >> i, eta * 4.0**-i) for i in range(1, n.bit_length())]
        scale = self.noise_factor * task.lipschitz / budget.concentrated
        return tuple((count, step, scale * step) for count, step in steps)

    def _calibrate(self, task: Task, n: int, budget: PrivacyBudget) -> Calibration:
        phases = self.phases(task, n, budget)
        return Calibration(
            figures={
                "κ": budget.concentrated,
                "phases": float(len(phases)),
                "η": self.step_size(task, n, budget),
                "σ₁": phases[0][2],
                "σ_k": phases[-1][2],
            },
            gradient_queries=float(sum(count for count, _, _ in phases)),
        )

    def _risk_bound(self, task: Task, n: int, budget: PrivacyBudget) -> float:
        total, squared_distance, sigma = 0.0, task.diameter**2, 0.0
        for count, eta, sigma in self.phases(task, n, budget):
            total += squared_distance / (2.0 * eta * count) + 0.5 * eta * task.lipschitz**2
            squared_distance = task.dimension * sigma**2
        return total + task.lipschitz * sigma * math.sqrt(task.dimension)

    def _sensitivities(self, task: Task, n: int, budget: PrivacyBudget) -> tuple[Sensitivity, ...]:
        found = []
        first = 0
        for i, (count, eta, _) in enumerate(self.phases(task, n, budget), start=1):

            def average(
                sample: FloatArray, *, first: int = first, count: int = count, eta: float = eta
            ) -> FloatArray:
                return _average(sample[np.newaxis, first : first + count], task, eta)

            found.append(
                Sensitivity(
                    what=f"average of phase {i}",
                    bound=self.noise_factor * task.lipschitz * eta,
                    query=average,
                    rounding=_ROUNDING * task.convex_set.max_norm,
                )
            )
            first += count
        return tuple(found)

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
        w = repeated(task.initial_point, runs)
        released = []
        first = 0
        for count, eta, sigma in self.phases(task, n, budget):
            average = average_of_pass(
                sample[:, first : first + count],
                w,
                loss=task.loss,
                convex_set=task.convex_set,
                step_size=eta,
            )
            noisy = average + sigma * rng.standard_normal(average.shape)
            w = task.convex_set.project(noisy)
            first += count
            if keep_transcript:
                released.append(noisy)
        return Fit(
            solution=w,
            gradient_queries=np.full(runs, float(first)),
            transcript=np.stack(released, axis=1) if keep_transcript else None,
        )


class TightPhasedSgd(PhasedSgd):
    """Phased SGD with ``σ_i = 2Lη_i/κ``: the same guarantee from the sensitivity 2Lη_i, with half the noise."""

    id = "phased-sgd-tight"
    title = "Phased SGD, least noise"
    source = "Feldman, Koren and Talwar (2020), Algorithm 2; sensitivity by the argument above"
    noise_factor = 2.0


def _average(points: FloatArray, task: Task, eta: float) -> FloatArray:
    """Return the average of a pass from the initial point, shape (d,)."""
    average: FloatArray = average_of_pass(
        points,
        repeated(task.initial_point, 1),
        loss=task.loss,
        convex_set=task.convex_set,
        step_size=eta,
    )[0]
    return average
