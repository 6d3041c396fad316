"""Noise that coordinates share is found at any distance, and what rounding leaves of it is none."""

import functools

import numpy as np
import pytest

from dpsco_verify.auditing import audit, wide
from dpsco_verify.auditing.outputs import encode
from dpsco_verify.auditing.wide import wide_features
from dpsco_verify.privacy.claims import GaussianDP

pytestmark = pytest.mark.slow  # audits of many outputs

ROWS = 160


def gradient(width):
    """Return a dense gradient of norm 1 in a random direction."""
    g = np.random.default_rng(1).standard_normal(width)
    return g / np.linalg.norm(g)


def layers(width, *, equal=True, noise=0.0):
    """Return two layers with the same noise vector, or one that is proportional to it, in another order."""
    order = np.random.default_rng(2)
    place, factor = order.permutation(width), order.uniform(-3.0, 3.0, width)

    def mechanism(data, size, rng):
        z = rng.standard_normal((size, width))
        second = z if equal else (z * factor)[:, place]
        second = second + noise * rng.standard_normal((size, width))
        return np.concatenate([z, second], axis=1) + data * gradient(2 * width)

    return mechanism


def low_rank(width, rank):
    directions = np.random.default_rng(3).standard_normal((rank, width))
    return lambda data, size, rng: rng.standard_normal((size, rank)) @ directions + data * gradient(width)


def independent(data, size, rng):
    return rng.standard_normal((size, 1200)) + data * gradient(1200)


def same_vector_twice(data, size, rng, width=600):
    z = rng.standard_normal((size, width)) + data * gradient(width)
    return np.concatenate([z, 2.0 * z / 3.0 + 0.1], axis=1)


def separation(mechanism, words):
    """Return by how many standard deviations the feature's means differ on outputs that it was not learned from."""
    rng = np.random.default_rng(7)
    draws = [encode(mechanism(data, ROWS, rng), ROWS) for data in (0, 1, 0, 1)]
    best = 0.0
    for feature in wide_features(*draws[:2]):
        if words in feature.name:
            a, b = (feature.values(x) for x in draws[2:])
            spread = float(np.sqrt(0.5 * (a.var() + b.var())))
            gap = abs(float(a.mean() - b.mean()))
            best = max(best, gap / spread if spread > 0 else (np.inf if gap > 0 else 0.0))
    return best


@pytest.mark.parametrize("width", [25, 121, 600])
@pytest.mark.parametrize("equal", [True, False])
def test_partners_are_found_at_any_distance(width, equal):
    assert separation(layers(width, equal=equal), "combination of partners") > 1e3


def test_partners_need_not_be_equal_to_the_last_digit():
    # Differences with a tenth of the noise: a separation of 1/(0.1 √2) or so at best, where the coordinates have 1.
    assert separation(layers(600, noise=0.1), "combination of partners") > 4.0


def test_noise_of_low_rank_is_removed():
    assert separation(low_rank(1200, 40), "learned discriminant") > 1e3


@pytest.mark.parametrize("mechanism", [independent, same_vector_twice])
def test_right_mechanisms_stay_as_they_are(mechanism):
    # μ = 1 is all that there is to see.
    assert separation(mechanism, "") < 1.5


def test_an_audit_finds_shared_noise():
    assert audit(layers(60), 0, 1, claim=GaussianDP(1.0), samples=800).verdict == "violated"


@pytest.mark.long
def test_an_audit_leaves_a_vector_that_is_told_twice_alone():
    narrow = functools.partial(same_vector_twice, width=120)
    right = audit(narrow, 0, 1, claim=GaussianDP(1.05), samples=800)
    assert right.verdict != "violated"


@pytest.mark.parametrize(
    ("width", "scale"), [(5, 1e307), (60, 1e-310), pytest.param(60, 1e307, marks=pytest.mark.long)]
)
def test_numbers_at_the_ends_of_their_range_are_looked_at_without_a_warning(width, scale):
    def mechanism(data, size, rng):
        return (data + rng.laplace(size=(size, width))) * scale

    assert audit(mechanism, 0.0, 1.0, epsilon=1.0, samples=2000).verdict == "violated"


@pytest.mark.parametrize("most", [1 << 10, pytest.param(1 << 14, marks=pytest.mark.long)])
def test_partners_are_found_in_a_random_part_of_very_many_coordinates(monkeypatch, most):
    monkeypatch.setattr(wide, "_MOST_FOR_PARTNERS", most)
    rng = np.random.default_rng(7)
    z = rng.standard_normal((2, 48, most * 5 // 8)) + np.array([0.0, 1.0])[:, np.newaxis, np.newaxis]
    shifted = np.concatenate([z, z + np.array([0.0, 1e-3])[:, np.newaxis, np.newaxis]], axis=2)
    names = [feature.name for feature in wide_features(*(encode(x, 48) for x in shifted))]
    assert "learned combination of partners" in names
