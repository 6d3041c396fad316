"""Minima of any convex risk over any bounded set, from averaged subgradients."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpsco_verify.geometry.norms import UNIT_ROUNDOFF, euclidean_norm
from dpsco_verify.problems.losses.loss import inner_product
from dpsco_verify.problems.minimisation.certified_minimum import CertifiedMinimum, FiniteLaw
from dpsco_verify.problems.minimisation.support import support

if TYPE_CHECKING:
    from dpsco_verify.geometry import ConvexSet

_STEPS = 4000
# Covers underflow in the rounding margin.
_TINY = float(np.finfo(np.float64).tiny) / UNIT_ROUNDOFF


def minimise_by_subgradients(population: FiniteLaw, convex_set: ConvexSet) -> CertifiedMinimum:
    """Return the minimum of the risk over a bounded set, by the projected subgradient method.

    With steps ``η_t = D/(‖g_t‖√T)`` the cuts ``F(u) ≥ F(w_t) + <g_t, u − w_t>``, averaged with weights
    proportional to ``η_t`` and minimised over the set through its support function, give a lower bound. The gap is
    at most about ``LD/√T`` with ``T = 4000``: a certificate where nothing else is known of the loss or the set.
    """
    points, probabilities = population.data, population.probabilities
    # Sums over the data points and over the steps; no subgradient is longer than L.
    relative = 2.0 * (points.shape[0] + population.dimension + _STEPS) * UNIT_ROUNDOFF
    reach = population.lipschitz * convex_set.max_norm

    w = convex_set.project(np.zeros(population.dimension))
    best, best_value = w, math.inf
    weights: list[float] = []
    constants: list[float] = []
    sizes: list[float] = []
    g_sum = np.zeros_like(w)
    for _ in range(_STEPS):
        value = float(population.risk(w))
        size = (
            float(inner_product(np.abs(population.loss.value(w, points)), probabilities))
            + 2.0 * reach
            + _TINY
        )
        if value < best_value:
            best, best_value = w, value
        g = np.add.reduce(probabilities[:, None] * population.loss.subgradient(w, points), axis=0)
        norm = float(euclidean_norm(g))
        if norm <= relative * population.lipschitz:
            # To the last bit a stationary point: F(u) ≥ F(w) − 2·‖g‖·max_norm.
            lower = value - 2.0 * norm * convex_set.max_norm - relative * size
            return CertifiedMinimum(w, value, lower, "stationary point")
        weight = population.lipschitz / norm
        weights.append(weight)
        constants.append(weight * (value - float(inner_product(g, w))))
        sizes.append(weight * size)
        g_sum = g_sum + weight * g
        w = convex_set.project(w - (convex_set.diameter / math.sqrt(_STEPS)) * (g / norm))
    total = math.fsum(weights)
    lower = (
        math.fsum(constants) - support(convex_set, -g_sum).upper_bound - relative * math.fsum(sizes)
    ) / total
    return CertifiedMinimum(best, best_value, min(lower, best_value), "subgradient averaging")
