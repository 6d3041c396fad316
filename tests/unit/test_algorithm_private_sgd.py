"""Algorithm 1, one run: by hand, option by option, and what it refuses."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpsco_verify.algorithm import (
    Averaging,
    NoiseConvention,
    Options,
    RecordedTape,
    StoppingRule,
    private_sgd,
    run_ensemble,
)
from dpsco_verify.errors import InputError
from dpsco_verify.geometry import Box, L2Ball
from dpsco_verify.problems import Linear

SEGMENT = Box([-10.0], [10.0])


def tape(draws, normals):
    indices = np.array(draws, dtype=np.int64)
    indices = indices.reshape(len(draws), 1, -1)
    return RecordedTape(indices, np.array(normals, dtype=float).reshape(len(draws), 1, 1))


def run(data, draws, normals, **options):
    return private_sgd(
        np.array(data, dtype=float)[:, np.newaxis],
        loss=Linear(),
        convex_set=SEGMENT,
        step_size=0.5,
        sigma=options.pop("sigma", 1.0),
        lipschitz=10.0,
        tape=tape(draws, normals),
        options=Options(**options),
        transcript=True,
    )


def test_a_run_by_hand():
    # f(w, z) = -wz, so a fresh step adds z/2 and every step takes off half the noise.
    result = run([2.0, 4.0, 6.0], [0, 0, 2], [0.1, 0.2, 0.3])
    assert result.iterations == 3
    assert result.counter == 4
    assert result.distinct_points == 2
    assert result.gradient_queries == 2
    np.testing.assert_allclose(
        result.transcript.iterates[:, 0], [0.0, 1.0 - 0.05, 0.95 - 0.1, 0.85 + 3.0 - 0.15]
    )
    assert result.transcript.fresh[:, 0].tolist() == [True, False, True]
    assert result.transcript.draws[:, 0].tolist() == [0, 0, 2]
    # the output averages the iterates at which a fresh point was processed: w_1 and w_3
    np.testing.assert_allclose(result.output, [(0.0 + 0.85) / 2])


@pytest.mark.parametrize(
    ("rule", "n", "points"),
    [
        (StoppingRule.LOOP, 2, 2),
        (StoppingRule.LOOP, 3, 2),
        (StoppingRule.LOOP, 4, 3),
        (StoppingRule.TEXT, 2, 1),
        (StoppingRule.TEXT, 3, 2),
        (StoppingRule.TEXT, 4, 2),
        (StoppingRule.ALL_POINTS, 4, 4),
    ],
)
def test_stopping_rules(rule, n, points):
    result = run(list(range(1, n + 1)), list(range(n)), [0.0] * n, stopping=rule)
    assert result.distinct_points == points == result.iterations == result.gradient_queries


def test_the_literal_average_takes_data_indices_as_times():
    # draws 0 and 1: F = {1, 2} counted from 1, so the literal output is (w_1 + w_2)/2 = (0 + 1)/2
    result = run([2.0, 4.0, 6.0], [0, 1], [0.0, 0.0], averaging=Averaging.DATA_INDICES)
    np.testing.assert_allclose(result.output, [0.5])
    assert result.undefined_indices == ()


def test_the_literal_average_can_be_undefined():
    # n = 4 stops at 3 points, after 3 iterations at best; index 4 names w_4, which exists, n = 8's index 8 does not
    data = list(range(1, 9))
    result = run(data, [7, 6, 5, 4, 3], [0.0] * 5, averaging=Averaging.DATA_INDICES)
    assert result.output is None
    assert result.undefined_indices == (7, 8)


def test_noise_conventions():
    options = Options(noise=NoiseConvention.COVARIANCE_SIGMA)
    assert options.noise.standard_deviation(0.04) == pytest.approx(0.2)
    assert Options().noise.standard_deviation(0.04) == 0.04
    result = run([1.0, 1.0], [0, 1], [1.0, 0.0], sigma=0.04, noise=NoiseConvention.COVARIANCE_SIGMA)
    np.testing.assert_allclose(result.transcript.iterates[1, 0], 0.5 * (1.0 - 0.2))


def test_minibatches_average_the_fresh_points_alone():
    # second batch {0, 2}: 0 has been seen, so the gradient is that of point 2, not half of it
    result = run([2.0, 4.0, 6.0, 8.0], [[0, 1], [0, 2]], [0.0, 0.0], batch_size=2)
    np.testing.assert_allclose(result.transcript.iterates[:, 0], [0.0, 1.5, 4.5])
    assert result.gradient_queries == 3
    assert result.distinct_points == 3


def test_the_default_start_minimises_the_norm():
    result = private_sgd(
        np.ones((2, 2)),
        loss=Linear(),
        convex_set=Box([1.0, -1.0], [2.0, 1.0]),
        step_size=0.1,
        sigma=0.0,
        lipschitz=2.0,
        rng=np.random.default_rng(0),
        transcript=True,
    )
    np.testing.assert_array_equal(result.transcript.iterates[0], [1.0, 0.0])


def test_a_schedule_of_step_sizes():
    taken = []

    def step_size(t):
        taken.append(t)
        return 1.0 / t

    private_sgd(
        np.ones((4, 1)),
        loss=Linear(),
        convex_set=SEGMENT,
        step_size=step_size,
        sigma=0.0,
        lipschitz=1.0,
        tape=tape([0, 1, 2], [0.0] * 3),
    )
    assert taken == [1, 2, 3]


GOOD = {
    "data": np.ones((4, 2)) / 2,
    "loss": Linear(),
    "convex_set": L2Ball(np.zeros(2), 1.0),
    "step_size": 0.1,
    "sigma": 1.0,
    "lipschitz": 1.0,
}
NAN = float("nan")

BAD = {
    "one point": ({"data": np.ones((1, 2)) / 2}, "n=1"),
    "NaN in the data": ({"data": np.array([[0.5, NAN], [0.5, 0.5]])}, r"data\[0, 1\]"),
    "wrong width": ({"data": np.ones((4, 3)) / 2}, r"data.shape=\(4, 3\)"),
    "no table": ({"data": np.ones(4)}, r"data.shape=\(4,\)"),
    "a long subgradient": ({"data": np.ones((4, 2))}, "subgradient norm=1.414"),
    "a start outside": ({"initial_point": [2.0, 0.0]}, "initial_point="),
    "a start of NaN": ({"initial_point": [NAN, 0.0]}, r"initial_point\[0\]"),
    "zero step": ({"step_size": 0.0}, "step_size=0.0"),
    "infinite step": ({"step_size": math.inf}, "step_size=inf"),
    "negative sigma": ({"sigma": -1.0}, "sigma=-1.0"),
    "sigma NaN": ({"sigma": NAN}, "sigma=nan"),
    "zero L": ({"lipschitz": 0.0}, "lipschitz=0.0"),
    "infinite L": ({"lipschitz": math.inf}, "lipschitz=inf"),
    "a batch of more than n": ({"options": Options(batch_size=5)}, "batch_size=5"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("many", [False, True])
def test_bad_input_is_one_sentence(name, many):
    changes, message = BAD[name]
    arguments = GOOD | changes | {"rng": np.random.default_rng(0)}
    if many:
        arguments["data"] = np.stack([arguments["data"]] * 3)
        message = (
            message.replace("data.shape=\\(", "data.shape=\\(3, ")
            .replace("data\\[0", "data\\[0, 0")
            .replace("(3, 4,\\)", "(3, 4\\)")
        )
    with pytest.raises(InputError, match=message) as caught:
        (run_ensemble if many else private_sgd)(**arguments)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["stopping", "averaging", "noise"])
def test_an_option_that_is_none(name):
    with pytest.raises(InputError, match=f"{name}='sometimes'"):
        Options(**{name: "sometimes"})


def test_a_source_of_randomness_is_needed():
    with pytest.raises(InputError, match="exactly one"):
        private_sgd(**GOOD)
    with pytest.raises(InputError, match="exactly one"):
        private_sgd(**GOOD, rng=np.random.default_rng(0), tape=tape([0], [0.0]))


def test_a_tape_that_ends_too_early():
    with pytest.raises(InputError, match="iterations=1"):
        run([1.0, 2.0, 3.0], [0], [0.0])
