"""Test of one event under an (ε, δ) claim: H0 is ``P(E|D) − e^ε P(E|D') ≤ δ``.

From two independent streams, A_i = 1{run i on D lies in E} and B_i = 1{run i on D' lies in E}, the payoff
``X_i = A_i − e^ε B_i − δ`` lies in ``[−e^ε − δ, 1 − δ]`` and has mean at most 0 under H0, for every law of A
and B with that property. The test is the betting e-process of :mod:`dpsco_verify.inference.e_process` on X,
valid at every time (Ville 1939; Waudby-Smith & Ramdas 2023). The event, ε and δ are fixed before the streams
are drawn.

Power. The twins bound the probability that the wealth is at or above 1/α at the sample cap n, whichever way
the draws are batched. With n_A ~ Bin(n, p), n_B ~ Bin(n, q) and, given these, the overlap n₁₁ hypergeometric,
the final wealth is increasing in n_A and n₁₁ and decreasing in n_B in the sense of couplings: one more
A-indicator raises one payoff, and

    ``(1 + λx₁₁)(1 + λx₀₀) − (1 + λx₁₀)(1 + λx₀₁) = λ² e^ε > 0``.

So with the law of n_B cut into blocks and each block moved to its upper end b, with the overlap replaced by a
lower bound that fails with probability at most η (the multiplicative Chernoff bound, which holds for the
hypergeometric law by Hoeffding 1963, Theorem 4), and with a(b) the smallest n_A whose wealth reaches 1/α,

    ``P(no rejection) ≤ η + P(n_B > last b) + Σ_blocks P(n_B in block) P(Bin(n, p) < a(b))``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincc
from scipy.stats import binom, norm

from dpsco_verify.arrays import ArrayLike, BoolArray, FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.inference.bets import log_wealth_error, log_wealth_of_counts
from dpsco_verify.inference.checks import require_probability
from dpsco_verify.inference.e_process import BettingEProcess, EProcessDecision
from dpsco_verify.inference.search import smallest_integer, smallest_violation
from dpsco_verify.validation import (
    require_integer,
    require_non_negative,
    require_open_interval,
    require_positive,
)

_MAX_EPSILON = 700.0
_BLOCKS = 96
# The part of the allowed miss probability given to the overlap's bound, and to the upper tail of n_B.
_SIDE_SHARE = 1.0 / 20.0


@dataclass(frozen=True)
class CellCounts:
    """How often the pairs (A, B) fell into each cell: n11 both in the event, n10 only A, n01 only B, n00 neither."""

    n11: int
    n10: int
    n01: int
    n00: int

    def __post_init__(self) -> None:
        for name in ("n11", "n10", "n01", "n00"):
            require_integer(name, getattr(self, name), minimum=0)

    @classmethod
    def from_indicators(cls, in_event: ArrayLike, in_event_neighbour: ArrayLike) -> CellCounts:
        """Count the pairs of two indicator streams of the same shape (N,)."""
        first, second = _checked_indicators(in_event, in_event_neighbour)
        n11 = int(np.count_nonzero(first & second))
        n_first = int(np.count_nonzero(first))
        n_second = int(np.count_nonzero(second))
        return cls(n11=n11, n10=n_first - n11, n01=n_second - n11, n00=first.size - n_first - n_second + n11)


class PrivacyEventTest:
    """Anytime-valid test of ``P(E|D) − e^ε P(E|D') ≤ δ``.

    Parameters
    ----------
    epsilon
        ε in [0, 700].
    delta
        δ in [0, 1).
    alpha
        Level in (0, 1).
    fractions
        The bets, as for :class:`~dpsco_verify.inference.e_process.BettingEProcess`, fixed before the streams are
        drawn; a fraction that stands k times has k times the weight.

    Raises
    ------
    InputError
        When a parameter is out of range or the streams are not indicators of one length.

    """

    def __init__(
        self, *, epsilon: float, delta: float, alpha: float, fractions: ArrayLike | None = None
    ) -> None:
        self._payoffs = _payoffs(epsilon, delta)
        self._process = BettingEProcess(
            low=self._payoffs[1], high=self._payoffs[2], alpha=alpha, fractions=fractions
        )

    def update(self, in_event: ArrayLike, in_event_neighbour: ArrayLike) -> EProcessDecision:
        """Take in N pairs in the order they were drawn, shapes (N,) and (N,); the wealth is looked at after each."""
        first, second = _checked_indicators(in_event, in_event_neighbour)
        self._process.update_categories(self._payoffs, 2 * first.astype(np.int64) + second)
        return self._process.decision

    def update_counts(self, counts: CellCounts) -> EProcessDecision:
        """Take in one chunk of pairs by its cell counts, at a cost that does not depend on the chunk's size."""
        self._process.update_counts(self._payoffs, np.array([counts.n00, counts.n01, counts.n10, counts.n11]))
        return self._process.decision

    @property
    def decision(self) -> EProcessDecision:
        """The decision so far."""
        return self._process.decision


def decide(chunks: Iterable[CellCounts], *, epsilon: float, delta: float, alpha: float) -> EProcessDecision:
    """Run the test over chunks of pairs, looking after each chunk, up to the first rejection or the last chunk."""
    test = PrivacyEventTest(epsilon=epsilon, delta=delta, alpha=alpha)
    for counts in chunks:
        if test.update_counts(counts).rejected:
            break
    return test.decision


def power_lower_bound(
    *, epsilon: float, delta: float, p: float, q: float, samples: int, alpha: float, precision: float = 0.9
) -> float:
    """Return a lower bound of the probability of rejection within `samples` pairs, for P(E|D) = p, P(E|D') = q.

    `precision` in (0, 1) is the power for which the bound is meant: the probabilities given away to the side
    events are fixed fractions of 1 − precision.
    """
    q = require_probability("q", q)
    p = require_probability("p", p)
    plan = _plan(epsilon=epsilon, delta=delta, q=q, samples=samples, alpha=alpha, power=precision)
    return max(0.0, 1.0 - plan.miss(p))


def minimum_detectable_violation(
    *,
    epsilon: float,
    delta: float,
    q: float,
    samples: int,
    alpha: float,
    power: float = 0.9,
    fractions: ArrayLike | None = None,
) -> float:
    """Return the smallest excess v at which the test is sure to have the power wanted.

    With ``P(E|D') = q`` and ``P(E|D) = e^ε q + δ + v`` the test rejects within `samples` pairs with probability at
    least `power`. The power is 0.9 by default and may be as close to 1 as 1 − 1e-12. The result is ``math.inf`` when
    not even ``P(E|D) = 1`` would be found.
    """
    q = require_probability("q", q)
    boundary = math.exp(_require_epsilon(epsilon)) * q + _require_delta(delta)
    plan = _plan(
        epsilon=epsilon, delta=delta, q=q, samples=samples, alpha=alpha, power=power, fractions=fractions
    )
    return smallest_violation(
        lambda v: plan.miss(min(1.0, boundary + v)) <= 1.0 - power, largest=1.0 - boundary
    )


def required_samples(
    *, violation: float, epsilon: float, delta: float, q: float, alpha: float, power: float = 0.9
) -> int | None:
    """Return a number of pairs within which an excess of `violation` is found with probability at least `power`.

    Up to the discreteness of the counts it is the smallest number for which the bound of this module shows that. None
    when no number up to 2^50 is enough, which happens only for relative violations below some 1e-5.
    """
    q = require_probability("q", q)
    p = (
        math.exp(_require_epsilon(epsilon)) * q
        + _require_delta(delta)
        + require_positive("violation", violation)
    )
    if p > 1.0:
        raise InputError(
            f"violation={violation!r} would need P(E|D)={p!r}; give a violation that leaves it at most 1"
        )

    def enough(samples: int) -> bool:
        plan = _plan(epsilon=epsilon, delta=delta, q=q, samples=samples, alpha=alpha, power=power)
        return plan.miss(p) <= 1.0 - power

    return smallest_integer(enough)


@dataclass(frozen=True)
class _Plan:
    """For each block of n_B: its probability, and the n_A that the block's upper end needs."""

    samples: int
    probability: FloatArray
    needed: FloatArray
    leftover: float

    def miss(self, p: float) -> float:
        """Bound the probability of no rejection when P(E|D) = p."""
        return self.leftover + float(self.probability @ _binomial_below(self.needed, self.samples, p))


def _binomial_below(k: FloatArray, n: int, p: float) -> FloatArray:
    """Return ``P(Bin(n, p) < k)`` for k in 0, …, n + 1: an incomplete beta function, without the checks of a law."""
    inside = (k > 0) & (k <= n)
    at = np.where(inside, k, 1.0)
    return np.where(inside, betaincc(at, n - at + 1.0, p), np.where(k > n, 1.0, 0.0))


def _plan(
    *,
    epsilon: float,
    delta: float,
    q: float,
    samples: int,
    alpha: float,
    power: float,
    fractions: ArrayLike | None = None,
) -> _Plan:
    n = require_integer("samples", samples, minimum=1)
    payoffs = _payoffs(epsilon, delta)
    process = BettingEProcess(low=payoffs[1], high=payoffs[2], alpha=alpha, fractions=fractions)
    side = _SIDE_SHARE * (1.0 - require_open_interval("power", power, 0.0, 1.0))
    # Blocks of equal width on the normal scale, from where the lower tail no longer matters up to the side share.
    z = np.linspace(norm.ppf(_SIDE_SHARE), norm.isf(side), _BLOCKS)
    lower = binom.ppf(norm.cdf(z[z <= 0.0]), n, q)
    upper = binom.isf(norm.sf(z[z > 0.0]), n, q)
    ends = np.unique(np.concatenate([lower, upper]))
    cumulative = binom.cdf(ends, n, q)
    probability = np.diff(cumulative, prepend=0.0)
    threshold = process.decision.log_threshold + log_wealth_error(
        process.fractions, payoffs[2] / -payoffs[1], n
    )

    def reaches(n_first: FloatArray) -> BoolArray:
        mean = n_first * ends / n
        overlap = np.floor(np.maximum(mean - np.sqrt(2.0 * mean * -math.log(side)), 0.0))
        overlap = np.maximum(overlap, n_first + ends - n)
        cells = np.stack([n - n_first - ends + overlap, ends - overlap, n_first - overlap, overlap], axis=-1)
        wealth = log_wealth_of_counts(process.fractions, payoffs / -payoffs[1], cells)
        reached: BoolArray = wealth >= threshold
        return reached

    # Bisection for all blocks at once; n + 1 stands for "not even n_A = n is enough".
    below = np.full(ends.shape, -1.0)
    needed = np.full(ends.shape, n + 1.0)
    while (needed - below > 1.0).any():
        middle = np.floor((below + needed) / 2.0)
        good = reaches(np.maximum(middle, 0.0))
        needed = np.where(good, middle, needed)
        below = np.where(good, below, middle)
    return _Plan(
        samples=n, probability=probability, needed=needed, leftover=side + float(binom.sf(ends[-1], n, q))
    )


def _payoffs(epsilon: float, delta: float) -> FloatArray:
    """Return the payoffs of the cells (A, B) = (0,0), (0,1), (1,0), (1,1)."""
    factor = math.exp(_require_epsilon(epsilon))
    delta = _require_delta(delta)
    return np.array([-delta, -factor - delta, 1.0 - delta, 1.0 - factor - delta])


def _require_epsilon(epsilon: float) -> float:
    epsilon = require_non_negative("epsilon", epsilon)
    if epsilon > _MAX_EPSILON:
        raise InputError(f"epsilon={epsilon!r} is too large for e^epsilon; give at most {_MAX_EPSILON:g}")
    return epsilon


def _require_delta(delta: float) -> float:
    delta = require_non_negative("delta", delta)
    if delta >= 1.0:
        raise InputError(f"delta={delta!r} claims nothing; give a number in [0, 1)")
    return delta


def _checked_indicators(in_event: ArrayLike, in_event_neighbour: ArrayLike) -> tuple[BoolArray, BoolArray]:
    first = _indicators("in_event", in_event)
    second = _indicators("in_event_neighbour", in_event_neighbour)
    if first.shape != second.shape:
        raise InputError(
            f"in_event.shape={first.shape} and in_event_neighbour.shape={second.shape} differ; give pairs of runs"
        )
    return first, second


def _indicators(name: str, value: ArrayLike) -> BoolArray:
    array = np.asarray(value)
    if array.ndim != 1 or not (array.dtype == np.bool_ or np.isin(array, (0, 1)).all()):
        raise InputError(
            f"{name} of shape {array.shape} holds more than indicators; give an array (N,) of 0 and 1"
        )
    return array.astype(np.bool_)
