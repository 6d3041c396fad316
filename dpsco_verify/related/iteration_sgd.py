"""One pass of noisy gradient steps whose last iterate alone is released: privacy amplification by iteration."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpsco_verify.arrays import FloatArray, IntArray
from dpsco_verify.related.batch_sensitivity import end_batches
from dpsco_verify.related.budget import Guarantee, PrivacyBudget
from dpsco_verify.related.conditions import Condition, growing_batches, nonexpansive_steps
from dpsco_verify.related.iteration_schedule import (
    constant_batches,
    halving_batches,
    halving_phases,
    halving_risk,
    halving_steps,
)
from dpsco_verify.related.one_pass import Steps, mean_gradient, repeated, take_steps
from dpsco_verify.related.system import Calibration, Fit, Sensitivity, System
from dpsco_verify.related.task import Task


@dataclass(frozen=True, kw_only=True, eq=False)
class Schedule:
    """Step sizes ``η_t``, shape (T,), and batches ``B_t``, shape (T,)."""

    steps: FloatArray
    batches: IntArray


class IterationSgd(System):
    """Snowball SGD: ``w_{t+1} = P(w_t − η(g_t + N(0, σ²I)))`` with ``σ = L/√d``, of which the last iterate is released.

    ``g_t`` is the mean gradient of ``B_t = ⌈2√d/(κ√(T − t + 1))⌉`` points, each used once and in order; κ is the
    source's ρ, T the most steps for which the n points suffice, and ``η = D/(L√T)``.

    **Privacy.** Replacing a point of batch t moves ``w_t − ηg_t`` by at most ``2Lη/B_t``; the steps after it are
    non-expansive (smooth losses, η ≤ 2/β) and each adds N(0, η²σ²I), as does step t. By amplification by
    iteration (Feldman, Mironov, Talwar and Thakurta 2018, Theorem 22, the shift spread evenly) the last iterate
    has ``(α, α(2Lη/B_t)²/(2(T − t + 1)η²σ²))``-Rényi privacy, which the batches make at most ακ²/2: κ²/2-zCDP.
    Earlier iterates are not covered. The first batch of a loss without curvature meets the bound where nothing is
    projected.

    **Risk.** ``E‖g_t + ξ_t‖² ≤ G² = L² + dσ² = 2L²``. For the last of T + 1 iterates, by the argument of Shamir and
    Zhang (2013) with a constant step, ``E F(w_{T+1}) − F* ≤ D²/(2η(T + 1)) + (ηG²/2)(1 + H_T)``, H_T a harmonic
    number.

    The transcript holds one vector, the last iterate before its projection, which the same proof covers.
    """

    id = "iteration-sgd"
    title = "SGD with privacy by iteration"
    source = "Feldman, Koren and Talwar (2020), Algorithm 1; last iterate by Shamir and Zhang (2013)"
    section = "3, 6"
    guarantee = Guarantee.CONCENTRATED

    def conditions(self, task: Task, n: int, budget: PrivacyBudget) -> tuple[Condition, ...]:
        """W bounded, L > 0, δ > 0, points for the last batch, and non-expansive steps."""
        basic = growing_batches(task, n, budget)
        if not all(condition.holds for condition in basic):
            return basic
        largest = float(self.schedule(task, n, budget).steps[0])
        return (*basic, *nonexpansive_steps(task, largest, "η"))

    def schedule(self, task: Task, n: int, budget: PrivacyBudget) -> Schedule:
        """Return step sizes and batches."""
        batches = constant_batches(n, task.dimension, budget.concentrated)
        eta = task.diameter / (task.lipschitz * math.sqrt(len(batches)))
        return Schedule(steps=np.full(len(batches), eta), batches=batches)

    def noise(self, task: Task) -> float:
        """Return σ."""
        return task.lipschitz / math.sqrt(task.dimension)

    def _calibrate(self, task: Task, n: int, budget: PrivacyBudget) -> Calibration:
        schedule = self.schedule(task, n, budget)
        return Calibration(
            figures={
                "κ": budget.concentrated,
                "T": float(len(schedule.steps)),
                "η": float(schedule.steps[0]),
                "σ": self.noise(task),
                "B₁": float(schedule.batches[0]),
                "B_T": float(schedule.batches[-1]),
            },
            gradient_queries=float(schedule.batches.sum()),
        )

    def _risk_bound(self, task: Task, n: int, budget: PrivacyBudget) -> float:
        schedule = self.schedule(task, n, budget)
        steps, eta = len(schedule.steps), float(schedule.steps[0])
        harmonic = float(np.sum(1.0 / np.arange(1, steps + 1)))
        # G²/2 = L².
        noise = eta * task.lipschitz**2 * (1.0 + harmonic)
        return task.diameter**2 / (2.0 * eta * (steps + 1)) + noise

    def _sensitivities(self, task: Task, n: int, budget: PrivacyBudget) -> tuple[Sensitivity, ...]:
        return end_batches(task, self.schedule(task, n, budget).batches)

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
        schedule, sigma = self.schedule(task, n, budget), self.noise(task)
        used, last = int(schedule.batches.sum()), int(schedule.batches[-1])
        w, _ = take_steps(
            Steps(
                order=np.arange(used - last)[:, np.newaxis],
                sizes=schedule.steps[:-1],
                batches=schedule.batches[:-1],
                sigmas=np.full(len(schedule.steps) - 1, sigma),
            ),
            sample,
            repeated(task.initial_point, runs),
            loss=task.loss,
            convex_set=task.convex_set,
            rng=rng,
        )
        # The last step by itself: the point before its projection is what is released.
        gradient = mean_gradient(task.loss, w, sample[:, used - last : used])
        moved = w - schedule.steps[-1] * (gradient + sigma * rng.standard_normal(w.shape))
        return Fit(
            solution=task.convex_set.project(moved),
            gradient_queries=np.full(runs, float(used)),
            transcript=moved[:, np.newaxis] if keep_transcript else None,
        )


class HalvingIterationSgd(IterationSgd):
    """Snowball SGD with steps that halve, for a last iterate without the logarithm.

    ``η_t = C 2^{−i}/√m`` in phase i of the ``m = T + 1`` iterates, the phases of Jain, Nagaraj and Netrapalli
    (2019), and batches by the same privacy argument with unequal noise: ``B_t = ⌈2√d η_t/(κ√(Σ_{s≥t} η_s²))⌉``.
    The formula for a constant step would be too small by a factor of up to √7, at the end of each phase.

    **Risk.** With ``E F(x_{t_i})`` least in phase i, the regret from t_i to the end of phase i + 1 against
    ``x_{t_i}`` gives ``E F(x_{t_{i+1}}) − F(x_{t_i}) ≤ G²(ℓ_i η_i² + ℓ_{i+1} η_{i+1}²)/(2ℓ_{i+1} η_{i+1})``, ℓ_i
    the length of phase i; the first phase has ``D²/(2η_0ℓ_0) + η_0G²/2``. C minimises the sum, which is
    ``O(LD/√T)``.
    """

    id = "iteration-sgd-halving"
    title = "SGD with privacy by iteration, halving steps"
    source = "Feldman, Koren and Talwar (2020), Algorithm 1; steps by Jain, Nagaraj and Netrapalli (2019)"

    def schedule(self, task: Task, n: int, budget: PrivacyBudget) -> Schedule:
        """Return step sizes and batches."""
        batches = halving_batches(n, task.dimension, budget.concentrated)
        phases = halving_phases(len(batches))
        distance, noise = halving_risk(phases)
        scale = task.diameter / (math.sqrt(2.0) * task.lipschitz) * math.sqrt(distance / noise)
        return Schedule(steps=scale * halving_steps(phases), batches=batches)

    def _risk_bound(self, task: Task, n: int, budget: PrivacyBudget) -> float:
        distance, noise = halving_risk(halving_phases(len(self.schedule(task, n, budget).batches)))
        return 2.0 * task.diameter * math.sqrt(2.0) * task.lipschitz * math.sqrt(distance * noise)
