"""The smoothed problem whose minimisers form the central path, and Newton's method for it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from dpsco_verify.arrays import FloatArray
from dpsco_verify.geometry.norms import euclidean_norm
from dpsco_verify.problems.minimisation.domain import Domain
from dpsco_verify.problems.minimisation.predictor_risk import PredictorRisk

if TYPE_CHECKING:
    from dpsco_verify.problems.losses.linear_predictor import Smoothing

_NEWTON_STEPS = 60
# Squared Newton decrement, in units of the barrier weight, at which a point counts as central.
_CENTRED = 1e-3
_TO_THE_BOUNDARY = 0.99
_ARMIJO = 0.1
_BACKTRACKS = 40
_SMALLEST_PROBABILITY = 1e-12


@dataclass(frozen=True, eq=False)
class SmoothedProblem:
    """``Ψ_μ(v) = Σ p_i φ_{μ/p_i}(s_i, t_i) + κμ·barrier(v)`` with scores ``s = s₀ + Av`` and ``κ ≥ 1``.

    With two logarithms for each data point, at unit weight, ``Ψ_μ/μ`` is self-concordant.

    No sum is a matrix product, so that the result does not depend on the number of threads.

    Attributes
    ----------
    risk, domain
        The risk and the set.
    matrix, origin
        ``A`` and ``s₀``, shapes ``(N, m)`` and ``(N,)``.
    """

    risk: PredictorRisk
    domain: Domain
    matrix: FloatArray
    origin: FloatArray

    @classmethod
    def build(cls, risk: PredictorRisk, domain: Domain) -> SmoothedProblem:
        """Return the problem in the domain's own coordinates."""
        return cls(
            risk,
            domain,
            np.einsum("nd,dm->nm", risk.features, domain.matrix),
            np.einsum("nd,d->n", risk.features, domain.origin),
        )

    @property
    def scale(self) -> float:
        """The most by which one point's loss can differ within the set, up to a factor of 2."""
        reach = np.max(euclidean_norm(self.matrix)) if self.matrix.shape[1] else 0.0
        return self.risk.loss.slope_bound * float(reach)

    def gap(self, mu: float) -> float:
        """Return the gap on the central path, ``(2N + κν)μ`` for two logarithms at each data point."""
        return 2.0 * self.risk.targets.size * mu + self.domain.body.parameter * self._weight(mu)

    def scores(self, v: FloatArray) -> FloatArray:
        """Return ``s₀ + Av``."""
        scores: FloatArray = self.origin + np.einsum("nm,m->n", self.matrix, v)
        return scores

    def objective(self, v: FloatArray, mu: float) -> float:
        """Return ``Ψ_μ(v)``, infinite outside the body."""
        barrier = self.domain.body.barrier(v)
        if math.isinf(barrier):
            return math.inf
        return (
            float(np.add.reduce(self.risk.probabilities * self._smoothing(v, mu).value))
            + self._weight(mu) * barrier
        )

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

    def dual_slopes(self, v: FloatArray, mu: float) -> FloatArray:
        """Return slopes in the conjugate's domain that belong to `v`, after one correction.

        Near a kink the slope is a steep function of the score, and the score's rounding spoils the balance
        ``Aᵀpθ + κμ∇barrier = 0``. The slopes' first-order change along the Newton step restores it.
        """
        smoothing = self._smoothing(v, mu)
        slopes = smoothing.slope
        try:
            step, _ = self._newton_step(v, mu)
        except LinAlgError:
            return slopes
        change = smoothing.curvature * np.einsum("nm,m->n", self.matrix, step)
        corrected: FloatArray = np.clip(slopes + change, *self.risk.loss.conjugate_domain(self.risk.targets))
        return corrected

    def _newton_step(self, v: FloatArray, mu: float) -> tuple[FloatArray, float]:
        """Return the Newton step and the derivative of ``Ψ_μ`` along it, negative up to rounding."""
        smoothing = self._smoothing(v, mu)
        gradient, hessian = (self._weight(mu) * part for part in self.domain.body.derivatives(v))
        gradient += np.einsum("nm,n->m", self.matrix, self.risk.probabilities * smoothing.slope)
        curved = self.matrix * (self.risk.probabilities * smoothing.curvature)[:, None]
        hessian += np.einsum("ni,nj->ij", curved, self.matrix)
        step: FloatArray = -cho_solve(cho_factor(hessian), gradient)
        return step, float(np.add.reduce(gradient * step))

    def _smoothing(self, v: FloatArray, mu: float) -> Smoothing:
        # Points that hardly count are smoothed less than they could be.
        weights = mu / np.maximum(self.risk.probabilities, _SMALLEST_PROBABILITY)
        return self.risk.loss.smoothing(self.scores(v), self.risk.targets, weights)

    def _weight(self, mu: float) -> float:
        # The set's barrier may cost as much of the gap as the kinks do: the further the path stays from the
        # boundary, the more digits are left of the distance to it.
        return mu * max(1.0, self.risk.targets.size / self.domain.body.parameter)
