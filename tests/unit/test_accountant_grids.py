"""A step's loss on a grid: what the grid's law has at its own points is the pair's, exactly.

Between two points of the grid the masses keep P and Q of what lies there, so a divergence at a point is the sum over
whole cells and loses nothing; from below it may lose.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import norm

from dpsco_verify.auditing.accountants.curves import exact_delta
from dpsco_verify.auditing.accountants.events import Noise, Sampling, Step
from dpsco_verify.auditing.accountants.grids import from_above, from_below, largest_loss
from dpsco_verify.auditing.accountants.pairs import Pair, directions
from dpsco_verify.choices import Relation

H = 1 / 64
STEPS = [
    Step(noise=Noise.GAUSSIAN, parameter=Fraction(4)),
    Step(noise=Noise.LAPLACE, parameter=Fraction(2)),
    Step(noise=Noise.GAUSSIAN, parameter=Fraction(1), sampling=Sampling.POISSON, probability=Fraction(1, 5)),
    Step(
        noise=Noise.LAPLACE,
        parameter=Fraction(1),
        sampling=Sampling.WITHOUT_REPLACEMENT,
        probability=Fraction(1, 4),
    ),
]


def law(found):
    """Return the losses and their masses."""
    return found.interval * (found.lowest + np.arange(found.masses.size)), found.masses


def all_directions():
    return [
        (step, relation, way) for step in STEPS for relation in Relation for way in directions(step, relation)
    ]


@pytest.mark.parametrize(("step", "relation", "way"), all_directions())
def test_a_grid_from_above_is_exact_at_its_points_in_both_directions(step, relation, way):
    found = from_above(way, interval=H)
    loss, mass = law(found)
    for k in (0, 1, 7, 20):
        forward = float(mass @ np.maximum(0.0, -np.expm1(k * H - loss))) + found.infinite
        assert forward == pytest.approx(exact_delta(way.forward, k * H)[0], rel=1e-9, abs=1e-14)
        backward = float(mass @ np.maximum(0.0, np.exp(-loss) - math.exp(k * H)))
        assert backward == pytest.approx(exact_delta(way.backward, k * H)[0], rel=1e-9, abs=1e-14)
    if way.composes:
        assert mass.sum() + found.infinite == pytest.approx(1.0, rel=1e-12)
        assert float(mass @ np.exp(-loss)) == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize(("step", "relation", "way"), all_directions())
def test_a_grid_from_below_is_below_by_little(step, relation, way):
    """By the second order of the spacing where the loss has a density, elsewhere by a group and a point at most."""
    pair = way.forward
    found = from_below(pair, interval=H)
    loss, mass = law(found)
    assert mass.sum() == pytest.approx(1.0, rel=1e-12)
    for epsilon in (0.0, 0.05, 0.2):
        exact = exact_delta(pair, epsilon)[0]
        delta = float(mass @ np.maximum(0.0, -np.expm1(epsilon - loss)))
        assert exact - (H**2 if step is STEPS[0] else 2 * H) <= delta <= exact * (1.0 + 1e-9)


def test_what_is_beyond_the_largest_loss_is_infinite():
    """A distance of 34 standard deviations: the loss is N(578, 34²), of which 0.26 lies above 600."""
    (way, _) = directions(Step(noise=Noise.GAUSSIAN, parameter=Fraction(1, 34**2)), Relation.ADD_REMOVE)
    assert largest_loss(way) == 600.0
    found = from_above(way, interval=0.5)
    end = -found.lowest * 0.5
    assert end > 600.0
    assert found.infinite == pytest.approx(norm.sf((end - 578) / 34), rel=1e-9)
    # From below without the outcomes that Q does not have in doubles, from 37.7 standard deviations on.
    assert 1.0 - norm.sf(3.6) < from_below(way.forward, interval=0.5).masses.sum() <= 1.0


def test_the_grid_reaches_what_is_exceeded_with_probability_below_1e_18_in_either_direction():
    """Poisson-sampled Gaussian: the loss of one direction ends at −log(1 − p), that of the other has no end."""
    step = Step(
        noise=Noise.GAUSSIAN, parameter=Fraction(1), sampling=Sampling.POISSON, probability=Fraction(1, 5)
    )
    for way in directions(step, Relation.ADD_REMOVE):
        top = largest_loss(way)
        assert top == pytest.approx(math.log(0.8 + 0.2 * math.exp(9.5)), rel=1e-9)
        assert norm.sf(9.0) < 1e-18


def test_a_laplace_pair_has_two_atoms_and_what_is_between():
    """Scale 1 and distance 1: a loss of 1 with probability 1/2, and of −1 with e^{−1}/2."""
    pair = Pair(noise=Noise.LAPLACE, parameter=Fraction(1), p=Fraction(1), x=1, y=0, h=0)
    loss, mass = law(from_below(pair, interval=H))
    assert loss[-1] < 1.0 <= loss[-1] + 2 * H
    assert mass[-1] == pytest.approx(0.5, abs=H)
    assert mass[0] == pytest.approx(math.exp(-1) / 2, abs=H)
