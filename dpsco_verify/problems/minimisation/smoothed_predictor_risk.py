"""The smoothed risk of a linear predictor, in the coordinates of a domain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.geometry.norms import euclidean_norm
from dpsco_verify.problems.minimisation.predictor_risk import PredictorRisk
from dpsco_verify.problems.minimisation.smoothed_risk import DualBound, SmoothedRisk

if TYPE_CHECKING:
    from dpsco_verify.geometry import ConvexSet
    from dpsco_verify.problems.losses.linear_predictor import Smoothing
    from dpsco_verify.problems.minimisation.domain import Domain

_SMALLEST_PROBABILITY = 1e-12


@dataclass(frozen=True, eq=False)
class SmoothedPredictorRisk(SmoothedRisk):
    """``Σ p_i φ_{μ/p_i}(s_i, t_i)`` with scores ``s = s₀ + Av``.

    No sum is a matrix product, so that the result does not depend on the number of threads.

    Attributes
    ----------
    risk
        The risk.
    matrix, origin
        ``A`` and ``s₀``, shapes ``(N, m)`` and ``(N,)``.
    """

    risk: PredictorRisk
    matrix: FloatArray
    origin: FloatArray

    @classmethod
    def build(cls, risk: PredictorRisk, domain: Domain) -> SmoothedPredictorRisk:
        """Return the risk in the domain's own coordinates."""
        return cls(
            risk,
            np.einsum("nd,dm->nm", risk.features, domain.matrix),
            np.einsum("nd,d->n", risk.features, domain.origin),
        )

    @property
    def count(self) -> int:
        """``N``."""
        return self.risk.targets.size

    @property
    def parameter(self) -> float:
        """``2N``, for two logarithms at each data point."""
        return 2.0 * self.count

    @property
    def scale(self) -> float:
        """The largest slope times the longest row of ``A``."""
        reach = np.max(euclidean_norm(self.matrix)) if self.matrix.shape[1] else 0.0
        return self.risk.loss.slope_bound * float(reach)

    def value(self, v: FloatArray, mu: float) -> float:
        """Return ``Σ p_i φ_{μ/p_i}(s_i, t_i)``."""
        return float(np.add.reduce(self.risk.probabilities * self._smoothing(v, mu).value))

    def derivatives(self, v: FloatArray, mu: float) -> tuple[FloatArray, FloatArray]:
        """Return ``Aᵀ(p∘φ')`` and ``Aᵀ diag(p∘φ'') A``."""
        smoothing = self._smoothing(v, mu)
        gradient: FloatArray = np.einsum("nm,n->m", self.matrix, self.risk.probabilities * smoothing.slope)
        curved = self.matrix * (self.risk.probabilities * smoothing.curvature)[:, None]
        return gradient, np.einsum("ni,nj->ij", curved, self.matrix)

    def plain_bound(self, v: FloatArray, convex_set: ConvexSet) -> DualBound:
        """Return the bound from the loss's own slopes: optimal where all scores are constant on the set."""
        return self.risk.lower_bound(
            self.risk.loss.score_slope(self._scores(v), self.risk.targets), convex_set
        )

    def bound(self, v: FloatArray, mu: float, step: FloatArray, convex_set: ConvexSet) -> DualBound:
        """Return the bound from the smoothed slopes, moved along the step and back into the conjugate's domain."""
        smoothing = self._smoothing(v, mu)
        change = smoothing.curvature * np.einsum("nm,m->n", self.matrix, step)
        slopes = np.clip(smoothing.slope + change, *self.risk.loss.conjugate_domain(self.risk.targets))
        return self.risk.lower_bound(slopes, convex_set)

    def _scores(self, v: FloatArray) -> FloatArray:
        scores: FloatArray = self.origin + np.einsum("nm,m->n", self.matrix, v)
        return scores

    def _smoothing(self, v: FloatArray, mu: float) -> Smoothing:
        # Points that hardly count are smoothed less than they could be.
        weights = mu / np.maximum(self.risk.probabilities, _SMALLEST_PROBABILITY)
        return self.risk.loss.smoothing(self._scores(v), self.risk.targets, weights)
