"""Newton's method on the smoothed problem, for many runs at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpsco_verify.arrays import BoolArray, FloatArray, IntArray
from dpsco_verify.geometry import ConvexSet, WholeSpace
from dpsco_verify.related.solvers.set_penalty import penalty, projection_jacobian
from dpsco_verify.related.solvers.terms import Evaluation, Terms

_ARMIJO = 1e-4
_BACKTRACKS = 30
# Differences of the objective below this share of its terms are rounding.
_NOISE = 1e-14


@dataclass(frozen=True, eq=False)
class Smoothed:
    """``Ψ(w) = H_τ(w) + (set's penalty) + (λ/2)‖w − v‖²`` for R runs.

    Attributes
    ----------
    terms
        ``H``.
    convex_set
        W.
    centre, weight
        v, shape ``(R, d)``, and λ.
    anchor, tau
        Of the dual variables of the data points.
    set_anchor, set_tau
        Of the set's multiplier, shapes ``(R, d)`` and ``(R,)``.
    """

    terms: Terms
    convex_set: ConvexSet
    centre: FloatArray
    weight: float
    anchor: FloatArray
    tau: FloatArray
    set_anchor: FloatArray
    set_tau: FloatArray

    def take(self, rows: IntArray) -> Smoothed:
        """Return some of the runs."""
        return Smoothed(
            self.terms.take(rows),
            self.convex_set,
            self.centre[rows],
            self.weight,
            self.anchor[rows],
            self.tau[rows],
            self.set_anchor[rows],
            self.set_tau[rows],
        )

    def at(self, w: FloatArray) -> State:
        """Return the objective and its derivatives at `w`."""
        risk = self.terms.evaluate(w, self.anchor, self.tau)
        offset = w - self.centre
        regulariser = 0.5 * self.weight * np.einsum("rd,rd->r", offset, offset)
        value, gradient = risk.value + regulariser, risk.gradient + self.weight * offset
        size = np.abs(risk.value) + regulariser
        multiplier, outside = np.zeros_like(w), w
        if not isinstance(self.convex_set, WholeSpace):
            extra, multiplier, outside = penalty(self.convex_set, w, self.set_anchor, self.set_tau)
            value, gradient, size = value + extra, gradient + multiplier, size + extra
        return State(w, value, gradient, size, risk, multiplier, outside)

    def step(self, state: State) -> FloatArray:
        """Return Newton's step, shape ``(R, d)``; the matrix is at least ``λI``."""
        d = state.w.shape[-1]
        hessian = self.terms.hessian(state.risk) + self.weight * np.eye(d)
        if not isinstance(self.convex_set, WholeSpace):
            jacobian = projection_jacobian(self.convex_set, state.outside)
            hessian += (np.eye(d) - jacobian) / self.set_tau[:, None, None]
        solved = np.linalg.solve(hessian, state.gradient[:, :, None])
        step: FloatArray = np.negative(solved[:, :, 0])
        return step


@dataclass(frozen=True, eq=False)
class State:
    """The smoothed objective at w: all that was computed there, one entry a run."""

    w: FloatArray
    value: FloatArray
    gradient: FloatArray
    size: FloatArray
    risk: Evaluation
    multiplier: FloatArray
    outside: FloatArray

    def take(self, rows: IntArray) -> State:
        """Return some of the runs."""
        return State(
            self.w[rows],
            self.value[rows],
            self.gradient[rows],
            self.size[rows],
            Evaluation(
                self.risk.value[rows],
                self.risk.gradient[rows],
                self.risk.dual[rows],
                self.risk.curvature[rows],
            ),
            self.multiplier[rows],
            self.outside[rows],
        )

    def put(self, rows: IntArray, other: State) -> None:
        """Overwrite some of the runs."""
        for name in ("w", "value", "gradient", "size", "multiplier", "outside"):
            getattr(self, name)[rows] = getattr(other, name)
        for name in ("value", "gradient", "dual", "curvature"):
            getattr(self.risk, name)[rows] = getattr(other.risk, name)


def descend(problem: Smoothed, state: State, alive: BoolArray) -> tuple[State, IntArray]:
    """Return the state after one damped Newton step of every run, and the evaluations that each run needed.

    The steps are halved until Armijo's condition holds. A run whose decrease lies below the rounding of its
    objective takes the full step. Runs that are not `alive` have been finished, and are not counted.
    """
    step = problem.step(state)
    slope = np.einsum("rd,rd->r", state.gradient, step)
    reached = problem.at(state.w + step)
    evaluations = np.where(alive, 1, 0)
    pending = np.flatnonzero(alive & _too_high(reached, state, slope))
    factor = 1.0
    for _ in range(_BACKTRACKS):
        if pending.size == 0:
            break
        # Only the runs that need it pay for another evaluation.
        factor *= 0.5
        before, some_slopes = state.take(pending), slope[pending]
        trial = problem.take(pending).at(before.w + factor * step[pending])
        evaluations[pending] += 1
        reached.put(pending, trial)
        pending = pending[_too_high(trial, before, factor * some_slopes)]
    return reached, evaluations


def _too_high(trial: State, state: State, slope: FloatArray) -> BoolArray:
    """Return where the value misses Armijo's condition by more than its rounding."""
    high: BoolArray = trial.value > state.value + _ARMIJO * slope + _NOISE * state.size
    return high
