"""A law on finitely many data points."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, SupportsFloat

import numpy as np

from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.geometry.norms import euclidean_norm
from dpsco_verify.problems.losses import Linear, LinearPredictorLoss, Loss
from dpsco_verify.problems.losses.loss import inner_product
from dpsco_verify.problems.minimisation import CertifiedMinimum, minimise_finite, minimise_linear, set_key
from dpsco_verify.problems.populations.population import Population, shape_of
from dpsco_verify.validation import require_finite, require_finite_array

if TYPE_CHECKING:
    from dpsco_verify.geometry import ConvexSet

# Relative slack for what the caller computed in floating point: a norm, a sum of probabilities.
_ROUNDING = 1e-9
# Scores of so many pairs (parameter, data point) at once stay within a processor's cache.
_CACHED_PAIRS = 2**15
# Losses without a linear predictor get whole blocks of pairs; so many numbers at once are 8 MiB.
_BLOCK = 2**20


class FinitePopulation(Population):
    """``N`` data points with probabilities ``p_i``: ``F(w) = Σ p_i f(w, z_i)``; samples are drawn with replacement.

    Parameters
    ----------
    data
        The points, shape ``(N, k)``.
    loss
        The loss; it determines ``d`` from ``k``.
    probabilities
        ``p_i ≥ 0`` with sum 1, shape ``(N,)``; by default ``1/N`` each.
    name
        What reports call it.
    data_radius
        A declared bound on the norm of the features; by default their largest norm.
    lipschitz
        A declared Lipschitz constant, to be checked against the data; ``loss.lipschitz(data_radius)`` is used anyway.

    Raises
    ------
    InputError
        If the data hold NaN, do not fit the loss, or exceed the declared radius or Lipschitz constant, or the
        probabilities are not such.
    """

    def __init__(
        self,
        data: ArrayLike,
        loss: Loss,
        probabilities: ArrayLike | None = None,
        name: str = "finite population",
        *,
        data_radius: SupportsFloat | None = None,
        lipschitz: SupportsFloat | None = None,
    ) -> None:
        points = np.array(
            loss.require_data(require_finite_array("data", data, shape=(None, None))), order="C"
        )
        if points.shape[0] == 0:
            raise InputError(f"data.shape={points.shape} is empty; give at least one data point")
        features = loss.features(points)
        largest = float(np.max(euclidean_norm(features)))
        radius = largest if data_radius is None else require_finite("data_radius", data_radius)
        if radius < largest * (1.0 - _ROUNDING):
            raise InputError(
                f"data_radius={radius!r} is too small; the data have features of norm {largest!r}"
            )
        super().__init__(name=name, loss=loss, dimension=features.shape[-1], data_radius=radius)
        if lipschitz is not None:
            needed = loss.lipschitz(largest)
            if require_finite("lipschitz", lipschitz) < needed * (1.0 - _ROUNDING):
                raise InputError(
                    f"lipschitz={lipschitz!r} is too small; {loss.name} on these data needs {needed!r}"
                )

        points.setflags(write=False)
        self._data = points
        self._probabilities = _probabilities(probabilities, points.shape[0])
        self._is_uniform = probabilities is None
        # One row for each feature, so that a parameter's scores are built up feature by feature, one parameter at a
        # time: a matrix product would add in an order that depends on the size of the batch.
        self._columns = np.ascontiguousarray(features.T)
        self._minima: dict[object, CertifiedMinimum] = {}

    @property
    def data(self) -> FloatArray:
        """The data points, shape ``(N, k)``, read-only."""
        return self._data

    @property
    def probabilities(self) -> FloatArray:
        """Their probabilities, shape ``(N,)``, read-only."""
        return self._probabilities

    def sample(self, rng: np.random.Generator, size: int | tuple[int, ...]) -> FloatArray:
        """Return data points drawn with replacement, shape ``(*size, k)``."""
        shape = shape_of(size)
        if self._is_uniform:
            index = rng.integers(self._data.shape[0], size=shape)
        else:
            index = rng.choice(self._data.shape[0], size=shape, p=self._probabilities)
        return self._data[index]

    def _risk(self, w: FloatArray) -> FloatArray:
        if isinstance(self.loss, Linear):
            return -inner_product(w, self._mean())
        rows = w.reshape(-1, self.dimension)
        count = self._data.shape[0]
        if isinstance(self.loss, LinearPredictorLoss):
            values, step = self._values_from_scores, max(1, _CACHED_PAIRS // count)
        else:
            values, step = self._values, max(1, _BLOCK // self._data.size)
        risk = np.empty(rows.shape[0])
        for start in range(0, rows.shape[0], step):
            block = values(rows[start : start + step])
            risk[start : start + step] = inner_product(block, self._probabilities)
        return risk.reshape(w.shape[:-1])[()]

    def _values_from_scores(self, rows: FloatArray) -> FloatArray:
        """Return ``f(w_r, z_i)``, shape ``(R, N)``, for a loss of a linear predictor."""
        assert isinstance(self.loss, LinearPredictorLoss)  # noqa: S101  the caller has asked already
        score = np.empty((rows.shape[0], self._data.shape[0]))
        for i, row in enumerate(rows):
            np.einsum("d,dn->n", row, self._columns, out=score[i])
        return self.loss.score_value(score, self._data[:, -1])

    def _values(self, rows: FloatArray) -> FloatArray:
        """Return ``f(w_r, z_i)``, shape ``(R, N)``, for any loss."""
        return self.loss.value(rows[:, None, :], self._data)

    def _mean(self) -> FloatArray:
        """Return ``E z``."""
        mean: FloatArray = np.add.reduce(self._probabilities[:, None] * self._data, axis=0)
        return mean

    def _minimum(self, convex_set: ConvexSet) -> CertifiedMinimum:
        key = set_key(convex_set)
        if key not in self._minima:
            if isinstance(self.loss, Linear):
                self._minima[key] = minimise_linear(self._mean(), convex_set)
            else:
                self._minima[key] = minimise_finite(self, convex_set)
        return self._minima[key]


def _probabilities(probabilities: ArrayLike | None, count: int) -> FloatArray:
    """Return checked probabilities, normalised to the last bit that a division reaches, read-only."""
    if probabilities is None:
        checked = np.full(count, 1.0 / count)
    else:
        checked = require_finite_array("probabilities", probabilities, shape=(count,))
        if (checked < 0).any():
            raise InputError(
                f"probabilities[{np.argmax(checked < 0)}]={checked.min()!r} is negative; give none below 0"
            )
        total = math.fsum(checked)
        if abs(total - 1.0) > _ROUNDING:
            raise InputError(f"sum(probabilities)={total!r} is not 1; divide the probabilities by their sum")
        checked = checked / total
    checked.setflags(write=False)
    return checked
