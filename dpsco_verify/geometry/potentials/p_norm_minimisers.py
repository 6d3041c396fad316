"""Tilted minimisers of ``1/2 ||w||_p^2 - <theta, w>``, 1 < p < 2, where duality leaves one root to find."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import logsumexp

from dpsco_verify.arrays import FloatArray
from dpsco_verify.geometry.box import Box
from dpsco_verify.geometry.norms import p_norm

_RELATIVE = 1e-15


def minimise_over_simplex(total: float, tilt: FloatArray, q: float) -> FloatArray:
    """Return the minimiser over the simplex of sum s = `total`, shape (d,).

    ``w = grad Phi*((theta - tau)_+)`` with tau such that sum w = s. In ``r = max theta - tau`` the sum rises,
    is 0 at r = 0 and at least ``||w||_p = ||(theta - tau)_+||_q >= s`` at r = s.
    """
    gaps = tilt.max() - tilt

    def weights(rise: float) -> FloatArray:
        positive = np.maximum(rise - gaps, 0.0)
        norm = p_norm(positive, q)
        return np.asarray(norm * (positive / norm) ** (q - 1))

    def missing(log_rise: float) -> float:
        return float(np.sum(weights(total * np.exp(log_rise)))) / total - 1

    # sum w <= d r, so that r >= s / d; one more unit at either end covers rounding.
    low, high = -np.log(tilt.size) - 1e-9, 1e-9
    root = brentq(missing, low, high, xtol=_RELATIVE, rtol=_RELATIVE)
    w = weights(total * np.exp(root))
    return np.asarray(w * (total / np.sum(w)))


def minimise_over_box(box: Box, tilt: FloatArray, p: float) -> FloatArray:
    """Return the minimiser over the box, shape (d,).

    ``w_i = clip(sign(theta_i) (|theta_i| / s)^(q-1))`` with ``s = ||w||_p^(2-p)``; the right side falls in s,
    the left rises.
    """
    q = p / (p - 1)
    with np.errstate(divide="ignore"):
        log_tilt = np.log(np.abs(tilt))

    def weights(log_scale: float) -> tuple[FloatArray, FloatArray]:
        """Return w and log |w|, the latter also where w underflows."""
        log_free = (q - 1) * (log_tilt - log_scale)
        with np.errstate(over="ignore", divide="ignore"):
            free = np.where(tilt == 0, 0.0, np.sign(tilt) * np.exp(log_free))
            clipped = np.clip(free, box.low, box.high)
            return clipped, np.where(clipped == free, log_free, np.log(np.abs(clipped)))

    def excess(log_scale: float) -> float:
        return (2 - p) * float(logsumexp(p * weights(log_scale)[1])) / p - log_scale

    # For s -> 0 every entry with a tilt sits at its bound; no w is longer, which bounds s from above.
    bound = np.clip(np.where(tilt == 0, 0.0, np.where(tilt > 0, box.high, box.low)), box.low, box.high)
    if not bound.any():
        return bound
    high = (2 - p) * float(np.log(p_norm(bound, p)))
    tied = (tilt != 0) & (bound != 0)
    # Where (|theta_i| / s)^(q-1) passes |bound_i| for all i, w = bound and s has fallen below it.
    low = min([high, *(log_tilt[tied] - (p - 1) * np.log(np.abs(bound[tied])))]) - 1e-9
    high += 1e-9
    return _polished(box, tilt, p, weights(brentq(excess, low, high, xtol=_RELATIVE, rtol=_RELATIVE))[0])


def _polished(box: Box, tilt: FloatArray, p: float, w: FloatArray) -> FloatArray:
    """Take Newton steps on ``log ||w(N)||_p = log N`` with ``w(N) = clip(N sign(theta) (|theta| / N)^(q-1))``.

    The root was found for log s, whose rounding grows with the distance of its magnitude from 1; this removes it.
    """
    power = 1 / (p - 1)
    norm = float(p_norm(w, p))
    for _ in range(2):
        with np.errstate(over="ignore"):
            free = np.sign(tilt) * norm * (np.abs(tilt) / norm) ** power
        w = np.clip(free, box.low, box.high)
        length = float(p_norm(w, p))
        loose = np.where(w == free, np.abs(w) / length, 0.0)
        norm *= (length / norm) ** (1 / (1 + (power - 1) * float(np.sum(loose**p))))
    return w
