"""The losses of one step on a batch drawn with replacement, from above, on a grid.

With the weights of :mod:`dpsco_verify.ledger.systems.sampled` the bound at γ ≥ 1 is

    ``H(γ) = Σ_k p_k δ_G(log(γ + w_k); kμ)``,  ``w_k = max(0, r_k(t) − γ)``,  ``Σ_k p_k w_k = (γ − 1)(1 − q)``.

Let ``t_k`` be where ``r_k(t_k) = γ`` and ``s_k = max(t, t_k)``. A label with a positive weight has its half-line from t
on, whose ratio ``r_k(t)`` is ``γ + w_k``; the others have theirs from ``t_k`` on. The weights are optimal, so the slope
of H is ``−B``, and ``H = A − γB``, with

    ``A = (1 − q) N̄(t) + Σ_k p_k N̄(s_k − kμ)``,  ``B = (1 − q) N̄(t) + Σ_k p_k N̄(s_k)``,

N̄ being the normal law's upper tail: A and B are the masses, under the two laws, of the outcomes with a loss above
log γ. Their differences between the levels of the grid lose no digits.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from dpsco_verify.arrays import FloatArray

_REACH = 9.0
"""Standard deviations: 1e-19 of the mass lies beyond."""
_BISECTIONS = 70
_BEYOND = 45.0
"""In logarithms, how far the ratios may have to rise above γ for a label of probability e⁻⁴⁵."""


def dominating_masses(
    labels: FloatArray, mu: float, *, interval: float, largest: float
) -> tuple[FloatArray, float]:
    """Return masses on ``interval·ℤ``, centred, that dominate both directions at every order, and that at infinity.

    Connect the Dots, as :func:`dpsco_verify.auditing.accountants.grids.from_above`; `labels` are ``P(K = k)`` for k =
    1, 2, …. Losses above `largest` become infinite.
    """
    h, q = interval, float(labels.sum())
    shifts: FloatArray = mu * np.arange(1, labels.size + 1, dtype=np.float64)
    furthest = _REACH + float(shifts[-1])
    reach = np.logaddexp(0.0, special.logsumexp(np.log(labels) + shifts * (furthest - 0.5 * shifts)))
    levels: FloatArray = h * np.arange(int(min(float(reach), largest) / h) + 2, dtype=np.float64)
    common = _common_threshold(labels, shifts, levels)
    own = np.maximum(common[:, np.newaxis], levels[:, np.newaxis] / shifts + 0.5 * shifts)
    base = (1.0 - q) * _between(common)
    p = base + _between(own - shifts) @ labels
    other = base + _between(own) @ labels
    infinite = (1.0 - q) * special.ndtr(-common[-1]) + float(special.ndtr(shifts - own[-1]) @ labels)
    at = levels[:-1]
    up = np.clip((p - other * np.exp(at)) / -np.expm1(-h), 0.0, p)
    above = np.zeros(levels.size)
    above[1:] += up
    above[:-1] += p - up
    below = above[1:] * np.exp(-levels[1:])  # the other direction's
    zero = max(0.0, 1.0 - infinite - float(above[1:].sum()) - float(below.sum()))
    return np.concatenate([below[::-1], [zero], above[1:]]), float(infinite)


def _common_threshold(labels: FloatArray, shifts: FloatArray, levels: FloatArray) -> FloatArray:
    """Return t at each level, from below: then the weights come to no more than there is."""
    order = np.exp(levels)[:, np.newaxis]
    room = np.expm1(levels) * (1.0 - float(labels.sum()))
    own = levels[:, np.newaxis] / shifts + 0.5 * shifts
    low, high = own.min(axis=1), own.max(axis=1) + _BEYOND / shifts[0]
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        ratios = np.exp(np.minimum(shifts * (middle[:, np.newaxis] - 0.5 * shifts), 700.0))
        fits = np.maximum(ratios - order, 0.0) @ labels <= room
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
    return np.asarray(low, dtype=np.float64)


def _between(points: FloatArray) -> FloatArray:
    """Return the normal mass between neighbouring points along the first axis, from the side where nothing cancels."""
    low, high = points[:-1], points[1:]
    right = special.ndtr(-low) - special.ndtr(-high)
    return np.where(low > 0.0, right, special.ndtr(high) - special.ndtr(low))
