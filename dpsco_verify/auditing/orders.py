"""The orders of a claim, and how an event is rated at them.

For an order ε with ``δ = δ(ε)`` a region E is rated by ``z = (P(E) − e^ε P'(E) − δ)/s`` with s the standard error of
the estimate, which is what the growth of a betting test follows; and by how far it is from what a test finds
(:func:`remoteness`), which is what counts where nothing looks violated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpsco_verify.arrays import FloatArray

_UNSEEN = 1e3
_DOUBT = 3.0
"""Standard errors by which an event is taken to be more remote than it was seen to be: of a thousand rare events the
one that looks most promising by chance is some three too good, where it is no better than the others."""


@dataclass(frozen=True)
class Order:
    """A point of the claim's curve: ``P(E) ≤ e^ε P'(E) + δ``."""

    epsilon: float
    delta: float


@dataclass(frozen=True)
class Aims:
    """What the search looks for.

    Attributes
    ----------
    orders
        The points of the claim's curve.
    reach
        ``z/sqrt(n)``: the test of n pairs sees an excess of z standard errors with the power wanted.
    needed
        The log wealth that a pair must add on average for the test to end within its samples.
    apart
        Whether the event that rates best is wanted for each order, and not for the best of them.
    """

    orders: tuple[Order, ...]
    reach: float
    needed: float
    apart: bool = False


def rating(p: FloatArray, q: FloatArray, orders: Sequence[Order], n_p: int, n_q: int) -> FloatArray:
    """Return z for frequencies of shape (C,) among `n_p` and `n_q` outputs, at each order, shape (orders, C).

    The variances are those of one observation more, so that a frequency of 0 or 1 is not taken for certain.
    """
    factor, delta = _columns(orders)
    variance = (p * (1 - p) + 1.0 / n_p) / n_p + factor**2 * (q * (1 - q) + 1.0 / n_q) / n_q
    return np.asarray((p - factor * q - delta) / np.sqrt(variance))


def remoteness(
    p: FloatArray, q: FloatArray, orders: Sequence[Order], n_p: int, n_q: int, *, reach: float
) -> tuple[FloatArray, FloatArray]:
    """Return how far q may have to fall for the event to be found, and its standard error, shape (orders, C) each.

    The test sees an excess ``p − e^ε q − δ`` of ``reach·s`` with ``s² = p(1 − p) + e^{2ε} q(1 − q)``, hence the event
    if q is at most the smaller root q* of a quadratic. The distance is ``log(q/q*)``, by which the event's ε would have
    to grow, or what that of its complement would, ``log((1 − q*)/(1 − q))``, if that is more: an event that is all but
    certain has a ratio near 1 and is no more worth looking at than one that is all but impossible. Where even an event
    that never occurs on the second data set would not be found, it is larger than any other.
    """
    factor, delta = _columns(orders)
    q = np.minimum(q + 1.0 / n_q, 1.0 - 0.5 / n_q)
    room = p - delta
    # In u = e^ε q: (1 + r²) u² − (2 room + r² e^ε) u + room² − r² p(1 − p) = 0 with r the reach.
    constant = room**2 - reach**2 * p * (1 - p)
    half = room + 0.5 * reach**2 * factor
    root = constant / (half + np.sqrt(np.maximum(half**2 - (1.0 + reach**2) * constant, 0.0)))
    seen = (constant > 0.0) & (room > 0.0)
    least = np.where(seen, root, 1.0) / factor
    far = np.maximum(np.log(q / least), np.log1p(-np.minimum(least, 0.5)) - np.log1p(-q))
    s = np.hypot(np.sqrt(p * (1 - p)), factor * np.sqrt(q * (1 - q)))
    unseen = _UNSEEN * (1.0 + reach * np.sqrt(p * (1 - p)) - room)
    error = s / (factor * q * (1 - q) * math.sqrt(min(n_p, n_q)))
    return np.where(seen, far + _DOUBT * error, unseen), error


def _columns(orders: Sequence[Order]) -> tuple[FloatArray, FloatArray]:
    """Return e^ε and δ of the orders, shape (orders, 1) each."""
    factor = np.exp([order.epsilon for order in orders])[:, np.newaxis]
    return factor, np.array([order.delta for order in orders])[:, np.newaxis]
