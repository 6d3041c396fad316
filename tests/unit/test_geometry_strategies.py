"""The Hypothesis strategies draw what they promise."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from dpsco_verify.errors import InputError
from dpsco_verify.geometry import (
    Box,
    ConvexSet,
    Euclidean,
    L2Ball,
    NegativeEntropy,
    PNorm,
    Simplex,
    WholeSpace,
)
from dpsco_verify.strategies import (
    boundary_points,
    convex_sets,
    coordinates,
    points_in,
    points_near_boundary,
    potentials,
    vectors,
)
from dpsco_verify.strategies.geometry import _BUILDERS

# Examples are wanted, not the smallest ones.
SEARCH = settings(max_examples=5000, database=None, derandomize=True, phases=[Phase.generate])


@pytest.mark.slow
@pytest.mark.parametrize(
    "wanted",
    [
        lambda v: v.size == 1,
        lambda v: v.size > 1 and np.unique(v).size < v.size,
        lambda v: (v == 0).any() and np.signbit(v[v == 0]).any(),
        lambda v: (v == 0).any() and not np.signbit(v[v == 0]).all(),
        lambda v: np.abs(v).max() == 1e150,
        lambda v: (np.abs(v) == 1e-150).any(),
        lambda v: v.size > 1 and np.abs(v).max() > 1e100 and 1e-100 > np.abs(v).min() > 0,
        pytest.param(lambda v: v.size == 1000 and np.unique(v).size > 900, marks=pytest.mark.long),
    ],
)
def test_vectors_reach_every_corner(wanted):
    assert wanted(find(vectors(), wanted, settings=SEARCH))


@pytest.mark.slow
@given(st.data())
def test_vectors_keep_to_what_was_asked_for(data):
    vector = data.draw(vectors(3, positive=True, max_exponent=2))
    assert vector.shape == (3,)
    assert ((vector >= 1e-2) & (vector <= 1e2)).all()
    assert abs(data.draw(coordinates(max_exponent=0))) in {0.0, 1.0}


@pytest.mark.slow
@pytest.mark.parametrize("kind", _BUILDERS)
def test_every_set_is_drawn(kind: type[ConvexSet]):
    assert isinstance(find(convex_sets(), lambda drawn: isinstance(drawn, kind), settings=SEARCH), kind)


@pytest.mark.parametrize("kind", [Euclidean, PNorm, NegativeEntropy])
def test_every_potential_is_drawn(kind):
    assert isinstance(find(potentials(), lambda drawn: isinstance(drawn, kind), settings=SEARCH), kind)


@pytest.mark.slow
@given(st.data())
def test_points_lie_where_they_should(data):
    convex_set = data.draw(convex_sets(2, kinds=[kind for kind in _BUILDERS if kind is not WholeSpace]))
    assert convex_set.contains(data.draw(points_in(convex_set)))
    assert convex_set.contains(data.draw(boundary_points(convex_set)))


@pytest.mark.slow
@given(st.data())
def test_points_near_the_boundary_are_at_the_distance(data):
    """To 1e-14 of the radius, the rounding of the point itself."""
    ball = L2Ball([0.25, -0.5], 2.0)
    distance = data.draw(st.sampled_from([1e-12, 1e-6]))
    point = data.draw(points_near_boundary(ball, distance=distance))
    gap = np.linalg.norm(point - ball.center) - 2
    assert abs(abs(gap) - 2 * distance) <= 2e-14


def test_both_sides_of_the_boundary_are_drawn():
    box = Box([-1.0], [1.0])
    for inside in (True, False):
        point = find(
            points_near_boundary(box), lambda x, inside=inside: (abs(x[0]) < 1) == inside, settings=SEARCH
        )
        assert 0 < abs(abs(point[0]) - 1) < 2e-12


def test_arguments_are_checked():
    with pytest.raises(InputError, match="max_exponent=151"):
        coordinates(max_exponent=151)
    with pytest.raises(InputError, match="dimension=0"):
        vectors(0)
    with pytest.raises(InputError, match="kinds="):
        convex_sets(kinds=[ConvexSet])
    with pytest.raises(InputError, match="has no boundary"):
        find(boundary_points(WholeSpace(2)), lambda _: True, settings=SEARCH)


def test_sets_of_the_asked_dimension_are_drawn():
    assert find(convex_sets(7, kinds=[Simplex]), lambda _: True, settings=SEARCH).dimension == 7


@pytest.mark.slow
def test_without_hypothesis_the_import_says_how_to_get_it():
    program = (
        "import sys; sys.modules['hypothesis'] = None\n"
        "import dpsco_verify.geometry\n"
        "try:\n"
        "    import dpsco_verify.strategies\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)  # noqa: S603  our own program
    assert "pip install dpsco-verify[strategies]" in done.stdout
