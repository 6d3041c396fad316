"""Witnesses about ``output``, as the independent checker evaluates them."""

from __future__ import annotations

from typing import ClassVar

import flint

from dpsco_verify.evidence.checker import (
    Count,
    Shows,
    Sides,
    Witness,
    require,
)

MOST_DRAWS = 1000


class OutputDefined(Witness, frozen=True, kw_only=True):
    """A run of T iterations holds the iterates ``w_1 … w_{T+1}``, and the last fresh draw is at time T: T + 1 > T.

    A time enters the average when its pass through the loop runs, so it is at most T, whatever is drawn; the draws
    here are replayed, must end when the loop does, and their last fresh time must be T.
    """

    readings: ClassVar[dict[str, int]] = {"corrected": 0}
    claim_id: ClassVar[str] = "output"
    shows: ClassVar[Shows] = Shows.CERTIFIES
    over: ClassVar[str] = "every n and all draws"
    argument: ClassVar[str] = (
        "a time enters the average when its pass through the loop runs; computed is one run"
    )
    n: Count
    draws: tuple[Count, ...]

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        require(
            holds=len(self.draws) <= MOST_DRAWS, reason=f"there are more than {MOST_DRAWS} draws to replay"
        )
        seen: set[int] = set()
        last = 0
        for time, y in enumerate(self.draws, start=1):
            require(holds=y <= self.n, reason=f"draw {y} is above n={self.n}")
            require(holds=2 * len(seen) <= self.n, reason=f"the loop has ended before draw {time}")
            last = last if y in seen else time
            seen.add(y)
        require(holds=2 * len(seen) > self.n, reason="the loop has not ended")
        words = f"iterates > largest time averaged, draws {self.draws} of n = {self.n}"
        return flint.arb(len(self.draws) + 1), flint.arb(last), words
