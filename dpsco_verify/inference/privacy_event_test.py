"""Test of one event under an (ε, δ) claim: H0 is ``P(E|D) − e^ε P(E|D') ≤ δ``.

From two independent streams, A_i = 1{run i on D lies in E} and B_i = 1{run i on D' lies in E}, the payoff
``X_i = A_i − e^ε B_i − δ`` lies in ``[−e^ε − δ, 1 − δ]`` and has mean at most 0 under H0, for every law of A
and B with that property. The test is the betting e-process of :mod:`dpsco_verify.inference.e_process` on X,
valid at every time (Ville 1939; Waudby-Smith & Ramdas 2023). The event, ε and δ are fixed before the streams
are drawn.

Power. The twins bound the probability that the wealth is at or above 1/α at the sample cap n, whichever way
the draws are batched, from below; looks before the cap only add to it. Let n_B ~ Bin(n, q) be the number of
B-indicators and, given it, n₁₁ ~ Bin(n_B, p) and n₁₀ ~ Bin(n − n_B, p), which are independent. The final wealth
is increasing in n₁₁ and in n₁₀, as one more A-indicator raises one payoff, and for a fixed stream A it is decreasing
in n_B, as one more B-indicator lowers one. So with the law of n_B cut into blocks and each block moved to its upper
end b, the law of n₁₁ given b cut into blocks and each moved to its lower end o, and a(b, o) the smallest n₁₀ whose
wealth reaches 1/α,

    ``P(rejection) ≥ Σ_b P(n_B in block b) Σ_o P(n₁₁ in block o | b) P(Bin(n − b, p) ≥ a(b, o))``,

where what lies beyond the blocks counts as missed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from dpsco_verify.arrays import ArrayLike, BoolArray, FloatArray
from dpsco_verify.errors import InputError, no_truth_value
from dpsco_verify.inference.bets import log_factors, log_wealth_error
from dpsco_verify.inference.binomial import at_least
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
_BLOCKS = 40
_OVERLAP_BLOCKS = 8
# The parts of the allowed miss probability given to the upper tail of n_B and to the lower tail of n₁₁.
_SIDE_SHARE = 1.0 / 50.0
_ROUNDING = 2.0**-50


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

    __bool__ = no_truth_value("not test.decision.rejected")

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
    *,
    epsilon: float,
    delta: float,
    p: float,
    q: float,
    samples: int,
    alpha: float,
    precision: float = 0.9,
    fractions: ArrayLike | None = None,
) -> float:
    """Return a lower bound of the probability of rejection within `samples` pairs, for P(E|D) = p, P(E|D') = q.

    `precision` in (0, 1) is the power for which the bound is meant: the probabilities given away to the side
    events are fixed fractions of 1 − precision.
    """
    return power_function(
        epsilon=epsilon,
        delta=delta,
        samples=samples,
        alpha=alpha,
        precision=precision,
        fractions=fractions,
    )(require_probability("p", p), require_probability("q", q))


def power_function(
    *,
    epsilon: float,
    delta: float,
    samples: int,
    alpha: float,
    precision: float = 0.9,
    fractions: ArrayLike | None = None,
) -> Callable[[float, float], float]:
    """Return :func:`power_lower_bound` as a function of (p, q), for many points of one design."""
    design = _Design.of(epsilon=epsilon, delta=delta, samples=samples, alpha=alpha, fractions=fractions)
    return lambda p, q: max(0.0, 1.0 - design.miss(p, q, power=precision))


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
    design = _Design.of(epsilon=epsilon, delta=delta, samples=samples, alpha=alpha, fractions=fractions)
    return smallest_violation(
        lambda v: design.miss(min(1.0, boundary + v), q, power=power) <= 1.0 - power, largest=1.0 - boundary
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
        design = _Design.of(epsilon=epsilon, delta=delta, samples=samples, alpha=alpha)
        return design.miss(p, q, power=power) <= 1.0 - power

    return smallest_integer(enough)


@dataclass(frozen=True)
class _Design:
    """A test with its sample cap: what of its power does not depend on the event's probabilities."""

    samples: int
    factors: FloatArray
    """The log factor of each bet in the cells (0,0), (0,1), (1,0), (1,1), shape (K, 4)."""
    log_weights: FloatArray
    threshold: float

    @classmethod
    def of(
        cls, *, epsilon: float, delta: float, samples: int, alpha: float, fractions: ArrayLike | None = None
    ) -> _Design:
        n = require_integer("samples", samples, minimum=1)
        payoffs = _payoffs(epsilon, delta)
        process = BettingEProcess(low=payoffs[1], high=payoffs[2], alpha=alpha, fractions=fractions)
        bets, times = np.unique(process.fractions, return_counts=True)
        return cls(
            samples=n,
            factors=log_factors(bets, payoffs / -payoffs[1]),
            log_weights=np.log(times / process.fractions.size),
            threshold=process.decision.log_threshold
            + log_wealth_error(process.fractions, payoffs[2] / -payoffs[1], n),
        )

    def miss(self, p: float, q: float, *, power: float) -> float:
        """Bound the probability of no rejection from above."""
        n = self.samples
        side = _SIDE_SHARE * (1.0 - require_open_interval("power", power, 0.0, 1.0))
        # Blocks of equal width on the normal scale, from where the favourable tail no longer matters up to the side
        # share of the other.
        ends = np.unique(_quantiles(np.linspace(ndtri(_SIDE_SHARE), -ndtri(side), _BLOCKS), n, q))
        in_block = np.diff(1.0 - at_least(ends + 1.0, n, q), prepend=0.0)
        b = ends[:, np.newaxis]
        z = np.linspace(ndtri(side), -ndtri(_SIDE_SHARE), _OVERLAP_BLOCKS)
        overlap = np.maximum.accumulate(_quantiles(z[np.newaxis, :], b, p), axis=1)
        # P(n₁₁ ≥ o) for each lower end; what lies below the first counts as missed. Blocks that coincide are empty.
        reached = at_least(overlap, b, p)
        mass = reached - np.concatenate([reached[:, 1:], np.zeros_like(b)], axis=1)
        found = mass * at_least(self._needed(b, overlap), n - b, p)
        return 1.0 - float(in_block @ found.sum(axis=1))

    def _needed(self, b: FloatArray, overlap: FloatArray) -> FloatArray:
        """Return the smallest n₁₀ that reaches the threshold; n − b + 1 stands for "not even all are enough"."""
        rest = self.samples - b
        fixed = self.factors[:, 1, np.newaxis, np.newaxis] * (b - overlap)
        fixed += self.factors[:, 3, np.newaxis, np.newaxis] * overlap
        fixed += self.factors[:, 0, np.newaxis, np.newaxis] * rest
        fixed += self.log_weights[:, np.newaxis, np.newaxis]
        gained = (self.factors[:, 2] - self.factors[:, 0])[:, np.newaxis, np.newaxis]
        # The mixture is between its largest part and K times that; the ends leave room for what rounding loses.
        lacking = self.threshold - fixed
        lost = _ROUNDING * self.samples * np.abs(self.factors).max(axis=1)[:, np.newaxis, np.newaxis]
        with np.errstate(over="ignore"):
            most = ((lacking + lost) / gained).min(axis=0)
            least = ((lacking - lost - math.log(len(gained))) / gained).min(axis=0)
        needed: FloatArray = np.clip(np.ceil(most) + 1.0, 0.0, rest + 1.0)
        below = np.clip(np.floor(least) - 1.0, -1.0, needed - 1.0)
        # Bisection for all blocks at once.
        while (needed - below > 1.0).any():
            middle = np.floor((below + needed) / 2.0)
            logs = fixed + gained * np.maximum(middle, 0.0)
            peak = logs.max(axis=0)
            good = peak + np.log(np.exp(logs - peak).sum(axis=0)) >= self.threshold
            needed = np.where(good, middle, needed)
            below = np.where(good, below, middle)
        return needed


def _quantiles(z: FloatArray, n: ArrayLike, p: float) -> FloatArray:
    """Return integers near the quantiles of Bin(n, p) at the normal levels z, by Cornish and Fisher's first term.

    Blocks may end anywhere, as their probabilities are computed; it is only that quantiles make them about equal.
    """
    n = np.asarray(n, dtype=np.float64)
    skewed = n * p + z * np.sqrt(n * p * (1.0 - p)) + (z**2 - 1.0) * (1.0 - 2.0 * p) / 6.0
    return np.clip(np.floor(skewed), 0.0, n)


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
