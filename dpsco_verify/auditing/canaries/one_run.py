"""Tests of one training run: the number of right guesses against what a claim allows."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
from scipy.special import betaln, expit

from dpsco_verify.auditing.canaries import recursion
from dpsco_verify.auditing.canaries.families import Family
from dpsco_verify.auditing.canaries.guesses import Guesses
from dpsco_verify.auditing.canaries.lines import TradeOffLines
from dpsco_verify.auditing.canaries.scores import RankedScores
from dpsco_verify.evidence.checker import RightGuesses
from dpsco_verify.inference.binomial import at_least

Rule = Callable[[TradeOffLines, Guesses, int, float], bool]
"""``rule(lines, guesses, correct, alpha)``: whether so many right guesses refute the claim at the level alpha."""


def f_dp(lines: TradeOffLines, guesses: Guesses, correct: int, alpha: float) -> bool:
    """Judge by the recursion of :mod:`dpsco_verify.auditing.canaries.recursion`."""
    return recursion.rejects(
        lines,
        correct=correct,
        guesses=guesses.number,
        canaries=guesses.effective_canaries,
        alpha=alpha,
    )


def approximate_dp(lines: TradeOffLines, guesses: Guesses, correct: int, alpha: float) -> bool:
    """Judge by the theorem of Steinke, Nasr and Jagielski (2023) for (ε, δ)-DP.

    With W ~ Bin(N, e^ε/(1 + e^ε)), ``P(K ≥ v) ≤ P(W ≥ v) + 2mδ max_{1≤i≤m} P(v − i ≤ W < v)/i``.

    Source: Privacy auditing with one (1) training run, NeurIPS 2023 (arXiv:2305.08846), the theorem for approximate
    DP.
    """
    epsilon, delta = math.log(lines.slopes[0]), float(lines.offsets[0])
    n, q = guesses.number, float(expit(epsilon))
    total = float(at_least(correct, n, q))
    if delta > 0.0 and correct > 0:
        # Beyond 12 standard deviations is less than 1e-31; there the quotient only falls.
        reach = 12.0 * math.sqrt(n * q * (1.0 - q)) + 50.0
        last = min(correct - 1, int(n * q + reach))
        w = np.arange(last, max(int(n * q - reach), 0) - 1, -1, dtype=np.float64)
        log_mass = w * -math.log1p(math.exp(-epsilon)) - (n - w) * np.logaddexp(0.0, epsilon)
        log_mass -= np.log(n + 1.0) + betaln(n - w + 1.0, w + 1.0)
        below = np.cumsum(np.exp(log_mass)) / (correct - w)
        total += 2.0 * guesses.canaries * delta * float(below.max(initial=0.0))
    return total <= alpha


@dataclass(frozen=True, eq=False)
class OneRun:
    """The numbers of right guesses of one run, and the rule that judges them."""

    rule: Rule
    plans: tuple[Guesses, ...]
    correct: tuple[int, ...]

    @classmethod
    def of(cls, rule: Rule, plans: tuple[Guesses, ...], ranked: RankedScores) -> OneRun:
        """Return the numbers of right guesses."""
        return cls(rule, plans, tuple(plan.correct(ranked) for plan in plans))

    def rejects(self, lines: TradeOffLines, alpha: float) -> bool:
        """Return whether the claim is refuted, at a level that all numbers of guesses share."""
        return self.rejecting(lines, alpha) is not None

    def rejecting(self, lines: TradeOffLines, alpha: float) -> int | None:
        """Return which number of guesses refutes the claim, the first that does."""
        for i, (plan, correct) in enumerate(zip(self.plans, self.correct, strict=True)):
            if self.rule(lines, plan, correct, alpha * plan.weight):
                return i
        return None

    def finder(
        self, lines: TradeOffLines, family: Family, delta: float, *, alpha: float, power: float
    ) -> Callable[[float], bool]:
        """Return whether ideal canaries of the family's member are found with the power, as a function of it."""
        reachable = [
            (plan, count)
            for plan in self.plans
            if (count := _critical(partial(self.rule, lines, plan), plan.number, alpha * plan.weight))
            is not None
        ]
        return lambda parameter: any(
            float(at_least(count, plan.number, family.accuracy(parameter, delta, plan.guessed))) >= power
            for plan, count in reachable
        )

    def witness(self, index: int, lines: TradeOffLines, alpha: float, null: str) -> RightGuesses:
        """Return the witness of a refutation by one number of guesses."""
        plan, correct, level = self.plans[index], self.correct[index], alpha * self.plans[index].weight
        return RightGuesses(
            null_hypothesis=null,
            alpha=str(Fraction(level)),
            orders=lines.few(
                recursion.lines_used(
                    lines,
                    correct=correct,
                    guesses=plan.number,
                    canaries=plan.effective_canaries,
                    alpha=level,
                )
            ),
            correct=correct,
            guesses=plan.number,
            canaries=str(Fraction(plan.effective_canaries)),
        )

    def told(self, index: int) -> str:
        """Return in words what was seen of one number of guesses."""
        plan = self.plans[index]
        return f"{self.correct[index]:,} of {plan.number:,} guesses right (guessed: {plan})"


def _critical(judge: Callable[[int, float], bool], number: int, alpha: float) -> int | None:
    low, high = 0, number + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if judge(middle, alpha) else (middle, high)
    return high if high <= number else None
