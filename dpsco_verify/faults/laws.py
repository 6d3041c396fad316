"""Exact laws of the museum's mechanisms, from which the truth about each is computed.

The loss that matters is the hockey-stick divergence ``δ(ε) = Σ max(P − e^ε P', 0)`` of a pair, in the worse of its two
directions.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.faults.mechanisms.selection import (
    Attributes,
    ExponentialMechanism,
    NoisyMax,
    PermuteAndFlip,
    attribute_counts,
)
from dpsco_verify.faults.mechanisms.sparse_vector import ABOVE, BELOW, NOT_ASKED, SparseVector

Law = Mapping[Any, float]
"""The probability of each output; those of probability 0 may be missing."""

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(32)


def _integration_matrix() -> FloatArray:
    """Return A with ``Σ_j A_ij f(x_j) = ∫_{−1}^{x_i} f`` for polynomials f of degree below the number of nodes.

    f has the Legendre coefficients ``c_k = (k + 1/2) Σ_j w_j P_k(x_j) f(x_j)``, and
    ``∫_{−1}^x P_k = (P_{k+1}(x) − P_{k−1}(x))/(2k + 1)`` with ``P_{−1} = −1``.
    """
    n = _NODES.size
    values = np.polynomial.legendre.legvander(_NODES, n)
    lower = np.concatenate([-np.ones((n, 1)), values[:, : n - 1]], axis=1)
    k = np.arange(n)
    antiderivatives = (values[:, 1:] - lower) / (2 * k + 1)
    return np.asarray(antiderivatives @ ((k + 0.5)[:, np.newaxis] * values[:, :n].T * _WEIGHTS))


_INTEGRALS = _integration_matrix()
_FAR = 45.0
"""In scales of Laplace noise: the mass beyond, e^−45, is below 1e-19."""


def law_delta(first: Law, second: Law, epsilon: float) -> float:
    """Return δ(ε) of two discrete laws, the larger of both directions."""
    factor = math.exp(epsilon)
    outputs = {*first, *second}

    def one_way(p: Law, q: Law) -> float:
        return math.fsum(max(p.get(x, 0.0) - factor * q.get(x, 0.0), 0.0) for x in outputs)

    return max(one_way(first, second), one_way(second, first))


def pair_delta(
    law: Callable[[Any, Any], Law], mechanism: Any, pair: tuple[Any, Any], epsilon: float
) -> float:
    """Return δ(ε) of a mechanism with a discrete law, ``law(mechanism, dataset)``, on a pair of data sets."""
    return law_delta(law(mechanism, pair[0]), law(mechanism, pair[1]), epsilon)


def laplace_delta(epsilon: float, *, true_epsilon: float) -> float:
    """Return δ(ε) where ``sensitivity/scale = true_epsilon``: ``1 − e^{(ε − true_epsilon)/2}``, or 0."""
    return max(0.0, -math.expm1(0.5 * (epsilon - true_epsilon)))


def discrete_laplace_tail(z: int, *, scale: float) -> float:
    """Return ``P(Z ≥ z)`` for ``P(z) ∝ e^{−|z|/scale}``."""
    q = math.exp(-1.0 / scale)
    return q**z / (1.0 + q) if z > 0 else 1.0 - q ** (1 - z) / (1.0 + q)


def discrete_laplace_law(centre: int, *, scale: float) -> Law:
    """Return the law of ``centre + Z``; the mass beyond 45 scales is left out."""
    q = math.exp(-1.0 / scale)
    reach = math.ceil(_FAR * scale)
    return {centre + z: (1.0 - q) / (1.0 + q) * q ** abs(z) for z in range(-reach, reach + 1)}


def exponential_law(mechanism: ExponentialMechanism, dataset: Attributes) -> Law:
    """Return the probability of each place."""
    weights = np.exp(0.5 * mechanism.epsilon * attribute_counts(dataset))
    return dict(enumerate((weights / weights.sum()).tolist()))


def permute_and_flip_law(mechanism: PermuteAndFlip, dataset: Attributes) -> Law:
    """Return the probability of each place.

    Given that place i shows heads at a uniform moment t of the order, each other place j has come before and shown
    heads with probability ``t h_j``; so ``P(i) = h_i ∫₀¹ Π_{j≠i} (1 − t h_j) dt``, a polynomial of degree k − 1.
    """
    counts = attribute_counts(dataset)
    heads = np.exp(0.5 * mechanism.epsilon * (counts - counts.max()))
    t, weights = 0.5 * (_NODES + 1.0), 0.5 * _WEIGHTS  # exact up to degree 63
    none_before = 1.0 - t[:, np.newaxis] * heads
    return {
        i: float(heads[i] * (weights @ np.delete(none_before, i, axis=1).prod(axis=1)))
        for i in range(counts.size)
    }


def noisy_max_law(mechanism: NoisyMax, dataset: Attributes) -> Law:
    """Return the probability of each place, ``∫ f(v − c_i) Π_{j≠i} F(v − c_j) dv``."""
    counts = attribute_counts(dataset)
    v, weights = quadrature(counts, scale=2.0 / mechanism.epsilon)
    densities = noisy_max_densities(mechanism, dataset, v)
    return dict(enumerate((weights @ densities).tolist()))


def noisy_max_densities(mechanism: NoisyMax, dataset: Attributes, v: FloatArray) -> FloatArray:
    """Return the density of (place, value) at each value in v, shape (v.size, k)."""
    counts, scale = attribute_counts(dataset), 2.0 / mechanism.epsilon
    x = v[:, np.newaxis] - counts
    below = laplace_below(x, scale)
    return np.asarray(laplace_density(x, scale) * below.prod(axis=1, keepdims=True) / below)


def noisy_max_value_delta(mechanism: NoisyMax, d: Attributes, d_prime: Attributes, epsilon: float) -> float:
    """Return δ(ε) of report noisy max with its value, by quadrature of the densities."""
    knots = np.concatenate([attribute_counts(d), attribute_counts(d_prime)])
    v, weights = quadrature(knots, scale=2.0 / mechanism.epsilon)
    first, second = (noisy_max_densities(mechanism, data, v) for data in (d, d_prime))
    return _densities_delta(first, second, weights, epsilon)


def sparse_vector_law(mechanism: SparseVector, dataset: Attributes) -> Law:
    """Return the probability of each tuple of answers of a variant that does not answer by values.

    It walks along the queries with the joint mass of the answers so far and of ρ at the nodes of a quadrature: given
    ρ, the answers are independent. A refreshed ρ begins anew with all of the mass.
    """
    queries = attribute_counts(dataset)
    knots = queries - mechanism.threshold
    first = quadrature(knots, scale=mechanism.threshold_scale)
    scales = [mechanism.threshold_scale]
    grids = [first]
    if mechanism.refreshed_scale is not None:
        scales.append(mechanism.refreshed_scale)
        grids.append(quadrature(knots, scale=mechanism.refreshed_scale))
    nodes = [grid[0] for grid in grids]
    masses = [grid[1] * laplace_density(grid[0], scale) for grid, scale in zip(grids, scales, strict=True)]
    last = len(grids) - 1

    def walk(
        prefix: tuple[int, ...], which: int, mass: FloatArray
    ) -> Iterator[tuple[tuple[int, ...], float]]:
        stopped = mechanism.cutoff is not None and prefix.count(ABOVE) >= mechanism.cutoff
        if stopped or len(prefix) == queries.size:
            yield prefix + (NOT_ASKED,) * (queries.size - len(prefix)), float(mass.sum())
            return
        below = laplace_below(
            mechanism.threshold + nodes[which] - queries[len(prefix)], mechanism.query_scale
        )
        yield from walk((*prefix, BELOW), which, mass * below)
        above = mass * (1.0 - below)
        if mechanism.refreshed_scale is None:
            yield from walk((*prefix, ABOVE), which, above)
        else:
            yield from walk((*prefix, ABOVE), last, masses[last] * above.sum())

    return dict(walk((), 0, masses[0]))


def numeric_sparse_vector_delta(
    mechanism: SparseVector, d: Attributes, d_prime: Attributes, epsilon: float
) -> float:
    """Return δ(ε) of a variant that answers by the value and stops at the first one, by quadrature."""
    knots = np.concatenate([attribute_counts(data) - mechanism.threshold for data in (d, d_prime)])
    scale = min(mechanism.threshold_scale, mechanism.query_scale)
    rho, weights = quadrature(knots, scale=scale, cells=8)
    first, second = (numeric_sparse_vector_densities(mechanism, data, rho, weights) for data in (d, d_prime))
    # The last outcome is that no query is above.
    silent = (1.0 - float((weights @ first).sum()), 1.0 - float((weights @ second).sum()))
    return _densities_delta(first, second, weights, epsilon, atom=silent)


def numeric_sparse_vector_densities(
    mechanism: SparseVector, dataset: Attributes, rho: FloatArray, weights: FloatArray
) -> FloatArray:
    """Return the density at ``v = T + ρ`` that query i is the first above and is answered by v, shape (rho.size, k).

    It is ``f_ν(v − q_i) ∫_{T+ρ≤v} p(ρ) Π_{j<i} F_ν(T + ρ − q_j) dρ``. `rho` and `weights` are a composite rule whose
    cells end at all ``q_i − T`` and at 0.
    """
    gaps = mechanism.threshold + rho[:, np.newaxis] - attribute_counts(dataset)
    below = laplace_below(gaps[:, :-1], mechanism.query_scale)
    so_far = np.concatenate([np.ones((rho.size, 1)), np.cumprod(below, axis=1)], axis=1)
    mass = laplace_density(rho, mechanism.threshold_scale)[:, np.newaxis] * so_far
    return running_integral(mass, weights) * laplace_density(gaps, mechanism.query_scale)


def quadrature(knots: ArrayLike, *, scale: float, cells: int = 1) -> tuple[FloatArray, FloatArray]:
    """Return a composite Gauss–Legendre rule on the line, nodes and weights, for functions that bend at 0 and `knots`.

    The line ends 45 scales beyond the outermost of them, and cells are at most ``4 scale/cells`` wide.
    """
    bends = np.unique(np.append(np.asarray(knots, dtype=np.float64), 0.0))
    ends = np.concatenate([[bends[0] - _FAR * scale], bends, [bends[-1] + _FAR * scale]])
    pieces = [
        np.linspace(a, b, 1 + max(1, math.ceil(cells * (b - a) / (4.0 * scale))))[:-1]
        for a, b in itertools.pairwise(ends)
    ]
    edges = np.append(np.concatenate(pieces), ends[-1])
    half, middle = 0.5 * np.diff(edges)[:, np.newaxis], 0.5 * (edges[1:] + edges[:-1])[:, np.newaxis]
    return (middle + half * _NODES).ravel(), (half * _WEIGHTS).ravel()


def running_integral(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the integral up to each node of functions given at the nodes of a composite rule, shape (nodes, k).

    Within a cell the polynomial through the values is integrated exactly.
    """
    cells = values.reshape(-1, _NODES.size, values.shape[1])
    half = weights.reshape(-1, _NODES.size)[:, :1, np.newaxis] / _WEIGHTS[0]
    within = half * (_INTEGRALS @ cells)
    totals = (half * (_WEIGHTS @ cells)[:, np.newaxis, :])[:, 0, :]
    before = np.cumsum(totals, axis=0) - totals
    return np.asarray((before[:, np.newaxis, :] + within).reshape(values.shape))


def laplace_density(x: FloatArray, scale: float) -> FloatArray:
    """Return the density of Laplace noise."""
    return np.exp(-np.abs(x) / scale) / (2.0 * scale)


def laplace_below(x: FloatArray, scale: float) -> FloatArray:
    """Return ``P(ν < x)`` for Laplace noise of this scale; a scale of 0 means no noise."""
    if scale == 0.0:
        return (x > 0.0).astype(np.float64)
    tail = 0.5 * np.exp(-np.abs(x) / scale)
    return np.where(x < 0.0, tail, 1.0 - tail)


def _densities_delta(
    first: FloatArray,
    second: FloatArray,
    weights: FloatArray,
    epsilon: float,
    *,
    atom: tuple[float, float] = (0.0, 0.0),
) -> float:
    """Return δ(ε) of two laws with these densities at the nodes and one atom, the larger of both directions."""
    factor = math.exp(epsilon)

    def one_way(p: FloatArray, q: FloatArray, p_atom: float, q_atom: float) -> float:
        return float((weights @ np.maximum(p - factor * q, 0.0)).sum()) + max(p_atom - factor * q_atom, 0.0)

    return max(one_way(first, second, *atom), one_way(second, first, atom[1], atom[0]))
