"""A privacy claim as the lines that bound its trade-off function.

A claim says ``P ≤ e^ε Q + δ(ε)`` for the probabilities P, Q of any event under two neighbours, at every order ε ≥ 0;
for the event's complement, neighbours exchanged, ``P ≤ 1 − e^−ε (1 − δ(ε) − Q)``. So ``P ≤ F(Q)`` with F the minimum
of these lines, concave and increasing: ``F = 1 − f`` for the claim's trade-off function f (Dong, Roth and Su 2022,
Proposition 2.12). Any set of orders gives an F that is not too small, hence tests that are valid; more orders,
sharper ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.evidence.checker import Order, order
from dpsco_verify.privacy import gaussian_delta
from dpsco_verify.privacy.claims import GaussianDP, PrivacyClaim

_LARGEST_ORDER = 700.0
_GAUSSIAN_POINTS = 400
_SPREAD = 9.0
"""Orders of a Gaussian law reach from its corner, the FPR Φ(−μ/2), to an FPR of about Φ(−9) ≈ 1e-19."""
_ROUNDING = 1e-12
_MOST_ORDERS = 100


@dataclass(frozen=True, eq=False)
class TradeOffLines:
    """The lines ``s Q + δ`` of a claim.

    Attributes
    ----------
    slopes
        ``s = e^ε ≥ 1``, shape (n,).
    offsets
        ``δ(ε)`` in [0, 1], rounded up, shape (n,).
    """

    slopes: FloatArray
    offsets: FloatArray

    def most(self, q: ArrayLike) -> FloatArray:
        """Return F(q), elementwise: the largest probability of an event that has probability q on the neighbour."""
        x = np.asarray(q, dtype=np.float64)[..., np.newaxis]
        rising = (self.slopes * x + self.offsets).min(axis=-1)
        falling = (1.0 - (1.0 - self.offsets - x) / self.slopes).min(axis=-1)
        return np.asarray(np.minimum(np.minimum(rising, falling), 1.0), dtype=np.float64)

    def binding(self, q: float) -> list[float]:
        """Return the slopes of the two lines, rising and falling, that are the smallest at q."""
        rising = (self.slopes * q + self.offsets).argmin()
        falling = (1.0 - (1.0 - self.offsets - q) / self.slopes).argmin()
        return [float(self.slopes[rising]), float(self.slopes[falling])]

    def few(self, slopes: Iterable[float]) -> tuple[Order, ...]:
        """Return the orders of some slopes, as a certificate has them, at most 100."""
        offsets = dict(zip(self.slopes.tolist(), self.offsets.tolist(), strict=True))
        chosen = sorted(set(slopes))
        chosen = chosen[:: -(-len(chosen) // _MOST_ORDERS)]
        return tuple(
            order(math.log(slope), min(float(offsets[slope]) * (1.0 + _ROUNDING), 1.0))
            for slope in chosen
            if offsets[slope] < 1.0
        )

    @cached_property
    def inverse(self) -> tuple[FloatArray, FloatArray]:
        """The lines whose maximum, where it is positive, is the inverse of F at r: slopes a, rising, and b.

        ``a r + b`` where a ≤ 1, and ``b − a (1 − r)`` where a > 1, which loses no digits where it matters. Lines that
        are nowhere the largest on [0, 1] are left out.
        """
        slopes = np.concatenate([1.0 / self.slopes, self.slopes])
        starts = np.concatenate([-self.offsets / self.slopes, 1.0 - self.offsets - self.slopes])
        order = np.lexsort((starts, slopes))
        kept: list[tuple[float, float]] = []
        for a, b in zip(slopes[order].tolist(), starts[order].tolist(), strict=True):
            while kept and (kept[-1][0] == a or _hidden(kept, a, b)):
                kept.pop()
            kept.append((a, b))
        ends = dict(zip(self.slopes.tolist(), (1.0 - self.offsets).tolist(), strict=True))
        return (
            np.array([a for a, _ in kept]),
            np.array([b if a <= 1.0 else ends[a] for a, b in kept]),
        )


def _hidden(kept: list[tuple[float, float]], a: float, b: float) -> bool:
    """Return whether the last line is below its predecessor or the new one everywhere."""
    if len(kept) < 2:
        return False
    (a0, b0), (a1, b1) = kept[-2:]
    return (b0 - b) * (a1 - a0) <= (b0 - b1) * (a - a0)


def approximate_lines(epsilon: float, delta: float) -> TradeOffLines:
    """Return the one line of (ε, δ)-differential privacy."""
    return TradeOffLines(np.array([np.exp(min(epsilon, _LARGEST_ORDER))]), np.array([delta]))


def gaussian_lines(mu: float) -> TradeOffLines:
    """Return 400 lines of μ-GDP; F exceeds ``Φ(Φ⁻¹(Q) + μ)`` by less than a part in 1e3 where Q is above 1e-18."""
    z = np.linspace(0.5 * mu, max(_SPREAD, mu + 7.0), _GAUSSIAN_POINTS)
    orders = np.unique(np.clip(mu * z - 0.5 * mu * mu, 0.0, _LARGEST_ORDER))
    offsets = np.minimum(gaussian_delta(orders, mu) * (1.0 + _ROUNDING), 1.0)
    return TradeOffLines(np.exp(orders), offsets)


def claim_lines(claim: PrivacyClaim) -> TradeOffLines:
    """Return the lines of a claim at the orders at which audits look at it, and between them.

    Raises
    ------
    InputError
        If the claim bounds nothing.
    """
    if isinstance(claim, GaussianDP):
        return gaussian_lines(claim.mu)
    given = np.asarray(claim.orders(), dtype=np.float64)
    orders = np.unique(np.concatenate([given, 0.5 * (given[1:] + given[:-1])]))
    offsets = np.array([claim.delta(float(order)) for order in orders])
    said = (offsets < 1.0) & (orders <= _LARGEST_ORDER)
    if not said.any():
        raise InputError(f"claim={claim} bounds nothing: delta is 1 at every order; give a stronger claim")
    return TradeOffLines(np.exp(orders[said]), offsets[said])
