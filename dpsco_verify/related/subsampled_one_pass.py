"""The batches of privacy by iteration, with privacy by subsampling instead: the variant that Section 6 supposes."""

from __future__ import annotations

import math

import numpy as np

from dpsco_verify.arrays import FloatArray, IntArray
from dpsco_verify.related.batch_sensitivity import end_batches
from dpsco_verify.related.batch_shuffling import batch_counts, least_constant_noise, least_noise_by_size
from dpsco_verify.related.budget import Guarantee, PrivacyBudget
from dpsco_verify.related.conditions import Condition, growing_batches
from dpsco_verify.related.iteration_schedule import constant_batches
from dpsco_verify.related.one_pass import Steps, repeated, take_steps
from dpsco_verify.related.system import Calibration, Fit, Sensitivity, System
from dpsco_verify.related.task import Task


class SubsampledOnePass(System):
    """``w_{t+1} = P(w_t − η(g_t + N(0, σ²I)))``, g_t the mean gradient of ``B_t = ⌈2√d/(κ√(T − t + 1))⌉`` points.

    The output is ``(1/T) Σ w_t``. Algorithm 1 of Feldman, Koren and Talwar (2020) with subsampling in place of
    iteration: the points are taken in a random order that stays secret, each once, and σ is the least noise (to
    0.1 %) for which :mod:`dpsco_verify.related.batch_shuffling` proves (ε, δ)-privacy of all noisy gradients.
    Smoothness is not needed, as Section 6 says.

    **What it costs.** A point in an early batch, which is small, has no later noise to hide behind, and among the
    other batches it hides only behind noise for a whole gradient: σ is of the size that Algorithm 1 of the paper
    needs for single points, not ``L/√d``. At (1, 1e-6) the bounds prove 4.0 L, 4.1 L and 3.3 L for n = 10³, 10⁴ and
    10⁵ with d = 5, where iteration needs 0.45 L, and 1.5 L, 4.9 L and 3.6 L against 0.22 L with d = 20. So
    subsampling does not replace iteration: σ does not fall with d, and the risk's part for privacy is ``LDσ√d/√n``,
    of the optimal order only where ε is of the order 1/√n.

    **Risk.** Points in random order are fresh for each step: with ``η = D/√(Σ_t (L² + dσ_t²))`` the regret bound
    gives ``D√(Σ_t (L² + dσ_t²))/T``.

    The transcript holds the noisy gradients, from which all iterates follow; the guarantee covers them.
    """

    id = "subsampled-one-pass"
    title = "One pass with privacy by subsampling"
    source = "Arora, Marinov and Ullah, Section 6 (a suggestion); noise by the bounds of this project"
    section = "6"
    guarantee = Guarantee.APPROXIMATE

    def conditions(self, task: Task, n: int, budget: PrivacyBudget) -> tuple[Condition, ...]:
        """W bounded, L > 0, δ > 0, and points for the last batch."""
        return growing_batches(task, n, budget)

    def batches(self, task: Task, n: int, budget: PrivacyBudget) -> IntArray:
        """Return ``B_1, …, B_T``."""
        return constant_batches(n, task.dimension, budget.concentrated)

    def noise(self, task: Task, n: int, budget: PrivacyBudget) -> FloatArray:
        """Return ``σ_1, …, σ_T``."""
        batches = self.batches(task, n, budget)
        least = least_constant_noise(batch_counts(batches), n, budget.epsilon, budget.delta)
        return np.full(len(batches), task.lipschitz * least)

    def step_size(self, task: Task, n: int, budget: PrivacyBudget) -> float:
        """Return η."""
        return task.diameter / _root_of_squares(task, self.noise(task, n, budget))

    def _calibrate(self, task: Task, n: int, budget: PrivacyBudget) -> Calibration:
        batches, sigma = self.batches(task, n, budget), self.noise(task, n, budget)
        return Calibration(
            figures={
                "κ": budget.concentrated,
                "T": float(len(batches)),
                "B₁": float(batches[0]),
                "B_T": float(batches[-1]),
                "σ₁": float(sigma[0]),
                "σ_T": float(sigma[-1]),
                "σ by iteration": task.lipschitz / math.sqrt(task.dimension),
                "η": self.step_size(task, n, budget),
            },
            gradient_queries=float(batches.sum()),
        )

    def _risk_bound(self, task: Task, n: int, budget: PrivacyBudget) -> float:
        sigma = self.noise(task, n, budget)
        return task.diameter * _root_of_squares(task, sigma) / len(sigma)

    def _sensitivities(self, task: Task, n: int, budget: PrivacyBudget) -> tuple[Sensitivity, ...]:
        return end_batches(task, self.batches(task, n, budget))

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
        batches, sigma = self.batches(task, n, budget), self.noise(task, n, budget)
        eta = self.step_size(task, n, budget)
        steps, used = len(batches), int(batches.sum())
        order = rng.permuted(np.tile(np.arange(n), (runs, 1)), axis=1)[:, :used]
        released = np.empty((runs, steps, task.dimension)) if keep_transcript else None
        _, total = take_steps(
            Steps(order=order.T, sizes=np.full(steps, eta), batches=batches, sigmas=sigma),
            sample,
            repeated(task.initial_point, runs),
            loss=task.loss,
            convex_set=task.convex_set,
            rng=rng,
            released=released,
        )
        return Fit(
            solution=total / float(steps),
            gradient_queries=np.full(runs, float(used)),
            transcript=released,
        )


class SubsampledScaledOnePass(SubsampledOnePass):
    """The same with noise by the size of the batch: ``σ_t = c_gL/g`` for ``B_t = g``, each c_g the least for its size.

    The large batches at the end get less noise than with a constant σ, and the many batches of one are not
    charged for the few of two, which hardly gain from shuffling.
    """

    id = "subsampled-one-pass-scaled"
    title = "One pass with privacy by subsampling, noise by batch"

    def noise(self, task: Task, n: int, budget: PrivacyBudget) -> FloatArray:
        """Return ``σ_1, …, σ_T``."""
        batches = self.batches(task, n, budget)
        least = least_noise_by_size(batch_counts(batches), n, budget.epsilon, budget.delta)
        sigma: FloatArray = task.lipschitz * np.array([least[int(g)] for g in batches]) / batches
        return sigma


def _root_of_squares(task: Task, sigma: FloatArray) -> float:
    """Return ``√(Σ_t (L² + dσ_t²))``."""
    return math.sqrt(float(np.sum(task.lipschitz**2 + task.dimension * sigma**2)))
