"""Outputs that repeat like recorded values are told of; those of discrete mechanisms are not."""

import numpy as np
import pytest

from dpsco_verify.auditing import AuditVerdict, audit, estimate_epsilon

SCORES = np.random.default_rng(0).normal(size=(2, 250))


def recorded(data, size, rng):
    return rng.choice(SCORES[int(data)], size=size)


def test_recorded_scores_drawn_with_replacement_are_told_of():
    # What made them knows nothing of the data; that the values are those of one recording shows "ε ≥ 5".
    result = audit(recorded, 0, 1, epsilon=1.0)
    assert result.verdict is AuditVerdict.VIOLATED
    assert any("drawn with replacement from about 2" in note for note in result.notes)
    found = estimate_epsilon(recorded, (0, 1))
    assert found.epsilon > 4.0
    assert "if they were recorded, this speaks of the recording" in found.summary


def test_recorded_vectors_and_larger_recordings_are_told_of():
    vectors = np.random.default_rng(1).normal(size=(2, 2000, 3))

    def mechanism(data, size, rng):
        return vectors[data][rng.integers(2000, size=size)]

    result = audit(mechanism, 0, 1, epsilon=1.0, samples=5000)
    assert any("with replacement" in note for note in result.notes)


@pytest.mark.parametrize(
    "mechanism",
    [
        lambda data, size, rng: data + rng.laplace(size=size),
        lambda data, size, rng: data + rng.geometric(0.5, size=size) - rng.geometric(0.5, size=size),
        lambda data, size, rng: data + rng.geometric(0.02, size=size) - rng.geometric(0.02, size=size),
        lambda data, size, rng: (rng.random(size) < 0.3 + 0.2 * data).astype(float),
        lambda data, size, rng: rng.choice(SCORES[0], size=size),  # one list of candidates for both
        lambda data, size, rng: np.full(size, float(data)),
        lambda data, size, rng: 10.0 * data + rng.poisson(5.0, size=size),
    ],
)
def test_other_outputs_are_not(mechanism):
    result = audit(mechanism, 0, 1, epsilon=1.0)
    assert not any("with replacement" in note for note in result.notes)
