"""The empirical risk minimiser, without any privacy."""

from __future__ import annotations

import math

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.related.budget import Guarantee, PrivacyBudget
from dpsco_verify.related.conditions import Condition, bounded_set
from dpsco_verify.related.output_perturbation import scale_of
from dpsco_verify.related.solvers import distinct, minimise_regularised, solvable, typical_queries
from dpsco_verify.related.system import Calibration, Fit, System
from dpsco_verify.related.task import Task
from dpsco_verify.validation import require_positive


class EmpiricalOptimum(System):
    """``argmin_{w∈W} (1/n) Σ f(w, z_i)`` up to a certified gap: what could be had without privacy.

    The solver minimises ``F̂(w) + (λ/2)‖w − w₁‖²`` with ``λ = gap/D²``, and half of the gap is left to it: as the
    added term is between 0 and ``λD²/2``, the point it finds is within the whole gap of ``min_W F̂``.

    Parameters
    ----------
    accuracy
        The gap in units of ``LD/√n``, the order of the sample's own error.
    """

    id = "empirical-optimum"
    title = "Empirical optimum, not private"
    source = "Shalev-Shwartz and Ben-David (2014), Chapter 2: empirical risk minimisation"
    section = "3"
    guarantee = Guarantee.NONE

    def __init__(self, *, accuracy: float = 1e-3) -> None:
        self.accuracy = require_positive("accuracy", accuracy)

    def conditions(self, task: Task, n: int, budget: PrivacyBudget) -> tuple[Condition, ...]:  # noqa: ARG002  the interface
        """W bounded, a certified solver."""
        return bounded_set(task), solvable(task)

    def gap(self, task: Task, n: int) -> float:
        """Return the gap that is certified."""
        return self.accuracy * scale_of(task.lipschitz) * scale_of(task.diameter) / math.sqrt(n)

    def _calibrate(self, task: Task, n: int, budget: PrivacyBudget) -> Calibration:  # noqa: ARG002  the interface
        return Calibration(figures={"gap": self.gap(task, n)}, gradient_queries=typical_queries(task, n))

    def _fit(
        self,
        sample: FloatArray,
        task: Task,
        budget: PrivacyBudget,  # noqa: ARG002  none is spent
        rng: np.random.Generator,  # noqa: ARG002  nothing is random
        *,
        keep_transcript: bool,  # noqa: ARG002  nothing is released but the solution
    ) -> Fit:
        runs, n = sample.shape[:2]
        gap = self.gap(task, n)
        found = minimise_regularised(
            task.loss,
            distinct(sample),
            task.convex_set,
            regularisation=gap / scale_of(task.diameter) ** 2,
            centre=task.initial_point[None, :],
            gap=0.5 * gap,
        )
        return Fit(
            solution=np.broadcast_to(found.point, (runs, task.dimension)),
            gradient_queries=found.gradient_queries,
            optimality_gap=float(np.max(found.gap)) + 0.5 * gap,
        )
