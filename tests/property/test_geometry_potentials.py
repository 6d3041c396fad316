"""Every shipped potential has every property of a potential, at all magnitudes."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dpsco_verify.geometry import (
    Box,
    Euclidean,
    HalfSpace,
    Intersection,
    L1Ball,
    NegativeEntropy,
    PNorm,
    Simplex,
    WholeSpace,
)
from dpsco_verify.geometry.properties import check_potential, check_pythagorean_inequality
from dpsco_verify.strategies import convex_sets, potentials, vectors
from dpsco_verify.strategies.geometry import dimensions


@st.composite
def neighbours(draw, vector, *, positive):
    """A vector close to `vector`: some entries equal, the others off by 1e-16 to 1 of themselves."""
    factors = draw(st.lists(st.floats(-0.5, 0.5), min_size=1, max_size=4))
    shrink = 10.0 ** draw(st.integers(-16, 0))
    steps = np.resize(np.array(factors) * shrink, vector.shape)
    moved = vector * (1 + steps)
    if positive:
        return moved
    return moved if draw(st.booleans()) else np.clip(moved + np.abs(vector).max() * steps, -1e150, 1e150)


@st.composite
def triples(draw, potential):
    """Three points of the interior of the domain, far apart or close together."""
    positive = isinstance(potential, NegativeEntropy)
    size = draw(dimensions())
    own = vectors(size, positive=positive)
    x = draw(own)
    y = draw(own | neighbours(x, positive=positive))
    z = draw(own | neighbours(y, positive=positive))
    return x, y, z


@given(data=st.data())
def test_potentials_have_their_properties_at_all_magnitudes(data):
    potential = data.draw(potentials())
    check_potential(potential, *data.draw(triples(potential)))


@given(data=st.data())
def test_negative_entropy_has_its_properties_on_the_probability_simplex(data):
    x, y, z = data.draw(triples(NegativeEntropy()))
    shares = [point / point.max() for point in (x, y, z)]
    check_potential(NegativeEntropy(), *(np.maximum(share / share.sum(), 1e-300) for share in shares))


def orthant_box(data):
    box = data.draw(convex_sets(kinds=[Box], max_exponent=50))
    width = np.abs(box.high)
    return Box(np.minimum(np.abs(box.low), width), width + 1e-100)


@given(data=st.data())
def test_entropic_projections_satisfy_the_pythagorean_inequality(data):
    kind = data.draw(st.sampled_from([Simplex, WholeSpace, Box]))
    convex_set = orthant_box(data) if kind is Box else data.draw(convex_sets(kinds=[kind], max_exponent=50))
    # Ratios of 1e200 and totals of 1e-50 keep every weight above the smallest double.
    y = data.draw(vectors(convex_set.dimension, positive=True, max_exponent=100))
    z = data.draw(vectors(convex_set.dimension, positive=True))
    check_pythagorean_inequality(NegativeEntropy(), convex_set, y, z)


@given(data=st.data())
def test_p_norm_projections_satisfy_the_pythagorean_inequality(data):
    potential = PNorm(data.draw(st.sampled_from([1.05, 1.1, 1.5, 1.9]) | st.floats(1.05, 2.0)))
    kind = data.draw(st.sampled_from([Simplex, WholeSpace, Box, L1Ball, HalfSpace]))
    convex_set = data.draw(convex_sets(kinds=[kind]))
    if kind is L1Ball:
        convex_set = L1Ball(convex_set.dimension, convex_set.radius)
    y, z = data.draw(vectors(convex_set.dimension)), data.draw(vectors(convex_set.dimension))
    check_pythagorean_inequality(potential, convex_set, y, z)


@given(data=st.data())
def test_euclidean_projections_satisfy_the_pythagorean_inequality(data):
    convex_set = data.draw(convex_sets())
    limit = 2 if isinstance(convex_set, Intersection) else 150
    points = vectors(convex_set.dimension, max_exponent=limit)
    check_pythagorean_inequality(Euclidean(), convex_set, data.draw(points), data.draw(points))
