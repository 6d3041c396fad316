"""The learned likelihood ratio where the true one is known."""

import numpy as np
import pytest
from scipy.optimize import minimize

from dpsco_verify.auditing.likelihood_ratio import _columns, _logistic, _shrunk, learned_features
from dpsco_verify.auditing.outputs import encode

ATOMS = (-1000.0, -2000.0, np.nan)
TOLD = 0.4


def answers(shift, size, rng):
    """Return six entries, each a code or a normal number about the shift; the first code is as frequent as it says."""
    codes = rng.choice(ATOMS, p=[0.5 + shift, 0.3 - shift, 0.2], size=(size, 6))
    return np.where(rng.random((size, 6)) < TOLD, shift + rng.standard_normal((size, 6)), codes)


def true_ratio(outputs):
    """Return log p(x | shift 0.1) − log p(x | shift 0)."""
    numbers = np.nan_to_num(0.1 * outputs - 0.005)
    first, second = np.log(0.6 / 0.5), np.log(0.2 / 0.3)
    return np.where(
        outputs == ATOMS[0],
        first,
        np.where(outputs == ATOMS[1], second, np.where(np.isnan(outputs), 0.0, numbers)),
    ).sum(axis=1)


@pytest.mark.slow
def test_codes_beside_numbers_do_not_hide_what_the_numbers_tell():
    rng = np.random.default_rng(0)
    first, second, fresh = (answers(shift, 20_000, rng) for shift in (0.1, 0.0, 0.0))
    learned = next(learned_features(encode(first, 20_000), encode(second, 20_000)))
    assert np.corrcoef(learned.values(encode(fresh, 20_000)), true_ratio(fresh))[0, 1] > 0.97


@pytest.mark.parametrize(("codes", "columns"), [((0.0, 1.0), 10), ((-1.0, 0.0, 1.0), 20), (range(6), 10)])
def test_discrete_entries_have_no_column_that_tells_the_same_again(codes, columns):
    rng = np.random.default_rng(1)
    first, second = (encode(rng.choice(list(codes), size=(5000, 10)), 5000) for _ in range(2))
    learned = next(learned_features(first, second)).values
    # Of six values each is a number like others; nothing is in their squares, so that these have gone.
    assert learned.columns(first).shape == (5000, columns)
    assert np.linalg.matrix_rank(learned.columns(first)) == columns


def test_what_noise_explains_is_shrunk_and_the_rest_fitted_anew():
    rng = np.random.default_rng(2)
    size = 4000
    a, b = (rng.normal(loc=(shift, 0.0, 0.1 * shift, 0.0), size=(size, 4)) for shift in (0.5, 0.0))
    a[:, 1] += 0.8 * a[:, 0]
    b[:, 1] += 0.8 * b[:, 0]
    first, second = encode(a, size), encode(b, size)
    weights, curvature = _logistic(_columns(first, second, 4, powers=False), first, second)
    covariance = np.linalg.inv(curvature)
    statistic = weights[1:4] @ np.linalg.solve(covariance[1:4, 1:4], weights[1:4])
    part = max(0.0, 1.0 - 3.0 / statistic)
    assert 0.0 < part < 0.9
    shrunk = _shrunk(weights, curvature, 1)
    np.testing.assert_allclose(shrunk[1:], part * weights[1:4], rtol=1e-9, atol=1e-12)
    # The first and the intercept are where the quadratic about the maximum is least with the others held.
    fixed = part * weights[1:4] - weights[1:4]

    def quadratic(x):
        move = np.array([x[0], *fixed, x[1]])
        return 0.5 * move @ curvature @ move / size

    best = minimize(quadratic, np.zeros(2), method="BFGS", options={"gtol": 1e-10}).x
    assert shrunk[0] == pytest.approx(weights[0] + best[0], abs=1e-6)


def test_a_step_on_all_outputs_from_a_part_of_them_is_as_good_as_all_steps():
    rng = np.random.default_rng(4)
    size = 30_000
    first, second = (encode(rng.normal(loc=(shift, 0.0), size=(size, 2)), size) for shift in (0.5, 0.0))
    columns = _columns(first, second, 2, powers=False)
    weights, curvature = _logistic(columns, first, second)
    x = np.concatenate([columns(first), columns(second)])
    x = np.concatenate([x, np.ones((2 * size, 1))], axis=1)
    y = np.repeat([1.0, 0.0], size)
    slope = x.T @ (y - 1.0 / (1.0 + np.exp(-x @ weights))) - weights
    # What is left of the slope moves no weight by a twentieth of its standard error.
    assert np.all(
        np.abs(np.linalg.solve(curvature, slope)) < 0.05 * np.sqrt(np.diag(np.linalg.inv(curvature)))
    )


@pytest.mark.slow
def test_a_scale_is_still_seen():
    rng = np.random.default_rng(3)
    first, second = (encode(s * rng.standard_normal((5000, 10)), 5000) for s in (1.0, 1.2))
    learned = next(learned_features(first, second)).values
    assert learned.columns(first).shape == (5000, 30)
    assert learned(first).mean() > learned(second).mean() + 0.3
