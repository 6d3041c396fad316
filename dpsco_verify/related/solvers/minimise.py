"""Regularised empirical risks, minimised to an accuracy that is certified or refused."""

from __future__ import annotations

import math

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.geometry import ConvexSet
from dpsco_verify.geometry.norms import UNIT_ROUNDOFF, euclidean_norm
from dpsco_verify.problems.losses import EuclideanDistance, Linear, LinearPredictorLoss, Loss
from dpsco_verify.related.conditions import Condition
from dpsco_verify.related.solvers.augmented import Regularised, minimise_terms
from dpsco_verify.related.solvers.distance_terms import DistanceTerms
from dpsco_verify.related.solvers.predictor_terms import PredictorTerms, is_predictor_supported
from dpsco_verify.related.solvers.solution import CertifiedPoint, SolverError, projected, projection_gap
from dpsco_verify.related.solvers.terms import Terms
from dpsco_verify.related.task import Task
from dpsco_verify.validation import require_positive

_BLOCK = 2**20
"""So many numbers at once stay within a processor's cache, more or less."""


def is_supported(loss: Loss) -> bool:
    """Return whether :func:`minimise_regularised` knows a loss of this kind."""
    if isinstance(loss, LinearPredictorLoss):
        return is_predictor_supported(loss)
    return isinstance(loss, Linear | EuclideanDistance)


def minimise_regularised(
    loss: Loss,
    sample: FloatArray,
    convex_set: ConvexSet,
    *,
    regularisation: float,
    centre: FloatArray,
    tilt: FloatArray | None = None,
    start: FloatArray | None = None,
    gap: float = math.inf,
    distance: float = math.inf,
) -> CertifiedPoint:
    """Minimise ``G(w) = (1/m) Σ f(w, z_i) + <b, w> + (λ/2)‖w − c‖²`` over W, for R runs.

    Linear losses: the projection of ``c + (mean z − b)/λ``. Others: the data points' dual variables θ (slopes or
    subgradients) and the set's multiplier get a proximal term, which smooths the problem; Newton's method
    minimises it, and the proximal terms' centres move on (the augmented Lagrangian method; Rockafellar 1976). A
    loss that is smooth itself needs it for the set alone.

    The certificate does not depend on how θ was found. With ``g = (1/m) Σ θ_i a_i`` and ``v = c − (b + g)/λ`` the
    dual function is ``D(θ) = −(1/m) Σ f*(θ_i) + min_W {<g + b, u> + (λ/2)‖u − c‖²}``, whose inner minimiser is
    the projection ``Π(v)``, the point that is returned. Then ``G(Π(v)) − D(θ)`` is the mean of the terms ``f + f*
    − <θ_i, ·>`` of Fenchel and Young at ``Π(v)``, each at least 0 and computed without cancellation: a bound on
    the gap. As G and ``L(·, θ)`` are λ-strongly convex on W with minimisers ``w*`` and ``Π(v)``, also ``λ‖Π(v) − w*‖²
    ≤ G(Π(v)) − D(θ)``. Rounding of g, v and the projection enters both bounds.

    Parameters
    ----------
    loss, sample
        ``f`` and the data points, shape ``(R, m, k)``; ``(1, m, k)`` for one sample that all runs share.
    convex_set
        W.
    regularisation
        ``λ > 0``.
    centre, tilt
        ``c`` and ``b`` (0 by default), shapes ``(R, d)``; R is the largest of the leading lengths.
    start
        Points to begin at, shape ``(R, d)``; the projection of c by default.
    gap, distance
        What is to be certified: ``G(w) − min G`` and ``‖w − w*‖₂``.

    Raises
    ------
    SolverError
        If the accuracy cannot be certified for one of the runs.
    """
    weight = require_positive("regularisation", regularisation)
    if math.isinf(gap) and math.isinf(distance):
        raise InputError("gap=inf and distance=inf ask for nothing; give one of them")
    if not is_supported(loss):
        raise TypeError(f"loss={loss.name} has no certified solver")
    runs = max(sample.shape[0], centre.shape[0], 1 if tilt is None else tilt.shape[0])
    shape = (runs, convex_set.dimension)
    middle = np.broadcast_to(centre if tilt is None else centre - tilt / weight, shape)
    rounding = 2.0 * UNIT_ROUNDOFF * euclidean_norm(middle)
    if tilt is not None:
        rounding = rounding + 2.0 * UNIT_ROUNDOFF * euclidean_norm(tilt) / weight
    rounding = np.broadcast_to(rounding, (runs,))
    if isinstance(loss, Linear):
        return _closed_form(sample, convex_set, weight, middle, rounding, gap, distance)
    begin = convex_set.project(middle if start is None else np.broadcast_to(start, shape))
    per_run = sample.shape[1] * (convex_set.dimension + 4)
    block = max(1, _BLOCK // per_run)
    parts = []
    for first in range(0, runs, block):
        rows = slice(first, min(first + block, runs))
        data = sample if sample.shape[0] == 1 else sample[rows]
        terms = _terms(loss, data)
        problem = Regularised(terms, convex_set, weight, middle[rows], rounding[rows])
        parts.append(minimise_terms(problem, begin[rows], gap=gap, distance=distance))
    found = CertifiedPoint(
        point=np.concatenate([part.point for part in parts]),
        gap=np.concatenate([part.gap for part in parts]),
        distance=np.concatenate([part.distance for part in parts]),
        gradient_queries=np.concatenate([part.gradient_queries for part in parts]),
    )
    _require(found, gap, distance)
    return found


def _terms(loss: Loss, sample: FloatArray) -> Terms:
    if isinstance(loss, LinearPredictorLoss):
        return PredictorTerms.of(loss, sample)
    return DistanceTerms(np.ascontiguousarray(sample))


def _closed_form(
    sample: FloatArray,
    convex_set: ConvexSet,
    weight: float,
    middle: FloatArray,
    rounding: FloatArray,
    gap: float,
    distance: float,
) -> CertifiedPoint:
    """Return the projection of ``middle + mean/λ``."""
    count = sample.shape[1]
    gradient = -np.mean(sample, axis=1)
    length = np.mean(euclidean_norm(sample), axis=-1)
    error = 2.0 * UNIT_ROUNDOFF * (count + 4) * length
    point, off = projected(convex_set, weight, middle, rounding, gradient, error)
    found = CertifiedPoint(
        point=point,
        gap=projection_gap(weight, off.total, off.outside),
        distance=off.total,
        gradient_queries=np.full(middle.shape[0], float(count)),
    )
    _require(found, gap, distance)
    return found


def _require(found: CertifiedPoint, gap: float, distance: float) -> None:
    if bool(np.all((found.gap <= gap) & (found.distance <= distance))):
        return
    raise SolverError(
        f"certified gap={float(np.max(found.gap)):.3g} and distance={float(np.max(found.distance)):.3g} exceed "
        f"gap={gap:.3g}, distance={distance:.3g}; nothing is released: ask for less accuracy or rescale the problem"
    )


_SMOOTH_PASSES, _KINKED_PASSES = 20.0, 100.0
"""Typical numbers of passes over the data, of the right order."""


def solvable(task: Task) -> Condition:
    """Ask for a loss that has a solver that certifies its accuracy."""
    return Condition(
        holds=is_supported(task.loss),
        words=f"loss={task.loss.name} has no certified solver; give a linear loss, a Euclidean distance, or a loss of "
        "a linear predictor that is smooth or made of two lines",
    )


def distinct(sample: FloatArray) -> FloatArray:
    """Return a sample of shape ``(R, m, k)``, with 1 for R if it is one sample that all runs share in memory."""
    return sample[:1] if sample.shape[0] > 1 and sample.strides[0] == 0 else sample


def typical_queries(task: Task, m: int) -> float:
    """Return the gradients of single points that a call on m points needs, roughly: the data decide."""
    if isinstance(task.loss, Linear):
        return float(m)
    return m * (_KINKED_PASSES if task.smoothness is None else _SMOOTH_PASSES)
