"""Tests of many runs: scores that are independent, each of a run of its own, against what a claim allows.

A threshold t turns scores into a test of "in" against "out" with rates FPR(t) and TPR(t), and the claim says ``TPR ≤
F(FPR)``; from the other side ``TNR ≤ F(FNR)``. The threshold is the j-th largest score out: whatever the law of the
scores, FPR(t) is then at most the j-th smallest of n_out uniform numbers, Beta(j, n_out − j + 1), and given t the
number of scores in above it is binomial. Its bounds are those of Clopper and Pearson (1934) for j − 1 false
positives; and j having been fixed, nothing is paid for where t came to lie. From the other side t is the j-th
smallest score in. j runs through 1, 2, 4, … up to half of the group, and all of these share the level evenly: the
price of choosing the threshold.

The groups' sizes may be anything. Scores of one run are not independent of each other, and this says nothing of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpsco_verify.auditing.canaries.families import Family
from dpsco_verify.auditing.canaries.lines import TradeOffLines
from dpsco_verify.auditing.canaries.scores import RankedScores
from dpsco_verify.evidence.checker import ScoresBeyond
from dpsco_verify.inference.binomial import (
    at_least,
    clopper_pearson_lower,
    clopper_pearson_upper,
    critical_count,
)
from dpsco_verify.inference.witnesses import LEVEL_ROUNDING


@dataclass(frozen=True)
class _Threshold:
    """A threshold at a rank of one group: `beyond` of its `size` scores lie beyond, and `hits` of the other group's."""

    side: str
    beyond: int
    size: int
    hits: int
    size_other: int

    def rate_upper(self, alpha: float) -> float:
        """Return the upper bound of the group's own rate beyond the threshold, at half of alpha."""
        return clopper_pearson_upper(self.beyond, self.size, alpha=0.5 * alpha)


@dataclass(frozen=True, eq=False)
class ManyRuns:
    """Thresholds at ranks fixed in advance, and what lies beyond them."""

    thresholds: tuple[_Threshold, ...]

    @classmethod
    def of(cls, ranked: RankedScores) -> ManyRuns:
        """Return the thresholds of these scores."""
        places_in, places_out = np.flatnonzero(ranked.coins), np.flatnonzero(~ranked.coins)
        last = ranked.canaries - 1
        found = []
        for side, own, other in (
            ("out", places_out, places_in),
            ("in", last - places_in[::-1], last - places_out[::-1]),
        ):
            j = 1
            while j == 1 or 2 * j <= own.size:
                hits = int(np.searchsorted(other, own[j - 1]))
                found.append(_Threshold(side, j - 1, own.size, hits, other.size))
                j *= 2
        return cls(tuple(found))

    def rejects(self, lines: TradeOffLines, alpha: float) -> bool:
        """Return whether the claim is refuted, at a level that all thresholds share."""
        return self.rejecting(lines, alpha) is not None

    def rejecting(self, lines: TradeOffLines, alpha: float) -> int | None:
        """Return which threshold refutes the claim, the first that does."""
        share = alpha / len(self.thresholds)
        for i, at in enumerate(self.thresholds):
            seen = clopper_pearson_lower(at.hits, at.size_other, alpha=0.5 * share)
            if seen > float(lines.most(at.rate_upper(share))):
                return i
        return None

    def finder(
        self, lines: TradeOffLines, family: Family, delta: float, *, alpha: float, power: float
    ) -> Callable[[float], bool]:
        """Return whether scores by the family's best test are found with the power, as a function of the member."""
        share = alpha / len(self.thresholds)
        reachable = []
        for at in self.thresholds:
            most = float(lines.most(at.rate_upper(share)))
            count = (
                critical_count(at.size_other, null_probability=most, alpha=0.5 * share)
                if most < 1.0
                else None
            )
            if count is not None:
                reachable.append((at, count))
        return lambda parameter: any(
            float(
                at_least(
                    count,
                    at.size_other,
                    family.power_point(parameter, delta, (at.beyond + 1.0) / (at.size + 1.0)),
                )
            )
            >= power
            for at, count in reachable
        )

    def witness(self, index: int, lines: TradeOffLines, alpha: float, null: str) -> ScoresBeyond:
        """Return the witness of a refutation at one threshold."""
        share, at = alpha / len(self.thresholds), self.thresholds[index]
        rate = at.rate_upper(share)
        return ScoresBeyond(
            null_hypothesis=null,
            # The rate's tail is half of the share up to rounding, and the other one smaller.
            alpha=str(Fraction(share * LEVEL_ROUNDING)),
            orders=lines.few(lines.binding(rate)),
            hits=at.hits,
            others=at.size_other,
            beyond=at.beyond,
            size=at.size,
            rate=str(Fraction(rate)),
        )

    def told(self, index: int) -> str:
        """Return in words what was seen at one threshold."""
        at = self.thresholds[index]
        side, other = ("above", "in") if at.side == "out" else ("below", "out")
        return (
            f"{at.hits:,} of {at.size_other:,} scores {other} and {at.beyond:,} of {at.size:,} scores {at.side} lie "
            f"{side} the threshold"
        )
