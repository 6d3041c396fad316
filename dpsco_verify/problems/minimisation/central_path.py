"""The smoothed problem whose minimisers form the central path, and Newton's method for it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from dpsco_verify.arrays import FloatArray
from dpsco_verify.problems.minimisation.domain import Domain
from dpsco_verify.problems.minimisation.smoothed_risk import DualBound, SmoothedRisk

if TYPE_CHECKING:
    from dpsco_verify.geometry import ConvexSet

_NEWTON_STEPS = 60
# Squared Newton decrement, in units of the barrier weight, at which a point counts as central.
_CENTRED = 1e-3
_TO_THE_BOUNDARY = 0.99
_ARMIJO = 0.1
_BACKTRACKS = 40


@dataclass(frozen=True, eq=False)
class SmoothedProblem:
    """``Ψ_μ(v) = Σ p_i f_{μ/p_i}(w, z_i) + κμ·barrier(v)`` with ``w = origin + Mv`` and ``κ ≥ 1``.

    ``Ψ_μ/μ`` is self-concordant.

    Attributes
    ----------
    risk, domain
        The smoothed risk and the set, in the same coordinates.
    """

    risk: SmoothedRisk
    domain: Domain

    def gap(self, mu: float) -> float:
        """Return the gap on the central path, ``(parameter + κν)μ``."""
        return self.risk.parameter * mu + self.domain.body.parameter * self._weight(mu)

    def objective(self, v: FloatArray, mu: float) -> float:
        """Return ``Ψ_μ(v)``, infinite outside the body."""
        barrier = self.domain.body.barrier(v)
        if math.isinf(barrier):
            return math.inf
        return self.risk.value(v, mu) + self._weight(mu) * barrier

    def centre(self, v: FloatArray, mu: float) -> tuple[FloatArray, bool]:
        """Return the minimiser of ``Ψ_μ`` by damped Newton steps from `v`, and whether arithmetic let it get there."""
        objective = self.objective(v, mu)
        for _ in range(_NEWTON_STEPS):
            try:
                step, slope = self._newton_step(v, mu)
            except LinAlgError:
                return v, False
            if abs(slope) <= _CENTRED * mu:
                return v, True
            factor = min(1.0, _TO_THE_BOUNDARY * self.domain.body.step_limit(v, step))
            for _ in range(_BACKTRACKS):
                trial = self.objective(v + factor * step, mu)
                if trial <= objective + _ARMIJO * factor * slope:
                    break
                factor *= 0.5
            else:
                # The decrease that is due lies below the rounding of the objective.
                return v, False
            v, objective = v + factor * step, trial
        return v, True

    def lower_bound(self, v: FloatArray, mu: float, convex_set: ConvexSet) -> DualBound:
        """Return a lower bound on the risk over the set that belongs to `v`."""
        try:
            step, _ = self._newton_step(v, mu)
        except LinAlgError:
            step = np.zeros_like(v)
        return self.risk.bound(v, mu, step, convex_set)

    def _newton_step(self, v: FloatArray, mu: float) -> tuple[FloatArray, float]:
        """Return the Newton step and the derivative of ``Ψ_μ`` along it, negative up to rounding."""
        gradient, hessian = (self._weight(mu) * part for part in self.domain.body.derivatives(v))
        slope, curvature = self.risk.derivatives(v, mu)
        gradient += slope
        hessian += curvature
        step: FloatArray = -cho_solve(cho_factor(hessian), gradient)
        return step, float(np.add.reduce(gradient * step))

    def _weight(self, mu: float) -> float:
        # The set's barrier may cost as much of the gap as the kinks do: the further the path stays from the
        # boundary, the more digits are left of the distance to it.
        return mu * max(1.0, self.risk.count / self.domain.body.parameter)
