"""Output perturbation: a regularised empirical minimiser with noise on top."""

from __future__ import annotations

import math

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.geometry.norms import euclidean_norm
from dpsco_verify.related.budget import Guarantee, PrivacyBudget
from dpsco_verify.related.conditions import Condition, bounded_set
from dpsco_verify.related.solvers import (
    CertifiedPoint,
    distinct,
    minimise_regularised,
    solvable,
    typical_queries,
)
from dpsco_verify.related.system import Calibration, Fit, Sensitivity, System
from dpsco_verify.related.task import Task
from dpsco_verify.validation import require_positive

_SOLVER_SHARE, _SOLVER_POINTS = 1e-3, 10_000
"""The solver's part of the noise, up to that many points; beyond, it grows with n, as arithmetic asks."""


def solver_share(n: int) -> float:
    """Return twice the certified distance from the minimiser, in units of its sensitivity: public, as n is."""
    return _SOLVER_SHARE * max(1.0, n / _SOLVER_POINTS)


def radial_noise(rng: np.random.Generator, *, runs: int, dimension: int, scale: float) -> FloatArray:
    """Return vectors with density proportional to ``exp(−‖b‖₂/scale)``, shape ``(runs, dimension)``.

    In polar coordinates the density of the norm is proportional to ``r^{d−1} e^{−r/scale}``, that of a
    ``Gamma(d, scale)`` variable, and the direction is uniform.
    """
    direction = rng.standard_normal((runs, dimension))
    norm = rng.gamma(float(dimension), scale, size=runs)
    noise: FloatArray = direction * (norm / euclidean_norm(direction))[:, None]
    return noise


class OutputPerturbation(System):
    """Minimise ``(1/n) Σ f(w, z_i) + (Λ/2)‖w − w₁‖²`` over W and add noise of density ``∝ exp(−(ε/s)‖b‖₂)``.

    *Sensitivity.* ``s = 2L/(nΛ)``. Let w and w' be the minimisers on neighbours. The two objectives differ by
    ``(f(·, z) − f(·, z'))/n``, which is ``2L/n``-Lipschitz, and are Λ-strongly convex on W: adding ``J(w') ≥ J(w) +
    (Λ/2)‖w − w'‖²`` and the same with the roles exchanged gives ``Λ‖w − w'‖² ≤ (2L/n)‖w − w'‖``. It is attained: a
    linear loss with ``z = ±L·e`` has ``w − w' = 2L/(nΛ)·e``. The densities of the output at any point then differ
    by a factor of at most ``e^{(ε/s)·s}``: pure ε-differential privacy, for any convex loss; the source asks for a
    differentiable one. It has L = 1 and the noise's norm ~ ``Gamma(d, 2/(nΛε))``, which is this at L = 1; for a
    larger L the printed form is not private enough.

    *The solver.* Each call certifies a distance of at most ``r = 0.0005·s`` from the minimiser, so that the computed
    points of neighbours are at most ``s + 2r = 1.001·s`` apart, and the noise is scaled by that. Beyond n = 10⁴ the
    share of 0.001 grows in proportion to n: what can be certified on a kink that many points share does not shrink.

    *Choices that the source leaves.* The minimum is taken over W (there, over all of R^d), about the initial
    point w₁ (there, 0), and the noisy point is projected onto W, which is post-processing. Λ is free there. By
    default it minimises the bound that follows, in which no data enter: ``Λ = (2L/D)√((1 + d/ε)/n)``.

    *Risk* (derived here, with the stability of regularised minimisers by Shalev-Shwartz et al. 2009): for u in W,
    ``E F(ŵ) − F(u) ≤ ΛD²/2 + 2L²/(nΛ) + L·r + L·d·(s + 2r)/ε``.

    Parameters
    ----------
    regularisation
        Λ.
    """

    id = "output-perturbation"
    title = "Output perturbation"
    source = "Chaudhuri, Monteleoni and Sarwate (2011), Algorithm 1 and Theorem 6"
    section = "3"
    guarantee = Guarantee.PURE

    def __init__(self, *, regularisation: float | None = None) -> None:
        self._regularisation = (
            None if regularisation is None else require_positive("regularisation", regularisation)
        )

    def conditions(self, task: Task, n: int, budget: PrivacyBudget) -> tuple[Condition, ...]:  # noqa: ARG002  the interface
        """Ask for a certified solver, and for W bounded where Λ comes from its diameter."""
        solver = (solvable(task),)
        return solver if self._regularisation is not None else (*solver, bounded_set(task))

    def regularisation(self, task: Task, n: int, budget: PrivacyBudget) -> float:
        """Return Λ."""
        if self._regularisation is not None:
            return self._regularisation
        growth = 1.0 + task.dimension / budget.epsilon
        return 2.0 * scale_of(task.lipschitz) / scale_of(task.diameter) * math.sqrt(growth / n)

    def sensitivity(self, task: Task, n: int, budget: PrivacyBudget) -> float:
        """Return ``s + 2r``, the largest distance of the computed minimisers of two neighbours."""
        return (1.0 + solver_share(n)) * self._exact_sensitivity(task, n, budget)

    def minimiser(self, sample: FloatArray, task: Task, budget: PrivacyBudget) -> CertifiedPoint:
        """Return the minimisers of samples of shape ``(R, n, k)``, without noise.

        Raises
        ------
        SolverError
            If the distance r cannot be certified.
        """
        n = sample.shape[1]
        return minimise_regularised(
            task.loss,
            sample,
            task.convex_set,
            regularisation=self.regularisation(task, n, budget),
            centre=task.initial_point[None, :],
            distance=0.5 * solver_share(n) * self._exact_sensitivity(task, n, budget),
        )

    def _exact_sensitivity(self, task: Task, n: int, budget: PrivacyBudget) -> float:
        return 2.0 * scale_of(task.lipschitz) / (n * self.regularisation(task, n, budget))

    def _calibrate(self, task: Task, n: int, budget: PrivacyBudget) -> Calibration:
        return Calibration(
            figures={
                "Λ": self.regularisation(task, n, budget),
                "noise scale": self.sensitivity(task, n, budget) / budget.epsilon,
            },
            gradient_queries=typical_queries(task, n),
        )

    def _risk_bound(self, task: Task, n: int, budget: PrivacyBudget) -> float | None:
        if not task.is_bounded:
            return None
        lam, s = self.regularisation(task, n, budget), self._exact_sensitivity(task, n, budget)
        noise = task.dimension * self.sensitivity(task, n, budget) / budget.epsilon
        solver = 0.5 * solver_share(n) * s
        return 0.5 * lam * task.diameter**2 + task.lipschitz * (s + solver + noise)

    def _sensitivities(self, task: Task, n: int, budget: PrivacyBudget) -> tuple[Sensitivity, ...]:
        bound = self.sensitivity(task, n, budget)
        return (
            Sensitivity(
                what="regularised minimiser",
                bound=bound,
                query=lambda sample: self.minimiser(sample[None], task, budget).point[0],
                rounding=1e-12 * bound,
            ),
        )

    def _fit(
        self,
        sample: FloatArray,
        task: Task,
        budget: PrivacyBudget,
        rng: np.random.Generator,
        *,
        keep_transcript: bool,  # noqa: ARG002  nothing is released but the solution
    ) -> Fit:
        runs, n = sample.shape[:2]
        found = self.minimiser(distinct(sample), task, budget)
        scale = self.sensitivity(task, n, budget) / budget.epsilon
        noise = radial_noise(rng, runs=runs, dimension=task.dimension, scale=scale)
        return Fit(
            solution=task.convex_set.project(found.point + noise),
            gradient_queries=found.gradient_queries,
            optimality_gap=float(np.max(found.gap)),
        )


def scale_of(value: float) -> float:
    """Return the value, or 1 for 0: a constant loss or a set of one point needs a scale, and any will do."""
    return value if value > 0.0 else 1.0
