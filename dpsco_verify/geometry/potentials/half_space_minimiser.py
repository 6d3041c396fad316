"""Tilted minimisers over a half-space, by one root."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq

from dpsco_verify.arrays import FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.geometry.half_space import HalfSpace
from dpsco_verify.geometry.norms import maximum_norm

if TYPE_CHECKING:
    from dpsco_verify.geometry.potentials.potential import Potential

_DOUBLINGS = 2200


def minimise_over_half_space(potential: Potential, half_space: HalfSpace, tilt: FloatArray) -> FloatArray:
    """Return ``argmin Phi(w) - <theta, w>`` over ``<u, w> <= beta``, shape (d,).

    By duality ``w = grad Phi*(theta - lambda u)`` with the least lambda >= 0 that satisfies the constraint,
    whose left side falls in lambda.
    """
    unit, beta = half_space.unit_normal, half_space.distance_offset

    def excess(multiplier: float) -> float:
        return float(np.sum(unit * potential.conjugate_gradient(tilt - multiplier * unit))) - beta

    at_zero = excess(0.0)
    if at_zero <= 0:
        return potential.conjugate_gradient(tilt)
    high = max(float(maximum_norm(tilt)), min(at_zero, 1.0)) * 2.0**-10
    for _ in range(_DOUBLINGS):
        try:
            found = excess(high) <= 0
        except InputError:
            break
        if found:
            root = brentq(excess, 0.0, high, xtol=1e-15 * high, rtol=1e-15, maxiter=1000)
            w = potential.conjugate_gradient(tilt - root * unit)
            return w if half_space.contains(w) else half_space.project(w)
        high *= 2
    raise InputError(
        f"{half_space!r} misses the domain of {potential!r}, or meets it beyond the doubles; rescale"
    )
