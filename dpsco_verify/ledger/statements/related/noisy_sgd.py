"""Noisy SGD for the empirical risk (label related:noisy-sgd-erm), with n² steps or fewer."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from dpsco_verify.evidence import Consequence, Quantity, Sharpness, Verdict
from dpsco_verify.evidence.checker import NoisySgdViolation, issue
from dpsco_verify.ledger.errata import Discrepancy
from dpsco_verify.ledger.profile import Profile
from dpsco_verify.ledger.statement import Conclusion, Reading
from dpsco_verify.ledger.statements.related import grid
from dpsco_verify.ledger.statements.related.noisy_sgd_bounds import (
    NOISE,
    SHARP,
    Found,
    examine,
    printed_places,
    short_places,
)
from dpsco_verify.ledger.statements.related.privacy_statement import AUDIT_WEIGHT, Exact, PrivacyStatement

_BROKEN = NoisySgdViolation(n=2, epsilon="4000", delta="1/1000000", threshold="5")
_GUARANTEE = "the T = n² noisy steps are (ε, δ)-DP"
_METHOD = (
    "Rigorous at each grid point: an upper bound on δ by Rényi divergences of a subsampled Gaussian step that "
    "dominates both directions, composed adaptively, in balls; a lower one by the sum of the noisy gradients "
    "where one gradient is opposite to all others. Beside it an audit of the implementation."
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
            id="fewer-steps",
            text="T = ⌈(nε)²/√d⌉ steps, as Section 6 of the paper says suffice, with the noise of T steps in "
            "place of n², σ² = 32L²T log(n/δ) log(1/δ)/ε², which the empirical risk needs; ε = 1, n ≥ 100 and d "
            "up to 10⁴.",
            statement="the T noisy steps are (ε, δ)-DP for ε = 1, n ≥ 100 and d ≤ 10⁴",
            method=_METHOD,
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
        if reading.id == "fewer-steps":
            return examine, {"places": short_places(profile), "sharp": replace(SHARP, dimension=100)}
        return examine, {"places": printed_places(profile), "sharp": SHARP}

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
    return Sharpness(
        constant="32 in σ²",
        claimed=NOISE,
        holds_with=NOISE * found.proven**2 if found.proven is not None and holds else None,
        needed=NOISE * found.failing**2 if found.failing is not None else None,
        how=f"at {found.sharp} by the two bounds; on the grid with 32",
    )
