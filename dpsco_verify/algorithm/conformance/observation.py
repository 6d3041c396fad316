"""What is seen of an implementation of Algorithm 1, and the seam through which it is called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dpsco_verify.arrays import ArrayLike, FloatArray, IntArray
from dpsco_verify.errors import InputError
from dpsco_verify.geometry import ConvexSet
from dpsco_verify.problems import Loss
from dpsco_verify.validation import require_finite_array


class ConformanceError(InputError):
    """The implementation raised, or returned what cannot be judged."""


@dataclass(frozen=True, kw_only=True)
class ObservedRun:
    """What a run shows.

    Attributes
    ----------
    iterates
        ``w_1, …, w_{T+1}``, the first one included; shape (T + 1, d).
    output
        ``ŵ``, shape (d,); None where the reading leaves it undefined.
    draws
        The drawn indices, 0-based, repeats included, shape (T, m); None if the implementation does not tell. All
        checks but one do without: they read from the iterates which points were used.
    """

    iterates: ArrayLike
    output: ArrayLike | None
    draws: ArrayLike | None = None


class Implementation(Protocol):
    """An implementation of Algorithm 1: one call, one run.

    All of its randomness comes from `rng`. Where `batch_size` is never more than 1 it may be left out of the
    signature (see `batched` of :func:`~dpsco_verify.algorithm.conformance.check_implementation`).
    """

    def __call__(
        self,
        data: FloatArray,
        rng: np.random.Generator,
        *,
        loss: Loss,
        convex_set: ConvexSet,
        step_size: float,
        sigma: float,
        lipschitz: float,
        initial_point: FloatArray,
        batch_size: int,
    ) -> ObservedRun:
        """Run once.

        Parameters
        ----------
        data
            The n points, shape (n, k).
        rng
            The generator of all draws and noise; runs that share one, one after the other, must be independent.
        loss
            ``f``; ``loss.subgradient(w, z)`` has shape (d,). It may be longer than `lipschitz` on some data: these are
            clipped to that length, or refused with a ValueError.
        convex_set
            W: an ℓ2 ball about 0, whose radius is ``convex_set.radius``; ``convex_set.project(w)`` projects.
        step_size, sigma, lipschitz
            η, σ and L.
        initial_point
            ``w_1``, shape (d,).
        batch_size
            m: how many distinct indices an iteration draws.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class Seen:
    """An observed run, checked: `iterates` of shape (T + 1, d) with T ≥ 1, `output` (d,), `draws` (T, m)."""

    iterates: FloatArray
    output: FloatArray | None
    draws: IntArray | None


def read(observed: ObservedRun, *, dimension: int, n: int, batch_size: int, call: str) -> Seen:
    """Check what a call returned.

    Raises
    ------
    ConformanceError
        If it is no observed run of this problem; the message names the call.
    """
    try:
        return _read(observed, dimension, n, batch_size)
    except AttributeError:
        raise ConformanceError(
            f"{call} returned {type(observed).__name__}, which is no observed run; return an ObservedRun"
        ) from None
    except InputError as error:
        raise ConformanceError(f"{call} returned what cannot be judged: {error}") from None


def _read(observed: ObservedRun, dimension: int, n: int, batch_size: int) -> Seen:
    iterates = require_finite_array("iterates", observed.iterates, shape=(None, dimension))
    if len(iterates) < 2:
        raise InputError(f"iterates.shape={iterates.shape} holds no step; give w_1 and what follows")
    output = (
        None
        if observed.output is None
        else require_finite_array("output", observed.output, shape=(dimension,))
    )
    draws = None if observed.draws is None else _read_draws(observed.draws, len(iterates) - 1, n, batch_size)
    return Seen(iterates=iterates, output=output, draws=draws)


def _read_draws(draws: ArrayLike, steps: int, n: int, batch_size: int) -> IntArray:
    array = np.asarray(draws)
    if array.shape != (steps, batch_size) or not np.issubdtype(array.dtype, np.integer):
        raise InputError(
            f"draws of type {array.dtype} and shape {array.shape} do not fit; give integers ({steps}, {batch_size})"
        )
    if array.min() < 0 or array.max() >= n:
        raise InputError(
            f"draws in [{int(array.min())}, {int(array.max())}] are outside 0..{n - 1}; count points from 0"
        )
    return array.astype(np.int64)
