"""One error budget for a whole run: split over claims before anything is drawn, then spent, never overspent.

By the union bound the probability that any of the tests alarms falsely is at most the sum of their levels, whatever
their dependence. So the sum of the shares is at most the total, and the levels used within a claim sum to at most its
share. The sums are compared exactly, as fractions, so rounding cannot leak.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from dpsco_verify.errors import InputError
from dpsco_verify.validation import require_open_interval, require_positive

WHOLE = "whole"
"""The name of the only part of a share that was not divided."""


@dataclass(frozen=True)
class Part:
    """A part of a claim's share: the level at which one test may be run."""

    claim_id: str
    name: str
    alpha: float


@dataclass(frozen=True)
class Share:
    """What a claim was allotted: the sum, at most, of the levels of its tests."""

    claim_id: str
    alpha: float

    def whole(self) -> Part:
        """Return the share as one part."""
        return Part(claim_id=self.claim_id, name=WHOLE, alpha=self.alpha)

    def divide(self, parts: Mapping[str, float] | Iterable[str]) -> DividedShare:
        """Divide the share by fixed positive weights, or equally over names; do it before anything is drawn."""
        return DividedShare(
            claim_id=self.claim_id, alpha=self.alpha, levels=_divided("parts", self.alpha, parts)
        )


@dataclass(frozen=True)
class DividedShare:
    """A share and its division into named parts."""

    claim_id: str
    alpha: float
    levels: tuple[tuple[str, float], ...]

    def part(self, name: str) -> Part:
        """Return the part of this name."""
        levels = dict(self.levels)
        if name not in levels:
            raise InputError(
                f"name={name!r} is not a part of {self.claim_id!r}; give one of {', '.join(levels)}"
            )
        return Part(claim_id=self.claim_id, name=name, alpha=levels[name])


@dataclass(frozen=True)
class ErrorBudget:
    """The total probability of any false alarm, and its shares by claim id, sorted. Make it with :meth:`split`."""

    total: float
    shares: tuple[tuple[str, float], ...]

    def __post_init__(self) -> None:
        if sum((Fraction(alpha) for _, alpha in self.shares), Fraction(0)) > Fraction(self.total):
            raise InputError(
                f"shares={self.shares!r} exceed total={self.total!r}; make the budget with ErrorBudget.split"
            )

    @classmethod
    def split(cls, total: float, weights: Mapping[str, float]) -> ErrorBudget:
        """Split `total`, in (0, 1), over claims in proportion to fixed positive weights.

        The result depends on the mapping's content, not on its order.
        """
        total = require_open_interval("total", total, 0.0, 1.0)
        return cls(total=total, shares=_divided("weights", total, weights))

    def share(self, claim_id: str) -> Share:
        """Return the share of a claim."""
        shares = dict(self.shares)
        if claim_id not in shares:
            raise InputError(f"claim_id={claim_id!r} has no share; give one of {', '.join(shares)}")
        return Share(claim_id=claim_id, alpha=shares[claim_id])


@dataclass(frozen=True)
class Expense:
    """One test that was run: its claim, the part it used, and the level at which it was run."""

    claim_id: str
    part: str
    alpha: float


class Spending:
    """The account of a budget: which tests were run, at which level.

    Expenses are plain records; the order in which they were booked does not show.

    Raises
    ------
    InputError
        When an expense uses a part twice, exceeds its part, or would exceed its claim's share. Nothing is then booked.

    """

    def __init__(self, budget: ErrorBudget) -> None:
        self._budget = budget
        self._expenses: dict[tuple[str, str], Expense] = {}

    @property
    def budget(self) -> ErrorBudget:
        """The budget that is spent."""
        return self._budget

    @property
    def expenses(self) -> tuple[Expense, ...]:
        """What was spent, sorted by claim and part."""
        return tuple(self._expenses[key] for key in sorted(self._expenses))

    def spend(self, part: Part, *, alpha: float | None = None) -> float:
        """Book the test of `part` at level `alpha`, by default all of the part's; return the level."""
        level = part.alpha if alpha is None else require_positive("alpha", alpha)
        if level > part.alpha:
            raise InputError(
                f"alpha={level!r} exceeds the {part.alpha!r} of {part.claim_id!r}, {part.name!r}; test at a lower level"
            )
        self._book(Expense(claim_id=part.claim_id, part=part.name, alpha=level))
        return level

    def spent(self, claim_id: str | None = None) -> float:
        """Return the sum of the levels spent, by one claim or in the whole."""
        if claim_id is not None:
            self._budget.share(claim_id)
        return math.fsum(e.alpha for e in self._expenses.values() if claim_id in (None, e.claim_id))

    def _book(self, expense: Expense) -> None:
        expenses = self._expenses
        key = (expense.claim_id, expense.part)
        share = self._budget.share(expense.claim_id)
        require_positive("alpha", expense.alpha)
        if key in expenses:
            raise InputError(
                f"part={expense.part!r} of {expense.claim_id!r} is spent already; a part pays for one test"
            )
        used = sum(
            (Fraction(e.alpha) for e in expenses.values() if e.claim_id == expense.claim_id), Fraction(0)
        )
        if used + Fraction(expense.alpha) > Fraction(share.alpha):
            raise InputError(
                f"alpha={expense.alpha!r} on top of {float(used)!r} exceeds the share {share.alpha!r} of "
                f"{expense.claim_id!r}; divide the share among its tests"
            )
        expenses[key] = expense


def _divided(
    name: str, total: float, weights: Mapping[str, float] | Iterable[str]
) -> tuple[tuple[str, float], ...]:
    """Return levels in proportion to the weights, sorted by name, whose exact sum is at most `total`."""
    pairs = list(weights.items()) if hasattr(weights, "items") else [(key, 1.0) for key in weights]
    if not pairs:
        raise InputError(f"{name}={weights!r} is empty; give at least one")
    if len({key for key, _ in pairs}) < len(pairs):
        raise InputError(f"{name}={[key for key, _ in pairs]!r} holds a name twice; give each once")
    exact = {key: Fraction(require_positive(f"{name}[{key!r}]", weight)) for key, weight in pairs}
    whole = sum(exact.values(), Fraction(0))
    levels = {key: _rounded_down(Fraction(total) * exact[key] / whole) for key in sorted(exact)}
    for key, level in levels.items():
        if level == 0.0:
            raise InputError(
                f"{name}[{key!r}]={float(exact[key])!r} leaves a level of 0; give a larger weight"
            )
    return tuple(levels.items())


def _rounded_down(value: Fraction) -> float:
    nearest = float(value)
    return nearest if Fraction(nearest) <= value else math.nextafter(nearest, 0.0)
