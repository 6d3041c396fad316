"""The p-norm's minimiser over a simplex, for many rows at once."""

from __future__ import annotations

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.geometry.norms import UNIT_ROUNDOFF

_MOST_ROUNDS = 100


def minimise_on_simplex(tilt: FloatArray, *, total: float, q: float) -> FloatArray:
    """Return ``argmin ½‖w‖_p² − ⟨θ, w⟩`` over ``{w ≥ 0, Σw = s}`` for each row θ of `tilt`, shape (R, d).

    With q = p/(p − 1) ≥ 2, ``w = ∇Φ*((θ − τ)_+)`` with τ such that Σw = s. In ``r = max θ − τ`` the sum rises,
    and the root lies in [s/d, s]: Newton's steps where they stay between the ends that are known, halving where
    not, all rows at once. One row alone is the business of :meth:`dpsco_verify.geometry.PNorm.tilted_minimiser`,
    which this agrees with.
    """
    gaps = tilt.max(axis=-1, keepdims=True) - tilt
    d = tilt.shape[-1]
    low = np.full((len(tilt), 1), total / d * (1.0 - 1e-9))
    high = np.full((len(tilt), 1), total * (1.0 + 1e-9))
    rise = high
    for _ in range(_MOST_ROUNDS):
        w, sums, slopes = _weights(rise, gaps, q)
        middle = 0.5 * (low + high)
        close = np.abs(sums - total) <= 8.0 * (d + q) * UNIT_ROUNDOFF * total
        done = close | (middle <= low) | (middle >= high)  # the sum is right, or the doubles end
        if done.all():
            break
        enough = sums >= total
        low, high = np.where(enough, low, rise), np.where(enough, rise, high)
        newton = rise - (sums - total) / slopes
        moved = np.where((newton > low) & (newton < high), newton, 0.5 * (low + high))
        rise = np.where(done, rise, moved)
    scaled: FloatArray = w * (total / sums)
    return scaled


def _weights(rise: FloatArray, gaps: FloatArray, q: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return ``w = ∇½‖·‖_q²`` at ``y = (r − gap)_+``, its sum, and the sum's derivative in r.

    ``w_i = N^{2−q} y_i^{q−1}`` with ``N = ‖y‖_q``. The largest entry r > 0 of y scales the powers.
    """
    share = np.maximum(rise - gaps, 0.0) / rise
    norm = np.sum(share**q, axis=-1, keepdims=True) ** (1.0 / q)
    unit = share / norm
    powers = unit ** (q - 1.0)
    weights = rise * norm * powers
    mass = np.sum(powers, axis=-1, keepdims=True)
    lower = np.sum(np.where(unit > 0.0, unit, 1.0) ** (q - 2.0) * (unit > 0.0), axis=-1, keepdims=True)
    slope = (2.0 - q) * mass**2 + (q - 1.0) * lower
    return weights, rise * norm * mass, slope
