"""The arithmetic under every certificate, at its edges and against SciPy."""

from __future__ import annotations

from fractions import Fraction

import flint
import pytest
from scipy.stats import norm

from dpsco_verify.evidence.checker import Rejected
from dpsco_verify.evidence.checker.arithmetic import (
    MOST_STEPS,
    MOST_TERMS,
    ball,
    rational,
    require,
    require_steps,
    require_terms,
    root_up,
    shown,
    upper_tail,
)


def test_a_rational_is_in_lowest_terms():
    assert rational("x", "-3/4") == Fraction(-3, 4)
    for text in ("2/4", "4/1", "-0"):
        with pytest.raises(Rejected, match="x="):
            rational("x", text)


@pytest.mark.parametrize("z", [Fraction(-5), Fraction(-1, 3), Fraction(0), Fraction(2), Fraction(30)])
def test_the_tail_is_the_normal_one(z):
    assert float(upper_tail(ball(z))) == pytest.approx(norm.sf(float(z)), rel=1e-12)
    assert (
        upper_tail(ball(z)) + upper_tail(ball(-z)) == 1
        or abs(float(upper_tail(ball(z)) + upper_tail(ball(-z))) - 1) < 1e-15
    )


def test_only_what_holds_is_let_through():
    require(holds=True, reason="no")
    with pytest.raises(Rejected, match="^no$"):
        require(holds=False, reason="no")


@pytest.mark.parametrize(
    ("check", "most", "falls"), [(require_terms, MOST_TERMS, 4), (require_steps, MOST_STEPS, 2)]
)
def test_work_is_bounded_by_what_it_costs_at_the_precision(check, most, falls):
    for bits, allowed in ((64, most), (256, most), (512, most // falls)):
        with flint.ctx.workprec(bits):
            check(allowed, "a sum")
            with pytest.raises(
                Rejected, match=f"a sum takes {allowed + 1} .* above the {allowed} .* {bits} bits"
            ):
                check(allowed + 1, "a sum")


def test_a_number_is_shown_to_12_digits_as_long_as_it_has_a_double():
    assert shown(Fraction(1, 3)) == "0.333333333333"
    assert shown(Fraction(-(10**300) + 1)) == "-1e+300"
    for sign in (1, -1):
        assert shown(Fraction(sign * 10**300)) == "a number above 1e300"


@pytest.mark.parametrize("root", [0, 1, 3, 10**20])
def test_a_root_is_rounded_up(root):
    square = Fraction(root * root)
    assert root_up(square) == root
    assert root_up(square + Fraction(1, 10**60)) == root + 1
    if root:
        assert root_up(square - Fraction(1, 10**60)) == root
