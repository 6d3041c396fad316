"""Independent signs under the linear loss: the instance of the classical lower bounds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, SupportsFloat

import numpy as np

from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.geometry.norms import euclidean_norm
from dpsco_verify.problems.losses import Linear
from dpsco_verify.problems.losses.loss import inner_product
from dpsco_verify.problems.minimisation import CertifiedMinimum, minimise_linear
from dpsco_verify.problems.populations.population import Population, shape_of
from dpsco_verify.validation import require_finite_array, require_positive

if TYPE_CHECKING:
    from dpsco_verify.geometry import ConvexSet


class LinearSigns(Population):
    """``z = (L/√d)·s`` with independent signs ``s_j ∈ {−1, +1}``, ``E s_j = mean_j``; ``f(w, z) = -<w, z>``.

    Every data point has norm ``L``, and ``F(w) = -(L/√d)·<w, mean>``. Over a ball of radius ``r`` about 0 the minimum
    is ``-(L/√d)·r·‖mean‖₂``, at ``r·mean/‖mean‖₂``. Source: the product distributions of Bassily, Smith and Thakurta
    (2014), Sec. 5.

    Parameters
    ----------
    mean
        The means of the signs, shape ``(d,)``, each in [−1, 1]; without units, whatever ``L`` and ``d`` are.
    lipschitz
        ``L``, positive: the Lipschitz constant of every ``f(·, z)``.

    Raises
    ------
    InputError
        If a mean is NaN or outside [−1, 1], or there is none.
    """

    def __init__(
        self, mean: ArrayLike, *, lipschitz: SupportsFloat = 1.0, name: str = "linear signs"
    ) -> None:
        signs = require_finite_array("mean", mean, shape=(None,))
        if signs.size == 0:
            raise InputError(f"mean.shape={signs.shape} is empty; give at least one mean")
        outside = np.abs(signs) > 1.0
        if outside.any():
            raise InputError(
                f"mean[{np.argmax(outside)}]={signs[outside][0]!r} is outside [-1, 1]; give means of signs"
            )
        constant = require_positive("lipschitz", lipschitz)
        super().__init__(name=name, loss=Linear(), dimension=signs.size, data_radius=constant)
        self._magnitude = _largest_magnitude(constant, signs.size)
        self._probability_of_plus = 0.5 * (1.0 + signs)
        self._expectation = self._magnitude * signs
        self._expectation.setflags(write=False)

    @property
    def expectation(self) -> FloatArray:
        """``E z = (L/√d)·mean``, shape ``(d,)``, read-only."""
        return self._expectation

    def sample(self, rng: np.random.Generator, size: int | tuple[int, ...]) -> FloatArray:
        """Return independent data points, shape ``(*size, d)``."""
        uniform = rng.random((*shape_of(size), self.dimension))
        return np.where(uniform < self._probability_of_plus, self._magnitude, -self._magnitude)

    def _risk(self, w: FloatArray) -> FloatArray:
        return -inner_product(w, self._expectation)

    def _minimum(self, convex_set: ConvexSet) -> CertifiedMinimum:
        return minimise_linear(self._expectation, convex_set)


def _largest_magnitude(norm: float, dimension: int) -> float:
    """Return ``norm/√d``, rounded down until a vector of such entries, as computed, is no longer than `norm`."""
    magnitude = norm / math.sqrt(dimension)
    while euclidean_norm(np.full(dimension, magnitude)) > norm:
        magnitude = math.nextafter(magnitude, 0.0)
    return magnitude
