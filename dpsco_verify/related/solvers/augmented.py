"""The augmented Lagrangian method, for many runs at once, until each run's accuracy is certified."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from dpsco_verify.arrays import BoolArray, FloatArray, IntArray
from dpsco_verify.geometry import ConvexSet
from dpsco_verify.geometry.norms import UNIT_ROUNDOFF, euclidean_norm
from dpsco_verify.related.solvers.newton import Smoothed, State, descend
from dpsco_verify.related.solvers.solution import UNDERFLOW, CertifiedPoint, projected, projection_gap
from dpsco_verify.related.solvers.terms import Terms

_ITERATIONS = 500
_STEPS_PER_STAGE = 40
_TIGHTEN = 0.5
_SMALLEST_TAU = 1e-9
"""The smallest τ, in units of the first."""
_FIRST_SET_TAU, _TIGHTEN_SET, _SMALLEST_SET_TAU = 0.1, 0.1, 1e-2
"""The same for the set: its τ must not get so small that the multiplier drowns in rounding."""
_ROUNDING = 4.0
"""A gradient of so many times its own rounding cannot be made smaller."""


@dataclass(frozen=True, eq=False)
class Regularised:
    """``H(w) + (λ/2)‖w − v‖²`` over W for R runs, up to constants.

    Attributes
    ----------
    terms, convex_set, weight
        ``H``, W and λ.
    middle, rounding
        v, shape ``(R, d)``, and a bound on its rounding error, shape ``(R,)``.
    """

    terms: Terms
    convex_set: ConvexSet
    weight: float
    middle: FloatArray
    rounding: FloatArray

    def certify(self, smoothed: Smoothed, state: State, rounding: FloatArray) -> CertifiedPoint:
        """Return ``Π(v − g/λ)`` for the dual variables of a state, with what they certify of it."""
        w, risk = state.w, state.risk
        error = smoothed.terms.gradient_error(w)
        point, off = projected(
            self.convex_set,
            self.weight,
            smoothed.centre,
            rounding,
            smoothed.terms.exact_gradient(risk),
            error,
        )
        # Twice, and the better distance counts. A point of W within a projection's rounding of the computed one does
        # well on a kink that many data points share; the exact Π(v) does well near the boundary of W.
        here = smoothed.terms.duality_gap(w, risk, point, off.rounding)
        gap = here + projection_gap(self.weight, 2.0 * off.total, off.outside)
        near = smoothed.terms.duality_gap(w, risk, point, off.total) + UNDERFLOW
        distance = np.minimum(
            np.sqrt(2.0 * gap / self.weight) + off.rounding, np.sqrt(near / self.weight) + off.total
        )
        return CertifiedPoint(
            point=point,
            gap=gap,
            distance=distance * (1.0 + 1e-12),
            gradient_queries=np.full(w.shape[0], float(smoothed.terms.certificate_queries)),
        )


class _Search:
    """The runs that are not finished yet, with the finished ones until they are half of all."""

    def __init__(self, problem: Regularised, start: FloatArray, *, gap: float, distance: float) -> None:
        runs = start.shape[0]
        self.problem = problem
        self.gap, self.distance = gap, distance
        self.best = CertifiedPoint(
            point=start.copy(),
            gap=np.full(runs, math.inf),
            distance=np.full(runs, math.inf),
            gradient_queries=np.zeros(runs),
        )
        self.runs: IntArray = np.arange(runs)
        self.alive: BoolArray = np.ones(runs, dtype=np.bool_)
        self.steps: IntArray = np.zeros(runs, dtype=np.int64)
        terms, weight, middle = problem.terms, problem.weight, problem.middle
        anchor, found = terms.anchor(start)
        # The minimiser moves by L/λ at most. From data on a scale far below that, the Hessian would be singular in
        # doubles, and Newton's steps would leap over the kinks.
        self.first_tau = np.maximum(found, terms.resolution * terms.lipschitz / weight)
        diameter = problem.convex_set.diameter
        set_tau = _FIRST_SET_TAU / (weight + terms.lipschitz / diameter) if diameter > 0.0 else 1.0 / weight
        self.first_set_tau = np.full(runs, set_tau)
        self.smoothed = Smoothed(
            terms=terms,
            convex_set=problem.convex_set,
            centre=middle,
            weight=weight,
            anchor=anchor,
            tau=self.first_tau,
            # The multiplier of the set where the regulariser outweighs the risk.
            set_anchor=weight * (middle - problem.convex_set.project(middle)),
            set_tau=self.first_set_tau,
        )
        self.state = self.smoothed.at(start)
        self.best.gradient_queries[:] = 2.0 * terms.count
        # A stage ends with a gradient that moves v by a small part of the distance that is wanted, and the duality gap,
        # of first order in that move, by a small part of λ·distance².
        aim = weight * min(distance, math.sqrt(gap / weight))
        self.tolerance = min(0.01 * aim, 0.1 * aim * aim / max(terms.lipschitz, 1e-300))

    def still(self) -> BoolArray:
        """Return which runs have minimised the smoothed problem of their stage."""
        smoothed, state = self.smoothed, self.state
        floor = smoothed.terms.gradient_error(state.w) + smoothed.weight * self.problem.rounding[self.runs]
        multiplier = euclidean_norm(state.outside) / smoothed.set_tau
        floor += UNIT_ROUNDOFF * (math.sqrt(smoothed.terms.count) * smoothed.terms.lipschitz + multiplier)
        small = euclidean_norm(state.gradient) <= np.maximum(self.tolerance, _ROUNDING * floor)
        return self.alive & (small | (self.steps >= _STEPS_PER_STAGE))

    def certify(self, asked: BoolArray) -> None:
        """Certify what some of the runs have come to; those that are accurate enough are finished."""
        rows = np.flatnonzero(asked)
        whole = rows.size == asked.size
        smoothed, state = (
            (self.smoothed, self.state) if whole else (self.smoothed.take(rows), self.state.take(rows))
        )
        runs = self.runs[rows]
        found = self.problem.certify(smoothed, state, self.problem.rounding[runs])
        self.best.gradient_queries[runs] += found.gradient_queries
        enough = (found.gap <= self.gap) & (found.distance <= self.distance)
        better = enough | (found.distance < self.best.distance[runs])
        for name in ("point", "gap", "distance"):
            getattr(self.best, name)[runs[better]] = getattr(found, name)[better]
        self.alive[rows] = ~enough

    def shrink(self) -> None:
        """Forget the finished runs once they are half of all."""
        rows = np.flatnonzero(self.alive)
        if 2 * rows.size > self.alive.size:
            return
        self.smoothed, self.state = self.smoothed.take(rows), self.state.take(rows)
        self.runs, self.steps = self.runs[rows], self.steps[rows]
        self.alive = np.ones(rows.size, dtype=np.bool_)

    def tighten(self, ended: BoolArray) -> None:
        """Move on to the next stage where one has ended."""
        first_tau, first_set_tau = self.first_tau[self.runs], self.first_set_tau[self.runs]
        old, dual = self.smoothed, self.state.risk.dual
        in_dual = ended.reshape(-1, *(1,) * (dual.ndim - 1))
        tau = np.maximum(_TIGHTEN * old.tau, _SMALLEST_TAU * first_tau)
        set_tau = np.maximum(_TIGHTEN_SET * old.set_tau, _SMALLEST_SET_TAU * first_set_tau)
        self.smoothed = replace(
            old,
            anchor=np.where(in_dual, dual, old.anchor),
            tau=np.where(ended, tau, old.tau),
            set_anchor=np.where(ended[:, None], self.state.multiplier, old.set_anchor),
            set_tau=np.where(ended, set_tau, old.set_tau),
        )
        self.state = self.smoothed.at(self.state.w)
        self.steps[ended] = 0
        self.best.gradient_queries[self.runs[ended]] += float(self.smoothed.terms.count)

    def step(self) -> None:
        """Make one Newton step."""
        self.state, evaluations = descend(self.smoothed, self.state, self.alive)
        self.best.gradient_queries[self.runs] += evaluations * float(self.smoothed.terms.count)
        self.steps += 1


def minimise_terms(problem: Regularised, start: FloatArray, *, gap: float, distance: float) -> CertifiedPoint:
    """Return the best certified points found, as accurate as wanted unless the iterations ran out.

    Each run's path is its own: stages end run by run, and runs that are finished are left out.
    """
    search = _Search(problem, start, gap=gap, distance=distance)
    for _ in range(_ITERATIONS):
        ended = search.still()
        # A smooth loss's certificate needs no pass over the data.
        asked = search.alive if problem.terms.is_smooth else ended
        if asked.any():
            search.certify(asked.copy())
            ended &= search.alive
        if not search.alive.any():
            break
        if ended.any():
            search.tighten(ended)
        search.shrink()
        search.step()
    return search.best
