"""Each feature sees the leak that it is for, where nothing else would."""

import math

import numpy as np
import pytest

from dpsco_verify.auditing import audit, per_call
from dpsco_verify.auditing.features import bit_features, standard_features
from dpsco_verify.auditing.likelihood_ratio import learned_features
from dpsco_verify.auditing.outputs import encode


def noise(size, width, rng):
    return rng.standard_normal((size, width))


def rotated(data, size, rng):
    """Return a point in a random direction whose distance from 0 tells."""
    x = noise(size, 6, rng)
    return x * (1.0 + data) ** 0.5


def tied(data, size, rng):
    x = noise(size, 3, rng)
    x[:, 2] = np.where(data & (rng.random(size) < 0.2), x[:, 0], x[:, 2])
    return x


def shared_noise(data, size, rng):
    """Return two coordinates with the same noise, so that their difference is free of it."""
    z = 50.0 * rng.standard_normal(size)
    return np.stack([z, z + data], axis=1)


def scaled_noise(data, size, rng):
    z = rng.standard_normal(size)
    return np.stack([z, z * (1.0 + 0.01 * data)], axis=1)


LEAKS = {
    "coordinate 3": lambda data, size, rng: noise(size, 4, rng) + data * np.array([0.0, 0.0, 3.0, 0.0]),
    "number of different entries": tied,
    "coordinate 2 minus coordinate 1": shared_noise,
    "coordinate 1 over coordinate 2": scaled_noise,
    "place of the largest entry": lambda data, size, rng: np.roll(
        np.sort(noise(size, 5, rng), axis=1), data, axis=1
    ),
    "the output is": lambda data, size, rng: np.where(
        rng.random(size) < 0.1 + 0.4 * data, 7.0, rng.random(size)
    ),
    "number of NaN or missing entries": lambda data, size, rng: np.where(
        (rng.random((size, 3)) < 0.4 * data) & (np.arange(3) == rng.integers(0, 3, (size, 1))),
        math.nan,
        noise(size, 3, rng),
    ),
    "number of infinite entries": lambda data, size, rng: np.where(
        (rng.random((size, 3)) < 0.9 * data) & (np.arange(3) == rng.integers(0, 3, (size, 1))),
        math.inf,
        noise(size, 3, rng),
    ),
    "length": per_call(
        lambda data, rng: tuple(rng.standard_normal(1 + int(rng.random() < 0.1 + 0.6 * data)))
    ),
    "of kind None": per_call(lambda data, rng: None if rng.random() < 0.5 * data else float(rng.random())),
    "norm": rotated,
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", [one if k % 2 == 0 else pytest.param(one, marks=pytest.mark.long) for k, one in enumerate(LEAKS)]
)
def test_a_leak_is_found_and_the_features_that_see_it_hold_it(words):
    result = audit(LEAKS[words], 0, 1, epsilon=0.5, samples=4000)
    assert result.verdict == "violated"
    # Another feature may say the same in other words; the one that is for it must say it too.
    mechanism = LEAKS[words]
    first, second = (encode(mechanism(data, 4000, np.random.default_rng(data + 3)), 4000) for data in (0, 1))
    if words == "the output is":
        assert words in result.witness.event
        return
    sample = second if second.width >= first.width else first
    seen = [f for f in (*standard_features(sample), *standard_features(first)) if words in f.name]
    kinds = words == "of kind None"
    assert seen or kinds
    for feature in seen[:1]:
        a, b = (np.nan_to_num(feature.values(o), nan=-99.0, posinf=99.0) for o in (first, second))
        cuts = np.unique(np.concatenate([a, b]))
        share_a = np.searchsorted(np.sort(a), cuts) / 4000
        share_b = np.searchsorted(np.sort(b), cuts) / 4000
        assert np.abs(share_a - share_b).max() > 0.05
    if kinds:
        assert "None" in result.witness.event


@pytest.mark.slow
def test_a_mechanism_without_a_leak_shows_none_of_them():
    def mechanism(data, size, rng):
        x = noise(size, 5, rng)
        x[rng.random((size, 5)) < 0.1] = math.nan
        return x

    result = audit(mechanism, 0, 1, epsilon=0.1, alpha=0.01)
    assert result.verdict == "not_violated"


def test_bit_features_are_kept_apart():
    sample = encode(np.random.default_rng(0).random((10, 3)), 10)
    standard = {feature.name for feature in standard_features(sample)}
    bits = {feature.name for feature in bit_features(sample)}
    assert bits == {
        f"{what} of coordinate {j}"
        for what in ("position of the lowest bit", "trailing zero bits")
        for j in (1, 2, 3)
    }
    assert not standard & bits
    (lowest, zeros) = bit_features(encode(np.random.default_rng(0).random(10), 10))
    assert (lowest.name, zeros.name) == (
        "position of the lowest bit of the value",
        "trailing zero bits of the value",
    )


def ragged(data, size, rng):
    """Return outputs of 50 to 53 entries; wider ones are rare."""
    widths = 50 + rng.binomial(3, 0.1, size)
    return [list((data + rng.standard_normal(width)).round(1)) for width in widths]


@pytest.mark.slow
@pytest.mark.parametrize(
    "mechanism",
    [ragged, pytest.param(lambda data, size, rng: data + noise(size, 50, rng), marks=pytest.mark.long)],
)
def test_a_feature_of_an_output_does_not_depend_on_the_others_of_its_call(mechanism):
    # Else one wide output, which may be rare, would move all of its call, and a right mechanism would look wrong.
    rng = np.random.default_rng(3)
    first, second, fresh = (encode(mechanism(data, 400, rng), 400) for data in (0, 1, 0))
    features = [*standard_features(first), *bit_features(first), *learned_features(first, second)]
    assert len(features) > 60
    alone = [encode([row], 1) for row in fresh.raw[:40]]
    for feature in features:
        together = feature.values(fresh)[:40]
        # Sums of products in another order differ by their rounding.
        np.testing.assert_allclose([feature.values(x)[0] for x in alone], together, rtol=1e-9, atol=1e-9)
