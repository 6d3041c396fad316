"""The gradient of the Moreau envelope of a loss of a linear predictor, from one number a point."""

from __future__ import annotations

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.problems import Huber, Linear, LinearPredictorLoss, Loss
from dpsco_verify.problems.losses.linear_predictor import PiecewiseLinearLoss
from dpsco_verify.problems.losses.loss import inner_product
from dpsco_verify.related.task import Task

_HALVINGS = 60
_WIDTH = 2.0**-48
"""The slope's accuracy by bisection in units of the interval of slopes: its rounding, not the 60 halvings, decides."""


def has_envelope(loss: Loss) -> bool:
    """Say whether :func:`envelope_gradient` knows the loss."""
    return isinstance(loss, Linear | LinearPredictorLoss)


def envelope_gradient(loss: Loss, w: FloatArray, z: FloatArray, *, beta: float) -> FloatArray:
    """Return ``∇f_β(w, z) = β(w − prox(w))``, shape (..., d), of ``f_β(w, z) = min_v f(v, z) + (β/2)‖v − w‖²``.

    For ``f(w, (a, t)) = φ(⟨w, a⟩, t)`` the proximal point is ``w − θa/β`` with the slope ``θ ∈ ∂φ(s − λθ, t)``,
    ``s = ⟨w, a⟩``, ``λ = ‖a‖²/β``, so that the gradient is θa: its norm is at most the loss's Lipschitz constant,
    whatever the accuracy of θ. With slopes l < h and a kink at t, θ is ``(s − t)/λ`` clipped to [l, h]; for Huber's
    loss with threshold T it is ``(s − t)/(1 + λ)`` clipped to [−T, T]; for others the root of ``θ − φ'(s − λθ)``,
    which rises in θ, by bisection between the ends of the conjugate's domain. f_β is convex and β-smooth, and
    ``f_β ≤ f ≤ f_β + L²/(2β)``.

    Source: Bauschke and Combettes (2017), Proposition 12.30.
    """
    if isinstance(loss, Linear):
        return loss.subgradient(w, z)
    if not isinstance(loss, LinearPredictorLoss):
        raise InputError(f"loss={loss.name} has no known proximal point; give a loss of a linear predictor")
    a, target = z[..., :-1], z[..., -1]
    scale = np.asarray(inner_product(a, a) / beta)
    slope = envelope_slope(loss, inner_product(w, a), target, scale)
    gradient: FloatArray = slope[..., np.newaxis] * a
    return gradient


def envelope_slope(
    loss: LinearPredictorLoss, score: FloatArray, target: FloatArray, scale: FloatArray
) -> FloatArray:
    """Return θ with ``θ ∈ ∂φ(s − λθ, t)`` for ``λ = scale ≥ 0``, all of one shape."""
    low, high = loss.conjugate_domain(target)
    if isinstance(loss, Huber):
        return np.clip((score - target) / (1.0 + scale), low, high)
    if isinstance(loss, PiecewiseLinearLoss):
        spread = scale > 0.0
        with np.errstate(over="ignore"):  # a tiny λ: infinite slopes are clipped
            slope = (score - target) / np.where(spread, scale, 1.0)
        return np.where(spread, np.clip(slope, low, high), loss.score_slope(score, target))
    left, right = (np.array(np.broadcast_to(end, score.shape)) for end in (low, high))
    for _ in range(_HALVINGS):
        middle = 0.5 * (left + right)
        above = middle >= loss.score_slope(score - scale * middle, target)
        left, right = np.where(above, left, middle), np.where(above, middle, right)
    return right


def envelope_gap(task: Task, *, beta: float) -> float:
    """Return a bound on ``f(v, z) + (β/2)‖v − w‖²`` above its minimum, at the proximal point v that is used.

    0 for the closed forms. By bisection θ is within ``e = 2⁻⁴⁸(h − l)`` of the root, so v within ``‖a‖e/β`` of the
    minimiser, between which the objective's slope is at most 2L.
    """
    loss = task.loss
    if not isinstance(loss, LinearPredictorLoss) or isinstance(loss, Huber | PiecewiseLinearLoss):
        return 0.0
    return 2.0 * task.lipschitz * task.data_radius * 2.0 * loss.slope_bound * _WIDTH / beta
