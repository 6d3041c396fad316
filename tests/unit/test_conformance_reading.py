"""The problems tell which points a step used: the sets that explain a step are far apart against the noise."""

from __future__ import annotations

import numpy as np
import pytest

from dpsco_verify.algorithm.conformance.checks.noise import repeated_rows
from dpsco_verify.algorithm.conformance.explanation import (
    Steps,
    explain,
    first_uses,
    possible_gradients,
    possible_uses,
)
from dpsco_verify.algorithm.conformance.gaussian import noise_radius
from dpsco_verify.algorithm.conformance.problems import (
    BATCH,
    BATCH_OUTLIER,
    BOUNDED,
    CURVED,
    LINEAR,
    LINEAR_ODD,
    OUTLIERS,
)


@pytest.mark.parametrize("problem", [LINEAR, LINEAR_ODD, BATCH, BATCH_OUTLIER], ids=lambda p: p.name)
def test_no_two_explanations_are_within_reach_of_one_noise_at_any_level_in_use(problem):
    gradients = possible_gradients(problem, problem.initial_point[np.newaxis])[0]
    apart = np.linalg.norm(gradients[:, np.newaxis] - gradients[np.newaxis], axis=-1)
    closest = apart[~np.eye(len(apart), dtype=bool)].min()
    radius = problem.noise * noise_radius(alpha=1e-15, steps=10**6, dimension=problem.dimension)
    assert closest > 2.0 * radius


@pytest.mark.parametrize("problem", [LINEAR, LINEAR_ODD, BATCH, BOUNDED, CURVED], ids=lambda p: p.name)
def test_ordinary_data_keep_the_lipschitz_bound(problem):
    w = np.concatenate([problem.initial_point[np.newaxis], np.random.default_rng(0).normal(size=(50, 3))])
    gradients = problem.loss.subgradient(w[:, np.newaxis], problem.data[np.newaxis])
    assert np.linalg.norm(gradients, axis=-1).max() <= problem.lipschitz
    assert problem.convex_set.contains(problem.initial_point)


def test_outliers_break_it_in_length_and_in_coordinates():
    gradients = OUTLIERS.loss.subgradient(OUTLIERS.initial_point, OUTLIERS.data)
    assert np.linalg.norm(gradients, axis=-1).min() > OUTLIERS.lipschitz
    by_coordinates = np.clip(gradients, -OUTLIERS.lipschitz, OUTLIERS.lipschitz)
    assert np.linalg.norm(by_coordinates, axis=-1).max() > 1.2 * OUTLIERS.lipschitz
    lengths = np.linalg.norm(BATCH_OUTLIER.data, axis=-1)
    assert (lengths > BATCH_OUTLIER.lipschitz).sum() == 1


def test_most_bounded_steps_are_projected():
    ends = BOUNDED.initial_point + BOUNDED.step_size * BOUNDED.data
    assert (np.linalg.norm(ends, axis=-1) > BOUNDED.convex_set.radius).mean() > 0.7


def _steps(problem, gradients):
    before = np.repeat(problem.initial_point[np.newaxis], len(gradients), axis=0)
    return Steps(
        run=np.zeros(len(gradients), dtype=np.int64),
        time=np.arange(1, len(gradients) + 1),
        before=before,
        after=before - problem.step_size * gradients,
        increments=gradients,
    )


def test_every_set_is_read_off_its_own_mean():
    gradients = possible_gradients(BATCH, BATCH.initial_point[np.newaxis])[0]
    found = explain(BATCH, _steps(BATCH, gradients + 1e-4))
    assert [found.uses[i] for i in found.nearest] == list(possible_uses(6, 3))
    assert found.known(1e-3).all()
    np.testing.assert_allclose(found.residual, 1e-4, atol=1e-12)
    assert len(possible_uses(6, 3)) == 1 + 6 + 15 + 20


def test_a_step_between_two_explanations_is_not_known():
    gradients = possible_gradients(LINEAR, LINEAR.initial_point[np.newaxis])[0]
    found = explain(LINEAR, _steps(LINEAR, 0.5 * (gradients[1:2] + gradients[2:3])))
    assert not found.known(0.01).any()  # too far from both
    assert not found.known(10.0).any()  # too close to both


def test_gradients_of_outliers_are_explained_clipped():
    gradients = possible_gradients(OUTLIERS, OUTLIERS.initial_point[np.newaxis])[0]
    np.testing.assert_allclose(np.linalg.norm(gradients[1:], axis=-1), OUTLIERS.lipschitz, rtol=1e-12)


def test_first_uses_skips_repeats_and_second_uses():
    times, points = first_uses([(3,), (), (1,), (3,), (), (0, 1, 2)])
    assert times == [1, 3, 6]
    assert points == [3, 1, 0, 2]


def test_repeated_rows_finds_pairs_and_nothing_else():
    rows = np.random.default_rng(5).normal(size=(60, 4))
    assert len(repeated_rows(rows)) == 0
    rows[40] = rows[7] * (1.0 + 1e-13)
    rows[41, 0] = rows[8, 0]
    assert {tuple(sorted(pair)) for pair in repeated_rows(rows).tolist()} == {(7, 40)}
