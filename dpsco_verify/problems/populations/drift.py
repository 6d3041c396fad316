"""One data point and a linear loss on the line."""

from __future__ import annotations

from typing import TYPE_CHECKING, SupportsFloat

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.problems.losses import Linear
from dpsco_verify.problems.minimisation import CertifiedMinimum, minimise_linear
from dpsco_verify.problems.populations.population import Population, shape_of
from dpsco_verify.validation import require_positive

if TYPE_CHECKING:
    from dpsco_verify.geometry import ConvexSet


class Drift(Population):
    """``f(w, z) = -L·w`` on the line: every data point is ``z = (L)``, so that only the optimisation can fail.

    Parameters
    ----------
    lipschitz
        ``L``, positive.
    """

    def __init__(self, lipschitz: SupportsFloat = 1.0, *, name: str = "drift") -> None:
        constant = require_positive("lipschitz", lipschitz)
        super().__init__(name=name, loss=Linear(), dimension=1, data_radius=constant)

    def sample(
        self,
        rng: np.random.Generator,  # noqa: ARG002  the law has one point; the signature is every population's
        size: int | tuple[int, ...],
    ) -> FloatArray:
        """Return the one data point, shape ``(*size, 1)``; nothing is drawn."""
        return np.full((*shape_of(size), 1), self.lipschitz)

    def _risk(self, w: FloatArray) -> FloatArray:
        return -self.lipschitz * w[..., 0]

    def _minimum(self, convex_set: ConvexSet) -> CertifiedMinimum:
        return minimise_linear(np.array([self.lipschitz]), convex_set)
