"""The empirical risk of a linear predictor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpsco_verify.arrays import FloatArray, IntArray
from dpsco_verify.geometry.norms import UNIT_ROUNDOFF, euclidean_norm, summation_error
from dpsco_verify.problems.losses import Huber, LinearPredictorLoss, Logistic
from dpsco_verify.problems.losses.linear_predictor import PiecewiseLinearLoss
from dpsco_verify.related.solvers.terms import Evaluation

_SLOPE_ULPS = 16
"""A generous bound on the rounding of a slope, in units of the largest slope's roundoff."""
_FIRST_TAU = 0.1
_RESOLUTION = 1e-7


def score_curvature(loss: LinearPredictorLoss, slope: FloatArray) -> FloatArray:
    """Return ``φ''`` where the slope is ``φ' = slope``; where only its bound is known, the bound.

    At a point where the slope has a kink, as Huber's at the threshold, it is one of the two one-sided values.
    """
    if isinstance(loss, Logistic):
        size = np.abs(slope)
        return size * (1.0 - size)
    if isinstance(loss, Huber):
        return np.where(np.abs(slope) < loss.threshold, 1.0, 0.0)
    if loss.curvature_bound is None:
        raise TypeError(f"{loss.name} has no curvature")
    return np.full_like(slope, loss.curvature_bound)


def rows_of(array: FloatArray, rows: IntArray) -> FloatArray:
    """Return some of the runs of an array; the one row that all runs share stays as it is."""
    return array if array.shape[0] == 1 else array[rows]


@dataclass(frozen=True, eq=False)
class PredictorTerms:
    """``(1/m) Σ φ(<w, a_i>, t_i)``, for a φ with a Lipschitz slope, or one made of two lines.

    Attributes
    ----------
    loss
        The loss of the linear predictor.
    features, targets
        Shapes ``(R, m, d)`` and ``(R, m)``, or with 1 for R where all runs share one sample.
    lengths
        ``‖a_i‖₂``, shape ``(R, m)`` or ``(1, m)``, rounded up.
    """

    loss: LinearPredictorLoss
    features: FloatArray
    targets: FloatArray
    lengths: FloatArray

    @classmethod
    def of(cls, loss: LinearPredictorLoss, sample: FloatArray) -> PredictorTerms:
        """Return the terms of a sample, shape ``(R, m, d + 1)`` or ``(1, m, d + 1)``."""
        features = np.ascontiguousarray(sample[..., :-1])
        lengths = euclidean_norm(features) * (1.0 + (features.shape[-1] + 4) * UNIT_ROUNDOFF)
        return cls(loss, features, np.ascontiguousarray(sample[..., -1]), lengths)

    @property
    def is_smooth(self) -> bool:
        """Whether the slope is Lipschitz."""
        return self.loss.curvature_bound is not None

    @property
    def count(self) -> int:
        """``m``."""
        return int(self.features.shape[1])

    @property
    def lipschitz(self) -> float:
        """A Lipschitz constant of every term."""
        return self.loss.slope_bound * float(np.max(self.lengths))

    @property
    def resolution(self) -> float:
        """Predictions move by ``max ‖a_i‖ · L/λ``; targets that all but agree with the start say nothing of τ."""
        return _RESOLUTION * float(np.max(self.lengths))

    @property
    def certificate_queries(self) -> int:
        """A smooth loss needs the curvature's bound alone."""
        return 0 if self.is_smooth else self.count

    def take(self, rows: IntArray) -> PredictorTerms:
        """Return the terms of some of the runs."""
        return PredictorTerms(
            self.loss,
            rows_of(self.features, rows),
            rows_of(self.targets, rows),
            rows_of(self.lengths, rows),
        )

    def anchor(self, w: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the slopes at `w`, and the typical residual in units of the slopes."""
        scores = self._scores(w)
        slopes = self.loss.score_slope(scores, self.targets)
        if self.is_smooth:
            return slopes, np.ones(w.shape[0])
        low, high = self.loss.conjugate_domain(self.targets)
        residual = np.abs(scores - self.targets)
        largest = np.max(self.lengths, axis=-1) + np.max(residual, axis=-1)
        typical = np.mean(residual, axis=-1) / float(np.max(np.asarray(high) - low))
        return slopes, _FIRST_TAU * np.maximum(typical, 1e-12 * largest + 1e-100)

    def evaluate(self, w: FloatArray, anchor: FloatArray, tau: FloatArray) -> Evaluation:
        """Return the risk, smoothed where the loss has a kink: ``θ = clip(θ⁰ + (s − t)/τ, l, h)``."""
        scores = self._scores(w)
        if self.is_smooth:
            values = self.loss.score_value(scores, self.targets)
            slopes = self.loss.score_slope(scores, self.targets)
            curvature = score_curvature(self.loss, slopes)
        else:
            low, high = self.loss.conjugate_domain(self.targets)
            scale = tau[:, None]
            residual = scores - self.targets
            free = anchor + residual / scale
            slopes = np.minimum(np.maximum(free, low), high)
            values = slopes * residual - 0.5 * scale * np.square(slopes - anchor)
            curvature = np.where(free == slopes, 1.0 / scale, 0.0)
        gradient = np.matmul(slopes[:, None, :], self.features)[:, 0, :] / self.count
        return Evaluation(np.mean(values, axis=-1), gradient, slopes, curvature)

    def hessian(self, at: Evaluation) -> FloatArray:
        """Return ``(1/m) Σ c_i a_i a_iᵀ``."""
        curved = at.curvature[:, :, None] * self.features
        hessian: FloatArray = np.matmul(np.swapaxes(curved, -1, -2), self.features)
        hessian /= self.count
        return hessian

    def exact_gradient(self, at: Evaluation) -> FloatArray:
        """Return the mean of the dual variables' gradients, by pairwise sums."""
        columns = np.swapaxes(self.features, -1, -2)
        products = np.multiply(columns, at.dual[:, None, :], order="C")
        gradient: FloatArray = np.add.reduce(products, axis=-1) / self.count
        return gradient

    def gradient_error(self, w: FloatArray) -> FloatArray:
        """Bound the rounding of a mean of m terms and, for a smooth loss, of the slopes in it."""
        d = self.features.shape[-1]
        mean_length = np.mean(self.lengths, axis=-1)
        relative = np.sqrt(d) * (summation_error(self.count) + 2.0 * UNIT_ROUNDOFF)
        bound = relative * self.loss.slope_bound * mean_length
        if self.loss.curvature_bound is not None:
            bound = bound + _SLOPE_ULPS * UNIT_ROUNDOFF * self.loss.slope_bound * mean_length
            score = (d + 2) * UNIT_ROUNDOFF * euclidean_norm(w)
            bound = bound + self.loss.curvature_bound * np.mean(np.square(self.lengths), axis=-1) * score
        return np.asarray(2.0 * bound + np.zeros(w.shape[0]))

    def duality_gap(self, w: FloatArray, at: Evaluation, point: FloatArray, error: FloatArray) -> FloatArray:
        """Bound the mean of ``φ(s_i) + φ*(θ_i) − θ_i s_i``, each term at least 0, without cancellation.

        With a curvature of at most β and ``θ = φ'(s⁰)`` a term is at most ``(β/2)(s − s⁰)²``. For two lines with
        slopes ``l, h`` it is ``(h − θ)·max(r, 0) + (θ − l)·max(−r, 0)`` with ``r = s − t``, so that a point away
        from its kink adds nothing.
        """
        if self.loss.curvature_bound is not None:
            moved = euclidean_norm(point - w) * (1.0 + 1e-14) + error
            square = np.mean(np.square(self.lengths), axis=-1)
            return np.asarray(0.5 * self.loss.curvature_bound * square * np.square(moved) * (1.0 + 1e-9))
        d = self.features.shape[-1]
        residual = self._scores(point) - self.targets
        reach = error + 2.0 * (d + 4) * UNIT_ROUNDOFF * euclidean_norm(point)
        slack = self.lengths * reach[:, None] + 4.0 * UNIT_ROUNDOFF * np.abs(residual)
        low, high = self.loss.conjugate_domain(self.targets)
        terms = (high - at.dual) * np.maximum(residual + slack, 0.0)
        terms += (at.dual - low) * np.maximum(slack - residual, 0.0)
        return np.asarray(np.mean(terms, axis=-1) * (1.0 + 1e-9))

    def _scores(self, w: FloatArray) -> FloatArray:
        scores: FloatArray = np.matmul(self.features, w[:, :, None])[:, :, 0]
        return scores


def is_predictor_supported(loss: LinearPredictorLoss) -> bool:
    """Return whether the solver knows a loss of this kind."""
    return loss.curvature_bound is not None or isinstance(loss, PiecewiseLinearLoss)
