"""Witnesses about ``stopping-tail``, as the independent checker evaluates them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar

import flint

from dpsco_verify.evidence.checker import (
    Between,
    Count,
    MeanNull,
    OneOf,
    Parameters,
    Shows,
    Sides,
    Witness,
    ball,
    require,
)

TAIL = "P(τ > 2n) ≤ claimed"
"""The null hypothesis about the implementation's stopping times at one n."""


def _claimed(parameters: Parameters) -> flint.arb:
    """Return ``2e^{−n/16}``."""
    n = parameters["n"]
    return 2 * ball(Fraction(-n, 16)).exp() if isinstance(n, int) else flint.arb("nan")


NULLS = {
    f"{stop}-counter" if counter else stop: MeanNull(
        name=TAIL,
        parameters={"stopping": OneOf(stop), "counter": OneOf(counter), "n": Between(low=16, high=10**6)},
        bound=_claimed,
    )
    for stop in ("loop", "text", "all-points")
    for counter in (False, True)
}
"""What the indicators of ``τ > 2n`` may reject, by reading."""


class StoppingTailViolation(Witness, frozen=True, kw_only=True):
    """``P(T_m > t) > 2e^{−n/16}``, T_m being the draws until m of n points have been seen.

    The reading fixes m and t: with all points, m = n; t = 2n, or 2n − 1 where τ is the final counter.
    """

    readings: ClassVar[dict[str, int]] = {"all-points": 0, "all-points-counter": 1}
    claim_id: ClassVar[str] = "stopping-tail"
    shows: ClassVar[Shows] = Shows.REFUTES
    argument: ClassVar[str] = ""
    n: Count
    points: Count
    draws: Count

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        n, m, t = self.n, self.points, self.draws
        require(holds=n >= 16, reason=f"n={n} is below 16, where the statement says nothing")
        require(holds=n <= 400, reason=f"n={n} is above 400, too large for exact evaluation")
        require(holds=m == n, reason=f"points={m} is not n={n}, the stop of this reading")
        require(
            holds=t == 2 * n - self.readings[reading],
            reason=f"draws={t} does not fit reading {reading!r}",
        )
        # by inclusion and exclusion over the points that are missing
        late = sum((-1) ** (k + 1) * math.comb(n, k) * (n - k) ** t for k in range(1, n + 1))
        words = f"P(T_{m} > {t}) > 2 exp(-{n}/16) for n = {n}"
        return ball(Fraction(late, n**t)), 2 * (ball(Fraction(-n, 16))).exp(), words


class StoppingTailExponent(Witness, frozen=True, kw_only=True):
    """``P(T_m ≥ 2n) ≤ e^{−xn} < 2e^{−n/16}`` for every n ≥ `from_n`, by Janson (2018), Theorem 2.1.

    m is ``⌊n/2⌋ + 1`` or ``⌈n/2⌉``, so ``p = 1 − (m−1)/n ≥ 1/2`` and ``μ/n = H_n − H_{n−m} ≤ ln(n/(n−m)) ≤ a`` with
    ``a = ln(2/(1 − 2/from_n))``. Whether τ counts iterations (τ > 2n means T_m ≥ 2n + 1) or is the final counter
    (T_m ≥ 2n), the event lies in ``{T_m ≥ 2n}``, whose exponent is ``x = p(2 − a − a ln(2/a))``; it grows as a
    falls, that is, with n. Strict: ``x > 1/16``.
    """

    readings: ClassVar[dict[str, int]] = {"loop": 0, "loop-counter": 1, "text": 0, "text-counter": 1}
    claim_id: ClassVar[str] = "stopping-tail"
    shows: ClassVar[Shows] = Shows.CERTIFIES
    over: ClassVar[str] = "every n >= 16"
    argument: ClassVar[str] = (
        "Janson's bound for sums of geometric variables (2018, Theorem 2.1), whose exponent grows with n"
    )
    from_n: Count

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        require(holds=self.from_n == 16, reason=f"from_n={self.from_n} is not 16, where the statement begins")
        a = (2 / (1 - ball(Fraction(2, self.from_n)))).log()
        exponent = (2 - a - a * (2 / a).log()) / 2
        require(holds=bool(a < 2), reason="the mean is not below the horizon")
        words = f"decay exponent of P(tau > 2n) for reading {reading} > 1/16 for all n >= {self.from_n}"
        return exponent, ball(Fraction(1, 16)), words
