"""The lower bound on ε that is tied to no claim."""

import itertools
import math

import numpy as np
import pytest

from dpsco_verify.auditing import MechanismError, audit, epsilon_lower_bound, estimate_epsilon
from dpsco_verify.errors import InputError
from sequential import rate_holds


def laplace(epsilon):
    return lambda data, size, rng: data + rng.laplace(scale=1 / epsilon, size=size)


def randomised_response(epsilon):
    p = 1.0 / (1.0 + math.exp(-epsilon))
    return lambda data, size, rng: (rng.random(size) < (p if data else 1.0 - p)).astype(float)


@pytest.mark.slow
@pytest.mark.parametrize(("mechanism", "true"), [(laplace(1.0), 1.0), (randomised_response(3.0), 3.0)])
def test_the_bound_is_below_the_truth_and_not_far(mechanism, true):
    strict, lax = (epsilon_lower_bound(mechanism, (0.0, 1.0), alpha=alpha) for alpha in (1e-6, 0.05))
    assert 0.75 * true < strict < lax <= true


@pytest.mark.slow
def test_the_bound_follows_no_claim():
    # An audit's own bound is one of the event that is best against its claim.
    claimed = audit(laplace(2.0), 0.0, 1.0, epsilon=0.05, alpha=0.05)
    assert epsilon_lower_bound(laplace(2.0), (0.0, 1.0), alpha=0.05) > claimed.epsilon_lower + 0.1


@pytest.mark.slow
def test_the_bound_is_wrong_no_more_often_than_it_says():
    # At 0.2, with randomised response's one event; a rate of 0.5 passes with probability at most 1e-3.
    wrong = (
        epsilon_lower_bound(randomised_response(1.0), (0.0, 1.0), alpha=0.2, samples=600, seed=s) > 1.0
        for s in itertools.count()
    )
    assert rate_holds(wrong, (0.2, 0.5))


@pytest.mark.slow
def test_delta_lowers_the_bound_and_may_leave_none():
    bounds = [epsilon_lower_bound(laplace(1.0), (0.0, 1.0), delta, alpha=0.05) for delta in (0.0, 0.1, 0.5)]
    assert bounds[0] > bounds[1] > bounds[2] == 0.0


def test_the_estimate_names_its_event_and_the_direction():
    found = estimate_epsilon(randomised_response(2.0), (0, 1), samples=2000, name="coin")
    assert found.summary.startswith(f"coin: ε ≥ {found.epsilon:.4g} at δ = 0 with confidence 1 − 1e-06")
    assert found.event in found.summary
    assert found.frequency > found.frequency_neighbour
    assert found.samples == 2000


def test_disjoint_outputs_are_bounded_by_what_the_samples_can_show():
    found = epsilon_lower_bound(lambda data, size, rng: data + rng.random(size), (0.0, 2.0), samples=10_000)
    assert 5.0 < found < math.log(10_000)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"pair": (0.0, 1.0), "delta": 1.0}, "delta=1.0"),
        ({"pair": (0.0, 1.0), "delta": -0.1}, "delta=-0.1"),
        ({"pair": (0.0, 1.0), "alpha": 0.0}, "alpha=0.0"),
        ({"pair": (0.0, 1.0), "samples": 10}, "samples=10"),
        ({"pair": (0.0, 0.0)}, "same data set"),
        ({"pair": (0.0,)}, "pairs"),
        ({"pair": ([0.0], [1.0, 2.0]), "relation": "replace-one"}, "replace-one"),
    ],
)
def test_what_cannot_be_used_is_refused(arguments, named):
    with pytest.raises(InputError, match=named):
        epsilon_lower_bound(laplace(1.0), **arguments)


def test_a_mechanism_that_cannot_be_audited_is_told_so():
    with pytest.raises(MechanismError):
        epsilon_lower_bound(lambda data, size, rng: np.zeros(3), (0.0, 1.0))
