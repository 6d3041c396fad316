"""The Euclidean distance ``‖w − z‖₂``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.geometry.norms import euclidean_norm
from dpsco_verify.problems.losses.loss import Loss
from dpsco_verify.validation import require_non_negative

# Below this norm a difference is scaled up before it is divided by its norm: two subnormal numbers have no quotient
# to speak of. Scaling by a power of two is exact.
_SMALL_NORM = 1e-280
_LIFT = 2.0**600


@dataclass(frozen=True)
class EuclideanDistance(Loss):
    """``f(w, z) = ‖w − z‖₂`` for a data point ``z`` in ``R^d``; the subgradient at the kink ``w = z`` is 0.

    A minimiser of the risk is a geometric median (spatial median, Fermat–Weber point) of the law of ``z``. The
    Lipschitz constant is 1 whatever the data are, so a bound on ``‖z‖₂`` limits the data and nothing else. No
    Lipschitz gradient: at distance ``ρ`` from ``z`` the curvature is ``1/ρ``.
    """

    name = "euclidean distance"

    def data_dimension(self, dimension: int) -> int:
        """Return `dimension`: a data point is a point of the parameter's space."""
        return dimension

    def features(self, z: FloatArray) -> FloatArray:
        """Return the data points themselves: their norm is what a data radius bounds."""
        return z

    def value(self, w: FloatArray, z: FloatArray) -> FloatArray:
        """Return ``‖w − z‖₂``, shape ``(...)``."""
        return euclidean_norm(np.subtract(w, z, order="C"))[()]

    def subgradient(self, w: FloatArray, z: FloatArray) -> FloatArray:
        """Return ``(w − z)/‖w − z‖₂``, and 0 for ``w = z``, shape ``(..., d)``."""
        difference = np.subtract(w, z, order="C")
        norm = euclidean_norm(difference)
        if not (norm > _SMALL_NORM).all():
            difference = difference * np.where(norm > _SMALL_NORM, 1.0, _LIFT)[..., None]
            norm = euclidean_norm(difference)
            norm = np.where(norm > 0.0, norm, 1.0)
        gradient: FloatArray = difference / norm[..., None]
        return gradient

    def lipschitz(self, data_radius: float) -> float:
        """Return 1, for data of any radius."""
        require_non_negative("data_radius", data_radius)
        return 1.0
