"""What two sources print of steps, batches and noise, by hand, and how many points a transcript has at its edges."""

from __future__ import annotations

import math

import pytest

from dpsco_verify.choices import Profile
from dpsco_verify.evidence import Verdict
from dpsco_verify.ledger.installed import installed_ledger
from dpsco_verify.ledger.systems import grid
from dpsco_verify.papers.bassily2014.noisy_sgd_erm.bounds import (
    NOISE,
    Schedule,
    printed_schedules,
    short_schedules,
    steps_of,
)
from dpsco_verify.papers.bassily2019.minibatch import bounds as minibatch
from dpsco_verify.privacy.balls import ball
from dpsco_verify.privacy.transcript import (
    Transcript,
    Used,
    fixed_transcript,
    largest_factor,
    loop_transcript,
    used_at_least,
    used_at_most,
)


@pytest.mark.parametrize(
    ("n", "dimension", "epsilon", "delta", "steps", "batch"),
    [
        (8000, 1, 1.0, 1 / 8000**2, 1000, 127),  # n/8; 8000/√4000 = 126.5
        (1000, 20, 1.0, 1e-6, 113, 48),  # 10⁶/(640 · 13.816) = 113.1; 1000/√452 = 47.04
        (500, 20, 1.0, 1e-6, 28, 48),  # 250000/8842.2 = 28.3; 500/√112 = 47.2
        (10**5, 1, 1e-3, 1e-6, 22, 338),  # 10⁴/442.1 = 22.6; 10⁵ √(10⁻³/88) = 337.1
        (8, 1, 1.0, 0.99, 1, 4),  # 8/8, and 64/0.32 is more; 8/√4
    ],
)
def test_the_mini_batches_by_hand(n, dimension, epsilon, delta, steps, batch):
    """T is the smaller of n/8 and (εn)²/(32 d log(1/δ)), m = n√(ε/4T), σ² = 8T log(1/δ)/(nε)² beside L = 1."""
    found = minibatch.printed(n, dimension, epsilon, delta)
    assert (found.n, found.steps, found.batch) == (n, steps, batch)
    assert found.noise**2 == pytest.approx(8 * steps * math.log(1 / delta) / (n * epsilon) ** 2, rel=1e-13)


def test_a_scope_says_which_delta_and_how_much_noise():
    places = dict.fromkeys(Profile, ((8000, 1, 1.0),))
    usual = minibatch.Scope(system="x", places=places)
    largest = minibatch.Scope(system="x", places=places, largest=True, factor=2.0)
    assert usual.at(1000, 1, 1.0) == (1e-6, minibatch.printed(1000, 1, 1.0, 1e-6))
    delta, steps = largest.at(1000, 1, 1.0)
    assert delta == 1e-6
    assert largest.at(8000, 1, 1.0)[0] == 1 / 64_000_000
    assert steps.noise == 2 * minibatch.printed(1000, 1, 1.0, 1e-6).noise


@pytest.mark.parametrize(
    ("schedule", "iterates"),
    [
        (Schedule(n=10, epsilon=0.5, delta=1e-3), 100),
        (Schedule(n=100, epsilon=1.0, delta=1e-6, dimension=20), 2237),  # 10⁴/√20 = 2236.07
        (Schedule(n=100, epsilon=0.5, delta=1e-6, dimension=1), 2500),
        (Schedule(n=100, epsilon=1.0, delta=1e-6, dimension=10**10), 2),
    ],
)
def test_noisy_sgd_by_hand(schedule, iterates):
    """σ² = 32 T log(n/δ) log(1/δ)/ε² on n times a gradient, and one step fewer than iterates."""
    found = steps_of(schedule)
    assert schedule.iterates == iterates
    assert (found.n, found.batch, found.steps) == (schedule.n, 1, iterates - 1)
    logs = math.log(schedule.n / schedule.delta) * math.log(1 / schedule.delta)
    noise = NOISE * iterates * logs / schedule.epsilon**2
    assert (found.n * found.noise) ** 2 == pytest.approx(noise, rel=1e-13)
    assert NOISE == 32


@pytest.mark.parametrize("profile", Profile)
def test_the_grids_of_noisy_sgd_go_to_the_ends_of_the_range(profile):
    whole, short = printed_schedules(profile), short_schedules(profile)
    for delta in {schedule.delta for schedule in whole}:
        epsilons = sorted({schedule.epsilon for schedule in whole if schedule.delta == delta})
        assert epsilons == pytest.approx([0.1, 1.0, 2 * math.sqrt(math.log(1 / delta))], rel=1e-14)
    assert all(schedule.dimension is None for schedule in whole)
    assert {schedule.epsilon for schedule in short} == {1.0}
    assert min(schedule.n for schedule in short) >= 100
    assert len({str(schedule) for schedule in (*whole, *short)}) == len(whole) + len(short)


def test_only_a_fixed_number_of_iterations_makes_few_points_rare():
    small = ball(1e-9)
    assert used_at_most(loop_transcript(101), small) == Used(points=51, rare=False)
    assert used_at_least(loop_transcript(101), small) == Used(points=51, rare=False)
    fixed = fixed_transcript(100, 100)
    for share in (0.0, 1.0, 2.0):
        assert used_at_most(fixed, ball(share)) == Used(points=100, rare=False)
    assert used_at_most(fixed, small).rare
    assert fixed == Transcript(n=100, used=100, increments=100, fixed=True)
    assert fixed_transcript(100, 250).used == 100


def test_the_largest_factor_is_within_a_thousandth_from_below():
    found = largest_factor(lambda f: f <= 1 / 3, low=0.01, high=1.0)
    assert found is not None
    assert found <= 1 / 3 < 1.001 * found
    assert largest_factor(lambda f: f < 0.01, low=0.01, high=1.0) is None


@pytest.mark.parametrize(
    ("key", "constant"),
    [("minibatch-sgd-privacy/many-steps", 8), ("smoothed-minibatch-sgd-privacy/noise-for-2l", 32)],
)
@pytest.mark.parametrize(("proven", "failing"), [(1.0, None), (0.9, 0.5)])
def test_the_constant_in_the_variance_goes_with_the_square_of_the_noise(key, constant, proven, failing):
    claim = next(claim for claim in installed_ledger().claims if claim.key == key)
    point = grid.Point(words="a place", claimed=1e-4, lower=1e-6, upper=2e-5)
    bounds = minibatch.GridBounds(
        points=(point,), implemented=(), worst=(9, 1, 1.0, 1.0), proven=proven, failing=failing
    )
    found = claim.statement.decide(claim.reading, bounds)
    assert found.verdict is Verdict.HOLDS_ON_GRID
    assert "at most 0.2 of what is claimed" in found.summary
    (sharpness,) = found.sharpness
    assert sharpness.claimed == constant
    assert sharpness.holds_with == pytest.approx(constant * proven**2)
    assert sharpness.needed == (None if failing is None else pytest.approx(constant * failing**2))
    assert sharpness.how.endswith(f"on the grid with {constant}")
