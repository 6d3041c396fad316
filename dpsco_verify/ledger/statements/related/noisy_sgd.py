"""Noisy SGD for the empirical risk (label related:noisy-sgd-erm), with n² steps or fewer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpsco_verify.evidence import Consequence, Quantity, Sharpness, Verdict
from dpsco_verify.evidence.checker import NoisySgdViolation, issue
from dpsco_verify.ledger.errata import Discrepancy
from dpsco_verify.ledger.profile import Profile
from dpsco_verify.ledger.statement import Conclusion, Reading
from dpsco_verify.ledger.statements.related import grid
from dpsco_verify.ledger.statements.related.grid import Implemented, Point, linear_task
from dpsco_verify.ledger.statements.related.privacy_statement import AUDIT_WEIGHT, Exact, PrivacyStatement
from dpsco_verify.ledger.statements.related.sampled import SampledSteps, lower_delta, renyi_delta
from dpsco_verify.privacy.balls import ball
from dpsco_verify.privacy.transcript import largest_factor, smallest_factor
from dpsco_verify.related import PrivacyBudget
from dpsco_verify.related.catalogue import SYSTEMS

NOISE = 32.0
"""The constant of σ²."""

_SHARP = (1000, 1.0, 1e-6)
_BROKEN = NoisySgdViolation(n=2, epsilon="4000", delta="1/1000000", threshold="5")
_GUARANTEE = "the T = n² noisy steps are (ε, δ)-DP"
_METHOD = (
    "Rigorous at each grid point: an upper bound on δ by Rényi divergences of a subsampled Gaussian step that "
    "dominates both directions, composed adaptively, in balls; a lower one by the sum of the noisy gradients "
    "where one gradient is opposite to all others. Beside it an audit of the implementation."
)
_SIZES = {
    Profile.QUICK: (10, 10**5),
    Profile.STANDARD: (2, 10, 100, 1000, 10**4, 10**5),
    Profile.DEEP: (2, 3, 10, 30, 100, 300, 1000, 10**4, 10**5, 10**6),
}
_DELTAS = {
    Profile.QUICK: (1e-6,),
    Profile.STANDARD: (1e-3, 1e-6, 1e-9),
    Profile.DEEP: (0.1, 1e-3, 1e-6, 1e-9, 1e-12),
}


@dataclass(frozen=True, kw_only=True)
class Found:
    """The grid, and the noise that is proven and refuted at one point, in units of the printed standard deviation."""

    points: tuple[Point, ...]
    implemented: tuple[Implemented, ...]
    proven: float | None
    failing: float | None


def steps_of(n: int, epsilon: float, delta: float) -> SampledSteps:
    """Return the steps with the printed noise."""
    noise = math.sqrt(NOISE * math.log(n / delta) * math.log(1.0 / delta)) / epsilon
    return SampledSteps(n=n, batch=1, steps=n * n - 1, noise=noise)


def examine(*, sizes: tuple[int, ...], deltas: tuple[float, ...]) -> Found:
    """Bound δ on the grid, ε from 0.1 to the end of the source's range, ``2√log(1/δ)``."""
    points, implemented = [], []
    for n in sizes:
        for delta in deltas:
            for epsilon in (0.1, 1.0, 2.0 * math.sqrt(-math.log(delta))):
                steps = steps_of(n, epsilon, delta)
                words = f"n = {n}, ε = {epsilon:.4g}, δ = {delta:g}"
                budget = PrivacyBudget(epsilon, delta)
                figures = SYSTEMS["noisy-sgd-erm"].calibrate(linear_task(1), n, budget).figures
                implemented.append(Implemented(words=words, ratio=figures["σ"] / (n * steps.noise)))
                points.append(
                    Point(
                        words=words,
                        claimed=delta,
                        lower=max(0.0, lower_delta(steps, epsilon)[0]),
                        upper=float(renyi_delta(steps, Fraction(epsilon)).upper()),
                    )
                )
    n, epsilon, delta = _SHARP
    printed = steps_of(n, epsilon, delta)
    return Found(
        points=tuple(points),
        implemented=tuple(implemented),
        proven=smallest_factor(
            lambda f: bool(renyi_delta(printed.scaled(float(f)), Fraction(epsilon)) <= ball(delta)),
            low=1e-2,
            high=1.0,
        ),
        failing=largest_factor(
            lambda f: lower_delta(printed.scaled(float(f)), epsilon)[0] > delta, low=1e-2, high=1.0
        ),
    )


class NoisySgdPrivacy(PrivacyStatement):
    """``noisy-sgd-erm-privacy``."""

    id = "noisy-sgd-erm-privacy"
    system = "noisy-sgd-erm"
    title = "Noisy SGD for ERM is private"
    reference = "Bassily, Smith and Thakurta 2014, Algorithm 1 and Theorem 2.1"
    label = "related:noisy-sgd-erm"
    text = (
        f"With σ² = 32L²n² log(n/δ) log(1/δ)/ε² on n∇f(w, z_i), i uniform in 1..n at each step, {_GUARANTEE}"
    )
    audited = "proof-range"
    readings = (
        Reading(
            id="proof-range",
            text="ε ≤ 2√log(1/δ), where the proof's one-step level is at most 1; n² iterates or fewer, as "
            "(nε)²/√d of Section 6 for ε² ≤ √d: fewer steps release less.",
            statement=f"{_GUARANTEE} for all n ≥ 2, 0 < δ < 1 and 0 < ε ≤ 2√log(1/δ)",
            method=_METHOD,
            weight=AUDIT_WEIGHT,
        ),
        Reading(
            id="every-epsilon",
            text="As the theorem is printed: without a bound on ε; all steps, which its proof covers.",
            statement=f"{_GUARANTEE} for all n ≥ 2, 0 < δ < 1 and ε > 0",
            method=_METHOD,
        ),
    )
    discrepancies = (
        Discrepancy(
            id="noisy-sgd-epsilon-range",
            title="Noisy SGD for ERM: the range of ε",
            lines=(),
            consequence=Consequence.NOTHING,
            text="The theorem is printed without a bound on ε. Its proof needs ε ≤ 2√log(1/δ), and beyond about "
            "16 log(n/δ) log(1/δ) the claim is false, since the loss of the n² steps grows as ε² there.",
            repair="state ε ≤ 2√log(1/δ)",
            shown_by=("noisy-sgd-erm-privacy/every-epsilon",),
            rests_on=("noisy-sgd-erm-privacy/proof-range",),
        ),
    )

    def exact(self, reading: Reading, profile: Profile) -> Exact:
        """Return the grid; the other reading needs but its certificate."""
        if reading.id == "every-epsilon":
            return violation_gap, {}
        return examine, {"sizes": _SIZES[profile], "deltas": _DELTAS[profile]}

    def decide(self, reading: Reading, value: Any) -> Conclusion:
        """Decide by the grid, or by the instance."""
        if reading.id == "every-epsilon":
            return self._refuted(reading, value)
        found: Found = value
        short = grid.implements(found.implemented)
        evidence = grid.counts(found.points) | grid.implementation_evidence(found.implemented)
        holds = all(p.holds for p in found.points) and short is None
        largest = max(p.upper / p.claimed for p in found.points if p.upper is not None)
        return Conclusion(
            verdict=Verdict.HOLDS_ON_GRID if holds else Verdict.INCONCLUSIVE,
            summary=f"holds at all {len(found.points)} points, with δ at most {largest:.2g} of what is claimed"
            if holds
            else f"at {short.words} the implementation adds less noise than is printed"
            if short is not None
            else "the upper bound does not reach the claim everywhere",
            evidence=evidence,
            tables=(grid.table(found.points),),
            sharpness=(_sharpness(found, holds=holds),),
        )

    def _refuted(self, reading: Reading, gap: float) -> Conclusion:
        certificate = issue(self.id, reading.id, _BROKEN)
        epsilon = Fraction(_BROKEN.epsilon)
        return Conclusion(
            verdict=Verdict.REFUTED,
            summary=f"false for large ε: at n = {_BROKEN.n}, ε = {epsilon}, δ = 10⁻⁶ the true δ is at least {gap:.3g}",
            evidence={
                "δ of the instance": Quantity(
                    value=gap, note=f"at least; n = {_BROKEN.n}, ε = {epsilon}; claimed 10⁻⁶"
                )
            },
            counterexample=f"All gradients are −L but one, which is L in S: {certificate.inequality}: {gap:.6g} > "
            "1e-06.",
            sharpness=(
                Sharpness(
                    constant="32 in σ²",
                    claimed=NOISE,
                    holds_with=None,
                    needed=None,
                    how="no constant is enough: σ falls as 1/ε, while the loss of a Gaussian grows as 1/σ²",
                ),
            ),
            certificate=certificate,
        )


def violation_gap() -> float:
    """Return the left side of the certificate."""
    return float(issue(NoisySgdPrivacy.id, "every-epsilon", _BROKEN).left)


def _sharpness(found: Found, *, holds: bool) -> Sharpness:
    n, epsilon, delta = _SHARP
    return Sharpness(
        constant="32 in σ²",
        claimed=NOISE,
        holds_with=NOISE * found.proven**2 if found.proven is not None and holds else None,
        needed=NOISE * found.failing**2 if found.failing is not None else None,
        how=f"at n = {n}, ε = {epsilon:g}, δ = {delta:g} by the two bounds; on the grid with 32",
    )
