"""Every shipped set has every property of a Euclidean projection, at all magnitudes and on the boundary."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsco_verify.geometry import (
    AffineSubspace,
    Box,
    ConvexSet,
    HalfSpace,
    Intersection,
    L1Ball,
    L2Ball,
    LpBall,
    Simplex,
    WholeSpace,
)
from dpsco_verify.geometry.norms import euclidean_norm
from dpsco_verify.geometry.properties import check_convex_set, check_variational_inequality
from dpsco_verify.strategies import convex_sets, points_near_boundary, vectors
from dpsco_verify.strategies.geometry import boundary_points, points_around

pytestmark = pytest.mark.slow  # the everyday part has two minutes

SCALABLE = [L2Ball, Box, Simplex, L1Ball, LpBall, HalfSpace, AffineSubspace, WholeSpace]
BITWISE = (L2Ball, Box, Simplex, L1Ball, HalfSpace, WholeSpace)
"""Without logarithms and matrix products, whose last digits may depend on the place in a batch."""


def check(convex_set, x, y):
    check_convex_set(convex_set, x, y, bitwise=isinstance(convex_set, BITWISE))


@pytest.mark.parametrize("kind", SCALABLE)
@given(data=st.data())
def test_projections_have_their_properties_at_all_magnitudes(kind: type[ConvexSet], data):
    convex_set = data.draw(convex_sets(kinds=[kind]))
    points = points_around(convex_set) | vectors(convex_set.dimension)
    check(convex_set, data.draw(points), data.draw(points))


@given(data=st.data())
def test_projections_have_their_properties_at_the_boundary(data):
    convex_set = data.draw(convex_sets(kinds=[kind for kind in SCALABLE if kind is not WholeSpace]))
    near = points_near_boundary(convex_set) | boundary_points(convex_set)
    x, y = data.draw(near), data.draw(near)
    check(convex_set, x, y)
    check_variational_inequality(convex_set, x, data.draw(points_around(convex_set)))


@pytest.mark.slow
@given(data=st.data())
def test_projections_onto_intersections_have_their_properties(data):
    convex_set = data.draw(convex_sets(kinds=[Intersection]))
    far = vectors(convex_set.dimension, max_exponent=2)
    points = far | points_near_boundary(convex_set) | boundary_points(convex_set)
    check(convex_set, data.draw(points), data.draw(points))


@given(data=st.data())
def test_projections_onto_intersections_are_certified_by_the_variational_inequality(data):
    """``<x - w, v - w> <= tau L (||x - w|| + tau L)`` for members v, which `Intersection` documents.

    The members are moved by 1e-6 of the way to an inner point, at which every set has a margin of at least 0.15: so
    they satisfy each set with slack 1e-7, far above the 1e-10 by which a projection may miss it.
    """
    convex_set = data.draw(convex_sets(kinds=[Intersection]))
    points = vectors(convex_set.dimension, max_exponent=2)
    x, z = data.draw(points), data.draw(points)
    inner = next(centre(member) for member in convex_set.sets if centre(member) is not None)
    member = convex_set.project(z)
    v = member + 1e-6 * (inner - member)
    assert convex_set.violation(v) == 0
    w = convex_set.project(x)
    reach = convex_set.tolerance * convex_set.scale
    # One unit in the last place of each product and partial sum, relative to the lengths.
    rounding = 1e-14 * euclidean_norm(x - w) * euclidean_norm(v - w)
    assert np.sum((x - w) * (v - w)) <= reach * (euclidean_norm(x - w) + reach) + rounding


def centre(convex_set):
    """The point that the strategy builds intersections around; half-spaces do not name it."""
    if isinstance(convex_set, Box):
        return (convex_set.low + convex_set.high) / 2
    return getattr(convex_set, "center", None)
