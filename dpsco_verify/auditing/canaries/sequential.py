"""Scores that come one by one, each with a coin of its own: an audit that may stop at any time.

Before step t a fair coin decides whether the step's canary is in; the score is seen, then the coin. Guesses are made
by thresholds that the past has chosen: in above the upper one, out below the lower one. Under a claim ``P ≤ e^ε Q +
δ`` about one step, whatever came before,

    ``E[1{right} − e^ε 1{wrong} − δ s/2 | past] ≤ 0``,

where s is how many of the two thresholds there are: given the past, "in" is right with probability ½P₁(A) and wrong
with ½P₀(A), of the same event A, and so on the other side. So the wealth of bets on this payoff is a non-negative
supermartingale, and passes 1/α with probability at most α, at any time (Ville 1939). The mean of the wealths at
several orders of a claim, with several bets, is one too.

The claim is one about a single step, given what came before; it is for whoever composes the steps to say what that
means for training. Scores of one run whose canaries all took part in it are no such sequence:
:func:`dpsco_verify.auditing.audit_canaries` is for these.

Source: the bets are those of :mod:`dpsco_verify.inference.bets` (Waudby-Smith and Ramdas 2023); anytime-valid audits
of privacy by betting are due to González, Dulce-Rubio, Ramdas and Ribero (2025, Sequentially auditing differential
privacy, arXiv:2509.07055).
"""

from __future__ import annotations

import math

import numpy as np

from dpsco_verify.arrays import ArrayLike, BoolArray, FloatArray, IntArray
from dpsco_verify.auditing.canaries.families import Family
from dpsco_verify.auditing.canaries.lines import TradeOffLines, claim_lines
from dpsco_verify.auditing.canaries.scores import split_by_coins
from dpsco_verify.choices import CANARY_ERROR
from dpsco_verify.errors import InputError, no_truth_value
from dpsco_verify.inference.bets import bet_fractions, log_factors, log_mean_exp, log_wealth_error
from dpsco_verify.privacy.claims import ApproximateDP, PrivacyClaim, PureDP
from dpsco_verify.validation import (
    require_finite_array,
    require_non_negative,
    require_open_interval,
)

_FIRST_LOOK = 32
"""So many steps are seen before the first bet; the thresholds are chosen anew whenever their number has doubled."""
_CANDIDATES = 63
_FEWEST = 4
"""A threshold beyond which fewer scores have been seen is none to bet on."""
_MOST_ORDERS = 6
_DEPTH = 10
_GRIDS = {
    Family.APPROXIMATE: np.concatenate([np.arange(0.0, 4.0, 0.1), np.arange(4.0, 16.01, 0.25)]),
    Family.GAUSSIAN: np.concatenate([[1e-9], np.arange(0.05, 2.0, 0.05), np.arange(2.0, 8.01, 0.1)]),
}
_BLOCK = 256
_RIGHT, _WRONG, _NONE = 0, 1, 2


class SequentialCanaryAudit:
    """An audit of a claim about single steps, and lower bounds, valid at every time.

    Parameters
    ----------
    epsilon, delta
        The claim: (ε, δ)-DP with δ in (0, 1), or without `delta` ε-DP. With a `claim`, `delta` is where ε is told.
    claim
        Any claim of :mod:`dpsco_verify.privacy.claims`.
    alpha
        The probability, at most, of ever finding a true claim violated; and of a lower bound that is ever too large.

    Raises
    ------
    InputError
        For a bad argument.

    Examples
    --------
    >>> audit = SequentialCanaryAudit(epsilon=1.0, delta=1e-5)
    >>> coins = np.tile([True, False], 50)
    >>> audit.update(scores=coins + 0.0, coins=coins)  # scores that tell each coin
    True
    >>> print(audit.violated_at, round(audit.epsilon_lower, 1))
    48 2.6
    """

    __bool__ = no_truth_value("not audit.violated")

    def __init__(
        self,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        claim: PrivacyClaim | None = None,
        alpha: float = CANARY_ERROR,
    ) -> None:
        at = None if delta is None else require_open_interval("delta", delta, 0.0, 1.0)
        if (epsilon is None) == (claim is None):
            raise InputError(
                f"epsilon={epsilon!r} and claim={claim!r} do not make one claim; give one of the two"
            )
        if claim is None:
            order = require_non_negative("epsilon", epsilon or 0.0)
            claim = PureDP(order) if at is None else ApproximateDP(order, at)
        self.claim = claim
        self.family = Family.of(claim)
        self.delta = claim.headline()[1] if at is None else at
        self._alpha = require_open_interval("alpha", alpha, 0.0, 1.0)
        self._grid = _GRIDS[self.family]
        members = [claim_lines(claim), *(self.family.lines(float(x), self.delta) for x in self._grid)]
        self._bets = _Bets([_thinned(lines) for lines in members], self._alpha)
        self._scores: FloatArray = np.empty(0)
        self._coins: BoolArray = np.empty(0, dtype=np.bool_)
        self._next_look = _FIRST_LOOK

    def update(self, scores: ArrayLike, coins: ArrayLike) -> bool:
        """Take in the scores of some steps with their coins, in their order; return whether the claim is violated.

        Parameters
        ----------
        scores, coins
            Shape (n,), or two numbers; a coin is 1 where the canary was in.

        Raises
        ------
        InputError
            For scores that are not finite, or coins that do not match them.
        """
        values = require_finite_array(
            "scores", np.atleast_1d(np.asarray(scores, dtype=np.float64)), shape=(None,)
        )
        drawn = np.atleast_1d(np.asarray(coins))
        split_by_coins(values, drawn)
        drawn = drawn.astype(np.bool_)
        start = 0
        while start < values.size:
            seen = self._scores.size
            stop = min(values.size, start + self._next_look - seen, start + _BLOCK)
            block = slice(start, stop)
            self._bets.walk(values[block], drawn[block])
            self._scores = np.concatenate([self._scores, values[block]])
            self._coins = np.concatenate([self._coins, drawn[block]])
            if self._scores.size == self._next_look:
                self._bets.choose(self._scores, self._coins)
                self._next_look *= 2
            start = stop
        return self.violated

    @property
    def steps(self) -> int:
        """How many steps were seen."""
        return self._scores.size

    @property
    def violated(self) -> bool:
        """Whether the wealth against the claim has ever reached 1/α; once true it stays true."""
        return bool(self._bets.rejected[0])

    @property
    def violated_at(self) -> int | None:
        """After how many steps it had."""
        at = int(self._bets.rejected_at[0])
        return at or None

    @property
    def log_e_value(self) -> float:
        """The log of the wealth now, an e-value against the claim."""
        return float(self._bets.log_wealth[0])

    @property
    def p_value(self) -> float:
        """1 over the largest wealth so far, an anytime-valid p-value."""
        return math.exp(-max(float(self._bets.most[0]), 0.0))

    @property
    def parameter_lower(self) -> float:
        """The lower bound in the family's parameter (ε or μ), the end of the members that are refuted, from 0 on."""
        rejected = self._bets.rejected[1:]
        run = int(rejected.size if rejected.all() else rejected.argmin())
        return 0.0 if run == 0 else float(self._grid[run - 1])

    @property
    def epsilon_lower(self) -> float:
        """The ε of that bound at `delta`: no mechanism of the family with a smaller one explains the steps seen."""
        return self.family.epsilon(self.parameter_lower, self.delta)


def _thinned(lines: TradeOffLines) -> tuple[FloatArray, FloatArray]:
    """Return a few of a claim's lines, spread evenly, below the order 20: others ask for what is never seen."""
    usable = np.flatnonzero((lines.offsets < 1.0) & (lines.slopes < math.exp(20.0)))
    chosen = usable[np.unique(np.linspace(0, usable.size - 1, _MOST_ORDERS).astype(int))]
    return lines.slopes[chosen], lines.offsets[chosen]


class _Bets:
    """The wealths against several claims, each at its orders, with all bets: P rows of K."""

    def __init__(self, members: list[tuple[FloatArray, FloatArray]], alpha: float) -> None:
        self._owner = np.repeat(np.arange(len(members)), [slopes.size for slopes, _ in members])
        self._starts = np.concatenate([[0], np.flatnonzero(np.diff(self._owner)) + 1])
        self._orders = np.bincount(self._owner)
        self._slopes = np.concatenate([slopes for slopes, _ in members])
        self._deltas = np.concatenate([offsets for _, offsets in members])
        self._fractions = bet_fractions(depth=_DEPTH)
        self._capital = np.zeros((self._slopes.size, self._fractions.size))
        self._upper = np.full(self._slopes.size, np.inf)
        self._lower = np.full(self._slopes.size, -np.inf)
        self._table = self._factors()
        self._threshold = -math.log(alpha)
        self._steps = 0
        self.log_wealth = np.zeros(len(members))
        self.most = np.zeros(len(members))
        self.rejected = np.zeros(len(members), dtype=np.bool_)
        self.rejected_at = np.zeros(len(members), dtype=np.int64)

    def walk(self, scores: FloatArray, coins: BoolArray) -> None:
        """Take in some steps, looking after each."""
        guess_in = scores > self._upper[:, np.newaxis]
        guess_out = (scores < self._lower[:, np.newaxis]) & ~guess_in
        right = np.where(coins, guess_in, guess_out)
        kind: IntArray = np.where(right, _RIGHT, np.where(guess_in | guess_out, _WRONG, _NONE))
        gains = np.take_along_axis(self._table, kind[:, np.newaxis, :], axis=2)
        path = self._capital[:, :, np.newaxis] + np.cumsum(gains, axis=2)
        self._capital = path[:, :, -1]
        each = log_mean_exp(path.transpose(1, 0, 2))
        wealth = np.logaddexp.reduceat(each, self._starts, axis=0) - np.log(self._orders)[:, np.newaxis]
        self._steps += scores.size
        error = log_wealth_error(self._fractions, 1.0, self._steps)
        crossed = wealth - error >= self._threshold
        new = crossed.any(axis=1) & ~self.rejected
        self.rejected_at[new] = self._steps - scores.size + 1 + crossed[new].argmax(axis=1)
        self.rejected |= new
        self.log_wealth = wealth[:, -1]
        self.most = np.maximum(self.most, wealth.max(axis=1))

    def choose(self, scores: FloatArray, coins: BoolArray) -> None:
        """Choose thresholds by what is past, for what is to come."""
        levels = np.unique(np.quantile(scores, np.linspace(0.0, 1.0, _CANDIDATES + 2)[1:-1]))
        above = scores[:, np.newaxis] > levels
        below = scores[:, np.newaxis] < levels
        self._upper = self._best(levels, above[coins].sum(0), above[~coins].sum(0), scores.size, np.inf)
        self._lower = self._best(levels, below[~coins].sum(0), below[coins].sum(0), scores.size, -np.inf)
        self._table = self._factors()

    def _best(
        self, levels: FloatArray, right: IntArray, wrong: IntArray, steps: int, never: float
    ) -> FloatArray:
        """Return for each row the level whose payoff has been the most significant, or `never` if none has paid."""
        slopes = self._slopes[:, np.newaxis]
        # One more wrong guess than was seen: where none was, none is sure not to come.
        paid = right - slopes * wrong - 0.5 * self._deltas[:, np.newaxis] * steps
        value = paid / np.sqrt(right + slopes**2 * (wrong + 1.0))
        value = np.where((right >= _FEWEST) & (paid > 0.0), value, -np.inf)
        best = value.argmax(axis=1)
        chosen = np.take_along_axis(value, best[:, np.newaxis], axis=1)[:, 0]
        return np.where(np.isfinite(chosen), levels[best], never)

    def _factors(self) -> FloatArray:
        """Return the log factors of right, wrong and no guess, shape (P, K, 3)."""
        sides = np.isfinite(self._upper).astype(np.float64) + np.isfinite(self._lower)
        cost = 0.5 * self._deltas * sides
        payoffs = np.stack([1.0 - cost, -self._slopes - cost, -cost], axis=1)
        ratios = payoffs / (self._slopes + self._deltas)[:, np.newaxis]
        logs = log_factors(self._fractions, ratios.ravel()).reshape(self._fractions.size, -1, 3)
        found: FloatArray = np.ascontiguousarray(logs.transpose(1, 0, 2))
        return np.where((sides > 0.0)[:, np.newaxis, np.newaxis], found, 0.0)
