"""The sampled single step: its noise, its claim, and its law against the closed form."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dpsco_verify.papers.arora2020.single_step.empirical import Point, exact_probabilities, step_sampler
from dpsco_verify.privacy.single_step import NeighbouringStep

ONE = Fraction(1)


def point(n, m, fresh, h, *, factor=1.0):
    pair = NeighbouringStep(n=n, m=m, fresh=fresh, g=ONE, g_prime=-ONE, h=Fraction(h))
    return Point(pair=pair, epsilon_tilde=1.5, delta=0.3, cap=1000, factor=factor)


@pytest.mark.parametrize("factor", [1.0, 2.0])
def test_the_noise_and_the_claim_are_the_lemmas(factor):
    here = point(16, 2, 4, -1, factor=factor)
    assert here.sigma == pytest.approx(factor * math.sqrt(3 * math.log(1 / 0.3)) / 1.5, rel=1e-12)
    assert here.epsilon == pytest.approx(2 / 16 * (math.exp(1.5) - 1), rel=1e-12)
    assert here.claimed_delta == pytest.approx(2 / 16 * 0.3, rel=1e-12)


@pytest.mark.parametrize("factor", [1.0, 2.0])
@pytest.mark.parametrize(
    ("n", "m", "fresh", "h"), [(2, 1, 2, -1), (6, 1, 6, -1), (6, 2, 1, 0), (6, 3, 4, -1)]
)
def test_the_step_has_the_law_of_the_formula(n, m, fresh, h, factor):
    """A frequency of 60000 is off by six of its standard deviations with probability 2e-9."""
    here, size = point(n, m, fresh, h, factor=factor), 60_000
    threshold = -float(here.pair.best_threshold(here.epsilon, here.sigma))
    for gradient, exact in zip((ONE, -ONE), exact_probabilities(here), strict=True):
        stepped = step_sampler(here, gradient)(np.random.default_rng(5), size)
        off = abs(float(np.mean(stepped < threshold)) - exact)
        assert off <= 6 * math.sqrt(exact * (1 - exact) / size)
