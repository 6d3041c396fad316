"""Guesses by rank: how many canaries with the largest scores are guessed in, and with the smallest scores out.

The number of guesses is what a test of one run has to know beforehand. It may be given; else several numbers are
tried, each at a part of the level that is fixed in advance, half of it for "guess all". The part of those guessed in
may depend on the scores as long as the coins do not enter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpsco_verify.arrays import BoolArray, FloatArray
from dpsco_verify.auditing.canaries.scores import RankedScores
from dpsco_verify.errors import InputError
from dpsco_verify.validation import require_integer

_BOTH = (0.8, 0.7, 0.55, 0.25)
_TOP = (0.25, 0.05)
_WEIGHT_OF_ALL = 0.5
_WINDOW = 1.5
"""In standard deviations of the number of canaries in, √m/2, twice: three of them on either side of m/2."""
_OUTSTANDING = 8.0


@dataclass(frozen=True, kw_only=True)
class Guesses:
    """A number of guesses.

    Attributes
    ----------
    top, bottom
        How many of the largest scores are guessed in, of the smallest out.
    canaries
        m.
    weight
        The part of the level that it gets.
    by_scores
        Whether, where all are guessed, the scores say how many of them in.
    """

    top: int
    bottom: int
    canaries: int
    weight: float = 1.0
    by_scores: bool = False

    @property
    def number(self) -> int:
        """How many there are, N."""
        return self.top + self.bottom

    @property
    def effective_canaries(self) -> float:
        """What counts as m: half of it where only "in" or only "out" is guessed."""
        return self.canaries if self.top and self.bottom else 0.5 * self.canaries

    @property
    def guessed(self) -> float:
        """The part of the canaries that is guessed on one side."""
        return max(self.top, self.bottom) / self.canaries

    def correct(self, ranked: RankedScores) -> int:
        """Return how many of the guesses are right."""
        top, bottom = self.top, self.bottom
        if self.by_scores:
            top = _split(ranked.scores)
            bottom = self.canaries - top
        return _right(ranked.coins, top, bottom)

    def __str__(self) -> str:
        if self.number == self.canaries:
            return f"all {self.canaries:,}"
        sides = [f"{n:,} {side}" for n, side in ((self.top, "in"), (self.bottom, "out")) if n]
        return f"{' and '.join(sides)} of {self.canaries:,}"


def _right(coins: BoolArray, top: int, bottom: int) -> int:
    wrong_out = np.count_nonzero(coins[len(coins) - bottom :])
    return int(np.count_nonzero(coins[:top])) + bottom - int(wrong_out)


def _split(scores: FloatArray) -> int:
    """Return how many of the scores, falling, are guessed in where all are guessed: half, or up to an outstanding gap.

    The coins are fair, so that a gap between canaries in and out lies within three standard deviations of the middle.
    """
    m = len(scores)
    reach = int(_WINDOW * np.sqrt(m))
    low, high = max(m // 2 - reach, 1), min(m // 2 + reach, m - 1)
    gaps = scores[low - 1 : high] - scores[low : high + 1]
    if gaps.size < 2:
        return m // 2
    widest = int(gaps.argmax())
    usual = (float(gaps.sum()) - float(gaps[widest])) / (gaps.size - 1)
    return low + widest if gaps[widest] > _OUTSTANDING * usual else m // 2


def planned_guesses(canaries: int, guesses: int | tuple[int, int] | None) -> tuple[Guesses, ...]:
    """Return the numbers of guesses that are tried.

    Parameters
    ----------
    canaries
        m.
    guesses
        A number of guesses fixed in advance, half of them in and half out; or (in, out); or None for the list.

    Raises
    ------
    InputError
        For numbers that are no possible numbers of guesses.
    """
    m = canaries
    if guesses is None:
        each = [(int(part * m / 2), int(part * m / 2)) for part in _BOTH] + [
            (int(part * m), 0) for part in _TOP
        ]
        each = [pair for pair in dict.fromkeys(each) if 0 < sum(pair) < m]
        rest = (1.0 - _WEIGHT_OF_ALL) / (len(_BOTH) + len(_TOP))
        return (
            Guesses(top=m // 2, bottom=m - m // 2, canaries=m, weight=_WEIGHT_OF_ALL, by_scores=True),
            *(Guesses(top=a, bottom=b, canaries=m, weight=rest) for a, b in each),
        )
    if isinstance(guesses, tuple):
        if len(guesses) != 2:
            raise InputError(f"guesses={guesses!r} is no pair; give a number of guesses, or (in, out)")
        top, bottom = (require_integer("guesses", number, minimum=0) for number in guesses)
    else:
        number = require_integer("guesses", guesses, minimum=1)
        top, bottom = number // 2, number - number // 2
    if not 0 < top + bottom <= m:
        raise InputError(
            f"guesses={guesses!r} is no number of guesses about {m} canaries; give 1 to {m} in all"
        )
    return (Guesses(top=top, bottom=bottom, canaries=m, by_scores=guesses == m),)
