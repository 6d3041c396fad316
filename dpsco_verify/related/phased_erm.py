"""Phased empirical risk minimisation with Gaussian noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.related.budget import Guarantee, PrivacyBudget
from dpsco_verify.related.conditions import Condition, bounded_set, positive_delta
from dpsco_verify.related.output_perturbation import scale_of
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

_SMALLEST_N = 2


@dataclass(frozen=True)
class Phase:
    """One phase: its points, ``η_i``, and the standard deviation of a coordinate of its noise."""

    first: int
    count: int
    step_size: float
    sigma: float

    @property
    def regularisation(self) -> float:
        """``λ = 2/(η_i n_i)``, so that ``(λ/2)‖w − w_{i−1}‖²`` is the source's term."""
        return 2.0 / (self.step_size * self.count)


class PhasedErm(System):
    """Phases ``i = 1, …, ⌊log₂ n⌋`` of ``n_i = ⌊n/2^i⌋`` fresh points each, with ``η_i = η/4^i``.

    Phase i minimises ``F_i(w) = (1/n_i) Σ f(w, z) + ‖w − w_{i−1}‖²/(η_i n_i)`` over W up to ``L²η_i/n_i``, and
    releases ``w_i = w̃_i + N(0, σ_i²I)`` with ``σ_i = 4Lη_i/κ``. The loss need not be smooth.

    *Sensitivity.* F_i is λ-strongly convex with ``λ = 2/(η_i n_i)``, so exact minimisers of neighbours are at
    most ``2L/(n_iλ) = Lη_i`` apart (see output perturbation). A gap of ``L²η_i/n_i`` allows a distance of
    ``√(2·gap/λ) = Lη_i`` from the minimiser, for either data set: ``3Lη_i`` together, and a solver that may err
    in opposite directions attains it, for a linear loss. The source's 4 is larger than need be. Noise of ``σ_i ≥
    3Lη_i/κ`` is κ²/2-zCDP; a point is used in one phase, and what follows depends on it through that phase's
    output alone, so the whole is κ²/2-zCDP. (The source's solver reaches its accuracy with probability 1 − δ, and its
    guarantee is (ε, δ)-DP; with one that is certified on each call, zCDP holds.)

    *The solver.* What privacy needs is the distance: each call certifies ``‖w̃_i − argmin F_i‖ ≤ Lη_i``. (In the
    last phases ``L²η_i/n_i`` lies below the rounding of F_i itself; the distance is still within reach.)

    *Step size.* The source's is of the form ``(D/L)·min(a/√n, bκ/√d)``. Here η minimises the bound that follows,
    which gives that form up to constants.

    *Risk* (derived here, along the source's proof). With ``w̃_0 = w*`` and ``w_i = w̃_i + ξ_i``: comparing F_i at
    ``w̃_i`` and ``w̃_{i−1}``, with the stability ``L·Lη_i`` of the minimiser and ``L·Lη_i`` for the solver, ``E
    F(w̃_i) − F(w̃_{i−1}) ≤ E‖ξ_{i−1}‖²/(η_i n_i) + 2L²η_i``. With ``‖ξ_0‖ ≤ D`` and ``E‖ξ_i‖² = dσ_i²`` the sum,
    and ``L√d·σ_k`` for the last noise, is ``a/η + bη`` with ``a = 4D²/n_1``; at its smallest, ``2√(ab)``, which
    is at most about ``LD(5/√n + 64√d/(κn))``.

    The last point is projected onto W, which is post-processing and takes it no farther from any point of W.

    Parameters
    ----------
    step_size
        η.
    """

    id = "phased-erm"
    title = "Phased ERM"
    source = "Feldman, Koren and Talwar (2020), Algorithm 3 (Phased-ERM) and its theorem"
    section = "3"
    guarantee = Guarantee.CONCENTRATED
    noise_factor: ClassVar[float] = 4.0
    """``σ_i κ/(Lη_i)``."""
    accuracy: ClassVar[float] = 1.0
    """The certified distance from the minimiser, in units of ``Lη_i``."""

    def __init__(self, *, step_size: float | None = None) -> None:
        self._step_size = None if step_size is None else require_positive("step_size", step_size)

    def conditions(self, task: Task, n: int, budget: PrivacyBudget) -> tuple[Condition, ...]:
        """W bounded, δ > 0, n ≥ 2, a certified solver."""
        return (
            bounded_set(task),
            positive_delta(budget),
            solvable(task),
            Condition(
                holds=n >= _SMALLEST_N, words=f"n={n} must be at least {_SMALLEST_N}; give more points"
            ),
        )

    def step_size(self, task: Task, n: int, budget: PrivacyBudget) -> float:
        """Return η."""
        if self._step_size is not None:
            return self._step_size
        a, b = self._bound(task, n, budget)
        return math.sqrt(a / b)

    def phases(self, task: Task, n: int, budget: PrivacyBudget) -> tuple[Phase, ...]:
        """Return all phases."""
        eta, first, phases = self.step_size(task, n, budget), 0, []
        for i in range(1, n.bit_length()):
            count, step = n >> i, eta / 4.0**i
            sigma = self.noise_factor * scale_of(task.lipschitz) * step / budget.concentrated
            phases.append(Phase(first, count, step, sigma))
            first += count
        return tuple(phases)

    def minimiser(self, sample: FloatArray, task: Task, phase: Phase, centre: FloatArray) -> CertifiedPoint:
        """Return ``w̃_i`` for the phase's points of samples ``(R, n, k)`` and ``w_{i−1} = centre``, shape ``(R, d)``.

        Raises
        ------
        SolverError
            If the distance cannot be certified.
        """
        return minimise_regularised(
            task.loss,
            distinct(sample[:, phase.first : phase.first + phase.count]),
            task.convex_set,
            regularisation=phase.regularisation,
            centre=centre,
            distance=self.accuracy * scale_of(task.lipschitz) * phase.step_size,
        )

    def _bound(self, task: Task, n: int, budget: PrivacyBudget) -> tuple[float, float]:
        """Return a and b of the bound ``a/η + bη``."""
        L, d, kappa = scale_of(task.lipschitz), task.dimension, budget.concentrated
        variance = d * (self.noise_factor * L / kappa) ** 2
        b = 0.0
        for i in range(1, n.bit_length()):
            b += (1.0 + self.accuracy) * L * L * 4.0**-i
            if i > 1:
                b += variance * 16.0 ** (1 - i) / (4.0**-i * (n >> i))
        b += L * math.sqrt(variance) * 4.0 ** (1 - n.bit_length())
        return 4.0 * scale_of(task.diameter) ** 2 / (n >> 1), b

    def _calibrate(self, task: Task, n: int, budget: PrivacyBudget) -> Calibration:
        phases = self.phases(task, n, budget)
        return Calibration(
            figures={
                "κ": budget.concentrated,
                "η": self.step_size(task, n, budget),
                "phases": float(len(phases)),
                "σ₁": phases[0].sigma,
                "last σ": phases[-1].sigma,
            },
            gradient_queries=sum(typical_queries(task, phase.count) for phase in phases),
        )

    def _risk_bound(self, task: Task, n: int, budget: PrivacyBudget) -> float:
        eta = self.step_size(task, n, budget)
        a, b = self._bound(task, n, budget)
        return a / eta + b * eta

    def _sensitivities(self, task: Task, n: int, budget: PrivacyBudget) -> tuple[Sensitivity, ...]:
        start = task.initial_point[None, :]

        def of(phase: Phase, number: int) -> Sensitivity:
            bound = self.noise_factor * scale_of(task.lipschitz) * phase.step_size
            return Sensitivity(
                what=f"minimiser of phase {number}",
                bound=bound,
                query=lambda sample: self.minimiser(sample[None], task, phase, start).point[0],
                # The solver's distance is part of the bound, so what is left is the subtraction's rounding.
                rounding=1e-15 * (1.0 + float(np.max(np.abs(start)))),
            )

        return tuple(of(phase, i) for i, phase in enumerate(self.phases(task, n, budget), start=1))

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
        w = task.initial_point[None, :]
        queries, gap, released = np.zeros(runs), 0.0, []
        for phase in self.phases(task, n, budget):
            found = self.minimiser(sample, task, phase, w)
            w = found.point + phase.sigma * rng.standard_normal((runs, task.dimension))
            queries = queries + found.gradient_queries
            gap = max(gap, float(np.max(found.gap)))
            if keep_transcript:
                released.append(w)
        return Fit(
            solution=task.convex_set.project(w),
            gradient_queries=queries,
            transcript=np.stack(released, axis=1) if keep_transcript else None,
            optimality_gap=gap,
        )


class SharpPhasedErm(PhasedErm):
    """Phased ERM with the sensitivity that exact minimisers have: ``σ_i = 1.2·Lη_i/κ``.

    The solver certifies a distance of ``Lη_i/10``, so that the computed minimisers of neighbours are at most
    ``(1 + 2/10)·Lη_i`` apart: three tenths of the source's noise for the same privacy.
    """

    id = "phased-erm-sharp"
    title = "Phased ERM, sharp noise"
    source = "Feldman, Koren and Talwar (2020), Algorithm 3; the constant by this project"
    noise_factor: ClassVar[float] = 1.2
    accuracy: ClassVar[float] = 0.1
