"""Events: membership, and the choice of the one that shows most."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpsco_verify.auditing import Event, select_event
from dpsco_verify.auditing.event import best_half_line, likelihood_ratio_event
from dpsco_verify.errors import InputError


def test_membership():
    event = Event(((-math.inf, -1.0), (0.0, 2.0), (5.0, math.inf)))
    x = np.array([-2.0, -1.0, -0.5, 0.0, 1.9, 2.0, 5.0, 9.0])
    assert event.contains(x).tolist() == [True, False, False, True, True, False, True, True]
    assert Event(((0.0, 2.0),)).contains(x).tolist() == [False, False, False, True, True, False, False, False]
    assert not Event(()).contains(x).any()
    assert str(event) == "[-inf, -1) ∪ [0, 2) ∪ [5, inf)"


@pytest.mark.parametrize(
    "intervals",
    [(), ((0.2, math.inf),), ((-math.inf, 0.1), (0.4, 0.4), (0.5, 0.7)), ((0.1, 0.2), (0.2, 0.3))],
)
def test_what_lies_in_an_event_is_counted_among_sorted_numbers(intervals):
    event = Event(intervals)
    ordered = np.sort(np.round(np.random.default_rng(0).random(500), 2))
    assert event.count(ordered) == np.count_nonzero(event.contains(ordered))


def test_half_lines_by_brute_force():
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 30, 200).astype(float), rng.integers(0, 20, 200).astype(float)
    factor = math.exp(0.3)
    for upper in (True, False):
        event = best_half_line(first, second, epsilon=0.3, upper=upper)
        gaps = []
        for cut in np.unique(np.concatenate([first, second, [math.inf]])):
            a, b = (first >= cut, second >= cut) if upper else (first < cut, second < cut)
            if a.sum() >= 10:
                gaps.append(a.mean() - factor * b.mean())
        got = event.contains(first).mean() - factor * event.contains(second).mean()
        assert got == pytest.approx(max(gaps))


def test_the_likelihood_ratio_finds_what_no_half_line_shows():
    rng = np.random.default_rng(1)
    outer = np.concatenate([rng.normal(-4, 1, 20_000), rng.normal(4, 1, 20_000)])
    rng.shuffle(outer)
    inner = rng.normal(0, 1, 40_000)
    event = select_event(outer, inner, epsilon=0.5)
    assert len(event.intervals) == 2
    assert event.contains(np.array([-4.0, 0.0, 4.0])).tolist() == [True, False, True]


def test_an_event_that_never_occurs_is_not_chosen():
    rng = np.random.default_rng(2)
    event = select_event(rng.standard_normal(999), rng.standard_normal(999), epsilon=3.0)
    assert event.contains(rng.standard_normal(100_000)).sum() > 0


def test_point_masses():
    first = np.repeat([0.0, 1.0], [900, 100])
    second = np.repeat([0.0, 1.0], [990, 10])
    event = select_event(
        np.random.default_rng(0).permutation(first), np.random.default_rng(1).permutation(second), epsilon=0.1
    )
    assert event.contains(np.array([0.0, 1.0])).tolist() == [False, True]


def test_bad_samples():
    with pytest.raises(InputError, match="too few"):
        select_event(np.zeros(3), np.zeros(9), epsilon=0.0)
    with pytest.raises(InputError, match=r"first\[1\]"):
        select_event(np.array([0.0, math.nan, 1.0, 2.0]), np.zeros(9), epsilon=0.0)
    with pytest.raises(InputError, match="epsilon=-1"):
        select_event(np.zeros(9), np.zeros(9), epsilon=-1.0)
    with pytest.raises(InputError, match="bins=1"):
        likelihood_ratio_event(np.zeros(9), np.zeros(9), epsilon=0.0, bins=1)
