"""The Laplace mechanism: Theorem 3.6 (theorem-3.6) says that it is private, Theorem 3.8 (theorem-3.8) how accurate."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dpsco_verify.evidence import Quantity, Stance, Verdict
from dpsco_verify.evidence.checker import Witness
from dpsco_verify.ledger import Reading
from dpsco_verify.papers.dwork2014.exact import Case, ExactStatement, Examined, exactly_sharp, sharp
from dpsco_verify.papers.dwork2014.laplace.certificates import (
    LaplaceAccuracyFactor,
    LaplaceScale,
)


class LaplaceMechanism(ExactStatement[None]):
    """``laplace-mechanism``: ``f(x) + Lap(Δf/ε)^k`` is ε-DP."""

    id = "laplace-mechanism"
    title = "The Laplace mechanism is private"
    reference = "Definition 3.3 and Theorem 3.6"
    label = "theorem-3.6"
    text = (
        "The Laplace mechanism f(x) + (Y_1, …, Y_k), Y_i ~ Lap(Δf/ε), preserves (ε, 0)-differential privacy"
    )
    scale = Fraction(1)
    readings = (
        Reading(
            id="printed",
            stance=Stance.PRINTED,
            parameters=None,
            text="Δf is the ℓ₁ sensitivity over ‖x − y‖₁ ≤ 1, as Definition 3.1 has it; real-valued noise.",
            statement="P(M(x) ∈ S) ≤ e^ε P(M(y) ∈ S) for all f: N^X → R^k, all k, ε > 0 and S",
            method="the triangle inequality bounds the loss everywhere; one event attains it, in ball arithmetic",
        ),
    )
    witness_kinds = (LaplaceScale,)

    def witness(self, reading: Reading[None]) -> Witness:
        """Return the witness."""
        return LaplaceScale(scale=str(self.scale), below="999/1000", epsilon="1")

    def case(self, reading: Reading[None], examined: Examined, studied: Any) -> Case:
        """Return the case."""
        return exactly_sharp(
            "holds for every f, k and ε, with equality: at f(x) the loss is ε",
            constant="1 in Lap(1·Δf/ε)",
            claimed=float(self.scale),
            exact=1.0,
            how="by the triangle inequality; with a smaller scale b·Δf/ε the loss is ε/b > ε",
        )


class LaplaceAccuracy(ExactStatement[None]):
    """``laplace-accuracy``: the largest error exceeds ``ln(k/δ)Δf/ε`` with probability at most δ."""

    id = "laplace-accuracy"
    title = "The Laplace mechanism is accurate"
    reference = "Theorem 3.8"
    label = "theorem-3.8"
    text = (
        "For all δ ∈ (0, 1]: P(‖f(x) − y‖_∞ ≥ ln(k/δ)(Δf/ε)) ≤ δ, where y is the Laplace mechanism's output"
    )
    factor = Fraction(1)
    readings = (
        Reading(
            id="printed",
            stance=Stance.PRINTED,
            parameters=None,
            text="As it is written.",
            statement="1 − (1 − δ/k)^k ≤ δ for all k and 0 < δ ≤ 1",
            method="the errors are independent, so the probability is known exactly; Bernoulli's inequality",
        ),
    )
    witness_kinds = (LaplaceAccuracyFactor,)

    def witness(self, reading: Reading[None]) -> Witness:
        """Return the witness."""
        return LaplaceAccuracyFactor(factor=str(self.factor), below="999/1000", dimension=1, delta="1/20")

    def case(self, reading: Reading[None], examined: Examined, studied: Any) -> Case:
        """Return the case."""
        k, delta = 10_000, 0.05
        return Case(
            proves=Verdict.CERTIFIED,
            summary="holds for all k and δ, with equality at k = 1",
            sharpness=(
                sharp(
                    "1 in 1·ln(k/δ)Δf/ε",
                    claimed=float(self.factor),
                    exact=1.0,
                    how="by the union bound; at k = 1 the probability is δ^c for c in its place, above δ if c < 1",
                ),
            ),
            evidence={
                "probability at k = 10000, δ = 0.05": Quantity(
                    value=1.0 - (1.0 - delta / k) ** k,
                    note="Example 3.3; the theorem allows 0.05",
                )
            },
        )
