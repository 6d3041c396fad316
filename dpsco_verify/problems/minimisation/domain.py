"""Convex sets as interior-point methods see them: an affine image of a body with a logarithmic barrier."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.geometry import Box, L2Ball, Simplex

if TYPE_CHECKING:
    from dpsco_verify.geometry import ConvexSet

# Steps so short do not leave a body of the scale of 1, and their reciprocals may leave the doubles.
_NEGLIGIBLE = 1e-200


class Body(ABC):
    """An open convex body in ``R^m`` with a self-concordant barrier whose minimum lies at 0."""

    parameter: float
    """The barrier's parameter ``ν``: on the central path with weight ``μ`` it contributes ``νμ`` to the gap."""

    @abstractmethod
    def barrier(self, v: FloatArray) -> float:
        """Return the barrier, infinite at a point outside."""

    @abstractmethod
    def derivatives(self, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the barrier's gradient and Hessian, shapes ``(m,)`` and ``(m, m)``, at a point of the body."""

    @abstractmethod
    def step_limit(self, v: FloatArray, step: FloatArray) -> float:
        """Return a factor below which ``v + factor·step`` stays in the body; infinite if it is far above 1."""


class UnitBall(Body):
    """``‖v‖₂ < 1`` with the barrier ``-log(1 − ‖v‖²)``."""

    parameter = 1.0

    @staticmethod
    def _room(v: FloatArray) -> float:
        norm = float(np.sqrt(np.add.reduce(v * v)))
        return (1.0 - norm) * (1.0 + norm)

    def barrier(self, v: FloatArray) -> float:
        """Return ``-log q`` for ``q = 1 − ‖v‖²``."""
        room = self._room(v)
        return -math.log(room) if room > 0 else math.inf

    def derivatives(self, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ``2v/q`` and ``2I/q + 4vvᵀ/q²``."""
        room = self._room(v)
        scaled = v / room
        return 2.0 * scaled, 2.0 / room * np.eye(v.size) + 4.0 * np.multiply.outer(scaled, scaled)

    def step_limit(self, v: FloatArray, step: FloatArray) -> float:
        """Return the positive root of ``‖v + t·step‖² = 1``, in the form without cancellation."""
        a, b = float(np.add.reduce(step * step)), float(np.add.reduce(v * step))
        room = self._room(v)
        if a < _NEGLIGIBLE:
            return math.inf
        root = float(np.sqrt(b * b + a * room))
        return room / (b + root) if b > 0 else (root - b) / a


@dataclass(frozen=True, eq=False)
class Polyhedron(Body):
    """``Bv + b > 0`` with the barrier ``-Σ log (Bv + b)_j``.

    Attributes
    ----------
    matrix, offset
        ``B`` and ``b``, shapes ``(c, m)`` and ``(c,)``.
    """

    matrix: FloatArray
    offset: FloatArray

    @property
    def parameter(self) -> float:  # type: ignore[override]  # a constant of the one class, a count in the other
        """The number of inequalities."""
        return float(self.offset.size)

    def _room(self, v: FloatArray) -> FloatArray:
        room: FloatArray = np.einsum("cm,m->c", self.matrix, v) + self.offset
        return room

    def barrier(self, v: FloatArray) -> float:
        """Return ``-Σ log r`` for ``r = Bv + b``."""
        room = self._room(v)
        return -float(np.add.reduce(np.log(room))) if (room > 0).all() else math.inf

    def derivatives(self, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ``-Bᵀ(1/r)`` and ``Bᵀ diag(1/r²) B``."""
        scaled = self.matrix / self._room(v)[:, None]
        return -np.add.reduce(scaled, axis=0), np.einsum("ci,cj->ij", scaled, scaled)

    def step_limit(self, v: FloatArray, step: FloatArray) -> float:
        """Return the smallest factor at which an inequality becomes tight."""
        closing = np.einsum("cm,m->c", self.matrix, -step) / self._room(v)
        fastest = float(np.max(closing))
        return 1.0 / fastest if fastest > _NEGLIGIBLE else math.inf


@dataclass(frozen=True, eq=False)
class Domain:
    """``W = {origin + Mv : v in the closure of the body}``.

    Attributes
    ----------
    origin
        The analytic centre of ``W``, shape ``(d,)``.
    matrix
        ``M``, shape ``(d, m)``, injective; ``m`` is the dimension of the affine hull of ``W``.
    body
        The body in ``R^m``, of the scale of 1.
    """

    origin: FloatArray
    matrix: FloatArray
    body: Body


def domain_of(convex_set: ConvexSet) -> Domain | None:
    """Return the set's domain, or None for a set without a known barrier."""
    d = convex_set.dimension
    match convex_set:
        case L2Ball():
            return Domain(convex_set.center, convex_set.radius * np.eye(d), UnitBall())
        case Box():
            half_width = 0.5 * convex_set.high - 0.5 * convex_set.low
            free = half_width > 0
            identity = np.eye(int(np.count_nonzero(free)))
            cube = Polyhedron(np.vstack([identity, -identity]), np.ones(2 * identity.shape[0]))
            return Domain(convex_set.low + half_width, np.diag(half_width)[:, free], cube)
        case Simplex():
            # The Helmert matrix: an orthonormal basis of the vectors with sum 0.
            index = np.arange(1, d)
            basis = np.triu(np.ones((d, d - 1))) - np.diag(index.astype(np.float64), -1)[:, : d - 1]
            basis /= np.sqrt(index * (index + 1.0))
            weights = np.full(d, 1.0 / d)
            return Domain(convex_set.total * weights, convex_set.total * basis, Polyhedron(basis, weights))
        case _:
            return None
