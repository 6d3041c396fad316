"""Outputs that repeat like recorded values are told of; those of discrete mechanisms are not."""

import base64

import numpy as np
import pytest

from dpsco_verify.auditing import AuditVerdict, MechanismError, audit, estimate_epsilon

SCORES = np.random.default_rng(0).normal(size=(2, 250))


def recorded(data, size, rng):
    return rng.choice(SCORES[int(data)], size=size)


@pytest.mark.slow
def test_recorded_scores_drawn_with_replacement_are_told_of():
    # What made them knows nothing of the data; that the values are those of one recording shows "ε ≥ 5".
    result = audit(recorded, 0, 1, epsilon=1.0)
    assert result.verdict is AuditVerdict.VIOLATED
    assert any("drawn with replacement from about 2" in note for note in result.notes)
    found = estimate_epsilon(recorded, (0, 1))
    assert found.epsilon > 4.0
    assert "if they were recorded, this speaks of the recording" in found.summary


@pytest.mark.slow
def test_recorded_vectors_and_larger_recordings_are_told_of():
    vectors = np.random.default_rng(1).normal(size=(2, 2000, 3))

    def mechanism(data, size, rng):
        return vectors[data][rng.integers(2000, size=size)]

    result = audit(mechanism, 0, 1, epsilon=1.0, samples=5000)
    assert any("with replacement" in note for note in result.notes)


@pytest.mark.slow
@pytest.mark.parametrize(
    "mechanism",
    [
        lambda data, size, rng: data + rng.laplace(size=size),
        lambda data, size, rng: data + rng.geometric(0.5, size=size) - rng.geometric(0.5, size=size),
        lambda data, size, rng: data + rng.geometric(0.02, size=size) - rng.geometric(0.02, size=size),
        lambda data, size, rng: (rng.random(size) < 0.3 + 0.2 * data).astype(float),
        lambda data, size, rng: rng.choice(SCORES[0], size=size),  # one list of candidates for both
        lambda data, size, rng: rng.integers(1 << 16, size=size),  # of which both data sets show few
        lambda data, size, rng: np.full(size, float(data)),
        lambda data, size, rng: 10.0 * data + rng.poisson(5.0, size=size),
    ],
)
def test_other_outputs_are_not(mechanism):
    result = audit(mechanism, 0, 1, epsilon=1.0)
    assert not any("with replacement" in note for note in result.notes)


def hidden_in(text):
    """A mechanism without any noise that tells its data in a text."""
    return lambda data, size, rng: [text(data, rng) for _ in range(size)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        lambda data, rng: base64.b64encode(bytes([*rng.bytes(9), *data])).decode(),
        lambda data, rng: bytes(rng.permutation(256).astype(np.uint8)) + bytes(data),
        lambda data, rng: (rng.random(), [rng.bytes(9).hex() + bytes(data).hex() + "x"]),
        pytest.param(
            lambda data, rng: " ".join(["7"] * 300 + [str(data[1] + 1e-6 * rng.random())]),
            marks=pytest.mark.long,
        ),
        lambda data, rng: f"{data[1] + 1e-6 * rng.random()}e400",
        lambda data, rng: f"{data[1] + 1e-6 * rng.random()}e-400",
        lambda data, rng: str(10**400 + data[1] * 10**390 + int(rng.integers(2**60))),
        lambda data, rng: 10**5000 + data[1] * 10**390 + int(rng.integers(2**60)),
    ],
)
def test_texts_of_which_nothing_is_seen_are_no_pass(text):
    result = audit(hidden_in(text), [1, 2], [1, 3], epsilon=1.0, samples=400)
    assert result.verdict is AuditVerdict.UNDECIDED
    assert "of what they say nothing was looked at" in result.summary
    assert "give features= of them" in result.summary


@pytest.mark.slow
def test_texts_that_repeat_or_that_a_feature_reads_are_judged():
    def labels(data, size, rng):
        return rng.choice(["red", "green"], size=size)

    assert audit(labels, [1], [2], epsilon=1.0, samples=600).verdict is AuditVerdict.NOT_VIOLATED
    told = hidden_in(lambda data, rng: base64.b64encode(bytes([*rng.bytes(9), *data])).decode())
    keyed = hidden_in(
        lambda data, rng: [("a", rng.random()), (rng.choice(["b", "c"]), f"{rng.random()} in all")]
    )
    assert audit(keyed, [1], [2], epsilon=1.0, samples=600).verdict is AuditVerdict.NOT_VIOLATED
    last = {"last": lambda texts: [float(base64.b64decode(text)[-1]) for text in texts]}
    assert audit(told, [1], [2], epsilon=1.0, samples=600, features=last).verdict is AuditVerdict.VIOLATED


def test_runs_that_share_their_noise_with_the_next_one_are_refused():
    def in_twos(data, size, rng):
        return data + np.repeat(rng.laplace(size=(size + 1) // 2), 2)[:size]

    with pytest.raises(MechanismError, match="32 are equal to the next one, and few to others"):
        audit(in_twos, 0.0, 1.0, epsilon=1.0, samples=600)
    few = audit(lambda d, size, rng: rng.integers(0, 2, size), 0.0, 1.0, epsilon=1.0, samples=600)
    assert few.verdict is not AuditVerdict.VIOLATED
