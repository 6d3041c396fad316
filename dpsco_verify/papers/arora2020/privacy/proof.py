"""The steps of the paper's proof of the privacy part of Theorem ``thm:main_result``, each checked by itself."""

from __future__ import annotations

from fractions import Fraction

import flint

from dpsco_verify.evidence import ProofStep, Quantity, Verdict
from dpsco_verify.papers.arora2020.privacy import claim
from dpsco_verify.privacy.balls import ball

_TAU_OVER_N = 2
"""The proof conditions on τ ≤ 2n."""


def proof_steps() -> tuple[ProofStep, ...]:
    """Return the verdict on each step."""
    return (_side_condition(), _noise(), _order(), _delta(), _tail())


def _side_condition() -> ProofStep:
    """Compare: ε̃ = √n ε is at most 1/2, and Theorem 5.1 allows 1.256."""
    return ProofStep(
        id="side-condition",
        statement="ε ≤ 1/(2√n) gives ε̃ = √n ε ≤ 1.256",
        verdict=Verdict.CERTIFIED if Fraction(1256, 1000) >= claim.SCALE_MAX else Verdict.REFUTED,
        evidence={"largest ε̃": Quantity(value=float(claim.SCALE_MAX), note="in place of 1.256")},
    )


def _noise() -> ProofStep:
    """Compare the constant of σ with the √3 of Theorem 5.1, squared: exact."""
    return ProofStep(
        id="noise",
        statement="σ = 8L√log(1/δ)/(√n ε) is at least Theorem 5.1's L√(3 log(1/δ))/ε̃",
        verdict=Verdict.CERTIFIED if claim.NOISE**2 >= 3 else Verdict.REFUTED,
        evidence={
            "the constant over √3": Quantity(
                value=float(claim.NOISE) / 3**0.5, note="the proof does not use the surplus"
            )
        },
    )


def _order() -> ProofStep:
    """``2ε̃√(2τℓ')/n + 4τε̃²/n²`` at τ = 2n is ``4ε√ℓ' + 8ε²``: at most the claimed ``4ε√ℓ' + 8ε`` as ε ≤ 1."""
    largest = ball(claim.SCALE_MAX) / flint.arb(16).sqrt()
    return ProofStep(
        id="order",
        statement="Theorem 5.1 at τ = 2n gives an ε of at most 4ε(√log(1/δ') + 2)",
        verdict=Verdict.CERTIFIED if largest <= 1 else Verdict.REFUTED,
        evidence={
            "8ε² over 8ε, at most": Quantity(
                value=float(largest),
                note="the 2 could be 2ε; the step takes Theorem 5.1 for granted (see `composition`)",
            )
        },
    )


def _delta() -> ProofStep:
    """``τδ/n`` at τ = 2n is 2δ, not δ."""
    return ProofStep(
        id="delta",
        statement="Theorem 5.1 at τ ≤ 2n gives δ + δ'",
        verdict=Verdict.CERTIFIED if _TAU_OVER_N <= 1 else Verdict.REFUTED,
        evidence={
            "what it gives": Quantity(
                value=_TAU_OVER_N, unit="δ, plus δ'", note="the claim has δ; the statement holds all the same"
            )
        },
    )


def _tail() -> ProofStep:
    """Evaluate what is printed for the probability of τ > 2n: it is negative."""
    printed = -2 * (-flint.arb(1)).exp()
    return ProofStep(
        id="tail",
        statement="P(τ > 2n) = −2e^{−n/16}",
        verdict=Verdict.REFUTED if printed < 0 else Verdict.INCONCLUSIVE,
        evidence={
            "the printed value at n = 16": Quantity(value=float(printed), note="should be ≤ 2e^{−n/16}")
        },
    )
