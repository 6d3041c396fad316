"""The steps of the paper's proof of Lemma ``lem:amp_subsamp``, each checked by itself."""

from __future__ import annotations

from fractions import Fraction

import flint

from dpsco_verify.evidence import ProofStep, Quantity, Verdict
from dpsco_verify.papers.arora2020.single_step.exact import Adjacency, sigma_ball
from dpsco_verify.privacy.balls import ball, decide, gaussian_delta

EPSILON_MAX = Fraction(1256, 1000)
"""The largest ε̃ of Theorem ``thm:dp_guarantee``, which uses the lemma."""

DELTA_MAX = Fraction(81, 100)
"""The corrected reading's largest δ; the checker confirms that it is below e^{−1.256/6}."""

_EPSILONS = tuple(Fraction(k, 100) for k in (1, 5, 10, 25, 50, 75, 100, 125))
_DELTAS = tuple(Fraction(1, 10**k) for k in range(1, 13))


def proof_steps(adjacency: Adjacency, factor: Fraction) -> tuple[ProofStep, ...]:
    """Return the verdict on each step, for σ multiplied by `factor`."""
    sensitivity = 2 if adjacency is Adjacency.REPLACE_ONE else 1
    return (
        _gaussian_step(
            "with-the-point",
            f"P(E) ≤ e^ε̃ P'(E) + δ: the step with the differing point drawn has sensitivity {sensitivity}L",
            sensitivity,
            factor,
        ),
        _gaussian_step(
            "without-the-point",
            "P(E) ≤ e^ε̃ R(E) + δ: the step with another point drawn in its place has its mean up to 2L away",
            2,
            factor,
        ),
        _exponential(),
    )


def _gaussian_step(name: str, statement: str, sensitivity: int, factor: Fraction) -> ProofStep:
    """``δ_G(ε̃; sensitivity/σ) ≤ δ`` on a grid of ε̃ ≤ 1.256 and δ ≤ 0.1, in ball arithmetic."""
    worst, failing = 0.0, 0
    where = (Fraction(1), Fraction(1))
    for eps in _EPSILONS:
        for delta in _DELTAS:

            def ratio(eps: Fraction = eps, delta: Fraction = delta) -> flint.arb:
                mu = sensitivity / sigma_ball(eps, delta, factor)
                return gaussian_delta(ball(eps), mu) / ball(delta)

            failing += decide(ratio, lambda: flint.arb(1)) is True
            with flint.ctx.workprec(256):
                value = float(ratio())
            if value > worst:
                worst, where = value, (eps, delta)
    return ProofStep(
        id=name,
        statement=statement,
        verdict=Verdict.REFUTED if failing else Verdict.HOLDS_ON_GRID,
        evidence={
            "points at which it fails": Quantity(
                value=failing,
                unit=f"of {len(_EPSILONS) * len(_DELTAS)}",
                note="grid over 0.01 ≤ ε̃ ≤ 1.25 and 1e-12 ≤ δ ≤ 0.1, ball arithmetic",
            ),
            "largest true δ over the claimed one": Quantity(
                value=worst, note=f"at ε̃ = {float(where[0]):g}, δ = {float(where[1]):g}"
            ),
        },
    )


def _exponential() -> ProofStep:
    """``1 + x ≤ e^x``, strict by at least x²/2 for x > 0."""
    points = [Fraction(k, 8) for k in range(1, 257)]
    holds = all(bool(ball(x).expm1() - ball(x) > ball(x * x) / 2) for x in points)
    return ProofStep(
        id="exponential",
        statement="1 + p(e^ε̃ − 1) ≤ exp(p(e^ε̃ − 1))",
        verdict=Verdict.HOLDS_ON_GRID if holds else Verdict.REFUTED,
        evidence={"points checked": Quantity(value=len(points), note="x = 1/8 to 32, ball arithmetic")},
    )
