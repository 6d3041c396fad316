"""Witnesses about the elementary inequalities that the proofs use."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import flint
import msgspec

from dpsco_verify.evidence.checker.arithmetic import Count, Rational, ball, kind_of, rational, require

Sides = tuple[flint.arb, flint.arb, str]


class Proof(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag=kind_of
):
    """What these kinds have in common: strict fields and a tag."""


class ExpLinear(Proof, frozen=True, kw_only=True):
    """``e^x − 1 ≤ factor · x`` on [0, end]: ``factor · x − e^x + 1`` is concave, 0 at 0, and positive at the end."""

    readings: ClassVar[dict[str, int]] = {"literal": 0}
    claim_id: ClassVar[str] = "exp-linear"
    factor: Rational
    end: Rational

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        factor, end = rational("factor", self.factor), rational("end", self.end)
        require(holds=factor <= 2, reason=f"factor={factor} is above 2, weaker than the statement")
        require(holds=end >= Fraction(157, 125), reason=f"end={end} is short of 157/125")
        return (
            ball(factor * end),
            ball(end).expm1(),
            f"{factor} x > exp(x) - 1 at x = {end}, and so on (0, {end}]",
        )


class AzumaMismatch(Proof, frozen=True, kw_only=True):
    """``δ' > exp(−2ε₀²τ log(1/δ')/(2τε₀²ε₁²))`` with ``ε₁ = e^ε₀ − 1``: the two are not equal."""

    readings: ClassVar[dict[str, int]] = {"literal": 0}
    claim_id: ClassVar[str] = "azuma-step"
    epsilon_0: Rational
    delta_prime: Rational
    tau: Count

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        eps, delta = rational("epsilon_0", self.epsilon_0), rational("delta_prime", self.delta_prime)
        require(holds=eps > 0, reason=f"epsilon_0={eps} is not positive")
        require(holds=0 < delta < 1, reason=f"delta_prime={delta} is outside (0, 1)")
        square = ball(2 * eps**2 * self.tau)
        exponent = square * ball(delta).log() / (square * ball(eps).expm1() ** 2)
        words = f"delta' > exp(-2 e0^2 tau log(1/delta')/(2 tau e0^2 e1^2)) for tau = {self.tau}"
        return ball(delta), exponent.exp(), words


class AzumaRepair(Proof, frozen=True, kw_only=True):
    """``P(Σc > s + τε₀ε₁) < δ'`` with ``s = ε₀√(root · τ log(1/δ'))`` and ``root = 2``, for every τ, ε₀ > 0, δ' < 1.

    Each c lies in ``[−ε₀, ε₀]``, so by Azuma and Hoeffding ``P(Σ(c − E c) > s) ≤ exp(−2s²/(τ(2ε₀)²))``, which is
    ``δ'^{root/2}``. And ``E c ≤ ε₀ tanh(ε₀/2) = ε₀ε₁/(e^ε₀ + 1) ≤ (1/2)ε₀ε₁``, strictly less than ``ε₀ε₁``.
    """

    readings: ClassVar[dict[str, int]] = {"corrected": 0}
    claim_id: ClassVar[str] = "azuma-step"
    root: Rational

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        root = rational("root", self.root)
        require(holds=2 * root / 2**2 == 1, reason=f"the exponent is {root / 2} log(delta'), not log(delta')")
        return flint.arb(1), ball(Fraction(1, 2)), "exponent = log(delta'), and e0 e1 > (1/2) e0 e1 >= E[c]"


class KlConstant(Proof, frozen=True, kw_only=True):
    """``KL ≤ constant · ε(e^ε − 1)`` for every ε > 0 wherever ``|log(dP/dQ)| ≤ ε``.

    ``r ln r`` is convex, so under ``E_Q r = 1``, ``e^{−ε} ≤ r ≤ e^ε`` its mean is largest on the two ends: the
    largest KL is ``ε tanh(ε/2)``. ``(e^ε − 1)/tanh(ε/2) = e^ε + 1 > 2``, so ``2 · constant ≥ 1`` suffices.
    """

    readings: ClassVar[dict[str, int]] = {"literal": 0}
    claim_id: ClassVar[str] = "kl-bound"
    constant: Rational

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        constant = rational("constant", self.constant)
        require(holds=constant <= 1, reason=f"constant={constant} is above 1, weaker than the statement")
        words = (
            "constant * (exp(e) - 1) > tanh(e/2) for all e > 0, as constant * (exp(e) + 1) > 2 constant > 1"
        )
        return ball(2 * constant), flint.arb(1), words


class DualNormSign(Proof, frozen=True, kw_only=True):
    """``‖h‖_* ≥ h(−w) > h(w) ≥ min_{‖v‖₂≤1} h(v)``: the minimum is no norm of h."""

    readings: ClassVar[dict[str, int]] = {"literal": 0}
    claim_id: ClassVar[str] = "dual-norm"
    h: tuple[Rational, ...]
    w: tuple[Rational, ...]

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        h, w = ([rational(k, x) for x in getattr(self, k)] for k in ("h", "w"))
        require(holds=len(h) == len(w), reason=f"h has {len(h)} coordinates and w {len(w)}")
        require(holds=sum(x * x for x in w) <= 1, reason="w lies outside the unit ball")
        value = sum((a * b for a, b in zip(h, w, strict=True)), Fraction(0))
        return ball(-value), ball(value), "h(-w) > h(w) >= min of h over the Euclidean unit ball"
