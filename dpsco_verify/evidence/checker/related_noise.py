"""Witnesses about systems that add noise once, or in a row of non-expansive steps; L is the Lipschitz constant."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import flint

from dpsco_verify.evidence.checker.arithmetic import Count, Rational, ball, rational, require, upper_tail
from dpsco_verify.evidence.checker.elementary import Proof, Sides


class OutputPerturbationRate(Proof, frozen=True, kw_only=True):
    """Noise of density ∝ exp(−(nΛε/2)‖b‖) gives ε for L = 1, and one with a constant below 2 does not.

    The minimiser of ``(1/n)Σf + (Λ/2)‖w‖²`` moves by at most 2/(nΛ), and by as much where ``f = −wz``, z = ±1 (d = 1).
    The ratio of the densities of ``w + b`` is at most e to the rate times that, for all n, Λ, ε, and equal to it beyond
    both minimisers.
    """

    readings: ClassVar[dict[str, int]] = {"unit-lipschitz": 0}
    claim_id: ClassVar[str] = "output-perturbation-privacy"
    n: Count
    regularisation: Rational
    epsilon: Rational
    below: Rational

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        regularisation, epsilon, below = (
            rational(k, getattr(self, k)) for k in ("regularisation", "epsilon", "below")
        )
        require(
            holds=regularisation > 0 and epsilon > 0, reason="regularisation and epsilon must be positive"
        )
        require(holds=0 < below < 2, reason=f"below={below} is outside (0, 2)")
        strength = self.n * regularisation
        moved = 2 / strength
        require(
            holds=moved * (strength * epsilon / 2) == epsilon, reason="the printed rate does not give epsilon"
        )
        words = (
            f"the printed noise has loss {epsilon} at n = {self.n}, Lambda = {regularisation}, and so for all; with "
            f"{below} for 2 the loss > {epsilon}"
        )
        return ball(moved * (strength * epsilon / below)), ball(epsilon), words


class OutputPerturbationViolation(Proof, frozen=True, kw_only=True):
    """``P(E|S) > e^ε P(E|S')`` with the printed noise at a Lipschitz constant L > 1.

    d = 1, ``f = −Lwz``; one point is 1 in S and −1 in S', the others are 0, and the minimisers are ``±L/(nΛ)``. E says
    that the output exceeds the larger one.
    """

    readings: ClassVar[dict[str, int]] = {"any-lipschitz": 0}
    claim_id: ClassVar[str] = "output-perturbation-privacy"
    lipschitz: Rational
    n: Count
    regularisation: Rational
    epsilon: Rational

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        lipschitz, regularisation, epsilon = (
            rational(k, getattr(self, k)) for k in ("lipschitz", "regularisation", "epsilon")
        )
        require(
            holds=min(lipschitz, regularisation, epsilon) > 0,
            reason="lipschitz, regularisation and epsilon must be positive",
        )
        rate = self.n * regularisation * epsilon / 2
        apart = 2 * lipschitz / (self.n * regularisation)
        words = (
            f"P(E|S) > exp(epsilon) P(E|S') at L = {lipschitz}, n = {self.n}, Lambda = {regularisation}, "
            f"epsilon = {epsilon}"
        )
        return ball(Fraction(1, 2)), (ball(epsilon) - ball(rate * apart)).exp() / 2, words


class ObjectivePerturbationLoss(Proof, frozen=True, kw_only=True):
    """The privacy loss of objective perturbation is below ε for all ``x = c/(nΛ) > 0`` and ε > 0.

    The released w solves ``b = −(Σ∇ℓ_i(w) + nΛw)``, so its density is that of b there times the determinant of the
    Hessian ``H = nΛI + Σ∇²ℓ_i``. Neighbours change b by at most 2, hence its density by at most e^{ε'}. With H₀ the
    Hessian without the differing point, ``det H/det H' ≤ det(H₀ + c x xᵀ)/det H₀ ≤ 1 + c/(nΛ)``, since H' ⪰ H₀. The
    loss is at most ``ε' + log(1 + x)``, which is reached in one dimension; the source allows twice the logarithm.

    * ``ε > 2 log(1 + x)``: ``ε' = ε − 2 log(1 + x)``, so ε is left by log(1 + x) > 0.
    * Else x becomes ``e^{ε/4} − 1`` and ``ε' = ε/2``: the loss is 3ε/4.
    """

    readings: ClassVar[dict[str, int]] = {"printed": 0}
    claim_id: ClassVar[str] = "objective-perturbation-privacy"
    curvature: Rational
    epsilon: Rational

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        x, epsilon = (rational(k, getattr(self, k)) for k in ("curvature", "epsilon"))
        require(holds=x > 0 and epsilon > 0, reason="curvature and epsilon must be positive")
        logarithm = ball(x).log1p()
        rest = ball(epsilon) - 2 * logarithm
        require(holds=bool(rest > 0), reason=f"curvature={x} is not in the first case; give a smaller one")
        first = rest + logarithm
        changed = ball(epsilon / 4).expm1()
        second = ball(epsilon / 2) + changed.log1p()
        require(holds=bool(second < ball(epsilon)), reason="the second case exceeds epsilon")
        return (
            ball(epsilon),
            first,
            f"{epsilon} > eps' + log(1 + x) at x = {x}, and so for all x > 0 and epsilon > 0",
        )


class PhasedSgdNoise(Proof, frozen=True, kw_only=True):
    """``σ_i = 4Lη_i/κ`` is above ``2Lη_i/κ``, which gives (α, ακ²/2)-RDP for all α, n, L, η ≤ 2/β.

    Steps with η ≤ 2/β move no two points apart, so replacing a point moves each later iterate by at most 2Lη, and their
    average as well. With ``f = −Lwz`` and the first of `points` replaced, the average of the iterates at which
    gradients were taken moves by ``2Lη(1 − 1/points)``, more than `below` Lη.
    """

    readings: ClassVar[dict[str, int]] = {"printed": 0}
    claim_id: ClassVar[str] = "phased-sgd-privacy"
    points: Count
    below: Rational

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        below = rational("below", self.below)
        moved = 2 * (1 - Fraction(1, self.points))
        require(holds=0 < below < moved, reason=f"below={below} is outside (0, {moved})")
        words = (
            f"4 > 2 >= sensitivity/(L eta), which exceeds {below} for a pass over {self.points} points of a "
            "linear loss"
        )
        return ball(4), ball(2), words


class PhasedErmNoise(Proof, frozen=True, kw_only=True):
    """``σ_i = 4Lη_i/κ`` is above ``3Lη_i/κ``, which gives (α, ακ²/2)-RDP for all α, n and L.

    The objective ``(1/n)Σf + ‖w − w₀‖²/(ηn)`` is λ-strongly convex, ``λ = 2/(ηn)``: neighbours' minimisers are at most
    ``2L/(nλ)`` apart, and a point within ``L²η/n`` of the minimum is at most ``√(2(L²η/n)/λ)`` from the minimiser.
    Together ``Lη + 2Lη``, whatever n, L, η; linear losses and solvers that err apart reach it.
    """

    readings: ClassVar[dict[str, int]] = {"printed": 0}
    claim_id: ClassVar[str] = "phased-erm-privacy"
    n: Count
    lipschitz: Rational
    step_size: Rational

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        L, eta = rational("lipschitz", self.lipschitz), rational("step_size", self.step_size)
        require(holds=L > 0 and eta > 0, reason="lipschitz and step_size must be positive")
        convexity = 2 / (eta * self.n)
        apart, square = 2 * L / (self.n * convexity), 2 * (L * L * eta / self.n) / convexity
        require(holds=square == (L * eta) ** 2, reason="the solver's distance is not L eta")
        total = apart + 2 * L * eta
        words = f"4 L eta > sensitivity with a solver, 3 L eta, at n = {self.n}, L = {L}, eta = {eta}, and so for all"
        return ball(4 * L * eta), ball(total), words


class IterationBatches(Proof, frozen=True, kw_only=True):
    """``B_t = ⌈2√d/(κ√(T − t + 1))⌉`` gives (α, ακ²/2)-RDP for all T, d, κ, and a constant below 2 does not.

    Amplification by iteration spreads the shift 2Lη/B_t over the ``T − t + 1`` steps from t on, each with noise
    ``N(0, η²L²/d)``: the divergence is at most ``α (2Lη/B_t)²/(2(T − t + 1)η²L²/d) ≤ ακ²/2``. For t = 1 and linear
    losses the last iterate is Gaussian with just this divergence, where nothing is projected.
    """

    readings: ClassVar[dict[str, int]] = {"printed": 0}
    claim_id: ClassVar[str] = "iteration-sgd-privacy"
    dimension: Count
    kappa: Rational
    steps: Count
    below: Rational

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        kappa, below = rational("kappa", self.kappa), rational("below", self.below)
        require(holds=kappa > 0 and 0 < below < 2, reason="kappa must be positive and below in (0, 2)")
        d, T = self.dimension, self.steps
        printed, less = (_root_up(c * c * d / (kappa * kappa * T)) for c in (Fraction(2), below))
        require(
            holds=Fraction(4 * d, printed**2 * T) == kappa**2,
            reason="2 sqrt(d)/(kappa sqrt(T)) is no integer; the printed batch has room there",
        )
        words = (
            f"4d/(B^2 T) > kappa^2 at d = {d}, T = {T}, kappa = {kappa} for the batch B = {less} that {below} in place "
            f"of 2 gives, and = kappa^2 for the printed one"
        )
        return ball(Fraction(4 * d, less**2 * T)), ball(kappa**2), words


class IterationStepViolation(Proof, frozen=True, kw_only=True):
    """``P(E|S) − e^ε P(E|S') > δ`` for two steps of size ``η = factor/β > 2/β`` with the printed batches.

    κ is that of (ε, δ). In units of ηL. f is a Huber loss of ``w₁ − z``, β-smooth and L-Lipschitz; W is a segment
    along the first axis, η its length over ``L√2``. The first of batch 1 is beyond ``w ± L/β``, its gradient ∓L; all
    other points are 0, where the walk begins. So ``w₂ = ±1/B₁ + N(0, 1/d)``, and unless |w₂| > 1/factor, step 2 takes
    it to ``−(factor − 1)w₂ + N(0, 1/d)``. E says that the output is below −threshold, inside W.
    """

    readings: ClassVar[dict[str, int]] = {"any-step-size": 0}
    claim_id: ClassVar[str] = "iteration-sgd-privacy"
    dimension: Count
    factor: Rational
    epsilon: Rational
    delta: Rational
    threshold: Rational

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        factor, epsilon, delta, threshold = (
            rational(k, getattr(self, k)) for k in ("factor", "epsilon", "delta", "threshold")
        )
        require(holds=factor > 2, reason=f"factor={factor} is not above 2")
        require(holds=epsilon > 0 and 0 < delta < 1, reason="epsilon must be positive, and delta in (0, 1)")
        require(holds=0 < threshold < Fraction(7, 10), reason=f"threshold={threshold} is outside (0, 7/10)")
        d = self.dimension
        edge = -2 * ball(delta).log()
        kappa = (edge + 2 * ball(epsilon)).sqrt() - edge.sqrt()
        batch = (2 * ball(d).sqrt() / (kappa * ball(2).sqrt())).ceil().unique_fmpz()
        if batch is None:
            return flint.arb("nan"), ball(delta), ""
        expansion = factor - 1
        shift = ball(expansion / int(batch))
        deviation = ball((expansion**2 + 1) / d).sqrt()
        outside = 2 * upper_tail((ball(1 / factor) - ball(Fraction(1, int(batch)))) * ball(d).sqrt())
        first = upper_tail((ball(threshold) - shift) / deviation) - outside
        second = upper_tail((ball(threshold) + shift) / deviation) + outside
        words = (
            f"P(E|S) - exp(epsilon) P(E|S') > delta at d = {d}, eta = {factor}/beta, epsilon = {epsilon}, "
            f"E at {threshold}"
        )
        return first - ball(epsilon).exp() * second, ball(delta), words


def _root_up(square: Fraction) -> int:
    """Return ``⌈√square⌉``."""
    root = int(flint.fmpz(square.numerator // square.denominator).isqrt())
    return root if Fraction(root * root) >= square else root + 1
