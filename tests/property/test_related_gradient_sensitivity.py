"""What the noise of the gradient-based systems rests on: never exceeded, and nearly reached."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsco_verify.geometry import Box, L2Ball, Simplex
from dpsco_verify.problems import Huber, Linear, Logistic
from dpsco_verify.related import PrivacyBudget, Task
from dpsco_verify.related.estimator_steps import EstimatorBatches, EstimatorPasses
from dpsco_verify.related.iteration_sgd import HalvingIterationSgd, IterationSgd
from dpsco_verify.related.minibatch_sgd import MinibatchSgd
from dpsco_verify.related.noisy_sgd_erm import NoisySgdErm, ShortNoisySgdErm, ShortScaledNoisySgdErm
from dpsco_verify.related.one_pass import average_of_pass
from dpsco_verify.related.phased_sgd import PhasedSgd, TightPhasedSgd
from dpsco_verify.related.private_mirror_descent import (
    PrivateEntropicMirrorDescent,
    PrivatePNormMirrorDescent,
)
from dpsco_verify.related.proximal import envelope_gradient
from dpsco_verify.related.smoothed_minibatch_sgd import SmoothedMinibatchSgd
from dpsco_verify.related.subsampled_one_pass import SubsampledOnePass, SubsampledScaledOnePass
from dpsco_verify.strategies.problems import losses, neighbouring_data, parameter_points, predictor_losses
from euclidean_mirror import PrivateEuclideanMirrorDescent

pytestmark = pytest.mark.slow

N = 64
BUDGET = PrivacyBudget(1.0, 1e-6)
SYSTEMS = (
    NoisySgdErm(),
    ShortNoisySgdErm(),
    ShortScaledNoisySgdErm(),
    MinibatchSgd(),
    SmoothedMinibatchSgd(),
    SmoothedMinibatchSgd(beta=0.1),
    PhasedSgd(),
    TightPhasedSgd(),
    IterationSgd(),
    HalvingIterationSgd(),
    EstimatorBatches(),
    EstimatorPasses(),
    SubsampledOnePass(),
    SubsampledScaledOnePass(),
    PrivateEuclideanMirrorDescent(),
    PrivatePNormMirrorDescent(),
    PrivateEntropicMirrorDescent(),
)


def sets(dimension):
    return st.one_of(
        st.builds(
            L2Ball,
            st.lists(st.floats(-0.5, 0.5), min_size=dimension, max_size=dimension),
            st.floats(0.05, 2.0),
        ),
        st.floats(0.05, 1.0).map(lambda r: Box(np.full(dimension, -r), np.full(dimension, r))),
        st.just(Simplex(dimension)) if dimension > 1 else st.nothing(),
    )


@pytest.mark.slow
@given(data=st.data(), loss=losses(), dimension=st.integers(1, 3))
def test_no_pair_of_neighbours_exceeds_a_stated_sensitivity(data, loss, dimension):
    task = Task(loss, data.draw(sets(dimension)), 1.0)
    pair = data.draw(neighbouring_data(loss, dimension, count=N))
    for system in SYSTEMS:
        if all(condition.holds for condition in system.conditions(task, N, BUDGET)):
            for sensitivity in system.sensitivities(task, N, BUDGET):
                moved = np.linalg.norm(sensitivity.query(pair.data) - sensitivity.query(pair.neighbour))
                assert moved <= sensitivity.bound * (1.0 + 1e-12) + sensitivity.rounding, system.id


def opposite(position, dimension=3):
    """Data of one direction, and the same with the point at `position` turned about."""
    data = np.zeros((N, dimension))
    data[:, 0] = 1.0
    neighbour = data.copy()
    neighbour[position] *= -1.0
    return data, neighbour


def largest_shares(system, task):
    """For each stated sensitivity, the largest share of it that one turned point reaches."""
    shares = {}
    for sensitivity in system.sensitivities(task, N, BUDGET):
        moved = [
            np.linalg.norm(sensitivity.query(a) - sensitivity.query(b)) for a, b in map(opposite, range(N))
        ]
        shares[sensitivity.what] = max(moved) / sensitivity.bound
    return shares


WIDE = Task(Linear(), L2Ball(np.zeros(3), 1.0), 1.0)


@pytest.mark.parametrize("system", [s for s in SYSTEMS if not isinstance(s, PhasedSgd)], ids=lambda s: s.id)
def test_a_turned_point_reaches_the_stated_sensitivity(system):
    task = Task(Linear(), Simplex(3), 1.0) if "mirror" in system.id else WIDE
    shares = largest_shares(system, task)
    assert shares
    assert all(share == pytest.approx(1.0, rel=1e-9) for share in shares.values())


def test_the_average_of_a_phase_moves_by_half_of_what_its_source_states():
    printed = largest_shares(PhasedSgd(), WIDE)
    tight = largest_shares(TightPhasedSgd(), WIDE)
    assert printed["average of phase 1"] == pytest.approx(0.5 * (1 - 1 / 32), rel=1e-9)
    assert tight["average of phase 1"] == pytest.approx(1 - 1 / 32, rel=1e-9)
    for i, count in enumerate((32, 16, 8, 4, 2), start=1):
        assert tight[f"average of phase {i}"] == pytest.approx(1 - 1 / count, abs=1e-9)


@given(loss=losses(), dimension=st.integers(1, 3), share=st.floats(0.01, 1.0), data=st.data())
def test_a_pass_with_steps_up_to_2_over_beta_moves_by_at_most_2_l_eta(loss, dimension, share, data):
    task = Task(loss, L2Ball(np.zeros(dimension), 1e6), 1.0)
    if task.smoothness is None:
        return
    eta = share * (2.0 / task.smoothness if task.smoothness > 0.0 else 1.0)
    pair = data.draw(neighbouring_data(loss, dimension, count=12))
    start = np.zeros((2, dimension))
    averages = average_of_pass(
        np.stack([pair.data, pair.neighbour]), start, loss=loss, convex_set=task.convex_set, step_size=eta
    )
    largest = 2.0 * task.lipschitz * eta * (1.0 - 1.0 / 12.0)
    assert np.linalg.norm(averages[0] - averages[1]) <= largest * (1.0 + 1e-9) + 1e-12 * eta * task.lipschitz


def test_beyond_2_over_beta_a_pass_moves_by_more_than_any_of_the_stated_sensitivities():
    # The first point parts the two runs by 2Lη along the diagonal; each of the next d turns one coordinate of the
    # difference into nearly 2Lη of its own; the rest, without features, leave the two √d times as far apart.
    d = 40
    loss = Huber(0.01)
    task = Task(loss, L2Ball(np.zeros(d), 100.0), 1.0)
    eta = 4.0 * np.sqrt(d)  # β = 1
    diagonal = np.ones(d) / np.sqrt(d)
    far = 1e3  # a target far off: the slope is full
    data = np.zeros((20 * d + 1, d + 1))
    data[0] = [*diagonal, far]
    neighbour = data.copy()
    neighbour[0, -1] = -far
    data[1 : d + 1, :d] = neighbour[1 : d + 1, :d] = np.eye(d)
    averages = average_of_pass(
        np.stack([data, neighbour]),
        np.zeros((2, d)),
        loss=loss,
        convex_set=task.convex_set,
        step_size=eta,
    )
    assert np.linalg.norm(averages[0] - averages[1]) > 1.5 * 4.0 * task.lipschitz * eta


@given(
    loss=predictor_losses() | st.just(Logistic()),
    dimension=st.integers(1, 3),
    log_beta=st.floats(-4.0, 4.0),
    data=st.data(),
)
def test_the_gradient_of_an_envelope_is_short_smooth_and_that_of_the_proximal_point(
    loss, dimension, log_beta, data
):
    beta = 10.0**log_beta
    pair = data.draw(neighbouring_data(loss, dimension, count=1, target_bound=10.0))
    z = pair.data[0]
    w = data.draw(parameter_points(dimension, count=2, bound=20.0))
    gradients = envelope_gradient(loss, w, z, beta=beta)
    lipschitz = loss.lipschitz(1.0)
    assert (np.linalg.norm(gradients, axis=-1) <= lipschitz * (1.0 + 1e-12)).all()
    apart = np.linalg.norm(w[0] - w[1])
    rounding = 1e-11 * max(lipschitz, 1.0) * (1.0 + beta)
    assert np.linalg.norm(gradients[0] - gradients[1]) <= beta * apart * (1.0 + 1e-9) + rounding

    # No point on the line of the features has a smaller objective, and none elsewhere is better than its foot there.
    a = loss.features(z)
    proximal = w[0] - gradients[0] / beta
    offsets = np.concatenate([np.linspace(-1.0, 1.0, 41), 10.0 ** -np.arange(2.0, 7.0)])
    others = proximal + offsets[:, np.newaxis] * a

    def objective(v):
        return loss.value(v, z) + 0.5 * beta * np.sum((v - w[0]) ** 2, axis=-1)

    best = objective(proximal)
    assert best <= objective(others).min() + 1e-9 * (1.0 + abs(best))
    assert best <= loss.value(w[0], z) + 1e-12 * (1.0 + abs(best))
    assert loss.value(w[0], z) <= best + lipschitz**2 / (2.0 * beta) * (1.0 + 1e-9) + 1e-9 * (1.0 + abs(best))
