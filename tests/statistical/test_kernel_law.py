"""The kernel's random numbers follow their laws.

Seeds are fixed, so that a test that passes always passes: the levels below are the probability that a right generator
would have failed it when it was written, and set what a wrong one must reach to be seen. Of 2²⁴ = 16.8 million normals
the Dvoretzky-Kiefer-Wolfowitz inequality at 1e-9 allows a distance of 0.0008 between distribution functions, and
notices 0.0011 with probability 0.9. Chi-square over the 512 cells between the ziggurat's own edges notices a tenth of
the points between two edges gone, or one point in 250 in a wrong cell everywhere; the counts beyond 4 (531 expected on
either side) notice a tail that is a third too light or too heavy. All of them are drawn at night; an eighth of them,
as drawn by day, notices what is three times as large. So it is with indices: 2 million at night, half a million by day.
"""

from __future__ import annotations

import itertools
import math

import numba
import numpy as np
import pytest
from scipy import stats

from dpsco_verify.algorithm import Options, StoppingRule, run_ensemble
from dpsco_verify.algorithm.kernel import random_numbers
from dpsco_verify.algorithm.kernel.stream import open_stream
from dpsco_verify.algorithm.kernel.ziggurat import ziggurat
from dpsco_verify.algorithm.stopping_law import survival
from dpsco_verify.geometry import WholeSpace
from dpsco_verify.problems import Linear

pytestmark = pytest.mark.slow  # the everyday part has two minutes


LEVEL = 1e-9


@numba.njit
def fill(lanes, words, position, edges, heights, widths, out, unsettled):
    random_numbers.fill_normals(lanes, words, position, edges, heights, widths, out.size, out, unsettled)


@numba.njit
def draw(lanes, words, position, n, batches, count, m):
    random_numbers.draw_batches(lanes, words, position, n, batches, count, m)


@pytest.fixture(scope="module", params=[2**21, pytest.param(2**24, marks=pytest.mark.long)])
def sample(request):
    stream = open_stream(np.random.default_rng(20240611))
    count = request.param
    out = np.zeros(count)
    unsettled = np.zeros(4097, dtype=np.int64)
    for first in range(0, count, 4096):
        fill(*stream, *ziggurat(), out[first : first + 4096], unsettled)
    out.setflags(write=False)
    return out


def distance(x):
    """The Kolmogorov distance from the normal law, as a multiple of what is allowed at the level."""
    law = stats.norm.cdf(np.sort(x))
    steps = np.arange(x.size + 1) / x.size
    gap = max((law - steps[:-1]).max(), (steps[1:] - law).max())
    return gap / math.sqrt(math.log(2.0 / LEVEL) / (2.0 * x.size))


def chi_square(observed, probabilities):
    """The p-value of counts."""
    expected = probabilities * observed.sum()
    assert expected.min() > 100
    return stats.chi2.sf(((observed - expected) ** 2 / expected).sum(), observed.size - 1)


def layer_p_value(x):
    edges = ziggurat().edges[1:]
    cuts = np.concatenate([-edges, edges[-2::-1]])
    law = np.concatenate([[0.0], stats.norm.cdf(cuts), [1.0]])
    counts = np.bincount(np.searchsorted(cuts, x), minlength=cuts.size + 1)
    return chi_square(counts, np.diff(law))


def tail_p_value(x, beyond):
    """Two-sided, exact."""
    return min(
        stats.binomtest(int((side > beyond).sum()), x.size, stats.norm.sf(beyond)).pvalue for side in (x, -x)
    )


@pytest.mark.slow
def test_the_normal_law(sample):
    assert distance(sample) < 1.0
    assert layer_p_value(sample) > LEVEL
    for beyond in (3.0, ziggurat().edges[1], 4.0, 4.5, 5.0):
        assert tail_p_value(sample, beyond) > LEVEL
    # 16.8 million normals exceed 5.0 nine or ten times; one beyond 6.7 would be a chance of 4e-4, beyond 8 of 2e-8.
    assert 5.0 < np.abs(sample).max() < 8.0


@pytest.mark.slow
def test_wrong_laws_are_noticed(sample):
    r = ziggurat().edges[1]
    assert distance(sample[: 2**21] * 1.02) > 1.0
    assert distance(np.abs(sample[: 2**21])) > 1.0
    tailless = sample[np.abs(sample) < r]
    assert tail_p_value(tailless, r) < LEVEL
    light = np.where(np.abs(sample) > 4.0, sample * 0.9, sample)
    assert tail_p_value(light, 4.0) < LEVEL
    edges = ziggurat().edges
    every = 4 if sample.size >= 2**24 else 2
    between = (np.abs(sample) < edges[40]) & (np.abs(sample) > edges[41])
    assert layer_p_value(sample[~between | (np.arange(sample.size) % every != 0)]) < LEVEL
    # Layers without the test in their wedges: every point of every rectangle is taken.
    rng = np.random.default_rng(5)
    every = edges[rng.integers(1, 256, size=2**21)] * rng.uniform(-1.0, 1.0, size=2**21)
    assert layer_p_value(every) < LEVEL
    # A table that is off by one layer for one word in 256.
    shifted = np.where(between, sample * edges[41] / edges[40], sample)
    assert layer_p_value(shifted) < LEVEL


def test_neighbours_are_independent(sample):
    """Correlations of values, squares and signs at lags up to and beyond the number of lanes: N(0, 1/n) each.

    108 numbers at 7 standard deviations: 3e-10.
    """
    for x in (sample, (sample**2 - 1.0) / math.sqrt(2.0), np.sign(sample)):
        for lag in (*range(1, 34), 48, 512, 1024):
            assert abs(np.dot(x[:-lag], x[lag:])) < 7.0 * math.sqrt(x.size), lag


def test_low_bits_are_fair(sample):
    """The 24 lowest bits of the mantissa below the first octave: each is a fair coin to 7 standard deviations."""
    inside = sample[(np.abs(sample) > 1.0) & (np.abs(sample) < 2.0)]
    bits = np.abs(inside).view(np.uint64)
    for bit in range(2, 26):
        ones = int(((bits >> np.uint64(bit)) & np.uint64(1)).sum())
        assert abs(ones - inside.size / 2) < 7.0 * math.sqrt(inside.size / 4)


@pytest.mark.parametrize("count", [500_000, pytest.param(2_000_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("n", [2, 7, 1000])
def test_indices_are_uniform(n, count):
    stream = open_stream(np.random.default_rng(n))
    drawn = np.zeros(count, dtype=np.int64)
    draw(*stream, n, drawn, drawn.size, 1)
    assert chi_square(np.bincount(drawn, minlength=n), np.full(n, 1.0 / n)) > LEVEL
    pairs = drawn[:-1:2] * n + drawn[1::2]
    if n < 10:
        assert chi_square(np.bincount(pairs, minlength=n * n), np.full(n * n, 1.0 / n**2)) > LEVEL


def test_biased_indices_are_noticed():
    stream = open_stream(np.random.default_rng(1))
    drawn = np.zeros(500_000, dtype=np.int64)
    draw(*stream, 1007, drawn, drawn.size, 1)
    assert chi_square(np.bincount(drawn % 7, minlength=7), np.full(7, 1.0 / 7)) > LEVEL  # 1007 = 7·143 + 6
    folded = np.where(drawn % 50 == 0, drawn % 3, drawn % 7)
    assert chi_square(np.bincount(folded, minlength=7), np.full(7, 1.0 / 7)) < LEVEL


def test_subsets_are_uniform():
    stream = open_stream(np.random.default_rng(2))
    count = 400_000
    drawn = np.zeros(3 * count, dtype=np.int64)
    draw(*stream, 6, drawn, count, 3)
    keys = (1 << drawn.reshape(3, count)).sum(axis=0)
    subsets = [sum(1 << i for i in s) for s in itertools.combinations(range(6), 3)]
    counts = np.array([(keys == s).sum() for s in subsets])
    assert counts.sum() == count
    assert chi_square(counts, np.full(20, 1.0 / 20)) > LEVEL


@pytest.mark.parametrize("rule", list(StoppingRule))
def test_the_stopping_time_has_its_exact_law(rule):
    """By DKW at 1e-9: 50,000 runs see a distance of 0.0146."""
    n, runs = 40, 50_000
    found = run_ensemble(
        np.broadcast_to(np.zeros((n, 1)), (runs, n, 1)),
        loss=Linear(),
        convex_set=WholeSpace(1),
        step_size=1.0,
        sigma=1.0,
        lipschitz=1.0,
        rng=np.random.default_rng(3),
        options=Options(stopping=rule),
        engine="compiled",
    )
    longest = int(found.iterations.max())
    law = 1.0 - survival(n, rule.distinct_points(n), longest)
    seen = np.cumsum(np.bincount(found.iterations, minlength=longest + 1)) / runs
    assert np.abs(seen - law).max() < math.sqrt(math.log(2.0 / LEVEL) / (2.0 * runs))
