"""Online stochastic mirror descent (``eq:OSMD``) for any potential and set.

With the Euclidean potential this is the update of Algorithm 1; the paper's conclusion names other potentials as an
extension.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpsco_verify.algorithm.kernel import mirror_compiled, plan_mirror
from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.geometry import ConvexSet, Potential
from dpsco_verify.validation import require_finite_array, require_positive


def mirror_step(
    w: ArrayLike, gradient: ArrayLike, *, potential: Potential, convex_set: ConvexSet, step_size: float
) -> FloatArray:
    """Return ``w_{t+1} = argmin_{w in W} D_Φ(w ‖ ∇Φ*(∇Φ(w_t) − η g_t))``, shape (..., d).

    Both lines of the update at once: the argmin is that of ``Φ(w) − ⟨∇Φ(w_t) − η g_t, w⟩`` over W.

    Parameters
    ----------
    w, gradient
        ``w_t`` in the interior of Φ's domain and ``g_t``, each of shape (..., d).
    potential, convex_set, step_size
        Φ, W and η > 0.

    Raises
    ------
    InputError
        For arguments that are not finite, shapes that do not fit, or a point off the domain.
    """
    eta = require_positive("step_size", step_size)
    point = require_finite_array("w", w)
    slope = require_finite_array("gradient", gradient)
    if point.shape != slope.shape:
        raise InputError(
            f"gradient.shape={slope.shape} differs from w.shape={point.shape}; give one gradient a point"
        )
    return potential.tilted_minimiser(convex_set, potential.gradient(point) - eta * slope)


@dataclass(frozen=True, kw_only=True)
class MirrorRun:
    """``w_1, …, w_{τ+1}``, shape (…, τ + 1, d), and the gradients ``g_1, …, g_τ`` that were used, shape (…, τ, d)."""

    iterates: FloatArray
    gradients: FloatArray


def mirror_descent(
    gradients: ArrayLike,
    *,
    potential: Potential,
    convex_set: ConvexSet,
    step_size: float,
    initial_point: ArrayLike | None = None,
) -> MirrorRun:
    """Run the update on linear losses ``⟨g_t, w⟩``, once or many times.

    Many runs are compiled where the update has a closed form (:func:`~dpsco_verify.algorithm.kernel.plan_mirror`).

    Parameters
    ----------
    gradients
        ``g_1, …, g_τ``, shape (τ, d), τ ≥ 1; or (R, τ, d) for R independent runs from the same point.
    potential, convex_set, step_size
        Φ, W and η > 0.
    initial_point
        ``w_1`` in W; by default ``argmin_{w in W} Φ(w)``.
    """
    many = np.ndim(gradients) == 3
    shape = (None, None, convex_set.dimension) if many else (None, convex_set.dimension)
    slopes = require_finite_array("gradients", gradients, shape=shape)
    if slopes.shape[-2] == 0:
        raise InputError(f"gradients.shape={slopes.shape} holds no step; give at least one row")
    if initial_point is None:
        w = convex_set.minimiser(potential)
    else:
        w = require_finite_array("initial_point", initial_point, shape=(convex_set.dimension,))
        if not bool(convex_set.contains(w)):
            raise InputError(
                f"initial_point={np.array2string(w, threshold=6)} is outside W={convex_set!r}; give a point of W"
            )
    plan = plan_mirror(potential=potential, convex_set=convex_set) if many else None
    if plan is not None:
        eta = require_positive("step_size", step_size)
        iterates, stopped = mirror_compiled(slopes, w, plan=plan, step_size=eta)
        if stopped is not None:
            run, t = stopped
            mirror_step(
                iterates[run, t], slopes[run, t], potential=potential, convex_set=convex_set, step_size=eta
            )
            raise AssertionError(f"the kernel stopped at step {t} of run {run}, which numpy takes")
        return MirrorRun(iterates=iterates, gradients=slopes)
    points = [np.broadcast_to(w, slopes[..., 0, :].shape)]
    for t in range(slopes.shape[-2]):
        points.append(
            mirror_step(
                points[-1], slopes[..., t, :], potential=potential, convex_set=convex_set, step_size=step_size
            )
        )
    return MirrorRun(iterates=np.stack(points, axis=-2), gradients=slopes)
