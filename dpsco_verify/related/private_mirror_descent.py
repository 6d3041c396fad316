"""Algorithm 1 with the mirror step of any potential: the extension that Section 7 speaks of."""

from __future__ import annotations

import math

import numpy as np

from dpsco_verify.algorithm import StoppingRule
from dpsco_verify.algorithm.stopping_law import mean_iterations
from dpsco_verify.algorithm.tape import GeneratorTape, Tape
from dpsco_verify.arrays import FloatArray
from dpsco_verify.related.algorithm_one import AlgorithmOne
from dpsco_verify.related.batch_sensitivity import ROUNDING
from dpsco_verify.related.budget import Guarantee, PrivacyBudget
from dpsco_verify.related.conditions import Condition, enough_points, positive_delta
from dpsco_verify.related.mirror_descent import (
    EntropicPotential,
    MirrorSystem,
    PNormPotential,
    require_dual_norm,
)
from dpsco_verify.related.system import Calibration, Fit, Sensitivity
from dpsco_verify.related.task import Task


class PrivateMirrorDescent(MirrorSystem):
    """Algorithm 1 with ``w_{t+1} = argmin_{w in W} D_Φ(w ‖ ∇Φ*(∇Φ(w_t) − η(g_t + ξ_t)))`` from ``w_1 = argmin_W Φ``.

    Draws, stopping at ⌊n/2⌋ + 1 distinct points, noise-only steps and the average over the fresh times are those of
    Algorithm 1; so is ``ξ_t ~ N(0, σ²I)``, with the σ of :class:`~dpsco_verify.related.algorithm_one.AlgorithmOne`.

    **Privacy, for any Φ.** All that a step reveals of the data is ``g_t + ξ_t``; the mirror step is
    post-processing of it. So the certified bounds on the transcript of noisy gradients hold for every strictly
    convex Φ, on every set, with σ set by the Euclidean sensitivity ``2 sup‖g‖₂ ≤ 2L``: nothing of the guarantee
    is lost, and nothing in it is gained from Φ. The sensitivity in the dual norm plays no part while the noise is
    spherical.

    **Risk, by Φ.** Noise and stopping do not depend on the data, so with ``m = ⌊n/2⌋ + 1``,
    ``R ≥ sup_u D_Φ(u ‖ w_1)``, α-strong convexity, ``‖g‖_* ≤ G``, ``N² ≥ σ² E‖ξ‖_*²`` for a standard normal ξ, and
    ``S² ≥ E‖g + ξ_t‖_*²``, Wald's identity gives

        E F(ŵ) − F* ≤ (R/η + (η/(2α))(mS² + (Eτ − m)N²))/m,  Eτ = Σ_{k<m} n/(n − k),

    where S is G + N, and ``√(G² + N²)`` in the Euclidean norm. The step is Algorithm 1's in these terms:
    ``η = √(2αR)/(√n(G + N))``, which is ``D/(√n(L + σ√d))`` for the Euclidean potential. The noise enters through R
    and N: ``D σ√d/√n`` for the Euclidean one; for the entropic one on the simplex ``R = log d`` and
    ``N = σ√(E max ξ_i²) ≈ σ√(2 log d)``, hence ``σ log d/√n``, in which d is logarithmic.

    The transcript holds the noisy gradients, from which all iterates follow (0 after a run's end); the guarantee
    covers them.
    """

    source = "Arora, Marinov and Ullah, Algorithm 1 and Section 7 (an extension); noise by the bounds of this project"
    section = "7"
    guarantee = Guarantee.APPROXIMATE

    def _further_conditions(self, n: int, budget: PrivacyBudget) -> tuple[Condition, ...]:
        return (positive_delta(budget), enough_points(n, 2, "the fewest"))

    def noise(self, task: Task, n: int, budget: PrivacyBudget) -> float:
        """Return σ."""
        return AlgorithmOne().noise(task, n, budget)

    def step_size(self, task: Task, n: int, budget: PrivacyBudget) -> float:
        """Return η."""
        geometry = self.geometry(task)
        scale = geometry.dual_lipschitz + self.noise(task, n, budget) * geometry.noise_norm
        return math.sqrt(2.0 * geometry.convexity * geometry.reach) / (math.sqrt(n) * scale)

    def _calibrate(self, task: Task, n: int, budget: PrivacyBudget) -> Calibration:
        geometry = self.geometry(task)
        return Calibration(
            figures={
                "σ": self.noise(task, n, budget),
                "η": self.step_size(task, n, budget),
                "sup D_Φ": geometry.reach,
                "α": geometry.convexity,
                "G": geometry.dual_lipschitz,
                "N": self.noise(task, n, budget) * geometry.noise_norm,
            },
            gradient_queries=float(StoppingRule.LOOP.distinct_points(n)),
        )

    def _risk_bound(self, task: Task, n: int, budget: PrivacyBudget) -> float:
        geometry, eta = self.geometry(task), self.step_size(task, n, budget)
        gradient, noise = geometry.dual_lipschitz, self.noise(task, n, budget) * geometry.noise_norm
        m = StoppingRule.LOOP.distinct_points(n)
        fresh = self._fresh_square(gradient, noise)
        squares = m * fresh + (float(mean_iterations(n, m)) - m) * noise**2
        return (geometry.reach / eta + 0.5 * eta / geometry.convexity * squares) / m

    def _fresh_square(self, gradient: float, noise: float) -> float:
        """Return a bound on ``E‖g + ξ‖_*²``."""
        return (gradient + noise) ** 2

    def _sensitivities(self, task: Task, n: int, budget: PrivacyBudget) -> tuple[Sensitivity, ...]:  # noqa: ARG002  the interface
        def gradient(sample: FloatArray) -> FloatArray:
            geometry = self.geometry(task)
            return task.loss.subgradient(geometry.point(geometry.begin(task, 1))[0], sample[0])

        return (
            Sensitivity(
                what="subgradient at a fresh point",
                bound=2.0 * task.lipschitz,
                query=gradient,
                rounding=ROUNDING * task.lipschitz,
            ),
        )

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
        tape = GeneratorTape(rng, runs, n, task.dimension)
        return self.run(sample, task, budget, tape, keep_transcript=keep_transcript)

    def run(
        self,
        sample: FloatArray,
        task: Task,
        budget: PrivacyBudget,
        tape: Tape,
        *,
        keep_transcript: bool = False,
    ) -> Fit:
        """Run on samples of shape (R, n, k) that meet the conditions, with the draws of a tape for R runs."""
        runs, n = sample.shape[:2]
        geometry = self.geometry(task)
        sigma, eta = self.noise(task, n, budget), self.step_size(task, n, budget)
        stop_at = StoppingRule.LOOP.distinct_points(n)
        state = geometry.begin(task, runs)
        total = np.zeros_like(state)
        seen = np.zeros((runs, n), dtype=np.bool_)
        distinct = np.zeros(runs, dtype=np.int64)
        released = []
        active = np.arange(runs)  # the runs that have not stopped
        while active.size:
            indices, normals = tape.next()
            drawn, noise = indices[active, 0], sigma * normals[active]
            fresh = ~seen[active, drawn]
            w = geometry.point(state[active])
            gradient = task.loss.subgradient(w, sample[active, drawn])
            require_dual_norm(geometry, gradient[fresh])
            noisy = np.where(fresh[:, np.newaxis], gradient + noise, noise)
            state[active] = geometry.move(state[active], eta * noisy)
            seen[active, drawn] = True
            total[active] += np.where(fresh[:, np.newaxis], w, 0.0)
            distinct[active] += fresh
            if keep_transcript:
                released.append(np.zeros_like(state))
                released[-1][active] = noisy
            active = active[distinct[active] < stop_at]
        return Fit(
            solution=total / float(stop_at),
            gradient_queries=np.full(runs, float(stop_at)),
            transcript=np.stack(released, axis=1) if keep_transcript and released else None,
        )


class PrivatePNormMirrorDescent(PNormPotential, PrivateMirrorDescent):
    """Algorithm 1 with the mirror step of ``½‖·‖_p²``."""

    id = "private-mirror-descent-p-norm"
    title = "Algorithm 1 with a mirror step, p-norm"


class PrivateEntropicMirrorDescent(EntropicPotential, PrivateMirrorDescent):
    """Algorithm 1 with the mirror step of the negative entropy on the simplex."""

    id = "private-mirror-descent-entropic"
    title = "Algorithm 1 with a mirror step, entropic"
