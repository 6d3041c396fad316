"""The linear loss ``f(w, z) = -<w, z>``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.problems.losses.loss import Loss, inner_product
from dpsco_verify.validation import require_non_negative


@dataclass(frozen=True)
class Linear(Loss):
    """``f(w, z) = -<w, z>`` for a data point ``z`` in ``R^d``; its gradient is ``-z`` everywhere.

    The Lipschitz constant is ``sup ‖z‖₂``. The classical lower bounds for (private) stochastic convex optimisation
    use this loss with signs as data.
    """

    name = "linear"

    def data_dimension(self, dimension: int) -> int:
        """Return `dimension`: a data point is a vector of the parameter's length."""
        return dimension

    def features(self, z: FloatArray) -> FloatArray:
        """Return the data points themselves."""
        return z

    def value(self, w: FloatArray, z: FloatArray) -> FloatArray:
        """Return ``-<w, z>``, shape ``(...)``."""
        return -inner_product(w, z)

    def subgradient(self, w: FloatArray, z: FloatArray) -> FloatArray:
        """Return ``-z``, broadcast to the shape of ``w`` and ``z`` together."""
        if w.shape == z.shape:
            return -z
        return -np.broadcast_to(z, np.broadcast_shapes(w.shape, z.shape))

    def lipschitz(self, data_radius: float) -> float:
        """Return `data_radius`: the gradient's norm is the data point's."""
        return require_non_negative("data_radius", data_radius)

    def smoothness(self, data_radius: float) -> float:  # noqa: ARG002  the same for all data
        """Return 0: the gradient is constant."""
        return 0.0
