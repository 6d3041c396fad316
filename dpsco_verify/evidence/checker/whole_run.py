"""Witnesses about the privacy of a whole run: a bound on δ(ε) by a convolution of the checker's own, in balls."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, ClassVar, Literal

import flint
import msgspec

from dpsco_verify.evidence.checker.arithmetic import (
    Count,
    Rational,
    Rejected,
    ball,
    rational,
    require,
    upper_tail,
)
from dpsco_verify.evidence.checker.witness import Shows, Sides, Witness

LARGEST_GRID = 2**15
LARGEST_LAW = 2**13
"""Points of the lattice, and cells of one step's law: together less than a second."""
_BITS = 192
"""Of the convolution, which loses some thirty digits at most: no certificate has need of more."""
_FIRST = 128
"""The precision that a side is asked for first; there is no second."""
_LAW_BITS = 128
"""What the second differences of U lose at most, and a reserve."""
_CELLS = 192
"""Of the law that is bounded by its variance."""

Cells = Annotated[int, msgspec.Meta(ge=1, le=LARGEST_LAW)]


class Narrow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What makes W̃, the envelope with its variance cut, beside the lattice (``docs/whole-run.md``, section 5).

    Attributes
    ----------
    kappa, touch
        κ of the class of functions, and the v of the majorant of the payoff.
    lowest, turn, top
        Ŵ has the potential U at ``t + s − s((s + t + b)/s)^{1 − k/192}``, k = 0 … 192, from −b to t, b being `lowest`,
        t `turn` and ``s = max(1, 1 − t)``, and 0 from `top` on. Its mean is ``m = U(−b) − b``, and its variance has to
        exceed ``V = e^{2ε}(e^{ν²} − 1)``.
    foot
        W̃ has the potential ``m − x₀`` at its foot x₀, and U from `below` cells further on. ``E e^{−κW̃}`` has to
        exceed ``E e^{−κŴ}``.
    """

    kappa: Rational
    touch: Rational
    lowest: Rational
    turn: Rational
    top: Rational
    foot: Rational


class WholeRunPrivacy(Witness, frozen=True, kw_only=True):
    """δ at ε exceeds the bound on what K of n points, in random order and f a step, tell of one that is replaced.

    A step adds ``N(0, σ²I)`` to the average of f gradients of norm at most L at a query that depends on the
    past; ``μ = 2L/σ``, ``ν = μ/f``, ``m = K/f`` and ``N = n/f``. With ``G(y) = E(e^{νZ − ν²/2} − y)₊``, Z
    standard normal, and ``c = (N − m)(e^ε − 1)``,

        δ(ε) ≤ (1/N) E(Σ_{s ≤ m} W̄_s − c)₊,   E(W̄ − t)₊ = U(t) = G(e^ε + t), or 1 − e^ε − t + e^ε G((1 −
        t)/e^ε) for t < 0,
        δ(ε) ≤ (1/N) E f(Σ_{s ≤ m} W̃_s),   f(x) = (A/κ) ψ((κ(x − c) + β)₊),   ψ(u) = e^{−u} − 1 + u,

    with ``A = 1/(1 − e^{−v})`` and ``β = 1 − v/(e^v − 1)`` (``docs/whole-run.md``). A law is given by its potential at
    points, linear between them, with slope −1 before the first: its masses are the jumps of the slope. The first
    bound takes U at ``x_j = step · j``, −below ≤ j ≤ above, which dominates ``min(W̄, T)``, T the last point; the
    second, where there is a `narrow`, its foot and the points from `below` cells further on. The part beyond T costs
    ``m U(T)``, times A in the second.

    With x₀ the first point, the masses tilted by ``e^{θ(x − x₀)}``, M their sum and p their m-fold convolution modulo
    `size`, the mean of the payoff, which is ``g(d) ≤ Ad`` at ``c' + d``, is at most ``Σ p_j g(d_j) e^{−θhj} +
    M^m A D e^{−θhJ}``, h being `step`, over the `reach` points ``d_j = m x₀ + hj − c' > 0`` that come first. D and J
    are of the next, ``θD ≥ 1``. Modulo `size` mass is added to these points, and none is lost.
    """

    readings: ClassVar[dict[str, int]] = {"replace-one": 0}
    claim_id: ClassVar[str] = "own:whole-run"
    shows: ClassVar[Shows] = Shows.CERTIFIES
    over: ClassVar[str] = (
        "every pair of replace-one neighbours and all gradients of norm at most L that may depend on the past, in any "
        "dimension"
    )
    argument: ClassVar[str] = (
        "the swap, the envelope, its smaller variance and the induction of docs/whole-run.md"
    )
    n: Count
    points: Count
    batch_size: Count
    epochs: Literal[1]
    relation: Literal["replace-one"]
    mu: Rational
    epsilon: Rational
    delta: Rational
    theta: Rational
    step: Rational
    below: Cells
    above: Cells
    size: Annotated[int, msgspec.Meta(ge=2**8, le=LARGEST_GRID)]
    reach: Annotated[int, msgspec.Meta(ge=1, le=LARGEST_GRID)]
    narrow: Narrow | None

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        mu, epsilon, delta, theta, step = (
            rational(k, getattr(self, k)) for k in ("mu", "epsilon", "delta", "theta", "step")
        )
        n, points, batch = self.n, self.points, self.batch_size
        require(holds=points < n, reason=f"points={points} is not below n={n}, where the bound is proven")
        require(holds=points % batch == 0, reason=f"batch_size={batch} does not divide points={points}")
        require(holds=0 < delta < 1, reason=f"delta={delta} is outside (0, 1)")
        for name, value, low, high in (
            ("mu/batch_size", mu / batch, Fraction(1, 10**9), 16),
            ("epsilon", epsilon, 0, 100),
            ("theta*step*above", theta * step * self.above, Fraction(1, 10**9), 2000),
            ("theta*step*below", theta * step * self.below, 0, 2000),
            ("step", step, Fraction(1, 10**15), 10**60),
        ):
            require(holds=low <= value <= high, reason=f"{name} is outside {float(low):g}..{float(high):g}")
        require(holds=self.size & (self.size - 1) == 0, reason=f"size={self.size} is no power of two")
        require(holds=self.reach <= self.size, reason=f"reach={self.reach} is above size={self.size}")
        cells = self.below + self.above
        require(holds=cells <= LARGEST_LAW, reason=f"below+above={cells} is above {LARGEST_LAW}")
        if flint.ctx.prec > _FIRST:
            raise Rejected(f"the inequality stays undecided at {_BITS} bits")
        steps, scale = points // batch, Fraction(n, batch)
        with flint.ctx.workprec(_BITS + _LAW_BITS):
            envelope = _Envelope(ball(mu / batch), ball(epsilon))
            first, masses, last = self._law(envelope, step)
            beyond = envelope.potential(last)
        with flint.ctx.workprec(_BITS):
            tilted, weight, ratio = [flint.arb(0)] * self.size, flint.arb(1), ball(theta * step).exp()
            for j, mass in enumerate(masses):
                tilted[j % self.size] += mass * weight
                weight *= ratio
            total = sum(tilted, flint.arb(0)) ** steps
            threshold = ball(scale - steps) * ball(epsilon).expm1() - steps * first
            payoff = _Payoff(self.narrow)
            mean = self._mean(_convolved(tilted, steps), total, threshold, payoff, ball(theta), ball(step))
            right = mean / ball(scale) + payoff.slope * ball(steps / scale) * beyond
        words = (
            f"delta > bound on delta(epsilon) for n = {n}, K = {points}, f = {batch}, mu = {mu}, epsilon = {epsilon}, "
            f"one epoch, replace-one"
        )
        return ball(delta), right, words

    def _law(self, envelope: _Envelope, step: Fraction) -> tuple[flint.arb, list[flint.arb], flint.arb]:
        """Return the first point of a step's law, its masses from there on, and the last point."""
        if self.narrow is None:
            points = [ball(step * j) for j in range(-self.below, self.above + 1)]
            return points[0], _masses(points, [envelope.potential(t) for t in points]), points[-1]
        foot, lowest = rational("foot", self.narrow.foot), rational("lowest", self.narrow.lowest)
        require(holds=-lowest <= foot + step * self.below, reason="W is followed from below -lowest on")
        require(holds=foot + step * (self.below + self.above) > 0, reason="the last point is not positive")
        followed = [ball(foot + step * j) for j in range(self.below, self.below + self.above + 1)]
        least, mean = envelope.least_moment(self.narrow)
        points = [ball(foot), *followed]
        masses = _masses(points, [mean - points[0], *(envelope.potential(t) for t in followed)])
        require(
            holds=all(p > 0 for p in masses[:2]), reason=f"foot={foot} leaves a mass that is not positive"
        )
        places = points.copy()
        places[-1] += (
            envelope.potential(followed[-1]) / masses[-1]
        )  # the mean of the part from the last point on
        kappa = ball(rational("kappa", self.narrow.kappa))
        moment = sum((p * (-kappa * x).exp() for p, x in zip(masses, places, strict=True)), flint.arb(0))
        require(holds=bool(moment > least), reason="E exp(-kappa W) is not above what the variance allows")
        return points[0], [masses[0], *[flint.arb(0)] * (self.below - 1), *masses[1:]], followed[-1]

    def _mean(
        self,
        p: list[flint.arb],
        total: flint.arb,
        threshold: flint.arb,
        payoff: _Payoff,
        theta: flint.arb,
        step: flint.arb,
    ) -> flint.arb:
        """Return ``Σ p_j g(d_j) e^{−θ step j} + M^m A D e^{−θ step J}``, the threshold taken from m x₀ on."""
        start = threshold - payoff.shift
        place = start / step
        require(holds=bool(abs(place) < 2**50), reason="step is too small for the threshold")
        first = math.floor(float(place))  # rounding may include a point with d < 0, which counts as 0
        ratio, weight = (-theta * step).exp(), (-theta * step * first).exp()
        mean, zero = flint.arb(0), flint.arb(0)
        for j in range(first, first + self.reach):
            mean += p[j % self.size] * payoff.at((j * step - start).max(zero)) * weight
            weight *= ratio
        rest = (first + self.reach) * step - start
        require(holds=bool(theta * rest >= 1), reason=f"reach={self.reach} ends before 1/theta")
        return mean + total * payoff.slope * rest * weight


class _Payoff:
    """The payoff at ``c − shift + d``, and its largest slope: ``d`` and 1, or the majorant."""

    def __init__(self, narrow: Narrow | None) -> None:
        self.shift, self.slope, self._kappa = flint.arb(0), flint.arb(1), flint.arb(0)
        if narrow is not None:
            kappa, touch = rational("kappa", narrow.kappa), rational("touch", narrow.touch)
            for name, value in (("kappa", kappa), ("touch", touch)):
                require(holds=Fraction(1, 10**12) <= value <= 1000, reason=f"{name} is outside 1e-12..1000")
            self._kappa, v = ball(kappa), ball(touch)
            self.shift = (1 - v / v.expm1()) / self._kappa
            self.slope = -1 / (-v).expm1()

    def at(self, d: flint.arb) -> flint.arb:
        if self._kappa == 0:
            return d
        u = self._kappa * d
        return self.slope / self._kappa * ((-u).expm1() + u)


class _Envelope:
    """U, for one ν and ε, and what the variance allows."""

    def __init__(self, mu: flint.arb, epsilon: flint.arb) -> None:
        self._mu, self._alpha = mu, epsilon.exp()

    def potential(self, t: flint.arb) -> flint.arb:
        """Return ``U(t)``."""
        if t >= 0:
            return self._curve(self._alpha + t)
        require(holds=bool(t <= 0), reason="a point cannot be told from 0")
        return 1 - self._alpha - t + self._alpha * self._curve((1 - t) / self._alpha)

    def _curve(self, y: flint.arb) -> flint.arb:
        z = y.log() / self._mu - self._mu / 2
        return upper_tail(z) - y * upper_tail(z + self._mu)

    def least_moment(self, narrow: Narrow) -> tuple[flint.arb, flint.arb]:
        """Return ``E e^{−κŴ}`` and m."""
        kappa, lowest, turn, top = (
            rational(k, getattr(narrow, k)) for k in ("kappa", "lowest", "turn", "top")
        )
        require(holds=-lowest < turn < top, reason="-lowest, turn and top are not in increasing order")
        require(holds=kappa * max(lowest, top) <= 1000, reason="kappa*lowest or kappa*top is above 1000")
        scale = ball(max(1 - turn, Fraction(1)))
        spread = (ball(turn + lowest) / scale).log1p() / _CELLS
        points = [ball(turn) - scale * (spread * (_CELLS - k)).expm1() for k in range(_CELLS + 1)]
        values = [self.potential(t) for t in points]
        mean = values[0] - ball(lowest)
        places = [*points, ball(top)]
        masses = _masses(places, [*values, flint.arb(0)])
        variance = sum((p * (x - mean) ** 2 for p, x in zip(masses, places, strict=True)), flint.arb(0))
        largest = self._alpha**2 * (self._mu**2).expm1()
        require(
            holds=bool(variance > largest), reason="the variance of the bounded law is not above the largest"
        )
        return sum(
            (p * (-ball(kappa) * x).exp() for p, x in zip(masses, places, strict=True)), flint.arb(0)
        ), mean


def _masses(points: Sequence[flint.arb], potential: Sequence[flint.arb]) -> list[flint.arb]:
    """Return the jumps of the slope at the points, from −1 before the first to 0 after the last."""
    slopes = [(v - u) / (y - x) for (x, u), (y, v) in itertools.pairwise(zip(points, potential, strict=True))]
    return [b - a for a, b in itertools.pairwise([flint.arb(-1), *slopes, flint.arb(0)])]


def _convolved(masses: list[flint.arb], copies: int) -> list[flint.arb]:
    """Return the convolution of `copies` copies modulo their length."""
    size = len(masses)
    transform = flint.acb.dft([flint.acb(x) for x in masses])
    half = [z**copies for z in transform[: size // 2 + 1]]
    whole = half + [z.conjugate() for z in reversed(half[1 : size // 2])]
    return [z.real for z in flint.acb.dft(whole, inverse=True)]
