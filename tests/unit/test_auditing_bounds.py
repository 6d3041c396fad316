"""The bound for counts that are looked at once, by summing over all counts; and the search for where rejections end."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from dpsco_verify.auditing.bounds import _end_of_rejections, epsilon_lower_bound_at_once

PAIRS = 24
ALPHA = 0.1


def error(epsilon, q, *, alpha=ALPHA):
    """Return the exact probability that the bound exceeds ε where P(E) = e^ε q and P'(E) = q."""
    counts = np.arange(PAIRS + 1)
    first, second = binom.pmf(counts, PAIRS, math.exp(epsilon) * q), binom.pmf(counts, PAIRS, q)
    return sum(
        first[a] * second[b]
        for a in counts
        for b in counts
        if epsilon_lower_bound_at_once(int(a), int(b), PAIRS, alpha=alpha) > epsilon + 1e-12
    )


CASES = [(epsilon, part) for epsilon in (0.0, 0.3, 1.0, 2.5) for part in (0.05, 0.3, 0.7, 0.99)]


@pytest.mark.parametrize(("epsilon", "part"), CASES)
def test_the_bound_exceeds_the_truth_no_more_often_than_it_says(epsilon, part):
    assert error(epsilon, part * math.exp(-epsilon)) <= ALPHA


def test_a_bound_at_a_laxer_level_is_seen_to_exceed_the_truth_too_often():
    assert error(0.0, 0.3, alpha=0.3) > ALPHA


def test_it_is_tighter_than_betting_where_events_are_rare():
    n, p, q = 100_000, 0.02, 0.01
    lower = epsilon_lower_bound_at_once(int(p * n), int(q * n), n, alpha=0.1)
    # log 2 less 1.31 standard errors, sqrt(1/2000 + 1/1000), and p − q; Hoeffding's exponent has sqrt(2 log 10) = 2.1.
    assert math.log(2.0) - 1.4 * math.sqrt(1.5e-3) - (p - q) < lower < math.log(2.0)
    assert epsilon_lower_bound_at_once(5, 5, 10, alpha=0.1) == 0.0
    assert epsilon_lower_bound_at_once(10, 0, 10, alpha=0.1) > 0.0


@pytest.mark.parametrize(
    ("rejected", "end"),
    [
        (lambda value: value > 0.0, 0.0),
        (lambda value: value >= 0.0, 1.0),
        (lambda value: 0.0 <= value <= 0.03, 0.03),
        (lambda value: 0.0 <= value <= 0.57, 0.57),
        (lambda value: 0.0 <= value <= 0.23 or 0.57 <= value <= 0.83, 0.23),
    ],
)
def test_the_end_of_the_first_rejections(rejected, end):
    found = _end_of_rejections(rejected, np.linspace(0.0, 1.0, 11))
    assert found == pytest.approx(end, abs=1e-9)
    assert found <= end
