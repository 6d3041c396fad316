"""Hypothesis strategies for vectors, convex sets, points in and around them, and potentials.

The draws favour what breaks projections: ties, zeros of both signs, one coordinate and a thousand, and magnitudes
from 1e-150 to 1e150 side by side. High dimensions are filled from a few drawn values, which keeps them cheap to draw
and to shrink.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.geometry import (
    AffineSubspace,
    Box,
    ConvexSet,
    Euclidean,
    HalfSpace,
    Intersection,
    L1Ball,
    L2Ball,
    LpBall,
    NegativeEntropy,
    PNorm,
    Potential,
    Simplex,
    WholeSpace,
)
from dpsco_verify.geometry.norms import euclidean_norm, maximum_norm
from dpsco_verify.validation import require_integer

try:
    from hypothesis import assume
    from hypothesis import strategies as st
    from hypothesis.strategies import DrawFn, SearchStrategy
except ImportError as error:
    raise ImportError(
        "dpsco_verify.strategies needs Hypothesis; install it with: pip install dpsco-verify[strategies]"
    ) from error

SMALL_DIMENSIONS = (1, 2, 3, 5)
LARGE_DIMENSION = 1000
_SPECIAL = (0.0, -0.0, 1.0, -1.0, 1e-150, -1e-150, 1e150, -1e150)
_LARGEST_EXPONENT = 150


@functools.cache
def dimensions() -> SearchStrategy[int]:
    """Dimensions: mostly up to 5, seldom 1000."""
    return st.sampled_from(SMALL_DIMENSIONS * 6 + (LARGE_DIMENSION,))


def coordinates(*, positive: bool = False, max_exponent: int = _LARGEST_EXPONENT) -> SearchStrategy[float]:
    """Draw doubles of magnitude ``10^-max_exponent`` to ``10^max_exponent`` and, unless `positive`, zeros.

    Parameters
    ----------
    positive
        Draw numbers above 0 alone.
    max_exponent
        From 0 to 150.
    """
    top = require_integer("max_exponent", max_exponent, minimum=0)
    if top > _LARGEST_EXPONENT:
        raise InputError(f"max_exponent={max_exponent!r} is too large; give at most {_LARGEST_EXPONENT}")
    return _coordinates(bool(positive), top)


# Strategies are stateless, and building one costs more than drawing from it: those that inner draws use are kept.
@functools.cache
def _coordinates(positive: bool, top: int) -> SearchStrategy[float]:  # noqa: FBT001  private, and a key of the cache
    limit = 10.0**top
    special = [value for value in _SPECIAL if (value > 0 or not positive) and abs(value) <= limit]
    special = [value for value in special if value == 0 or abs(value) >= 1 / limit]

    def kept_in_range(value: float) -> float:
        return float(np.copysign(min(max(abs(value), 1 / limit), limit), value))

    least = 1 if positive else -1000
    plain = st.integers(least, 1000).map(lambda value: kept_in_range(value / 100) if value else 0.0)
    # Floats are drawn by their bits, which spreads their magnitudes evenly over the exponents.
    spread = st.floats(0.0 if positive else -limit, limit).map(kept_in_range)
    return st.sampled_from(special) | plain | spread


@functools.cache
def _pools(positive: bool, top: int, size: int) -> SearchStrategy[list[float]]:  # noqa: FBT001  as above
    return st.lists(_coordinates(positive, top), min_size=1, max_size=size)


_EXPONENTS = st.sampled_from([1.01, 1.1, 1.5, 2.0, 3.0, 10.0, 100.0]) | st.floats(1.01, 20.0)
_CHOICES = st.lists(st.integers(0, 3), min_size=2, max_size=3, unique=True)
_DISTANCES = st.sampled_from([1e-3, 0.5, 1.0, 3.0, 100.0])
_MANTISSAS = st.sampled_from([0.5, 1.0, 2.0]) | st.floats(0.1, 10.0)
_SEEDS = st.integers(0, 2**32 - 1)


def vectors(
    dimension: int | None = None, *, positive: bool = False, max_exponent: int = _LARGEST_EXPONENT
) -> SearchStrategy[FloatArray]:
    """Draw vectors of shape (d,): all entries on their own, or a few values repeated, which gives ties.

    Parameters
    ----------
    dimension
        d; drawn when left out.
    positive, max_exponent
        As for :func:`coordinates`.
    """
    coordinates(positive=positive, max_exponent=max_exponent)
    size = None if dimension is None else require_integer("dimension", dimension, minimum=1)
    return _vectors(size, bool(positive), int(max_exponent))


@functools.cache
def _vectors(size: int | None, positive: bool, top: int) -> SearchStrategy[FloatArray]:  # noqa: FBT001  as above
    if size is None:
        return dimensions().flatmap(lambda drawn: _vectors(drawn, positive, top))
    return _vector(size, _pools(positive, top, min(size, 3)))


@st.composite
def _vector(draw: DrawFn, size: int, pools: SearchStrategy[list[float]]) -> FloatArray:
    pool = np.array(draw(pools))
    if size <= len(pool):
        return pool[:size]
    generator = np.random.default_rng(draw(_SEEDS))
    vector: FloatArray = pool[generator.integers(len(pool), size=size)]
    if size > max(SMALL_DIMENSIONS) and draw(st.booleans()):
        # Without this every vector of high dimension would be made of ties.
        vector = vector * generator.uniform(0.5, 1.0, size)
    return vector


def convex_sets(
    dimension: int | None = None,
    *,
    kinds: Sequence[type[ConvexSet]] | None = None,
    max_exponent: int = 100,
) -> SearchStrategy[ConvexSet]:
    """Draw one of the shipped sets.

    Parameters
    ----------
    dimension
        d; drawn when left out.
    kinds
        Classes to choose from; all of them when left out.
    max_exponent
        Sizes and centers run from ``10^-max_exponent`` to ``10^max_exponent``; 0 gives sets of size about 1.
    """
    chosen = tuple(_BUILDERS) if kinds is None else tuple(kinds)
    unknown = [kind for kind in chosen if kind not in _BUILDERS]
    if unknown or not chosen:
        raise InputError(
            f"kinds={kinds!r} has no strategy; give some of {sorted(kind.__name__ for kind in _BUILDERS)}"
        )
    size = None if dimension is None else require_integer("dimension", dimension, minimum=1)
    return _convex_sets(size, chosen, require_integer("max_exponent", max_exponent, minimum=0))


@functools.cache
def _convex_sets(size: int | None, kinds: tuple[type[ConvexSet], ...], top: int) -> SearchStrategy[ConvexSet]:
    return _convex_set(dimensions() if size is None else st.just(size), st.sampled_from(kinds), top)


@st.composite
def _convex_set(
    draw: DrawFn, sizes: SearchStrategy[int], kinds: SearchStrategy[type[ConvexSet]], top: int
) -> ConvexSet:
    return _BUILDERS[draw(kinds)](draw, draw(sizes), top)


@functools.cache
def potentials() -> SearchStrategy[Potential]:
    """Draw one of the shipped potentials, the p-norms with p from 1.01 to 2."""
    p_norms = st.builds(PNorm, st.sampled_from([1.01, 1.1, 1.5, 2.0]) | st.floats(1.01, 2.0))
    return st.just(Euclidean()) | st.just(NegativeEntropy()) | p_norms


@st.composite
def points_around(draw: DrawFn, convex_set: ConvexSet) -> FloatArray:
    """Draw points of shape (d,) on the scale of the set, or on any scale at all.

    An intersection is projected onto by iteration, which does not arrive from points that lie many orders of
    magnitude farther away than the set is wide; it says so, and its points stay on its own scale here.
    """
    vector = draw(vectors(convex_set.dimension))
    if not isinstance(convex_set, Intersection) and draw(st.booleans()):
        return vector
    reach = _size(convex_set)
    centre = convex_set.project(np.zeros(convex_set.dimension))
    largest = float(maximum_norm(vector))
    return np.asarray(centre + vector / (largest or 1.0) * reach * draw(_DISTANCES))


def points_in(convex_set: ConvexSet) -> SearchStrategy[FloatArray]:
    """Draw members of the set, of shape (d,): projections of points at all distances, thus often on the boundary."""
    return points_around(convex_set).map(convex_set.project)


def boundary_points(convex_set: ConvexSet) -> SearchStrategy[FloatArray]:
    """Draw points of shape (d,) on the boundary: projections of points outside.

    Raises
    ------
    InputError
        For the whole space, which has no boundary.
    """
    return _boundary(convex_set).map(lambda pair: pair[0])


@st.composite
def points_near_boundary(draw: DrawFn, convex_set: ConvexSet, *, distance: float = 1e-12) -> FloatArray:
    """Draw points of shape (d,) at `distance` from the boundary, on the outside or (if there is one) the inside.

    Parameters
    ----------
    distance
        In units of half the diameter for bounded sets of more than one point, else absolute.

    Raises
    ------
    InputError
        For the whole space, which has no boundary.
    """
    point, outwards = draw(_boundary(convex_set))
    half = convex_set.diameter / 2
    unit = half if 0 < half < np.inf else 1.0
    return np.asarray(point + draw(st.sampled_from([-1.0, 1.0])) * distance * unit * outwards)


@st.composite
def _boundary(draw: DrawFn, convex_set: ConvexSet) -> tuple[FloatArray, FloatArray]:
    """Draw a boundary point and the unit vector from it to the outside point that it is the projection of."""
    if isinstance(convex_set, WholeSpace):
        raise InputError(f"convex_set={convex_set!r} has no boundary; give another set")
    direction = draw(vectors(convex_set.dimension, max_exponent=3))
    if not direction.any():
        direction = np.ones(convex_set.dimension)
    outside = direction / euclidean_norm(direction) * 3 * _size(convex_set)
    if isinstance(convex_set, HalfSpace):
        outside = convex_set.project(outside) + convex_set.unit_normal * _size(convex_set)
    point = convex_set.project(outside)
    outwards = outside - point
    distance = float(euclidean_norm(outwards))
    assume(distance > 1e-6 * _size(convex_set))
    return point, outwards / distance


def _size(convex_set: ConvexSet) -> float:
    """Length on which the set lives: `max_norm`, or for unbounded sets 1 and the distance from the origin."""
    if np.isfinite(convex_set.max_norm):
        return convex_set.max_norm or 1.0
    return 1.0 + float(euclidean_norm(convex_set.project(np.zeros(convex_set.dimension))))


@functools.cache
def _lengths(top: int) -> SearchStrategy[float]:
    """Radii: about 1, or anywhere in the range."""
    exponents = st.just(0) | st.integers(-top, top)
    return st.builds(lambda mantissa, exponent: mantissa * 10.0**exponent, _MANTISSAS, exponents)


def _center(draw: DrawFn, dimension: int, radius: float) -> FloatArray:
    """Draw the origin, or a center on the scale of the radius."""
    if draw(st.booleans()):
        return np.zeros(dimension)
    return draw(vectors(dimension, max_exponent=2)) * radius


def _box(draw: DrawFn, dimension: int, max_exponent: int) -> Box:
    half = draw(_lengths(max_exponent))
    center = _center(draw, dimension, half)
    widths = np.abs(draw(vectors(dimension, max_exponent=2))) * half
    return Box(center - widths, center + widths)


def _half_space(draw: DrawFn, dimension: int, max_exponent: int) -> HalfSpace:
    normal = draw(vectors(dimension, max_exponent=max_exponent))
    assume(normal.any())
    offset = draw(coordinates(max_exponent=2)) * float(euclidean_norm(normal))
    return HalfSpace(normal, offset)


def _affine_subspace(draw: DrawFn, dimension: int, max_exponent: int) -> AffineSubspace:
    del max_exponent  # planes are scaled to unit normals; the size lies in the point that they pass
    count = draw(st.integers(1, 3))
    seed = draw(_SEEDS)
    # Small integers give dependent rows, zero rows and exact right sides.
    matrix = np.random.default_rng(seed).integers(-2, 3, (count, dimension)).astype(np.float64)
    point = draw(st.sampled_from([0.0, 1.0, -2.0])) * np.ones(dimension)
    return AffineSubspace(matrix, matrix @ point)


def _l2_ball(draw: DrawFn, dimension: int, max_exponent: int) -> L2Ball:
    radius = draw(_lengths(max_exponent))
    return L2Ball(_center(draw, dimension, radius), radius)


def _l1_ball(draw: DrawFn, dimension: int, max_exponent: int) -> L1Ball:
    radius = draw(_lengths(max_exponent))
    return L1Ball(dimension, radius, _center(draw, dimension, radius))


def _lp_ball(draw: DrawFn, dimension: int, max_exponent: int) -> LpBall:
    p = draw(_EXPONENTS)
    radius = draw(_lengths(max_exponent))
    return LpBall(dimension, p, radius, _center(draw, dimension, radius))


def _intersection(draw: DrawFn, dimension: int, max_exponent: int) -> Intersection:
    """Draw sets that share the inner point `center`, so that they meet in more than a touching point."""
    del max_exponent  # the size is about 1: the criterion of convergence is relative to the one size
    center = draw(vectors(dimension, max_exponent=0))
    radius = draw(st.floats(0.5, 2.0))
    normal = draw(vectors(dimension, max_exponent=1))
    assume(normal.any())
    margin = 0.3 * radius * float(euclidean_norm(normal))
    half = draw(st.floats(0.3, 1.0)) * radius
    members: list[ConvexSet] = [
        L2Ball(center, radius),
        HalfSpace(normal, float(np.sum(normal * center)) + margin),
        Box(center - half, center + half),
        L1Ball(dimension, radius * 1.5, center),
    ]
    return Intersection([members[i] for i in draw(_CHOICES)], scale=1.0)


_BUILDERS: dict[type[ConvexSet], Callable[[DrawFn, int, int], ConvexSet]] = {
    L2Ball: _l2_ball,
    Box: _box,
    Simplex: lambda draw, dimension, max_exponent: Simplex(dimension, draw(_lengths(max_exponent))),
    L1Ball: _l1_ball,
    LpBall: _lp_ball,
    HalfSpace: _half_space,
    AffineSubspace: _affine_subspace,
    WholeSpace: lambda _draw, dimension, _max_exponent: WholeSpace(dimension),
    Intersection: _intersection,
}
