"""Objective perturbation: the minimiser of an objective with a random linear term."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.problems.losses import LinearPredictorLoss
from dpsco_verify.related.budget import Guarantee, PrivacyBudget
from dpsco_verify.related.conditions import Condition, bounded_set, smooth, unit_data, unit_lipschitz
from dpsco_verify.related.output_perturbation import radial_noise, scale_of
from dpsco_verify.related.solvers import (
    distinct,
    minimise_regularised,
    score_curvature,
    solvable,
    typical_queries,
)
from dpsco_verify.related.system import Calibration, Fit, Sensitivity, System
from dpsco_verify.related.task import Task
from dpsco_verify.validation import require_positive

_SOLVER_SHARE = 1e-3
"""The part of ε that pays for the solver's inaccuracy."""
_SOLVER_DISTANCE = 1e-10
"""What the solver certifies of its distance from the minimiser, in units of ``L/Λ``."""


@dataclass(frozen=True)
class Perturbation:
    """The source's numbers: ``Λ + Δ``, ``ε'``, and the scale of the norm of b; of ε, `spent` is theirs."""

    regularisation: float
    extra: float
    epsilon_prime: float
    scale: float
    distance: float
    spent: float

    @property
    def total(self) -> float:
        """``Λ + Δ``."""
        return self.regularisation + self.extra


class ObjectivePerturbation(System):
    """Minimise ``(1/n) Σ f(w, z_i) + <b, w>/n + ((Λ + Δ)/2)‖w − w₁‖²`` over W, b of density ``∝ exp(−ε'‖b‖₂/(2L))``.

    With c a bound on the curvature of ``f(·, z)``, ``ε' = ε − 2 log(1 + c/(nΛ))`` and ``Δ = 0``; if that is not
    positive, ``Δ = c/(n(e^{ε/4} − 1)) − Λ`` and ``ε' = ε/2``. The source has ``L = 1``.

    *Privacy, for W = R^d* (the source's case). The minimiser w determines ``b = −Σ∇f(w, z_i) − n(Λ + Δ)(w −
    w₁)``, so its density at w is that of b times ``|det ∂b/∂w|``. For neighbours ‖b − b'‖ ≤ 2L, which costs ε'.
    The Jacobians are ``M + c₁xxᵀ`` and ``M + c₂x'x'ᵀ`` with the common part ``M ⪰ n(Λ + Δ)I`` and ``0 ≤ c_i‖x‖² ≤
    c``; their determinants have the ratio ``(1 + c₁xᵀM⁻¹x)/(1 + c₂x'ᵀM⁻¹x') ≤ 1 + c/(n(Λ + Δ))``. The source
    bounds the two eigenvalues of the difference one by one and gets the square of that: true, but twice the
    logarithm that is needed; :class:`SharpObjectivePerturbation` takes ``ε' = ε − log(1 + c/(nΛ))``.

    *Over any W.* Let ``y = w + ν/n`` with ν the multiplier of the set at the minimiser (a vector of the normal
    cone), so that ``w = Π(y)`` and ``b = −Σ∇f(Π(y), z_i) − n(Λ + Δ)(Π(y) − w₁) − n(y − Π(y))``, a bi-Lipschitz
    bijection of R^d. With J the Jacobian of Π, symmetric with ``0 ⪯ J ⪯ I``, the two Jacobians are ``K + c₁xxᵀJ``
    and ``K + c₂x'x'ᵀJ`` with ``K = MJ + n(I − J)``, and ``JK⁻¹ = lim (M + n(J⁻¹ − I))⁻¹ ⪯ M⁻¹``: the same bound
    on the ratio. So y is as private as w is in R^d, and ``w = Π(y)`` is post-processing.

    *One derivative is enough.* Huber's slope is Lipschitz and no more. The map from y to b is Lipschitz, so the
    change of variables holds with the derivatives that exist almost everywhere (Rademacher); on the set of those
    y at which a score ``<a_i, Π(y)>`` sits at a kink of the slope, the score's own gradient vanishes almost
    everywhere, so that any value between the one-sided curvatures serves.

    *The solver.* The theorem is about the exact minimiser. Here each call certifies a distance r of ``1e-10·L/(Λ
    + Δ)`` from it, and noise ξ of density ``∝ exp(−ε₂‖ξ‖/(2r))`` is added: a shift by r costs ``ε₂/2``, twice
    (from the computed point to the exact one, and back for the neighbour), so that the output is ``(ε₁ +
    ε₂)``-private without any idealisation. ``ε₂ = ε/1000``, and the formulas above are used with ``ε₁ = ε − ε₂``.

    *Risk* (derived here): with ``θ = 2L/ε'``, for u in W, ``E F(ŵ) − F(u) ≤ (Λ + Δ)D²/2 + 2L²/(n(Λ + Δ)) + d(d +
    1)θ²/(2n²(Λ + Δ)) + L(r + 2rd/ε₂)``; the third term is ``E‖b‖²/(2n²(Λ + Δ))``, by strong convexity. By default
    Λ minimises this bound at ``ε' = ε₁``, but is at least the ``Λ + Δ`` of the second branch, which keeps ``ε' ≥
    ε₁/2``.

    Parameters
    ----------
    regularisation
        Λ.
    """

    id = "objective-perturbation"
    title = "Objective perturbation"
    source = "Chaudhuri, Monteleoni and Sarwate (2011), Algorithm 2 and Theorem 9"
    section = "3"
    guarantee = Guarantee.PURE
    determinant_power: ClassVar[int] = 2
    """The power of ``1 + c/(n(Λ + Δ))`` by which the ratio of the determinants is bounded."""

    def __init__(self, *, regularisation: float | None = None) -> None:
        self._regularisation = (
            None if regularisation is None else require_positive("regularisation", regularisation)
        )

    def conditions(self, task: Task, n: int, budget: PrivacyBudget) -> tuple[Condition, ...]:  # noqa: ARG002  the interface
        """Ask for a smooth loss, ‖x‖ ≤ 1 and L ≤ 1 (the source's), a solver, and W bounded where Λ needs it."""
        fixed = (smooth(task), unit_data(task), unit_lipschitz(task), solvable(task))
        return fixed if self._regularisation is not None else (*fixed, bounded_set(task))

    def perturbation(self, task: Task, n: int, budget: PrivacyBudget) -> Perturbation:
        """Return the source's numbers."""
        spent = (1.0 - _SOLVER_SHARE) * budget.epsilon
        curvature, lipschitz = task.smoothness or 0.0, scale_of(task.lipschitz)
        power, d = self.determinant_power, task.dimension
        floor = curvature / (n * math.expm1(0.5 * spent / power))
        lam = self._regularisation
        if lam is None:
            growth = math.sqrt((1.0 + d * (d + 1) / (spent * spent * n)) / n)
            lam = max(2.0 * lipschitz / scale_of(task.diameter) * growth, floor)
        prime, extra = spent - power * math.log1p(curvature / (n * lam)), 0.0
        if prime <= 0.0:
            prime, extra = 0.5 * spent, floor - lam
        return Perturbation(
            regularisation=lam,
            extra=extra,
            epsilon_prime=prime,
            scale=2.0 * lipschitz / prime,
            distance=_SOLVER_DISTANCE * lipschitz / (lam + extra),
            spent=spent,
        )

    def _calibrate(self, task: Task, n: int, budget: PrivacyBudget) -> Calibration:
        numbers = self.perturbation(task, n, budget)
        return Calibration(
            figures={
                "Λ": numbers.regularisation,
                "Δ": numbers.extra,
                "ε'": numbers.epsilon_prime,
                "noise scale": numbers.scale,
            },
            gradient_queries=typical_queries(task, n),
        )

    def _risk_bound(self, task: Task, n: int, budget: PrivacyBudget) -> float | None:
        if not task.is_bounded:
            return None
        numbers, d = self.perturbation(task, n, budget), task.dimension
        noise = 0.5 * d * (d + 1) * (numbers.scale / n) ** 2
        solver = numbers.distance * (1.0 + 2.0 * d / (budget.epsilon - numbers.spent))
        return (
            0.5 * numbers.total * task.diameter**2
            + (2.0 * task.lipschitz**2 / n + noise) / numbers.total
            + task.lipschitz * solver
        )

    def _sensitivities(self, task: Task, n: int, budget: PrivacyBudget) -> tuple[Sensitivity, ...]:
        loss, w, d = task.loss, task.initial_point, task.dimension
        numbers = self.perturbation(task, n, budget)
        curvature = task.smoothness or 0.0

        def gradients(sample: FloatArray) -> FloatArray:
            total: FloatArray = np.add.reduce(loss.subgradient(w, sample), axis=0)
            return total

        def log_determinant(sample: FloatArray) -> FloatArray:
            hessian = n * numbers.total * np.eye(d)
            if isinstance(loss, LinearPredictorLoss):
                features = loss.features(sample)
                slope = loss.score_slope(np.einsum("nd,d->n", features, w), sample[:, -1])
                hessian += np.einsum("n,ni,nj->ij", score_curvature(loss, slope), features, features)
            return np.array([np.linalg.slogdet(hessian)[1]])

        ratio = self.determinant_power * math.log1p(curvature / (n * numbers.total))
        size = d * (1.0 + abs(math.log(n * (numbers.total + curvature))))
        return (
            Sensitivity(
                what="sum of the gradients at a fixed point",
                bound=2.0 * task.lipschitz,
                query=gradients,
                rounding=1e-15 * (n + d) * n * task.lipschitz,
            ),
            Sensitivity(
                what="log-determinant of the Jacobian at a fixed point",
                bound=ratio,
                query=log_determinant,
                rounding=1e-14 * (n + d) * size,
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
        d = task.dimension
        numbers = self.perturbation(task, n, budget)
        tilt = radial_noise(rng, runs=runs, dimension=d, scale=numbers.scale)
        found = minimise_regularised(
            task.loss,
            distinct(sample),
            task.convex_set,
            regularisation=numbers.total,
            centre=task.initial_point[None, :],
            tilt=tilt / n,
            distance=numbers.distance,
        )
        scale = 2.0 * numbers.distance / (budget.epsilon - numbers.spent)
        cover = radial_noise(rng, runs=runs, dimension=d, scale=scale)
        return Fit(
            solution=task.convex_set.project(found.point + cover),
            gradient_queries=found.gradient_queries,
            optimality_gap=float(np.max(found.gap)),
        )


class SharpObjectivePerturbation(ObjectivePerturbation):
    """Objective perturbation with the ratio of the determinants as it is: ``ε' = ε − log(1 + c/(nΛ))``.

    Where that is not positive, ``Δ = c/(n(e^{ε/2} − 1)) − Λ`` and ``ε' = ε/2``. The proof stands in the docstring
    of :class:`ObjectivePerturbation`.
    """

    id = "objective-perturbation-sharp"
    title = "Objective perturbation, sharp determinant"
    source = "Chaudhuri, Monteleoni and Sarwate (2011), Algorithm 2; the constant by this project"
    determinant_power: ClassVar[int] = 1
