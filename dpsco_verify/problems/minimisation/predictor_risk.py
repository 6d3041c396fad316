"""The risk of a linear predictor on finitely many points, taken apart, and its lower bounds from dual slopes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.geometry.norms import UNIT_ROUNDOFF, euclidean_norm
from dpsco_verify.problems.losses.linear_predictor import LinearPredictorLoss
from dpsco_verify.problems.minimisation.smoothed_risk import DualBound
from dpsco_verify.problems.minimisation.support import support

if TYPE_CHECKING:
    from dpsco_verify.geometry import ConvexSet

_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False)
class PredictorRisk:
    """``F(w) = Σ p_i φ(<w, a_i>, t_i)``.

    Attributes
    ----------
    loss
        ``φ``.
    features, targets, probabilities
        ``a``, ``t`` and ``p``, shapes ``(N, d)``, ``(N,)`` and ``(N,)``.
    """

    loss: LinearPredictorLoss
    features: FloatArray
    targets: FloatArray
    probabilities: FloatArray

    def lower_bound(self, slopes: FloatArray, convex_set: ConvexSet) -> DualBound:
        """Return a bound that ``F`` does not undercut on the set, from any slopes in the conjugate's domain.

        By Fenchel and Young ``F(u) ≥ <g, u> − Σ p_i φ*(θ_i, t_i)`` with ``g = Σ p_i θ_i a_i``, and
        ``min_{u∈W} <g, u> = -h_W(-g)`` with the set's support function ``h_W``. Slopes of an unfinished search give a
        weak bound, never a wrong one.

        A sum of ``n`` terms, each rounded ``c`` times, is off by at most ``(n + c)u/(1 − (n + c)u)`` times the sum
        of their absolute values (Higham, *Accuracy and Stability of Numerical Algorithms*, Sec. 3.1), ``u`` the unit
        roundoff; twice that, with a generous ``c``, is taken off.
        """
        count, dimension = self.features.shape
        products = (self.probabilities * slopes)[:, None] * self.features
        g = np.add.reduce(products, axis=0)
        conjugates = self.loss.conjugate(slopes, self.targets)
        upper_bound = support(convex_set, -g).upper_bound

        # A conjugate's terms may cancel each other: their sizes count, not the size of their sum.
        sizes = self.loss.conjugate_size(slopes, self.targets)
        size_of_g = float(euclidean_norm(np.add.reduce(np.abs(products), axis=0)))
        size = size_of_g * convex_set.max_norm + float(np.add.reduce(self.probabilities * sizes))
        underflow = count * _TINY * (1.0 + convex_set.max_norm)
        margin = 2.0 * (count + dimension + 64) * UNIT_ROUNDOFF * size + underflow
        return DualBound(float(-math.fsum(self.probabilities * conjugates) - upper_bound - margin), margin)
