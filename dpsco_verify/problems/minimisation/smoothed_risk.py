"""The interface of a risk for the central path: a smooth stand-in with two derivatives, and dual lower bounds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple

from dpsco_verify.arrays import FloatArray

if TYPE_CHECKING:
    from dpsco_verify.geometry import ConvexSet


class DualBound(NamedTuple):
    """A lower bound on a minimum, and the margin for rounding that has been taken off it."""

    value: float
    margin: float


class SmoothedRisk(ABC):
    """``Σ p_i f_{μ/p_i}(w, z_i)`` as a function of the coordinates ``v`` of ``w = origin + Mv``.

    ``f_μ(·, z)`` is ``f(·, z)`` with a logarithmic barrier of weight ``μ`` on its dual variable, so that
    ``Σ p_i f_{μ/p_i}/μ`` is self-concordant, and tends to the risk with ``μ``.
    """

    @property
    @abstractmethod
    def count(self) -> int:
        """``N``, the number of data points."""

    @property
    @abstractmethod
    def parameter(self) -> float:
        """The sum of the parameters of all barriers: on the central path they contribute ``parameter·μ`` to the gap."""

    @property
    @abstractmethod
    def scale(self) -> float:
        """The most by which one point's loss can differ within the set, up to a factor of the dimension."""

    @abstractmethod
    def value(self, v: FloatArray, mu: float) -> float:
        """Return the smoothed risk."""

    @abstractmethod
    def derivatives(self, v: FloatArray, mu: float) -> tuple[FloatArray, FloatArray]:
        """Return its gradient and Hessian in ``v``, shapes ``(m,)`` and ``(m, m)``."""

    @abstractmethod
    def plain_bound(self, v: FloatArray, convex_set: ConvexSet) -> DualBound:
        """Return a lower bound on the risk over the set from the loss's own subgradients at ``v``."""

    @abstractmethod
    def bound(self, v: FloatArray, mu: float, step: FloatArray, convex_set: ConvexSet) -> DualBound:
        """Return a lower bound on the risk over the set from the smoothed subgradients at ``v``.

        `step` is Newton's step at ``v``. Near a kink the subgradient is a steep function of ``v``, whose rounding
        spoils the balance between the risk and the set's barrier; the subgradients' first-order change along the
        step restores it.
        """
