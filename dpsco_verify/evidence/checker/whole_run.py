"""Witnesses about the privacy of a whole run: a bound on δ(ε) by a convolution of the checker's own, in balls."""

from __future__ import annotations

import itertools
import math
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

LARGEST_GRID = 2**18
LARGEST_LAW = 2**16
_GUARD_BITS = 64
_LAW_BITS = 128
_HIGHEST_PRECISION = 512

Cells = Annotated[int, msgspec.Meta(ge=1, le=LARGEST_LAW)]


class WholeRunPrivacy(Witness, frozen=True, kw_only=True):
    """δ at ε exceeds the bound on what K of n points, in random order and f a step, tell of one that is replaced.

    A step adds ``N(0, σ²I)`` to the average of f gradients of norm at most L at a query that depends on the
    past; ``μ = 2L/σ``, ``ν = μ/f``, ``m = K/f`` and ``N = n/f``. With ``G(y) = E(e^{νZ − ν²/2} − y)₊``, Z
    standard normal, and ``c = (N − m)(e^ε − 1)``,

        δ(ε) ≤ (1/N) E(Σ_{s ≤ m} W̄_s − c)₊,   E(W̄ − t)₊ = U(t) = G(e^ε + t), or 1 − e^ε − t + e^ε G((1 −
        t)/e^ε) for t < 0

    (``docs/whole-run.md``). On the points ``x_j = step · j``, −below ≤ j ≤ above, the second differences of U
    over the step are the masses of a law that dominates ``min(W̄, T)``, T the last point: mass in a cell is
    split with its mean kept, mass below is moved up. And ``E(ΣW̄ − c)₊ ≤ E(Σ min(W̄, T) − c)₊ + m U(T)``.

    With the masses tilted by ``e^{θx}``, M their sum and p their m-fold convolution modulo `size`, the mean is
    at most ``e^{−θc}(Σ p_j d_j e^{−θd_j} + M^m D e^{−θD})`` over the `reach` points ``d_j = x_j − c > 0`` that
    come first, D being the next, ``θD ≥ 1``. Modulo `size` mass is added to these points, and none is lost.
    """

    readings: ClassVar[dict[str, int]] = {"replace-one": 0}
    claim_id: ClassVar[str] = "own:whole-run"
    shows: ClassVar[Shows] = Shows.CERTIFIES
    over: ClassVar[str] = (
        "every pair of replace-one neighbours and all gradients of norm at most L that may depend on the past, in any "
        "dimension"
    )
    argument: ClassVar[str] = "the swap, the envelope and the induction of docs/whole-run.md"
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
            ("step", step, Fraction(1, 10**15), 10**60),
        ):
            require(holds=low <= value <= high, reason=f"{name} is outside {float(low):g}..{float(high):g}")
        require(holds=self.size & (self.size - 1) == 0, reason=f"size={self.size} is no power of two")
        require(holds=self.reach <= self.size, reason=f"reach={self.reach} is above size={self.size}")
        precision = flint.ctx.prec
        if precision > _HIGHEST_PRECISION:
            raise Rejected(f"the inequality stays undecided at {_HIGHEST_PRECISION} bits")
        steps, scale = points // batch, Fraction(n, batch)
        with flint.ctx.workprec(precision + _GUARD_BITS + _LAW_BITS):
            tilted, beyond = self._tilted_law(ball(mu / batch), ball(epsilon), ball(theta * step), ball(step))
        with flint.ctx.workprec(precision + _GUARD_BITS):
            total = sum(tilted, flint.arb(0)) ** steps
            threshold = ball(scale - steps) * ball(epsilon).expm1()
            mean = self._hockey_stick(_convolved(tilted, steps), total, threshold, ball(theta), ball(step))
            right = mean / ball(scale) + ball(steps / scale) * beyond
        words = (
            f"delta > bound on delta(epsilon) for n = {n}, K = {points}, f = {batch}, mu = {mu}, epsilon = {epsilon}, "
            f"one epoch, replace-one"
        )
        return ball(delta), right, words

    def _tilted_law(
        self, mu: flint.arb, epsilon: flint.arb, exponent: flint.arb, step: flint.arb
    ) -> tuple[list[flint.arb], flint.arb]:
        """Return the tilted masses modulo the size, and ``U(T)``."""
        alpha = epsilon.exp()

        def curve(y: flint.arb) -> flint.arb:
            z = y.log() / mu - mu / 2
            return upper_tail(z) - y * upper_tail(z + mu)

        up = [curve(alpha + j * step) for j in range(self.above + 1)]
        down = [
            1 - alpha + j * step + alpha * curve((1 + j * step) / alpha) for j in range(1, self.below + 1)
        ]
        potential = [*reversed(down), *up]
        slopes = [(b - a) / step for a, b in itertools.pairwise(potential)]
        slopes = [flint.arb(-1), *slopes, flint.arb(0)]
        ratio, weight = exponent.exp(), (-self.below * exponent).exp()
        tilted = [flint.arb(0)] * self.size
        for j, (a, b) in enumerate(itertools.pairwise(slopes), start=-self.below):
            tilted[j % self.size] += (b - a) * weight
            weight *= ratio
        return tilted, up[-1]

    def _hockey_stick(
        self, p: list[flint.arb], total: flint.arb, threshold: flint.arb, theta: flint.arb, step: flint.arb
    ) -> flint.arb:
        """Return ``e^{−θc}(Σ p_j d_j e^{−θd_j} + M^m D e^{−θD})``, with ``e^{−θ(c + d_j)} = e^{−θx_j}``."""
        place = threshold / step
        require(holds=bool(place < 2**50), reason="step is too small for the threshold")
        first = math.floor(float(place))  # rounding may include a point with d < 0, which counts as 0
        ratio, weight = (-theta * step).exp(), (-theta * step * first).exp()
        mean = flint.arb(0)
        for j in range(first, first + self.reach):
            mean += p[j % self.size] * (j * step - threshold).max(flint.arb(0)) * weight
            weight *= ratio
        rest = (first + self.reach) * step - threshold
        require(holds=bool(theta * rest >= 1), reason=f"reach={self.reach} ends before 1/theta")
        return mean + total * rest * weight


def _convolved(masses: list[flint.arb], copies: int) -> list[flint.arb]:
    """Return the convolution of `copies` copies modulo their length."""
    size = len(masses)
    transform = flint.acb.dft([flint.acb(x) for x in masses])
    half = [z**copies for z in transform[: size // 2 + 1]]
    whole = half + [z.conjugate() for z in reversed(half[1 : size // 2])]
    return [z.real for z in flint.acb.dft(whole, inverse=True)]
