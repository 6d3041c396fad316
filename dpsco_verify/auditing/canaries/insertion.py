"""Put canaries in: coins from a seed, sealed until the scores are there; gradients to insert; scores from updates."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpsco_verify.arrays import ArrayLike, BoolArray, FloatArray, IntArray
from dpsco_verify.errors import InputError
from dpsco_verify.validation import require_finite_array, require_integer, require_positive


class SealedCoins:
    """One fair coin a canary, which training is told through what is put in, and nobody else until there are scores.

    Scores are given once: whoever could try several kinds of scores against the coins and keep the best would find
    more than there is. Draw the seed from where you do not choose it, such as ``secrets.randbits(64)``, and train on
    nothing but what :meth:`put_in` and :meth:`indices` return.

    Parameters
    ----------
    canaries
        How many there are.
    seed
        The root of the coins.

    Examples
    --------
    >>> coins = SealedCoins(1000, seed=5)
    >>> scores = np.zeros(1000)
    >>> scores[coins.indices()] = 1.0  # a training that tells all
    >>> inside, outside = coins.open(scores)
    >>> print(set(inside.tolist()), set(outside.tolist()), len(inside) + len(outside))
    {1.0} {0.0} 1000
    """

    def __init__(self, canaries: int, *, seed: int) -> None:
        self._size = require_integer("canaries", canaries, minimum=2)
        generator = np.random.default_rng([require_integer("seed", seed, minimum=0), self._size])
        self._coins: BoolArray = generator.random(self._size) < 0.5
        self._scores: FloatArray | None = None

    def __len__(self) -> int:
        return self._size

    def __repr__(self) -> str:
        return f"SealedCoins({self._size} canaries, {'sealed' if self._scores is None else 'opened'})"

    def indices(self) -> IntArray:
        """Return which canaries are in, for the training alone."""
        return np.flatnonzero(self._coins)

    def put_in(self, *canaries: Any) -> tuple[Any, ...]:
        """Return the canaries that are in, of each of some arrays whose first axis is that of all canaries.

        Raises
        ------
        InputError
            If an array has another number of canaries.
        """
        chosen = []
        for array in canaries:
            if len(array) != self._size:
                raise InputError(
                    f"len(canaries)={len(array)} is not the number of coins, {self._size}; give all canaries"
                )
            chosen.append(array[self.indices()])
        return tuple(chosen)

    def open(self, scores: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return the scores of the canaries that were in, and of those that were out.

        Parameters
        ----------
        scores
            One for each canary, shape (m,), the larger the likelier in; or k kinds, shape (m, k), whose audits then
            share the level.

        Raises
        ------
        InputError
            If the coins were opened before with other scores, or these are not one finite number a canary.
        """
        kinds = np.ndim(scores) - 1
        values = require_finite_array("scores", scores, shape=(self._size, None)[: 1 + min(max(kinds, 0), 1)])
        if self._scores is not None and not np.array_equal(values, self._scores):
            raise InputError(
                "scores differ from those that opened the coins, which can be scored once; decide on one kind of "
                "scores, or train again with other coins"
            )
        self._scores = values.copy()
        return values[self._coins], values[~self._coins]


def canary_gradients(canaries: int, dimension: int, *, norm: float, seed: int) -> FloatArray:
    """Return gradients to insert: orthogonal where there is room, else random directions, shape (m, d).

    Parameters
    ----------
    canaries, dimension
        m and d.
    norm
        The length of each: the clipping norm, which training leaves as it is.
    seed
        The root of the directions.

    Examples
    --------
    >>> gradients = canary_gradients(3, 8, norm=2.0, seed=0)
    >>> (gradients @ gradients.T).round(6) + 0.0
    array([[4., 0., 0.],
           [0., 4., 0.],
           [0., 0., 4.]])
    """
    m = require_integer("canaries", canaries, minimum=1)
    d = require_integer("dimension", dimension, minimum=1)
    length = require_positive("norm", norm)
    draws = np.random.default_rng(require_integer("seed", seed, minimum=0)).standard_normal((m, d))
    if m <= d:
        q, r = np.linalg.qr(draws.T)
        return np.asarray(length * (q * np.sign(np.diagonal(r))).T, dtype=np.float64)
    return np.asarray(length * draws / np.linalg.norm(draws, axis=1, keepdims=True), dtype=np.float64)


class UpdateScores:
    """White-box scores: how far the noisy updates went along each canary's gradient, over all steps.

    With a canary of length C in a step the sum of clipped gradients moves by C along its gradient, and the noise by
    σC: after T steps that it took part in, the score is N(T C², T σ² C⁴) apart from what the others add, as of a
    Gaussian mechanism with μ = √T/σ. :attr:`steps` has the scores of single steps.

    Parameters
    ----------
    gradients
        Those of the canaries, shape (m, d).
    keep_steps
        Whether the scores of every step are kept, shape (T, m).

    Examples
    --------
    >>> gradients = canary_gradients(3, 8, norm=1.0, seed=0)
    >>> scores = UpdateScores(gradients)
    >>> for _ in range(10):
    ...     shown = scores.add(gradients[:2].sum(axis=0))  # the first two take part, without noise
    >>> scores.scores.round(6)
    array([10., 10.,  0.])
    """

    def __init__(self, gradients: ArrayLike, *, keep_steps: bool = False) -> None:
        self._gradients = require_finite_array("gradients", gradients, shape=(None, None))
        self._total = np.zeros(self._gradients.shape[0])
        self._keep = keep_steps
        self._kept: list[FloatArray] = []

    def add(self, update: ArrayLike) -> FloatArray:
        """Take in a noisy sum of gradients, shape (d,), as it was released; return the scores of this step.

        Which canaries a batch had drawn is no part of what is released: scores that knew it would accuse a claim that
        rests on the sampling.

        Parameters
        ----------
        update
            The noisy sum (or mean: scores may have any scale), before any post-processing.
        """
        step: FloatArray = self._gradients @ require_finite_array(
            "update", update, shape=(self._gradients.shape[1],)
        )
        self._total += step
        if self._keep:
            self._kept.append(step)
        return step

    @property
    def scores(self) -> FloatArray:
        """The sums over all steps so far, shape (m,)."""
        return self._total.copy()

    @property
    def steps(self) -> FloatArray:
        """The scores of every step, shape (T, m).

        Raises
        ------
        InputError
            If they were not kept.
        """
        if not self._keep:
            raise InputError(
                "keep_steps=False: the scores of single steps were not kept; give keep_steps=True"
            )
        return np.array(self._kept).reshape(-1, self._gradients.shape[0])
