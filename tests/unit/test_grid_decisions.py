"""How the places of a grid are examined, and what is concluded from them, with bounds put in by hand."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dpsco_verify.choices import Profile
from dpsco_verify.evidence import Verdict
from dpsco_verify.ledger.systems.calibration import Implemented
from dpsco_verify.ledger.systems.grid import Point
from dpsco_verify.ledger.systems.sampled import lower_delta
from dpsco_verify.papers.arora2020.transcript_cells import Cell, Place, counts, verdict_of
from dpsco_verify.papers.bassily2014.noisy_sgd_erm import bounds as noisy_sgd
from dpsco_verify.papers.bassily2014.noisy_sgd_erm.statement import NoisySgdPrivacy
from dpsco_verify.papers.bassily2019.minibatch import bounds
from dpsco_verify.papers.bassily2019.minibatch.statement import MinibatchPrivacy, SmoothedMinibatchPrivacy
from dpsco_verify.privacy.transcript import Route, Status

MINIBATCH, SMOOTHED = MinibatchPrivacy(), SmoothedMinibatchPrivacy()
READINGS = {reading.id: reading for reading in MINIBATCH.readings}
DOUBLED = {reading.id: reading for reading in SMOOTHED.readings}["noise-for-2l"]


def cell(status, n=16, route=Route.ONE_USE, draws=None):
    tenth = Fraction(1, 10)
    return Cell(
        place=Place(n=n, draws=draws, scale=Fraction(3, 2), delta=tenth, delta_prime=tenth / 10),
        status=status,
        route=route,
    )


@pytest.mark.parametrize(
    ("cells", "verdict", "words"),
    [
        ([cell(Status.HOLDS)] * 2, Verdict.HOLDS_ON_GRID, "holds at all 2 grid points"),
        (
            [cell(Status.HOLDS), cell(Status.OPEN), cell(Status.OPEN)],
            Verdict.INCONCLUSIVE,
            "holds at 1 of 3 grid points; the other 2 lie",
        ),
        (
            [cell(Status.HOLDS), cell(Status.OPEN), cell(Status.FAILS, n=7), cell(Status.FAILS, n=9)],
            Verdict.REFUTED,
            "false at 2 of 4 grid points, as at n = 7, ε̃ = 1.5, δ = 0.1, δ' = 0.01",
        ),
    ],
)
def test_one_failing_place_refutes_and_an_open_one_leaves_it_undecided(cells, verdict, words):
    found, summary = verdict_of(cells)
    assert found is verdict
    assert words in summary


def test_the_places_are_counted_by_what_became_of_them_and_by_what_decided():
    cells = [cell(Status.HOLDS)] * 3 + [cell(Status.FAILS, route=Route.WHOLE_RUN)] * 2 + [cell(Status.OPEN)]
    found = counts(cells)
    assert [quantity.value for quantity in found.values()] == [3, 2, 1, 4, 2]
    assert {quantity.unit for quantity in found.values()} == {"of 6"}
    assert "n = 16, τ = 5, ε̃" in str(cell(Status.OPEN, draws=5).place)


def steps_at(n, dimension, epsilon, delta=1e-6):
    return bounds.printed(n, dimension, epsilon, delta).steps


def test_the_grids_have_the_steps_that_their_readings_speak_of():
    assert [steps_at(*place) for place in bounds.FEW[:3]] == [2, 2, 2]
    assert all(steps_at(*place) > 2 for place in bounds.FEW[3:])
    assert {steps_at(*place) for place in bounds.ONE_STEP} == {1}
    assert all(steps_at(*place) >= 100 and place[2] > 1 for place in bounds.LARGE)
    for grid, least in ((bounds.TEN, 10), (bounds.MANY, 25)):
        places = [place for profile in Profile for place in grid[profile]]
        assert all(place[2] <= 1 for place in places)
        assert min(steps_at(*place, delta=place[0] ** -2.0) for place in places) >= least
    # By hand, T = min(n/8, ε²n²/(64 d log n)) at δ = 1/n²: of n = 100 none but d = 1, ε = 1 has ten steps.
    assert [place for place in bounds.TEN[Profile.DEEP] if place[0] == 100] == [(100, 1, 1.0)]
    assert not [place for place in bounds.MANY[Profile.DEEP] if place[0] == 100]
    assert (200, 1, 1.0) in bounds.MANY[Profile.DEEP]  # 25 = 200/8


def scope(*places, **changes):
    return bounds.Scope(system="minibatch-sgd", places=dict.fromkeys(Profile, places), **changes)


def test_where_the_output_tells_the_first_step_that_step_alone_is_judged():
    places = ((32, 1, 1.0), (80, 5, 1.0), (100, 1, 1.0))  # T = 2, 2 and 12
    found = bounds.examine(scope=scope(*places, output_tells=2), profile=Profile.DEEP)
    lower, thresholds = [], []
    for place, told in zip(places, (True, True, False), strict=True):
        steps = bounds.printed(*place, 1e-6)
        low, threshold = lower_delta(bounds.replace(steps, steps=1) if told else steps, place[2])
        lower.append(low)
        thresholds.append(threshold)
    assert [point.lower for point in found.points] == lower
    assert {(point.claimed, point.upper) for point in found.points} == {(1e-6, None)}
    assert [point.words.split(",")[0] for point in found.points] == ["the output", "the output", "all steps"]
    worst = max((0, 1), key=lambda i: lower[i])
    assert found.worst == (*places[worst], thresholds[worst])
    assert [one.ratio for one in found.implemented] == pytest.approx([1.0] * 3, rel=1e-12)
    assert (found.proven, found.failing) == (1.0, None)


def test_without_such_places_all_are_judged_by_all_steps_and_no_implementation_is_for_large_epsilon():
    places = ((32, 1, 1.0), (1000, 1, 5.0))
    found = bounds.examine(scope=scope(*places), profile=Profile.DEEP)
    assert [point.words.split(",")[0] for point in found.points] == ["all steps"] * 2
    worst = max((0, 1), key=lambda i: found.points[i].lower)
    assert found.worst[:3] == places[worst]
    assert len(found.implemented) == 1


@pytest.mark.parametrize(
    ("profile", "sharp", "expected"),
    [
        (Profile.STANDARD, True, (0.8, 0.6)),
        (Profile.QUICK, True, (1.0, None)),
        (Profile.DEEP, False, (1.0, None)),
    ],
)
def test_how_much_less_noise_is_proven_and_refuted(monkeypatch, profile, sharp, expected):
    place = (1000, 1, 1.0)
    printed = bounds.printed(*place, 1e-6).noise
    monkeypatch.setattr(bounds, "upper_delta", lambda steps, epsilon: 1e-6 * 0.8 * printed / steps.noise)
    monkeypatch.setattr(
        bounds, "lower_delta", lambda steps, epsilon: (1e-6 * 0.6 * printed / steps.noise, 3.0)
    )
    found = bounds.examine(scope=scope(place, upper=True, sharp=sharp), profile=profile)
    assert found.points[0].upper == pytest.approx(0.8e-6)
    assert found.proven == pytest.approx(expected[0], rel=2e-3)
    assert found.failing == (None if expected[1] is None else pytest.approx(expected[1], rel=2e-3))


def test_a_batch_that_is_not_the_printed_one_counts_as_no_noise(monkeypatch):
    figures = {"T": 2, "m": 12, "σ": 1.0}
    monkeypatch.setattr(bounds.Place, "figures", lambda self, system: figures)
    steps = bounds.printed(32, 1, 1.0, 1e-6)
    found = bounds.examine(scope=scope((32, 1, 1.0)), profile=Profile.QUICK).implemented[0]
    assert steps.batch == 12
    assert found.ratio == pytest.approx(1.0 / steps.noise)
    for wrong in ({"T": 3}, {"m": 11}):
        monkeypatch.setattr(bounds.Place, "figures", lambda self, system, wrong=wrong: figures | wrong)
        assert bounds.examine(scope=scope((32, 1, 1.0)), profile=Profile.QUICK).implemented[0].ratio == 0.0


def grid_bounds(*points, ratio=1.0, proven=0.9, failing=0.7):
    return bounds.GridBounds(
        points=points,
        implemented=(Implemented(words="a place", ratio=ratio),),
        worst=(150, 20, 1.0, 22.0),
        proven=proven,
        failing=failing,
    )


HOLDS = Point(words="one", claimed=1e-6, lower=0.0, upper=5e-7)
OPEN = Point(words="two", claimed=1e-6, lower=0.0, upper=2e-6)


@pytest.mark.parametrize(
    ("statement", "reading", "factor"), [(MINIBATCH, READINGS["many-steps"], 1), (SMOOTHED, DOUBLED, 2)]
)
def test_a_grid_that_holds_says_how_much_of_the_constant_is_needed(statement, reading, factor):
    found = statement.decide(reading, grid_bounds(HOLDS, HOLDS))
    assert found.verdict is Verdict.HOLDS_ON_GRID
    assert "at all 2 points, with δ at most 0.5 of" in found.summary
    sharpness = found.sharpness[0]
    assert sharpness.claimed == 8 * factor**2
    assert sharpness.holds_with == pytest.approx(8 * (factor * 0.9) ** 2)
    assert sharpness.needed == pytest.approx(8 * (factor * 0.7) ** 2)
    unknown = statement.decide(reading, grid_bounds(HOLDS, failing=None)).sharpness[0]
    assert unknown.needed is None


def test_an_upper_bound_above_the_claim_decides_nothing():
    found = MINIBATCH.decide(READINGS["many-steps"], grid_bounds(HOLDS, OPEN))
    assert (found.verdict, found.sharpness[0].holds_with) == (Verdict.INCONCLUSIVE, None)


def test_an_implementation_with_less_noise_decides_nothing():
    found = MINIBATCH.decide(READINGS["many-steps"], grid_bounds(HOLDS, ratio=0.999))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.summary.startswith("at a place the implementation")


@pytest.mark.parametrize(
    ("reading", "worst", "steps"),
    [("output-before", (150, 20, 1.0, 22.0), 1), ("every-epsilon", (1000, 1, 5.0, 145.0), 125)],
)
def test_a_failing_grid_names_the_noise_that_is_needed(reading, worst, steps):
    fails = Point(words="three", claimed=1e-6, lower=1e-3)
    value = bounds.GridBounds(points=(HOLDS, fails), implemented=(), worst=worst, proven=1.0, failing=None)
    found = MINIBATCH.decide(READINGS[reading], value)
    assert found.verdict is Verdict.REFUTED
    assert ("the same without replacement" in found.evidence) == (steps == 1)
    sharpness = found.sharpness[0]
    assert (sharpness.claimed, sharpness.holds_with) == (8, None)
    factor = math.sqrt(sharpness.needed / 8)
    seen = bounds.replace(bounds.printed(*worst[:3], 1e-6), steps=steps)
    assert (
        lower_delta(seen.scaled(factor), worst[2])[0]
        > 1e-6
        > lower_delta(seen.scaled(1.002 * factor), worst[2])[0]
    )


@pytest.mark.parametrize(
    ("points", "ratio", "proven", "verdict", "holds_with"),
    [
        ((HOLDS, HOLDS), 1.0, 0.5, Verdict.HOLDS_ON_GRID, 8.0),
        ((HOLDS, HOLDS), 1.0, None, Verdict.HOLDS_ON_GRID, None),
        ((HOLDS, OPEN), 1.0, 0.5, Verdict.INCONCLUSIVE, None),
        ((HOLDS, HOLDS), 0.999, 0.5, Verdict.INCONCLUSIVE, None),
    ],
)
def test_noisy_sgd_holds_where_both_the_bound_and_the_implementation_do(
    points, ratio, proven, verdict, holds_with
):
    """32 σ² is printed: half the standard deviation is 8, a quarter is 2."""
    value = noisy_sgd.GridBounds(
        points=points,
        implemented=(Implemented(words="a place", ratio=ratio),),
        sharp=noisy_sgd.SHARP,
        proven=proven,
        failing=0.25,
    )
    statement = NoisySgdPrivacy()
    found = statement.decide(next(r for r in statement.readings if r.id == "proof-range"), value)
    assert found.verdict is verdict
    assert ("with δ at most 0.5 of" in found.summary) == (verdict is Verdict.HOLDS_ON_GRID)
    assert ("at a place the implementation" in found.summary) == (ratio < 1.0)
    assert found.evidence["least noise of the implementation"].value == ratio
    assert found.evidence["grid points at which the claim holds"].value == points.count(HOLDS)
    assert (found.sharpness[0].holds_with, found.sharpness[0].needed) == (holds_with, 2.0)
