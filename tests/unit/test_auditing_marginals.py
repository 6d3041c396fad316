"""What is learned from one or two coordinates at a time tells data sets apart nearly as well as the densities do."""

import numpy as np
import pytest

from dpsco_verify.auditing import audit, epsilon_lower_bound
from dpsco_verify.auditing.marginals import marginal_features
from dpsco_verify.auditing.outputs import encode

SIZE = 6000


def told(feature, first, second):
    """Return the probability that the feature is larger on an output of d than on one of d_prime."""
    a, b = (feature.values(x) for x in (first, second))
    ordered = np.sort(b)
    return 0.5 * float(
        (np.searchsorted(ordered, a) + np.searchsorted(ordered, a, side="right")).mean() / b.size
    )


def learned(mechanism):
    rng = np.random.default_rng(5)
    draws = [encode(mechanism(data, SIZE, rng), SIZE) for data in (0, 1, 0, 1)]
    return {f.name: told(f, *draws[2:]) for f in marginal_features(*draws[:2])}


def prefix_sums(data, size, rng):
    return np.cumsum(0.4 * data + rng.laplace(size=(size, 10)), axis=1)


def walk(data, size, rng):
    return np.diff(0.4 * data + rng.laplace(size=(size, 10)), axis=1, prepend=0.0)


def product(data, size, rng):
    return 0.4 * data + rng.laplace(size=(size, 10))


def stopped(data, size, rng):
    """Return a run of zeros that ends in a one, after which nothing is asked; on d_prime late ones are likelier."""
    rate = np.where(np.arange(8) < 4, 0.3, 0.2 + 0.2 * data)
    ones = (rng.random((size, 8)) < rate).astype(int)
    return np.where(np.cumsum(ones, axis=1) - ones > 0, -1, ones)


def shuffled(data, size, rng):
    x = rng.normal(size=(size, 12))
    x[:, 0] += 3.0 * data
    return rng.permuted(x, axis=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mechanism", "name"),
    [
        (product, "learned log-likelihood ratio, entries independent"),
        (product, "learned log-likelihood ratio, entries alike"),
        (prefix_sums, "learned log-likelihood ratio, differences independent"),
        (walk, "learned log-likelihood ratio, partial sums independent"),
    ],
)
def test_independent_noise_is_told_as_by_its_density(mechanism, name):
    rng = np.random.default_rng(1)
    first, second = (product(data, SIZE, rng) for data in (0, 1))
    exact = type("Exact", (), {"values": staticmethod(lambda x: (np.abs(x - 0.4) - np.abs(x)).sum(axis=1))})
    assert learned(mechanism)[name] >= told(exact, first, second) - 0.03 >= 0.7


def test_a_run_that_stops_is_a_chain():
    rates = learned(stopped)
    exact = 0.5 + 0.5 * sum(_gaps())
    assert rates["learned log-likelihood ratio, entries a chain"] >= exact - 0.02
    assert exact >= 0.52


def _gaps():
    """Yield the terms of ``P(L(X) > L(Y)) − P(L(X) < L(Y))``, X and Y the places at which runs end on d, on d_prime."""
    laws = []
    for data in (0, 1):
        rate = np.where(np.arange(8) < 4, 0.3, 0.2 + 0.2 * data)
        left = np.cumprod(np.append(1.0, 1.0 - rate))
        laws.append(np.append(left[:-1] * rate, left[-1]))
    ratio = laws[0] / laws[1]
    for i, p in enumerate(laws[0]):
        for j, q in enumerate(laws[1]):
            yield p * q * (np.sign(np.round(ratio[i] - ratio[j], 12)))


@pytest.mark.slow
def test_a_record_among_shuffled_ones_shows_in_the_sum_of_the_ratios():
    rates = learned(shuffled)
    rng = np.random.default_rng(1)
    first, second = (shuffled(data, SIZE, rng) for data in (0, 1))
    exact = type("Exact", (), {"values": staticmethod(lambda x: -np.exp(3.0 * x).sum(axis=1))})
    best = told(exact, first, second)
    assert rates["learned sum of likelihood ratios, entries alike"] >= best - 0.03
    assert best > 0.8


@pytest.mark.slow
def test_nothing_is_told_where_nothing_is():
    rates = learned(lambda data, size, rng: rng.normal(size=(size, 10)))
    # The standard error is 0.005.
    assert all(abs(rate - 0.5) < 0.03 for rate in rates.values())


@pytest.mark.slow
def test_prefix_sums_break_a_claim_that_their_entries_hide():
    def mechanism(data, size, rng):
        return np.cumsum(data + rng.laplace(scale=10.0, size=(size, 10)), axis=1)

    assert audit(mechanism, 0.0, 1.0, epsilon=0.3, samples=50_000).verdict == "violated"


@pytest.mark.long
def test_prefix_sums_bound_epsilon_as_their_entries_do_not():
    def mechanism(data, size, rng):
        return np.cumsum(data + rng.laplace(scale=10.0, size=(size, 10)), axis=1)

    assert 0.4 < epsilon_lower_bound(mechanism, (0.0, 1.0), alpha=0.01, samples=100_000) <= 1.0
