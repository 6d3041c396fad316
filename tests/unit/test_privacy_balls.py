"""Ball arithmetic: enclosures enclose, and undecided comparisons are not decided."""

from __future__ import annotations

from fractions import Fraction

import flint
import mpmath
import pytest

from dpsco_verify.errors import InputError
from dpsco_verify.privacy.balls import ball, decide, enclose, upper_tail


@pytest.mark.parametrize("z", [-40.0, -3.0, 0.0, 0.1, 5.0, 40.0, 1000.0])
def test_upper_tail(z):
    low, high = enclose(lambda: upper_tail(ball(z)), relative=1e-15)
    with mpmath.workdps(40):
        exact = mpmath.ncdf(-mpmath.mpf(z))
        assert mpmath.mpf(low) <= exact <= mpmath.mpf(high)
    assert high - low <= 1e-15 * high + 1e-300


def test_a_double_is_the_rational_that_it_is():
    assert decide(lambda: ball(0.1), lambda: ball(Fraction(1, 10))) is True


def test_decisions():
    third = Fraction(1, 3)
    assert decide(lambda: ball(third) + flint.arb(10) ** -60, lambda: ball(third)) is True
    assert decide(lambda: ball(third), lambda: ball(third) + flint.arb(10) ** -60) is False
    assert decide(lambda: flint.arb(2).sqrt() ** 2, lambda: flint.arb(2)) is None


def test_what_is_not_finite_has_no_enclosure():
    with pytest.raises(InputError, match="not finite"):
        enclose(lambda: flint.arb(1) / flint.arb(0))
