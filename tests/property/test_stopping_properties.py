"""Every route to the tail of the stopping time, at any size that rational arithmetic reaches."""

from __future__ import annotations

import math

import flint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsco_verify.algorithm.stopping_law import (
    log_survival,
    log_tail_bound,
    log_tail_enclosure,
    relative_error,
    tail_exact,
)
from dpsco_verify.privacy.balls import ball

pytestmark = pytest.mark.slow  # the everyday part has two minutes


@st.composite
def places(draw, largest=40):
    n = draw(st.integers(1, largest))
    return n, draw(st.integers(1, n)), draw(st.integers(0, 4 * n))


@given(places())
def test_three_routes_against_rationals(place):
    n, m, t = place
    exact = tail_exact(n, m, t)
    low, high = log_tail_enclosure(n, m, t)
    bound, tail = log_tail_bound(n, m, t), float(log_survival(n, m, t)[t])
    assert low <= high <= 0.0
    assert low <= bound <= 0.0
    if exact == 0:
        assert low == high == tail == bound == -math.inf
        return
    with flint.ctx.workprec(256):
        log = ball(exact).log()
        assert not log < ball(low)
        assert not log > ball(high)
        assert not log > ball(bound)
        assert abs(log - ball(tail)) <= ball(relative_error(m, t) + 2.0**-51 * abs(low) + 1e-18)


@given(st.integers(2, 10**15), st.floats(0.0, 1.0), st.floats(-3.0, 3.0), st.floats(0.0, 3.0))
def test_the_bound_is_monotone_at_any_size(n, share, first, step):
    """It falls in t, which a bound at its best point does as the tail does."""
    m = max(1, math.ceil(share * n))
    t = math.floor(n * 10.0**first)
    later = math.floor(t * 10.0**step)
    early, late = log_tail_bound(n, m, t), log_tail_bound(n, m, later)
    assert late <= 0.0
    # The point is the best one to 1e-12 only, which costs a little of the bound.
    assert late <= early * (1.0 - 1e-9)
