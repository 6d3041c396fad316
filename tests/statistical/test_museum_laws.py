"""The museum's mechanisms draw from the laws that their truth is computed from.

Frequencies among n = 100,000 outputs are compared with exact probabilities by two-sided binomial tests at level 1e-13.
There are fewer than 3,000 comparisons, so all of them together raise a false alarm with probability below 3e-10 (and
the seeds are fixed). A probability p that is off by ``11.2 sqrt(p(1 − p)/n)``, at most 0.018, is found with probability
above 0.9999. Means and standard deviations of normal noise are held to 7.5 standard errors: below 1e-13 each, in fewer
than 100 comparisons.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from dpsco_verify.faults import EXHIBITS, laws
from dpsco_verify.faults.exhibits.additive import gradients
from dpsco_verify.faults.mechanisms.additive import (
    DiscreteLaplaceCount,
    GaussianSum,
    GradientStep,
    LaplaceSum,
    UnclippedPath,
)
from dpsco_verify.faults.mechanisms.floating_point import GridLaplace, NaiveLaplace
from dpsco_verify.faults.mechanisms.release import NoisyRecords, SelectedMean, SumOfSquares, ThresholdRelease
from dpsco_verify.faults.mechanisms.selection import (
    ExponentialMechanism,
    NoisyMax,
    PermuteAndFlip,
    RandomisedResponse,
)
from dpsco_verify.faults.mechanisms.sparse_vector import SparseVector, algorithm

pytestmark = pytest.mark.slow  # samples of every exhibit

N = 100_000
LEVEL = 1e-13
ERRORS = 7.5
COUNTS = np.array([[1, 0, 1, 1], [1, 0, 0, 1], [1, 0, 0, 0]])  # counts 3, 0, 1, 2


def draw(mechanism, dataset, seed=1):
    return mechanism(dataset, N, np.random.default_rng(seed))


def p_value(count, p, n=N):
    p = min(max(p, 0.0), 1.0)
    return min(1.0, 2.0 * min(stats.binom.cdf(count, n, p), stats.binom.sf(count - 1, n, p)))


def mismatches(outputs, law, n=N):
    """Return the outputs whose frequency contradicts the law, with both; those that it does not know count as 0."""
    counts = Counter(outputs)
    return {
        x: (counts[x] / n, law.get(x, 0.0))
        for x in {*law, *counts}
        if p_value(counts[x], law.get(x, 0.0), n) < LEVEL
    }


def binned(values, edges):
    return np.histogram(values, bins=edges)[0]


def assert_laplace(values, centre, scale):
    """Compare with Laplace noise on 20 cells of equal probability."""
    inner = stats.laplace.ppf(np.arange(1, 20) / 20, loc=centre, scale=scale)
    counts = binned(values, np.concatenate([[-np.inf], inner, [np.inf]]))
    assert min(p_value(int(c), 0.05) for c in counts) >= LEVEL


def assert_normal(values, centre, sigma):
    n = len(values)
    assert np.all(np.abs(values.mean(axis=0) - centre) <= ERRORS * sigma / math.sqrt(n))
    # The standard deviation's standard error is sigma/sqrt(2n).
    assert np.all(np.abs(values.std(axis=0) - sigma) <= ERRORS * sigma / math.sqrt(2 * n))
    cross = np.corrcoef(values, rowvar=False) - np.eye(values.shape[1])
    assert np.all(np.abs(cross) <= ERRORS / math.sqrt(n))


@pytest.mark.parametrize("number", [1, 2, 4, 5, 6])
@pytest.mark.parametrize("cutoff", [1, 2])
def test_the_sparse_vector_technique(number, cutoff):
    mechanism = algorithm(number, epsilon=1.0, cutoff=cutoff, threshold=1.0)
    outputs = map(tuple, draw(mechanism, COUNTS).tolist())
    assert not mismatches(outputs, laws.sparse_vector_law(mechanism, COUNTS))


def test_a_frequency_that_is_off_is_seen():
    nearly = SparseVector(threshold=1.0, threshold_scale=2.0, query_scale=3.6, cutoff=1)  # for 4.0
    outputs = map(tuple, draw(nearly, COUNTS).tolist())
    right = algorithm(1, epsilon=1.0, cutoff=1, threshold=1.0)
    assert mismatches(outputs, laws.sparse_vector_law(right, COUNTS))


def test_a_threshold_that_is_not_refreshed_is_seen():
    right = algorithm(2, epsilon=1.0, cutoff=2, threshold=1.0)
    wrong = SparseVector(
        threshold=1.0, threshold_scale=right.threshold_scale, query_scale=right.query_scale, cutoff=2
    )
    outputs = map(tuple, draw(wrong, COUNTS).tolist())
    assert mismatches(outputs, laws.sparse_vector_law(right, COUNTS))


def test_the_sparse_vector_technique_with_values():
    mechanism = algorithm(3, epsilon=1.0, cutoff=1, threshold=1.0)
    outputs = draw(mechanism, COUNTS)
    edges = np.array([-4.0, -1.0, 0.0, 1.0, 2.0, 4.0, 8.0])
    queries = COUNTS.sum(axis=0)
    rho, weights = laws.quadrature(np.concatenate([queries - 1.0, edges - 1.0]), scale=2.0)
    mass = laws.numeric_sparse_vector_densities(mechanism, COUNTS, rho, weights) * weights[:, np.newaxis]
    assert (np.isfinite(outputs).sum(axis=1) <= 1).all()
    for i in range(4):
        counts = binned(outputs[np.isfinite(outputs[:, i]), i], edges)
        for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True):
            inside = (rho + 1.0 >= low) & (rho + 1.0 < high)
            assert p_value(int(count), float(mass[inside, i].sum())) >= LEVEL
    answered = int(np.isfinite(outputs).any(axis=1).sum())
    assert p_value(answered, float(mass.sum())) >= LEVEL


def test_values_stop_at_the_cutoff():
    outputs = draw(algorithm(3, epsilon=1.0, cutoff=2, threshold=-50.0), COUNTS)
    assert np.isfinite(outputs[:, :2]).all()
    assert np.isnan(outputs[:, 2:]).all()


@pytest.mark.parametrize(
    ("mechanism", "law"),
    [
        (NoisyMax(epsilon=0.7, with_value=False), laws.noisy_max_law),
        (ExponentialMechanism(epsilon=1.0), laws.exponential_law),
        (PermuteAndFlip(epsilon=1.0), laws.permute_and_flip_law),
    ],
    ids=["noisy max", "exponential", "permute and flip"],
)
def test_selection(mechanism, law):
    assert not mismatches(draw(mechanism, COUNTS).tolist(), law(mechanism, COUNTS))


def test_permute_and_flip_is_not_the_exponential_mechanism():
    outputs = draw(PermuteAndFlip(epsilon=1.0), COUNTS).tolist()
    assert mismatches(outputs, laws.exponential_law(ExponentialMechanism(epsilon=1.0), COUNTS))


def test_noisy_max_with_its_value():
    mechanism = NoisyMax(epsilon=0.7, with_value=True)
    outputs = draw(mechanism, COUNTS)
    edges = np.array([-2.0, 0.0, 2.0, 4.0, 6.0, 10.0, 20.0])
    v, weights = laws.quadrature(np.concatenate([COUNTS.sum(axis=0), edges]), scale=2 / 0.7)
    mass = laws.noisy_max_densities(mechanism, COUNTS, v) * weights[:, np.newaxis]
    for i in range(4):
        counts = binned(outputs[outputs[:, 0] == i, 1], edges)
        for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True):
            assert p_value(int(count), float(mass[(v >= low) & (v < high), i].sum())) >= LEVEL


def test_randomised_response():
    outputs = map(tuple, draw(RandomisedResponse(epsilon=1.0), np.array([0, 1])).tolist())
    kept = math.e / (1 + math.e)
    law = {
        (0, 1): kept**2,
        (1, 0): (1 - kept) ** 2,
        (0, 0): kept * (1 - kept),
        (1, 1): kept * (1 - kept),
    }
    assert not mismatches(outputs, law)


def test_laplace_noise():
    assert_laplace(draw(LaplaceSum(scale=0.8), np.array([0.2, 0.7, 3.0])), 1.9, 0.8)
    assert_laplace(draw(NaiveLaplace(scale=1.0), np.array([1.0])), 1.0, 1.0)
    assert_laplace(
        draw(SumOfSquares(lower=0.0, upper=2.0, ends=(0.0, 2.0), epsilon=2.0), np.array([1.0, -1.0, 3.0])),
        5.0,
        2.0,
    )
    noisy = draw(NoisyRecords(epsilon=2.0), np.array([0.1, 0.9]))
    assert noisy.shape == (N, 2)
    assert_laplace(noisy[:, 0], 0.1, 0.5)
    assert_laplace(noisy[:, 1], 0.9, 0.5)


def test_a_scale_that_is_off_by_a_twentieth_is_seen():
    values = draw(LaplaceSum(scale=0.95), np.array([1.0]))
    with pytest.raises(AssertionError):
        assert_laplace(values, 1.0, 1.0)


def test_discrete_laplace_noise():
    outputs = draw(DiscreteLaplaceCount(scale=1.0), ["a", "b"]).tolist()
    assert not mismatches(outputs, laws.discrete_laplace_law(2, scale=1.0))


def test_laplace_noise_on_a_grid():
    mechanism = GridLaplace(epsilon=1.0, bits=3)
    outputs = draw(mechanism, np.array([0.3, 0.6]))  # 0.9 is 7.2 eighths
    assert not mismatches((8 * outputs).tolist(), laws.discrete_laplace_law(7, scale=9.0))


def test_a_sum_of_squares_of_sensitivity_zero_is_deterministic():
    exhibit = next(e for e in EXHIBITS if e.id == "sum-of-squares")
    first, second = (np.unique(draw(exhibit.mechanism, data)) for data in exhibit.pairs[0])
    assert first.tolist() == [0.3**2 + 0.8**2 + 1.0]
    assert second.size == 1
    assert second[0] != first[0]


def test_the_rare_key_is_released_as_often_as_the_exact_law_says():
    exhibit = next(e for e in EXHIBITS if e.id == "threshold-release")
    with_key, without = (draw(exhibit.mechanism, data) for data in exhibit.pairs[0])
    assert set(without) == {()}
    law = {
        ((("rare", k),) if k >= 5 else None): p
        for k, p in laws.discrete_laplace_law(1, scale=1.0).items()
        if k >= 5
    }
    law[()] = 1 - exhibit.true_delta()
    assert not mismatches(with_key, law)


def test_each_key_is_held_against_the_threshold_by_itself():
    outputs = draw(ThresholdRelease(scale=1.0, threshold=3), ["b", "a", "b"])
    a, b = (laws.discrete_laplace_tail(3 - count, scale=1.0) for count in (1, 2))
    keys = [tuple(key for key, _ in output) for output in outputs]
    law = {(): (1 - a) * (1 - b), ("a",): a * (1 - b), ("b",): (1 - a) * b, ("a", "b"): a * b}
    assert not mismatches(keys, law)


def test_the_grid_of_doubles_gives_the_data_away():
    exhibit = next(e for e in EXHIBITS if e.id == "naive-laplace")
    from_zero, from_one = (draw(exhibit.mechanism, data) for data in exhibit.pairs[0])

    def small_and_off_the_grid(x):
        scaled = x[np.abs(x) < 0.5] * 2.0**53  # exact
        return np.count_nonzero(scaled != np.rint(scaled)) / N

    # From 1, the noise is between 1/2 and 3/2 in size, hence a multiple of 2^-53, and so is the sum.
    assert small_and_off_the_grid(from_one) == 0.0
    # From 0, sizes in [2^(-k-1), 2^-k) lie on a grid of 2^(-k-53), of which 1 in 2^k points is a multiple of 2^-53.
    sizes = 2.0 ** -np.arange(1, 60)
    mass = np.exp(-sizes / 2) - np.exp(-sizes)
    expected = float(mass @ (1 - sizes))
    assert small_and_off_the_grid(from_zero) == pytest.approx(expected, abs=0.02)


def test_a_grid_of_outputs_does_not():
    exhibit = next(e for e in EXHIBITS if e.id == "control-grid-laplace")
    for data in exhibit.pairs[0]:
        outputs = draw(exhibit.mechanism, data)
        assert np.array_equal(outputs * 2**10, np.rint(outputs * 2**10))


def test_normal_noise_and_clipping():
    rows = np.array([[3.0, 4.0], [0.0, 0.5]])
    assert_normal(draw(GaussianSum(sigma=2.0, clip=1.0), rows), np.array([0.6, 1.3]), 2.0)
    assert_normal(draw(GaussianSum(sigma=2.0, clip=None), rows), np.array([3.0, 4.5]), 2.0)
    assert_normal(draw(UnclippedPath(sigma=2.0, clip=1.0), rows), np.array([3.0, 4.5]), 2.0)


def test_a_gradient_step():
    batch = gradients(1000.0)
    right = GradientStep(clip=1.0, noise_multiplier=3.0, per_example=True)
    wrong = GradientStep(clip=1.0, noise_multiplier=3.0, per_example=False)
    assert_normal(draw(right, batch), np.array([0.1, 0.0, 0.0, 0.0]), 0.3)
    assert_normal(draw(wrong, batch), np.array([1.0, 0.0, 0.0, 0.0]), 0.3)
    assert_normal(draw(wrong, gradients(0.0)), np.zeros(4), 0.3)
    with pytest.raises(AssertionError):
        assert_normal(draw(right, batch), np.array([0.1, 0.0, 0.0, 0.0]), 0.309)


def test_nan_comes_from_an_empty_selection_alone():
    mechanism = SelectedMean(epsilon=2.0)
    assert_laplace(draw(mechanism, np.array([[1.0, 0.2], [0.0, 9.0], [1.0, 5.0]])), 0.6, 0.5)
    assert np.isnan(draw(mechanism, np.array([[0.0, 0.4]]))).all()
