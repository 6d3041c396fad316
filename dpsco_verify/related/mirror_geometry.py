"""What mirror descent needs to know of a potential on a task's set: norms, reach, and steps for many runs at once."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
from scipy.integrate import quad
from scipy.special import gammaln, log_ndtr

from dpsco_verify.arrays import FloatArray
from dpsco_verify.geometry import Euclidean, L1Ball, NegativeEntropy, PNorm, Potential, Simplex
from dpsco_verify.related.conditions import Condition
from dpsco_verify.related.p_norm_step import minimise_on_simplex
from dpsco_verify.related.task import Task


class Geometry(ABC):
    """A potential Φ on the set of a task. A state is an array of shape (R, d) that stands for a point of each run.

    Attributes
    ----------
    potential
        Φ.
    reach
        A bound on ``D_Φ(u ‖ w_1)`` for u in W, with ``w_1 = argmin_W Φ``.
    convexity
        α, with which Φ is strongly convex on W in its norm.
    dual_lipschitz
        A bound on the gradients' dual norm.
    noise_norm
        A bound on ``√E‖ξ‖_*²`` for a standard normal ξ in R^d.
    """

    potential: Potential
    reach: float
    convexity: float
    dual_lipschitz: float
    noise_norm: float

    def begin(self, task: Task, runs: int) -> FloatArray:
        """Return the state at ``argmin_W Φ``, for each run."""
        return np.tile(task.convex_set.minimiser(self.potential), (runs, 1))

    def point(self, state: FloatArray) -> FloatArray:
        """Return the points that states stand for, shape (R, d)."""
        return state

    @abstractmethod
    def move(self, state: FloatArray, step: FloatArray) -> FloatArray:
        """Return the states at ``argmin_{w in W} Φ(w) − ⟨∇Φ(w_t) − step, w⟩``; `step` is ``ηg``, shape (R, d)."""


class EuclideanGeometry(Geometry):
    """``Φ = ½‖·‖₂²``: α = 1, ``D_Φ ≤ D²/2``, ``E‖ξ‖² = d``."""

    def __init__(self, task: Task) -> None:
        self.potential = Euclidean()
        self.reach = 0.5 * task.diameter**2
        self.convexity = 1.0
        self.dual_lipschitz = task.lipschitz
        self.noise_norm = math.sqrt(task.dimension)
        self._set = task.convex_set

    def move(self, state: FloatArray, step: FloatArray) -> FloatArray:
        """Return ``P(w − step)``."""
        return self._set.project(state - step)


class PNormGeometry(Geometry):
    """``Φ = ½‖·‖_p²``, 1 < p ≤ 2, with 1/p + 1/q = 1: α = p − 1 in the p-norm, and the dual norm is the q-norm.

    ``D_Φ(u ‖ w_1) ≤ Φ(u) − Φ(w_1)``, as w_1 minimises Φ. ``E‖ξ‖_q² ≤ (E‖ξ‖_q^q)^{2/q} = (d E|ξ_1|^q)^{2/q}``.
    """

    def __init__(self, task: Task, p: float, dual_lipschitz: float | None) -> None:
        potential = PNorm(p)
        d, q = task.dimension, potential.q
        convex_set = task.convex_set
        assert isinstance(convex_set, Simplex | L1Ball)  # noqa: S101  a condition
        largest = convex_set.total if isinstance(convex_set, Simplex) else convex_set.radius
        self.potential = potential
        self.reach = 0.5 * largest**2 - float(potential.value(convex_set.minimiser(potential)))
        self.convexity = potential.strong_convexity
        self.dual_lipschitz = task.lipschitz if dual_lipschitz is None else dual_lipschitz
        log_moment = 0.5 * q * math.log(2.0) + float(gammaln(0.5 * (q + 1.0))) - 0.5 * math.log(math.pi)
        self.noise_norm = math.exp((math.log(d) + log_moment) / q)
        self._solve = _p_norm_solver(potential, convex_set)

    def move(self, state: FloatArray, step: FloatArray) -> FloatArray:
        """Return the minimisers: in closed form inside the ball, else by one root a run, all runs at once."""
        return self._solve(self.potential.gradient(state) - step)


class EntropicGeometry(Geometry):
    """``Φ = Σ w_i log w_i`` on the simplex of sum s: α = 1/s in the 1-norm, and ``D_Φ ≤ s log d``.

    The dual norm is the largest entry's size. A state holds ``∇Φ(w)`` up to a constant, so that the steps add up
    and no weight that underflows is lost.
    """

    def __init__(self, task: Task, dual_lipschitz: float | None) -> None:
        assert isinstance(task.convex_set, Simplex)  # noqa: S101  a condition
        self.potential = NegativeEntropy()
        self._set = task.convex_set
        self.reach = self._set.total * math.log(task.dimension)
        self.convexity = 1.0 / self._set.total
        self.dual_lipschitz = task.lipschitz if dual_lipschitz is None else dual_lipschitz
        self.noise_norm = math.sqrt(mean_square_of_largest(task.dimension))

    def begin(self, task: Task, runs: int) -> FloatArray:
        """Return zeros, which stand for the uniform weights."""
        return np.zeros((runs, task.dimension))

    def point(self, state: FloatArray) -> FloatArray:
        """Return the softmax of the state times s."""
        return self.potential.tilted_minimiser(self._set, state)

    def move(self, state: FloatArray, step: FloatArray) -> FloatArray:
        """Return ``state − step``, its largest entry shifted to 0."""
        moved = state - step
        shifted: FloatArray = moved - np.max(moved, axis=-1, keepdims=True)
        return shifted


def mean_square_of_largest(d: int) -> float:
    """Return ``E max_i ξ_i² = ∫ 2t P(max|ξ_i| > t) dt`` for d independent standard normals, to 1e-9."""

    def tail(t: float) -> float:
        inside = np.log1p(-2.0 * np.exp(log_ndtr(-t))) if t > 0.0 else -np.inf
        return float(-2.0 * t * np.expm1(d * inside))

    # Beyond the ends the integrand is below d e^{-700}.
    middle = math.sqrt(2.0 * math.log(2.0 * d))
    parts = [(0.0, middle), (middle, middle + 10.0), (middle + 10.0, middle + 40.0)]
    return sum(float(quad(tail, low, high, epsabs=1e-11, epsrel=1e-11)[0]) for low, high in parts)


def usual_p(dimension: int) -> float:
    """Return ``2 log d/(2 log d − 1)``, for which the dual exponent is 2 log d; 2 for d ≤ 2, where that is below 2."""
    q = 2.0 * math.log(dimension)
    return q / (q - 1.0) if q > 2.0 else 2.0


def p_norm_conditions(task: Task) -> tuple[Condition, ...]:
    """Ask for a set on which the p-norm's step is one root."""
    convex_set = task.convex_set
    known = isinstance(convex_set, Simplex) or (
        isinstance(convex_set, L1Ball) and not convex_set.center.any()
    )
    return (
        Condition(
            holds=known,
            words=f"convex_set={convex_set!r} must be a simplex or an l1 ball about 0 for the p-norm's step; "
            "give one of these",
        ),
    )


def entropic_conditions(task: Task) -> tuple[Condition, ...]:
    """Ask for the simplex."""
    return (
        Condition(
            holds=isinstance(task.convex_set, Simplex),
            words=f"convex_set={task.convex_set!r} must be a simplex, where the entropy is strongly convex; give one",
        ),
    )


def _p_norm_solver(potential: PNorm, convex_set: Simplex | L1Ball) -> Callable[[FloatArray], FloatArray]:
    """Return the map from rows θ to ``argmin_{w in W} Φ(w) − ⟨θ, w⟩``."""

    def on_simplex(tilt: FloatArray, total: float) -> FloatArray:
        return minimise_on_simplex(tilt, total=total, q=potential.q)

    def in_ball(tilt: FloatArray, radius: float) -> FloatArray:
        free = potential.conjugate_gradient(tilt)
        outside = ~convex_set.contains(free)
        if outside.any():
            rows = tilt[outside]
            # The signs are those of the tilt, and the constraint is active.
            free[outside] = np.copysign(on_simplex(np.abs(rows), radius), rows)
        return free

    if potential.p == 2.0:
        return convex_set.project
    if isinstance(convex_set, Simplex):
        return lambda tilt: on_simplex(tilt, convex_set.total)
    return lambda tilt: in_ball(tilt, convex_set.radius)
