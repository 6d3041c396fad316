"""The interface of a closed convex set in R^d."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol, SupportsFloat, SupportsIndex

import numpy as np

from dpsco_verify.arrays import ArrayLike, BoolArray, FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.geometry.norms import UNIT_ROUNDOFF, euclidean_norm
from dpsco_verify.validation import (
    require_finite_array,
    require_integer,
    require_non_negative,
    require_positive,
)


class ConvergenceError(InputError):
    """An iterative method did not meet its stated criterion; no approximate result is handed out."""


SMALLEST_SCALE, LARGEST_SCALE = 1e-250, 1e250
"""Range of the lengths that describe a set: inside it, no arithmetic on the set's own scale leaves the doubles."""

LARGEST_COORDINATE = 1e300
"""Largest magnitude of a point's coordinates: up to it, no norm of a point leaves the doubles."""


def require_length(name: str, value: SupportsFloat) -> float:
    """Return `value` as a positive float within the range of lengths that sets support."""
    number = require_positive(name, value)
    if not SMALLEST_SCALE <= number <= LARGEST_SCALE:
        raise InputError(
            f"{name}={value!r} is outside [{SMALLEST_SCALE:g}, {LARGEST_SCALE:g}]; rescale the problem"
        )
    return number


def require_coordinates(name: str, value: ArrayLike, *, dimension: int | None = None) -> FloatArray:
    """Return a read-only copy of `value`, a vector of shape (d,) that describes a set."""
    vector = np.array(require_finite_array(name, value, shape=(dimension,)), dtype=np.float64, order="C")
    if vector.size == 0:
        raise InputError(f"{name}.shape={vector.shape} is empty; give at least one coordinate")
    if np.abs(vector).max() > LARGEST_SCALE:
        raise InputError(f"{name} has entries above {LARGEST_SCALE:g} in magnitude; rescale the problem")
    vector.setflags(write=False)
    return vector


def require_center(center: ArrayLike | None, *, dimension: int) -> FloatArray:
    """Return a read-only copy of `center`, shape (d,); the origin for None."""
    return require_coordinates(
        "center", np.zeros(dimension) if center is None else center, dimension=dimension
    )


def shown(array: FloatArray) -> str:
    """Return `array` in one line for a repr, which evaluates when there are at most 32 entries and is cut otherwise."""
    text = np.array2string(array, separator=", ", threshold=32, floatmode="unique", max_line_width=2**20)
    return " ".join(text.split())


class Tiltable(Protocol):
    """What a set asks of a potential: the minimiser of ``Phi(w) - <tilt, w>`` over a set, shape (d,)."""

    def tilted_minimiser(self, convex_set: ConvexSet, tilt: ArrayLike) -> FloatArray:
        """Return the minimiser over `convex_set`."""
        ...


class ConvexSet(ABC):
    """A non-empty closed convex set W in R^d with its Euclidean projection.

    Points are arrays of shape (..., d) with entries of at most ``LARGEST_COORDINATE`` = 1e300 in magnitude;
    everything is vectorised over the leading axes.

    A set of your own derives from this class and implements `diameter`, `max_norm`, `_project`, `_violation`
    and, where the default does not fit, `_rounding`; these receive checked points: C-contiguous doubles with
    a last axis of length d. `dpsco_verify.geometry.properties` checks the result.
    """

    def __init__(self, dimension: SupportsIndex) -> None:
        self._dimension = require_integer("dimension", dimension, minimum=1)

    @property
    def dimension(self) -> int:
        """Number of coordinates d."""
        return self._dimension

    def project(self, x: ArrayLike) -> FloatArray:
        """Return the Euclidean projections ``argmin_{w in W} ||w - x||_2``, a new array of the shape (..., d) of `x`.

        The l2 error of each row is at most ``projection_error(x)``.

        Raises
        ------
        InputError
            When the last axis of `x` is not d, or an entry is not finite or too large.
        """
        return self._project(self._points(x))

    def contains(self, x: ArrayLike, *, tolerance: float = 0.0) -> BoolArray:
        """Return whether each point lies in W, shape (...).

        Parameters
        ----------
        x
            Points of shape (..., d).
        tolerance
            Absolute Euclidean slack on top of the floating-point one: points with
            ``violation(x) <= tolerance + rounding(x)`` count as members, thus all points within `tolerance`
            of W, and each result of `project` already at `tolerance` 0.
        """
        slack = require_non_negative("tolerance", tolerance)
        points = self._points(x)
        return np.asarray(self._violation(points) <= slack + self._rounding(points))

    def violation(self, x: ArrayLike) -> FloatArray:
        """Return by how much each point misses the constraints that define W, shape (...).

        Zero in W and never more than the Euclidean distance to W; computed from the constraints, not from
        `project`, so that each checks the other.
        """
        return np.asarray(self._violation(self._points(x)))

    def rounding(self, x: ArrayLike) -> FloatArray:
        """Return the floating-point slack of ``contains`` at each point, shape (...).

        It covers the error of ``violation`` at points close to W, and that of writing down a member of W in
        doubles.
        """
        points = self._points(x)
        return np.broadcast_to(np.asarray(self._rounding(points)), points.shape[:-1])

    def projection_error(self, x: ArrayLike) -> FloatArray:
        """Return a bound, shape (...), on the l2 distance of ``project(x)`` from the exact projection."""
        points = self._points(x)
        return np.broadcast_to(np.asarray(self._projection_error(points)), points.shape[:-1])

    def minimiser(self, potential: Tiltable) -> FloatArray:
        """Return ``argmin_{w in W} Phi(w)``, shape (d,), with Phi infinite outside its domain.

        Raises
        ------
        InputError
            When W and the domain of `potential` do not meet, or no method is known for the pair.
        """
        return potential.tilted_minimiser(self, np.zeros(self.dimension))

    @property
    @abstractmethod
    def diameter(self) -> float:
        """Largest Euclidean distance of two points of W; infinite when W is unbounded."""

    @property
    @abstractmethod
    def max_norm(self) -> float:
        """Supremum of ``||w||_2`` over W; infinite when W is unbounded."""

    @abstractmethod
    def _project(self, x: FloatArray) -> FloatArray:
        """Project checked points."""

    @abstractmethod
    def _violation(self, x: FloatArray) -> FloatArray:
        """Measure the violation of the constraints at checked points."""

    def _rounding(self, x: FloatArray) -> FloatArray | float:
        """Bound the rounding at checked points: by default 4 (d + 8) u times the largest magnitude in play."""
        reach = self.max_norm if np.isfinite(self.max_norm) else 0.0
        return 4 * (self.dimension + 8) * UNIT_ROUNDOFF * (euclidean_norm(x) + reach)

    def _projection_error(self, x: FloatArray) -> FloatArray | float:
        """Bound the l2 error of the projection of checked points: by default the rounding bound."""
        return self._rounding(x)

    def _points(self, x: ArrayLike) -> FloatArray:
        """Check points as cheaply as can be; the slow path only words the error."""
        try:
            points = np.asarray(x, dtype=np.float64, order="C")
        except (TypeError, ValueError):
            points = require_finite_array("x", x)
        if points.ndim == 0 or points.shape[-1] != self._dimension:
            raise InputError(
                f"x.shape={points.shape} does not fit; give points of shape (..., {self._dimension})"
            )
        # One pass finds NaN, infinities and overlarge entries alike.
        if not (np.abs(points) <= LARGEST_COORDINATE).all():
            require_finite_array("x", points)
            raise InputError(f"x has entries above {LARGEST_COORDINATE:g} in magnitude; rescale the problem")
        return points
