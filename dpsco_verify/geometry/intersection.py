"""The intersection of convex sets, projected onto by Dykstra's algorithm."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import SupportsIndex

import numpy as np

from dpsco_verify.arrays import BoolArray, FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.geometry.convex_set import ConvergenceError, ConvexSet, require_length
from dpsco_verify.geometry.norms import euclidean_norm
from dpsco_verify.validation import require_integer, require_open_interval


class Intersection(ConvexSet):
    """``W_1 ∩ ... ∩ W_m``, not empty.

    Parameters
    ----------
    sets
        The W_i, at least one, of one dimension.
    tolerance
        Relative tolerance tau of the criterion below.
    scale
        Length L that the tolerance is relative to: the smallest ``max_norm`` of the sets, or 1 when none is
        bounded, unless given.
    max_iterations
        Cycles through the sets before `project` gives up.

    Notes
    -----
    Dykstra's algorithm (Boyle & Dykstra 1986) keeps an increment y_i for each set, starts each cycle at
    ``x_0 = x - sum_i y_i``, goes through ``x_i = P_i(x_{i-1} + y_i), y_i <- x_{i-1} + y_i - x_i``, and hands out
    w = x_m when

    1. ``max_i ||x_i - w||_2 <= tau (L + ||w||_2)``: w is that close to a point of each set, and
    2. ``sum_i <y_i, x_i - w> <= tau L (||x - w||_2 + tau L)``. As y_i lies in the normal cone of W_i at x_i and
       ``x - w = sum_i y_i``, the left side bounds ``<x - w, z - w>`` for every z in the intersection: the
       variational inequality of the projection, certified at each result.

    The plain algorithm stalls for about ``||x - w|| / L`` cycles at polyhedral sets; as it is coordinate
    descent in the y_i, momentum with restarts (Chambolle, Tan & Vaiter 2017) is put on them, which leaves the
    certificate as it is.

    Precision is lost to inputs that are far away: with ``||x||_2`` above about ``tau L / u`` the criterion
    cannot be met.

    Raises
    ------
    ConvergenceError
        From `project`, when the criterion is not met: the sets do not meet, or only touch, or x is too far
        away.
    """

    def __init__(
        self,
        sets: Sequence[ConvexSet],
        *,
        tolerance: float = 1e-10,
        scale: float | None = None,
        max_iterations: SupportsIndex = 10_000,
    ) -> None:
        self.sets = tuple(sets)
        if not self.sets:
            raise InputError("sets=() is empty; give at least one convex set")
        for position, member in enumerate(self.sets):
            if not isinstance(member, ConvexSet):
                raise InputError(
                    f"sets[{position}] of type {type(member).__name__} is not a ConvexSet; give convex sets"
                )
        dimensions = [member.dimension for member in self.sets]
        if len(set(dimensions)) > 1:
            raise InputError(f"sets have the dimensions {dimensions}; give sets of one dimension")
        super().__init__(dimensions[0])
        self.tolerance = require_open_interval("tolerance", tolerance, 0.0, 1.0)
        reach = self.max_norm
        self.scale = require_length(
            "scale", scale if scale is not None else reach if 0 < reach < math.inf else 1.0
        )
        self.max_iterations = require_integer("max_iterations", max_iterations, minimum=1)

    def __repr__(self) -> str:
        inner = ", ".join(map(repr, self.sets))
        return f"Intersection([{inner}], tolerance={self.tolerance!r}, scale={self.scale!r})"

    @property
    def diameter(self) -> float:
        """The smallest diameter of the sets, an upper bound."""
        return min(member.diameter for member in self.sets)

    @property
    def max_norm(self) -> float:
        """The smallest `max_norm` of the sets, an upper bound."""
        return min(member.max_norm for member in self.sets)

    def _project(self, x: FloatArray) -> FloatArray:
        result = np.empty((x.size // self.dimension, self.dimension))
        start = x.reshape(result.shape)
        active = np.arange(result.shape[0])
        # Axes: set, row, coordinate.
        previous = increments = np.zeros((len(self.sets), *start.shape))
        pace = np.ones(start.shape[0])
        for _ in range(self.max_iterations):
            next_pace = (1 + np.sqrt(1 + 4 * pace**2)) / 2
            leading = increments + ((pace - 1) / next_pace)[:, np.newaxis] * (increments - previous)
            previous, (increments, visited) = increments, self._cycle(start, leading)
            # Rows that have arrived leave the batch, so that none depends on how long the others take.
            moving = ~self._has_converged(start, visited, increments)
            result[active[~moving]] = visited[-1][~moving]
            if not moving.any():
                return result.reshape(x.shape)
            # Momentum that points uphill is dropped (O'Donoghue & Candes 2015).
            uphill = np.sum((leading - increments) * (increments - previous), axis=(0, 2)) > 0
            pace = np.where(uphill, 1.0, next_pace)[moving]
            active, start = active[moving], start[moving]
            previous, increments = previous[:, moving], increments[:, moving]
        raise ConvergenceError(
            f"max_iterations={self.max_iterations} did not bring {active.size} of {result.shape[0]} points to "
            f"tolerance={self.tolerance:g} relative to scale={self.scale:g}: check that the sets "
            "meet in more than a touching point and that the points are not too far away, or allow more"
        )

    def _cycle(self, start: FloatArray, leading: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Go through the sets once; return the new increments and the points x_i."""
        increments, visited = np.empty_like(leading), np.empty_like(leading)
        current = start - leading.sum(axis=0)
        for i, member in enumerate(self.sets):
            shifted = current + leading[i]
            current = visited[i] = member.project(shifted)
            increments[i] = shifted - current
        return increments, visited

    def _has_converged(self, start: FloatArray, visited: FloatArray, increments: FloatArray) -> BoolArray:
        last = visited[-1]
        reach = self.tolerance * self.scale
        spread = euclidean_norm(visited - last).max(axis=0)
        gap = np.sum(increments * (visited - last), axis=-1).sum(axis=0)
        close = spread <= reach + self.tolerance * euclidean_norm(last)
        return np.asarray(close & (gap <= reach * (euclidean_norm(start - last) + reach)))

    def _violation(self, x: FloatArray) -> FloatArray:
        return np.asarray(np.max([member.violation(x) for member in self.sets], axis=0))

    def _rounding(self, x: FloatArray) -> FloatArray:
        inherited = np.max([member.rounding(x) for member in self.sets], axis=0)
        return np.asarray(inherited + self.tolerance * (self.scale + euclidean_norm(x)))

    def _projection_error(self, x: FloatArray) -> FloatArray:
        """Follow from the two criteria: with distance D of x from w, ``sqrt(2 tau (L + ||w||) (D + tau L))``."""
        projected = self._project(x)
        reach = self.tolerance * (self.scale + euclidean_norm(projected))
        return np.asarray(np.sqrt(2 * reach * (euclidean_norm(x - projected) + reach)))
