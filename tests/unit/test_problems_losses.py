"""Each loss at points where its value and subgradient are known by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpsco_verify.errors import InputError
from dpsco_verify.problems import AbsoluteDeviation, Hinge, Huber, Linear, Logistic, Quantile
from loss_properties import FUNCTION_ROUNDING

Z = np.array([3.0, 4.0, 2.0])  # features (3, 4), target 2
POSITIVE = np.array([3.0, 4.0, 1.0])
NEGATIVE = np.array([3.0, 4.0, -1.0])


def at(score):
    """Return the parameter along the features that has this score."""
    return np.array([3.0, 4.0]) * (score / 25.0)


@pytest.mark.parametrize(
    ("loss", "z", "score", "value", "slope"),
    [
        (AbsoluteDeviation(), Z, 5.0, 3.0, 1.0),
        (AbsoluteDeviation(), Z, -5.0, 7.0, -1.0),
        (Quantile(0.25), Z, 5.0, 2.25, 0.75),
        (Quantile(0.25), Z, -2.0, 1.0, -0.25),
        (Huber(1.0), Z, 2.5, 0.125, 0.5),
        (Huber(1.0), Z, 5.0, 2.5, 1.0),
        (Huber(1.0), Z, -5.0, 6.5, -1.0),
        (Hinge(), POSITIVE, 0.0, 1.0, -1.0),
        (Hinge(), POSITIVE, 2.0, 0.0, 0.0),
        (Hinge(), NEGATIVE, 2.0, 3.0, 1.0),
        (Hinge(), NEGATIVE, -2.0, 0.0, 0.0),
        (Logistic(), POSITIVE, 0.0, math.log(2.0), -0.5),
        (Logistic(), NEGATIVE, 0.0, math.log(2.0), 0.5),
        (Logistic(), POSITIVE, -math.log(3.0), math.log(4.0), -0.75),
    ],
)
def test_predictor_losses_by_hand(loss, z, score, value, slope):
    assert loss.value(at(score), z) == pytest.approx(value, rel=1e-14)
    assert loss.subgradient(at(score), z) == pytest.approx(slope * z[:2], rel=1e-14)


def test_linear_by_hand():
    loss, w, z = Linear(), np.array([1.0, 2.0]), np.array([3.0, -1.0])
    assert loss.value(w, z) == -1.0
    assert loss.subgradient(w, z).tolist() == [-3.0, 1.0]


@pytest.mark.parametrize(
    ("loss", "z", "slope"),
    [
        (AbsoluteDeviation(), np.array([1.0, 2.0]), 0.0),
        (Quantile(0.25), np.array([1.0, 2.0]), -0.25),
        (Hinge(), np.array([2.0, 1.0]), 0.0),
        (Hinge(), np.array([-2.0, -1.0]), 0.0),
    ],
)
def test_subgradient_at_the_kink_is_the_documented_one(loss, z, slope):
    w = np.array([0.5 if isinstance(loss, Hinge) else 2.0])
    assert loss.subgradient(w, z)[0] == slope * z[0]


@pytest.mark.parametrize(
    ("loss", "constant"),
    [
        (Linear(), 3.0),
        (AbsoluteDeviation(), 3.0),
        (Quantile(0.25), 2.25),
        (Quantile(0.875), 2.625),
        (Huber(0.5), 1.5),
        (Hinge(), 3.0),
        (Logistic(), 3.0),
    ],
)
def test_lipschitz_constants(loss, constant):
    assert loss.lipschitz(3.0) == constant
    assert loss.lipschitz(0.0) == 0.0


@pytest.mark.parametrize(
    "loss", [Linear(), AbsoluteDeviation(), Quantile(0.5), Huber(1.0), Hinge(), Logistic()]
)
def test_leading_axes_broadcast(loss):
    rng = np.random.default_rng(0)
    w = rng.normal(size=(4, 1, 3))
    z = rng.normal(size=(1, 5, loss.data_dimension(3)))
    z[..., -1] = np.sign(z[..., -1])
    assert loss.value(w, z).shape == (4, 5)
    gradient = loss.subgradient(w, z)
    assert gradient.shape == (4, 5, 3)
    alone = loss.subgradient(w[2, 0], z[0, 3])
    if loss.is_bitwise:
        assert np.array_equal(gradient[2, 3], alone)
    else:
        np.testing.assert_allclose(gradient[2, 3], alone, rtol=FUNCTION_ROUNDING)
    assert loss.subgradient(w[0, 0], z[0]).shape == (5, 3)
    assert loss.subgradient(w[:, 0], z[0, 0]).shape == (4, 3)
    assert loss.subgradient(w[0, 0], z[0, 0]).flags.writeable


def test_logistic_far_out():
    loss = Logistic()
    for margin in (1e4, 1e16, 1e308):
        assert loss.value(np.array([margin]), np.array([1.0, 1.0])) == 0.0
        assert loss.value(np.array([-margin]), np.array([1.0, 1.0])) == margin
        assert loss.subgradient(np.array([-margin]), np.array([1.0, 1.0]))[0] == -1.0
    # Where the loss is small it keeps its relative accuracy.
    assert loss.value(np.array([40.0]), np.array([1.0, 1.0])) == pytest.approx(math.exp(-40.0), rel=1e-15)


def test_huber_does_not_square_a_large_residual():
    assert Huber(2.0).value(np.array([1e300]), np.array([1.0, 0.0])) == 2e300


def test_names_carry_the_parameters():
    names = [
        loss.name for loss in (Linear(), AbsoluteDeviation(), Quantile(0.25), Huber(2.0), Hinge(), Logistic())
    ]
    assert names == ["linear", "absolute", "quantile(0.25)", "huber(2)", "hinge", "logistic"]


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, math.nan])
def test_quantile_refuses_a_level_outside_the_unit_interval(level):
    with pytest.raises(InputError, match="level="):
        Quantile(level)


@pytest.mark.parametrize("threshold", [0.0, -1.0, math.inf, math.nan])
def test_huber_refuses_a_threshold_that_is_not_positive(threshold):
    with pytest.raises(InputError, match="threshold="):
        Huber(threshold)


@pytest.mark.parametrize("radius", [-1.0, math.nan, math.inf])
@pytest.mark.parametrize("loss", [Linear(), Hinge()])
def test_lipschitz_refuses_a_radius_that_is_none(loss, radius):
    with pytest.raises(InputError, match="data_radius="):
        loss.lipschitz(radius)


@pytest.mark.parametrize(
    ("loss", "data", "message"),
    [
        (Linear(), [[math.nan]], r"data\[0, 0\]"),
        (Hinge(), [[1.0, 0.5]], "label=.*0.5.* takes labels -1 and \\+1"),
        (Logistic(), [[1.0, 0.0]], "label="),
        (AbsoluteDeviation(), [[1.0]], "at least 2 numbers"),
        (AbsoluteDeviation(), 3.0, "at least 2 numbers"),
        (Huber(1.0), [["a", "b"]], "not an array of numbers"),
    ],
)
def test_data_that_do_not_fit_are_refused(loss, data, message):
    with pytest.raises(InputError, match=message):
        loss.require_data(data)


def test_data_of_the_wrong_dimension_are_refused():
    with pytest.raises(InputError, match=r"dimension=3.*points of 4 numbers"):
        Hinge().require_data([[1.0, 1.0]], dimension=3)
