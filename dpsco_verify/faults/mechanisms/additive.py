"""Noise added to a sum: Laplace, Gaussian and discrete Laplace noise, each with the scale that it is given.

Whether the scale fits the claim is the exhibit's matter: the same record is a fault or a control.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from dpsco_verify.arrays import FloatArray, IntArray
from dpsco_verify.privacy.gaussian import log_gaussian_delta
from dpsco_verify.validation import require_open_interval, require_positive


@dataclass(frozen=True, kw_only=True)
class LaplaceSum:
    """The sum of the records, clipped to [0, 1], plus Laplace noise; sensitivity 1 under each relation."""

    scale: float

    def __call__(self, dataset: NDArray[np.float64], size: int, rng: np.random.Generator) -> FloatArray:
        """Return noisy sums, shape (size,)."""
        total = np.clip(dataset, 0.0, 1.0).sum()
        return np.asarray(total + rng.laplace(scale=self.scale, size=size))


@dataclass(frozen=True, kw_only=True)
class DiscreteLaplaceCount:
    """The number of records plus discrete Laplace noise, ``P(z) ∝ e^{−|z|/scale}``; sensitivity 1."""

    scale: float

    def __call__(self, dataset: list[str], size: int, rng: np.random.Generator) -> IntArray:
        """Return noisy counts, shape (size,)."""
        return len(dataset) + discrete_laplace(self.scale, (size,), rng)


@dataclass(frozen=True, kw_only=True)
class GaussianSum:
    """The sum of the rows, each clipped to norm `clip`, plus Gaussian noise of standard deviation `sigma`.

    Parameters
    ----------
    sigma
        The standard deviation of the noise in each coordinate.
    clip
        The largest ℓ₂ norm that a record is allowed; None lets records through as they are.
    """

    sigma: float
    clip: float | None

    def __call__(self, dataset: NDArray[np.float64], size: int, rng: np.random.Generator) -> FloatArray:
        """Return noisy sums of the rows of `dataset`, shape (n, d); the result has shape (size, d)."""
        rows = dataset if self.clip is None else clipped(dataset, self.clip)
        return np.asarray(rows.sum(axis=0) + rng.normal(scale=self.sigma, size=(size, dataset.shape[1])))


@dataclass(frozen=True, kw_only=True)
class UnclippedPath:
    """A sum that clips its records and then goes on with those from before the clip.

    `sigma` is calibrated to the records' largest norm after the clip.
    """

    sigma: float
    clip: float

    def __call__(self, dataset: NDArray[np.float64], size: int, rng: np.random.Generator) -> FloatArray:
        """Return noisy sums, shape (size, d)."""
        rows = dataset
        clipped(rows, self.clip)  # the fault: what this returns is dropped
        return np.asarray(rows.sum(axis=0) + rng.normal(scale=self.sigma, size=(size, dataset.shape[1])))


def clipped(rows: FloatArray, norm: float) -> FloatArray:
    """Return the rows, shape (n, d), each scaled to the norm where it is longer."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows * (norm / np.maximum(lengths, norm)))


def discrete_laplace(scale: float, shape: tuple[int, ...], rng: np.random.Generator) -> IntArray:
    """Return whole numbers with ``P(z) = (1 − q)/(1 + q) q^{|z|}``, ``q = e^{−1/scale}``.

    They are differences of two geometric variables.
    """
    p = -np.expm1(-1.0 / scale)
    return rng.geometric(p, size=shape) - rng.geometric(p, size=shape)


def gaussian_sigma(epsilon: float, delta: float, *, sensitivity: float = 1.0) -> float:
    """Return the least σ for which Gaussian noise is (ε, δ)-private, but for a part in 10¹² that is on the safe side.

    This is the analytic calibration of Balle and Wang (2018): ``δ_G(ε; sensitivity/σ) = δ``.
    """
    epsilon = require_positive("epsilon", epsilon)
    delta = require_open_interval("delta", delta, 0.0, 1.0)
    sensitivity = require_positive("sensitivity", sensitivity)

    def excess(log_mu: float) -> float:
        return float(log_gaussian_delta(epsilon, np.exp(log_mu))) - float(np.log(delta))

    log_mu = brentq(excess, np.log(1e-6), np.log(1e6), xtol=1e-14, rtol=1e-14)
    return float(sensitivity / np.exp(log_mu)) * (1.0 + 1e-12)


@dataclass(frozen=True, kw_only=True)
class GradientStep:
    """The mean of the gradients of a batch, clipped, plus Gaussian noise of standard deviation ``z·clip/n``.

    A zeroed gradient moves the mean by at most clip/n where each gradient is clipped (Abadi et al. 2016), but by as
    much as clip where only their mean is: the noise is then too small by the factor n.
    """

    clip: float
    noise_multiplier: float
    per_example: bool

    def __call__(self, dataset: NDArray[np.float64], size: int, rng: np.random.Generator) -> FloatArray:
        """Return noisy means of the gradients, shape (n, d), as (size, d)."""
        n, dimension = dataset.shape
        if self.per_example:
            mean = clipped(dataset, self.clip).mean(axis=0)
        else:
            mean = clipped(dataset.mean(axis=0, keepdims=True), self.clip)[0]
        noise = rng.normal(scale=self.noise_multiplier * self.clip / n, size=(size, dimension))
        return np.asarray(mean + noise)
