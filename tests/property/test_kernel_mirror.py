"""The compiled mirror descent takes the same steps as the literal one.

To the last bit with the Euclidean potential. The others go through exponentials, logarithms and powers, where numpy may
use a vector library of its own that differs in the last bit from the processor's; each step moves the logarithms of the
weights by a few units in the last place, so that 30 steps leave a relative 1e-12 with room to spare.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsco_verify.algorithm import mirror_descent
from dpsco_verify.algorithm.kernel import plan_mirror
from dpsco_verify.errors import InputError
from dpsco_verify.geometry import (
    Box,
    Euclidean,
    HalfSpace,
    L1Ball,
    L2Ball,
    NegativeEntropy,
    PNorm,
    Simplex,
    WholeSpace,
)

pytestmark = pytest.mark.slow  # the everyday part has two minutes


def pairs(d):
    return [
        (Euclidean(), WholeSpace(d)),
        (Euclidean(), L2Ball(np.full(d, 0.1), 0.7)),
        (Euclidean(), Box(np.full(d, -0.5), np.full(d, 0.4))),
        (Euclidean(), HalfSpace(np.linspace(1.0, 2.0, d), -0.1)),
        (Euclidean(), Simplex(d)),
        (Euclidean(), L1Ball(d, 0.8)),
        (NegativeEntropy(), Simplex(d, 2.0)),
        (NegativeEntropy(), Box(np.full(d, 0.25), np.linspace(0.5, 2.0, d))),
        (NegativeEntropy(), WholeSpace(d)),
        (PNorm(1.5), WholeSpace(d)),
    ]


@given(
    st.integers(0, 9),
    st.sampled_from([1, 2, 9, 140]),
    st.integers(1, 30),
    st.sampled_from([0.01, 0.3]),
    st.integers(0, 2**32),
)
def test_many_runs_are_single_runs(position, d, steps, eta, seed):
    potential, convex_set = pairs(d)[position]
    rng = np.random.default_rng(seed)
    gradients = rng.standard_normal((3, steps, d))
    chosen = {"potential": potential, "convex_set": convex_set, "step_size": eta}
    if isinstance(potential, PNorm):
        chosen["initial_point"] = rng.standard_normal(d)
    assert plan_mirror(potential=potential, convex_set=convex_set) is not None
    together = mirror_descent(gradients, **chosen)
    assert together.iterates.shape == (3, steps + 1, d)
    for r in range(3):
        alone = mirror_descent(gradients[r], **chosen)
        if isinstance(potential, Euclidean):
            assert alone.iterates.tobytes() == together.iterates[r].tobytes()
        else:
            np.testing.assert_allclose(together.iterates[r], alone.iterates, rtol=1e-12, atol=1e-15)


def test_a_pair_without_a_closed_form_runs_in_numpy():
    convex_set = Box([0.1, 0.2], [1.0, 0.9])
    assert plan_mirror(potential=PNorm(1.5), convex_set=convex_set) is None
    gradients = np.random.default_rng(0).standard_normal((2, 4, 2))
    chosen = {"potential": PNorm(1.5), "convex_set": convex_set, "step_size": 0.1}
    together = mirror_descent(gradients, **chosen)
    for r in range(2):
        np.testing.assert_array_equal(together.iterates[r], mirror_descent(gradients[r], **chosen).iterates)


@pytest.mark.parametrize(
    ("potential", "convex_set", "gradient"),
    [
        (
            NegativeEntropy(),
            Simplex(2),
            [[1e3, 0.0], [1.0, 1.0]],
        ),  # a weight underflows, then has no logarithm
        (NegativeEntropy(), WholeSpace(2), [[-1e4, 0.0], [0.0, 0.0]]),  # exp overflows
        (Euclidean(), WholeSpace(2), [[1e301, 0.0], [0.0, 0.0]]),
    ],
)
def test_what_one_run_refuses_many_refuse_in_the_same_words(potential, convex_set, gradient):
    chosen = {"potential": potential, "convex_set": convex_set, "step_size": 1.0}
    with pytest.raises(InputError) as alone:
        mirror_descent(gradient, **chosen)
    for runs in ([np.zeros((2, 2)), gradient], [gradient, np.zeros((2, 2))]):
        with pytest.raises(InputError) as together:
            mirror_descent(runs, **chosen)
        assert str(together.value) == str(alone.value)
