"""Calibrated noise of a whole run: how long it takes from n = 10³ to 10⁸, beside one bound, and what doubles lose."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from benchmarks.measure import growth, in_turn, seconds
from benchmarks.record import Row, row
from benchmarks.size import Size
from dpsco_verify.evidence import checker
from dpsco_verify.privacy.whole_run import WholeRun, bounds, calibrate, delta_upper, functional_bounds

GROUP = "whole run"
DELTA = 1e-6

_LIMITS = {10**3: 1.0, 10**5: 1.0, 10**6: 5.0, 10**8: 60.0}
"""Seconds that a calibration may take."""


def rows(size: Size) -> Iterator[Row]:
    """Yield the times of calibrations and their growth, the checker's beside them, and the error against balls."""
    limits = _LIMITS if size is Size.FULL else {10**3: 1.0}
    for n, limit in limits.items():
        for name, epsilon in (("1", 1.0), ("1/√n", n**-0.5)):
            yield row(
                GROUP,
                f"calibrate, n = {n:.0e}, ε = {name}",
                [
                    seconds(lambda n=n, e=epsilon: calibrate(n=n, epsilon=e, delta=DELTA))
                    for _ in range(size.rounds)
                ],  # type: ignore[misc]  # bound now
                unit="s",
                at_most=limit,
                note="certificate included",
            )
    n = size.of(10**5, 10**3)
    yield _beside_one_bound(size, n)
    yield growth(
        GROUP,
        "growth of the time in n",
        lambda n: calibrate(n=n, epsilon=n**-0.5, delta=DELTA),
        [size.of(10**4, 10**2), size.of(10**6, 10**3), size.of(10**8, 10**4)],
        rounds=size.of(3, 1),
        at_most=0.6,
    )
    yield _against_balls(n)


def _beside_one_bound(size: Size, n: int) -> Row:
    ratio = calibrate(n=n, epsilon=1.0, delta=DELTA).sigma
    number = 0

    def one_bound() -> float:
        nonlocal number
        number += 1  # another σ each time, for what was computed is remembered
        return delta_upper(WholeRun(n=n, sigma=ratio * (1.0 + 1e-9 * number)), 1.0)

    pairs = in_turn(
        lambda: calibrate(n=n, epsilon=1.0, delta=DELTA), one_bound, rounds=size.rounds, calls=(1, 5)
    )
    return row(
        GROUP,
        f"calibrate over one upper bound, n = {n:.0e}",
        [whole / one for whole, one in pairs],
        unit="x",
        at_most=60.0,
        note="about ten bounds, and the certificate in balls twice",
    )


def _against_balls(n: int) -> Row:
    found = calibrate(n=n, epsilon=1.0, delta=DELTA)
    assert found.certificate is not None  # noqa: S101  one epoch, K < n
    exact = Fraction(found.certificate.right)
    checker.Kinds().check(found.certificate)
    problem = bounds.sum_of(found.run, found.run.law[0][0], 1.0)
    doubles = math.exp(functional_bounds.sharpest(problem, functional_bounds.CHECKABLE)[0])
    return row(
        GROUP,
        "bound in doubles against balls: relative error",
        [float(abs(Fraction(doubles) / exact - 1))],
        unit="1",
        at_most=1e-5,
        note="doubles are above, by the rounding that they allow for",
    )
