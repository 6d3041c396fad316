"""Online stochastic mirror descent over the sample, once, without privacy."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import SupportsFloat

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.related.budget import Guarantee, PrivacyBudget
from dpsco_verify.related.conditions import Condition, bounded_problem
from dpsco_verify.related.mirror_geometry import (
    EntropicGeometry,
    EuclideanGeometry,
    Geometry,
    PNormGeometry,
    entropic_conditions,
    p_norm_conditions,
    usual_p,
)
from dpsco_verify.related.one_pass import Steps, take_steps
from dpsco_verify.related.system import Calibration, Fit, System
from dpsco_verify.related.task import Task
from dpsco_verify.validation import require_half_open_interval, require_positive

DUAL_SLACK = 1e-9
"""By how much, relative, rounding may make a gradient longer than the bound."""


class MirrorSystem(System):
    """What all systems with a mirror step share: a potential, and bounds in its norms."""

    def conditions(self, task: Task, n: int, budget: PrivacyBudget) -> tuple[Condition, ...]:
        """W bounded, L > 0, and a set that suits the potential."""
        basic = bounded_problem(task)
        if not all(condition.holds for condition in basic):
            return basic
        return (*basic, *self._set_conditions(task), *self._further_conditions(n, budget))

    def _set_conditions(self, task: Task) -> tuple[Condition, ...]:  # noqa: ARG002  the interface
        return ()

    def _further_conditions(self, n: int, budget: PrivacyBudget) -> tuple[Condition, ...]:  # noqa: ARG002  the interface
        return ()

    @abstractmethod
    def geometry(self, task: Task) -> Geometry:
        """Return the potential on the task's set."""


class EuclideanPotential(MirrorSystem):
    """``Φ = ½‖·‖₂²``, on every bounded set."""

    def geometry(self, task: Task) -> EuclideanGeometry:
        """Return the Euclidean geometry."""
        return EuclideanGeometry(task)


class PNormPotential(MirrorSystem):
    """``Φ = ½‖·‖_p²``, on the simplex and on l1 balls about 0.

    Parameters
    ----------
    p
        In (1, 2]; by default ``2 log d/(2 log d − 1)``, and 2 for d ≤ 2.
    dual_lipschitz
        A bound on the gradients' q-norm that is known of all data that can occur; by default L, as ``‖g‖_q ≤ ‖g‖₂``.
    """

    def __init__(
        self, *, p: SupportsFloat | None = None, dual_lipschitz: SupportsFloat | None = None
    ) -> None:
        self._p = None if p is None else require_half_open_interval("p", p, 1.0, 2.0)
        self._dual_lipschitz = _declared(dual_lipschitz)

    def _set_conditions(self, task: Task) -> tuple[Condition, ...]:
        return p_norm_conditions(task)

    def geometry(self, task: Task) -> PNormGeometry:
        """Return the p-norm's geometry."""
        p = usual_p(task.dimension) if self._p is None else self._p
        return PNormGeometry(task, p, self._dual_lipschitz)


class EntropicPotential(MirrorSystem):
    """``Φ = Σ w_i log w_i``, on the simplex.

    Parameters
    ----------
    dual_lipschitz
        A bound on the largest entry of a gradient that is known of all data that can occur; by default L.
    """

    def __init__(self, *, dual_lipschitz: SupportsFloat | None = None) -> None:
        self._dual_lipschitz = _declared(dual_lipschitz)

    def _set_conditions(self, task: Task) -> tuple[Condition, ...]:
        return entropic_conditions(task)

    def geometry(self, task: Task) -> EntropicGeometry:
        """Return the entropic geometry."""
        return EntropicGeometry(task, self._dual_lipschitz)


class MirrorDescent(MirrorSystem):
    """``w_{t+1} = argmin_{w in W} D_Φ(w ‖ ∇Φ*(∇Φ(w_t) − η∇f(w_t, z_t)))`` from ``w_1 = argmin_W Φ``, averaged.

    **Risk.** The regret against u is at most ``D_Φ(u ‖ w_1)/η + (η/(2α)) Σ ‖g_t‖_*²``, where α is the strong
    convexity of Φ and ``‖·‖_*`` the dual of its norm. With a bound R on the divergence and G on the dual norm,
    ``η = √(2αR/n)/G``, and the average of w_1, …, w_n has excess risk at most ``G√(2R/(αn))``. No privacy.
    """

    source = "Bubeck and Cesa-Bianchi (2012), Theorem 5.5"
    section = "2.1, 4"
    guarantee = Guarantee.NONE

    def step_size(self, task: Task, n: int) -> float:
        """Return η."""
        geometry = self.geometry(task)
        return math.sqrt(2.0 * geometry.convexity * geometry.reach / n) / geometry.dual_lipschitz

    def _calibrate(self, task: Task, n: int, budget: PrivacyBudget) -> Calibration:  # noqa: ARG002  the interface
        geometry = self.geometry(task)
        return Calibration(
            figures={
                "η": self.step_size(task, n),
                "sup D_Φ": geometry.reach,
                "α": geometry.convexity,
                "G": geometry.dual_lipschitz,
            },
            gradient_queries=float(n),
        )

    def _risk_bound(self, task: Task, n: int, budget: PrivacyBudget) -> float:  # noqa: ARG002  the interface
        geometry = self.geometry(task)
        return geometry.dual_lipschitz * math.sqrt(2.0 * geometry.reach / (geometry.convexity * n))

    def _fit(
        self,
        sample: FloatArray,
        task: Task,
        budget: PrivacyBudget,  # noqa: ARG002  the interface
        rng: np.random.Generator,  # noqa: ARG002  the interface
        *,
        keep_transcript: bool,  # noqa: ARG002  nothing but the solution is released
    ) -> Fit:
        runs, n = sample.shape[:2]
        geometry, eta = self.geometry(task), self.step_size(task, n)
        state = geometry.begin(task, runs)
        total = np.zeros_like(state)
        for t in range(n):
            w = geometry.point(state)
            total += w
            gradient = task.loss.subgradient(w, sample[:, t])
            require_dual_norm(geometry, gradient)
            state = geometry.move(state, eta * gradient)
        return Fit(solution=total / float(n), gradient_queries=np.full(runs, float(n)))


class EuclideanMirrorDescent(EuclideanPotential, MirrorDescent):
    """Mirror descent with ``½‖·‖₂²``: one pass of SGD with ``η = D/(L√n)``, of excess risk at most ``LD/√n``."""

    id = "mirror-descent-euclidean"
    title = "Mirror descent, Euclidean, not private"

    def _fit(
        self,
        sample: FloatArray,
        task: Task,
        budget: PrivacyBudget,  # noqa: ARG002  the interface
        rng: np.random.Generator,  # noqa: ARG002  the interface
        *,
        keep_transcript: bool,  # noqa: ARG002  nothing but the solution is released
    ) -> Fit:
        runs, n = sample.shape[:2]
        geometry = self.geometry(task)
        steps = Steps(
            order=np.arange(n)[:, np.newaxis],
            sizes=np.full(n, self.step_size(task, n)),
            longest=geometry.dual_lipschitz * (1.0 + DUAL_SLACK),
        )
        _, total = take_steps(
            steps, sample, geometry.begin(task, runs), loss=task.loss, convex_set=task.convex_set
        )
        return Fit(solution=total / float(n), gradient_queries=np.full(runs, float(n)))


class PNormMirrorDescent(PNormPotential, MirrorDescent):
    """Mirror descent with ``½‖·‖_p²``."""

    id = "mirror-descent-p-norm"
    title = "Mirror descent, p-norm, not private"


class EntropicMirrorDescent(EntropicPotential, MirrorDescent):
    """Mirror descent with the negative entropy: exponentiated gradients."""

    id = "mirror-descent-entropic"
    title = "Mirror descent, entropic, not private"


def require_dual_norm(geometry: Geometry, gradient: FloatArray) -> None:
    """Raise where a gradient is longer than the declared bound."""
    norms = geometry.potential.dual_norm(gradient)
    if norms.size and float(norms.max()) > geometry.dual_lipschitz * (1.0 + DUAL_SLACK):
        raise InputError(
            f"dual_lipschitz={geometry.dual_lipschitz:g} is too small; a gradient has the dual norm {norms.max():g}"
        )


def _declared(value: SupportsFloat | None) -> float | None:
    return None if value is None else require_positive("dual_lipschitz", value)
