"""The interface of a loss: a convex function of the parameter for every data point."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.validation import require_finite_array, require_integer


class Loss(ABC):
    """A loss ``f(w, z)``, convex in `w` and Lipschitz in the Euclidean norm (Sec. 3 of the paper).

    `w` has shape ``(..., d)`` and `z` has shape ``(..., k)``; leading axes broadcast. Whatever stands beside it in
    a batch, a row's result has the same bits as the row alone where the loss :attr:`is_bitwise`: it rests on sums,
    differences, products, quotients and square roots, and its sums run along the last axis of an array in C order,
    never through a matrix product.

    `value` and `subgradient` lie in the innermost loop of the algorithm and check nothing. :meth:`require_data`
    is the place where data are checked, once, when a population is built.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """The loss and its parameters in a few characters, for reports."""

    @property
    def is_bitwise(self) -> bool:
        """Whether a row's value and subgradient have the same bits alone, in every batch and in the compiled kernel.

        What goes through exp, log or another function that a library computes has not: its last digits may depend on
        the place in the array and on the processor. True, as here, for a loss that does without.
        """
        return True

    @abstractmethod
    def data_dimension(self, dimension: int) -> int:
        """Return ``k``, the length of a data point, for parameters of length `dimension`."""

    @abstractmethod
    def features(self, z: FloatArray) -> FloatArray:
        """Return the part ``a`` of the data points, shape ``(..., d)``, whose norm sets the Lipschitz constant."""

    @abstractmethod
    def value(self, w: FloatArray, z: FloatArray) -> FloatArray:
        """Return ``f(w, z)``, shape ``(...)``."""

    @abstractmethod
    def subgradient(self, w: FloatArray, z: FloatArray) -> FloatArray:
        """Return one element of the subdifferential of ``f(·, z)`` at `w`, shape ``(..., d)``.

        The class says which element it is where the loss has a kink.
        """

    @abstractmethod
    def lipschitz(self, data_radius: float) -> float:
        """Return the smallest ``L`` that fits all ``w`` in ``R^d`` and all data with ``‖a‖₂ ≤ data_radius``."""

    def smoothness(self, data_radius: float) -> float | None:  # noqa: ARG002  for losses that have one
        """Return a ``β`` for which every ``f(·, z)`` with ``‖a‖₂ ≤ data_radius`` has a β-Lipschitz gradient.

        None, as here, where there is none or none is known.
        """
        return None

    def require_data(self, data: ArrayLike, *, dimension: int | None = None) -> FloatArray:
        """Return `data` as an array of finite data points, shape ``(..., k)``.

        Raises
        ------
        InputError
            If a number is NaN or infinite, or the last axis is not as long as a data point.
        """
        array = require_finite_array("data", data)
        shortest = self.data_dimension(1)
        if array.ndim == 0 or array.shape[-1] < shortest:
            raise InputError(
                f"data.shape={array.shape} does not fit {self.name}; give points of at least {shortest} numbers"
            )
        if dimension is not None:
            wanted = self.data_dimension(require_integer("dimension", dimension, minimum=1))
            if array.shape[-1] != wanted:
                raise InputError(
                    f"data.shape={array.shape} does not fit dimension={dimension}; "
                    f"{self.name} takes points of {wanted} numbers"
                )
        return array


def inner_product(w: FloatArray, a: FloatArray) -> FloatArray:
    """Return ``<w, a>`` along the last axis, with the same bits for a row alone and in a batch.

    The product is laid out in C order, so that the sum along the last axis always runs over neighbours in memory
    and adds in one and the same order.
    """
    total: FloatArray = np.add.reduce(np.multiply(w, a, order="C"), axis=-1)
    return total


class CountedLoss:
    """A loss that counts the gradients of single points that it is asked for."""

    def __init__(self, loss: Loss) -> None:
        self._loss = loss
        self.queries = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loss, name)

    def subgradient(self, w: FloatArray, z: FloatArray) -> FloatArray:
        """Return the loss's subgradient, and count its rows."""
        found = self._loss.subgradient(w, z)
        self.queries += int(np.prod(found.shape[:-1], dtype=np.int64))
        return found
