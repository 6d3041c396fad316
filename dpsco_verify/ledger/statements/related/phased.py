"""Phased SGD and phased ERM (labels related:phased-sgd, related:phased-erm): Gaussian noise on each phase's output."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from dpsco_verify.evidence import Quantity, Sharpness, Verdict
from dpsco_verify.evidence.checker import PhasedErmNoise, PhasedSgdNoise, issue
from dpsco_verify.ledger.profile import Profile
from dpsco_verify.ledger.statement import Conclusion, Reading
from dpsco_verify.ledger.statements.related.grid import (
    Implemented,
    implementation_evidence,
    implements,
    linear_task,
)
from dpsco_verify.ledger.statements.related.privacy_statement import AUDIT_WEIGHT, Exact, PrivacyStatement
from dpsco_verify.related import PrivacyBudget
from dpsco_verify.related.catalogue import SYSTEMS

NOISE = 4
"""The constant of ``σ_i = 4Lη_i/κ``."""

POINTS = 1000
"""Length of the pass that attains all but 1/1000 of the sensitivity."""

_GUARANTEE = (
    "the outputs of all phases are (α, ακ²/2)-RDP for all α, hence (ε, δ)-DP with κ = √(2 log(1/δ) + 2ε) − √(2 "
    "log(1/δ))"
)
_METHOD = (
    "Exact, for all n, L, η, κ: the sensitivity of a phase's output in units of Lη_i by the argument that the "
    "certificate holds, against the constant of the noise; beside it the noise of the implementation on a grid, "
    "and an audit of its outputs."
)
_GRID = ((100, 1, 1.0), (1000, 5, 2.0), (10**5, 20, 0.5))


def implemented_noise(system: str) -> tuple[Implemented, ...]:
    """Return ``σ_1/(4Lη_1/κ)`` of the implementation on a grid of n, d and L, at (1, 1e-6)."""
    budget = PrivacyBudget(1.0, 1e-6)
    found = []
    for n, dimension, lipschitz in _GRID:
        figures = SYSTEMS[system].calibrate(linear_task(dimension, lipschitz=lipschitz), n, budget).figures
        printed = NOISE * lipschitz * figures["η"] / 4.0 / budget.concentrated
        found.append(
            Implemented(words=f"n = {n}, d = {dimension}, L = {lipschitz:g}", ratio=figures["σ₁"] / printed)
        )
    return tuple(found)


class _Phased(PrivacyStatement):
    audited = "printed"
    constant: ClassVar[Sharpness]
    sensitivity: ClassVar[str]

    def exact(self, reading: Reading, profile: Profile) -> Exact:  # noqa: ARG002  the interface
        """Return the comparison of the implementation's noise with the printed one."""
        return implemented_noise, {"system": self.system}

    @abstractmethod
    def witness(self) -> PhasedSgdNoise | PhasedErmNoise:
        """Return the witness."""

    def decide(self, reading: Reading, value: Any) -> Conclusion:
        """Certify where the implementation adds the printed noise."""
        found: Sequence[Implemented] = value
        evidence = {
            "sensitivity": Quantity(value=self.constant.holds_with, unit="Lη_i", note=self.sensitivity),
            **implementation_evidence(found),
        }
        short = implements(found)
        if short is not None:
            return Conclusion(
                verdict=Verdict.INCONCLUSIVE,
                summary=f"at {short.words} the implementation adds {short.ratio:.4g} of the printed noise",
                evidence=evidence,
            )
        return Conclusion(
            verdict=Verdict.CERTIFIED,
            summary=f"holds for all parameters: the sensitivity is at most {self.constant.holds_with:g} Lη_i, and "
            f"the noise is made for {NOISE} Lη_i",
            evidence=evidence,
            sharpness=(self.constant,),
            certificate=issue(self.id, reading.id, self.witness()),
        )


class PhasedSgdPrivacy(_Phased):
    """``phased-sgd-privacy``."""

    id = "phased-sgd-privacy"
    system = "phased-sgd"
    title = "Phased SGD is private"
    reference = "Feldman, Koren and Talwar 2020, Algorithm 2 and Theorem 4.4"
    label = "related:phased-sgd"
    text = (
        "For β-smooth losses and η ≤ 2/β, with noise N(0, σ_i²I), σ_i = 4Lη_i/κ, on the average of phase i, "
        + _GUARANTEE
    )
    readings = (
        Reading(
            id="printed",
            text="κ is the source's ρ; each point is used in one phase; steps of size at most 2/β; the average "
            "is over the iterates at which gradients were taken.",
            statement=_GUARANTEE,
            method=_METHOD,
            weight=AUDIT_WEIGHT,
        ),
    )
    sensitivity = "non-expansive steps keep the 2Lη_i of one step; a linear loss reaches it but for 1/n_i"
    constant = Sharpness(
        constant="4 in σ_i = 4Lη_i/κ",
        claimed=float(NOISE),
        holds_with=2.0,
        needed=2.0 * (1.0 - 1.0 / POINTS),
        how=f"by non-expansive steps; needed by a linear loss whose first point of {POINTS} is replaced, where "
        "each release is exactly Gaussian",
    )

    def witness(self) -> PhasedSgdNoise:
        """Return the witness."""
        return PhasedSgdNoise(points=POINTS, below="199/100")


class PhasedErmPrivacy(_Phased):
    """``phased-erm-privacy``."""

    id = "phased-erm-privacy"
    system = "phased-erm"
    title = "Phased ERM is private"
    reference = "Feldman, Koren and Talwar 2020, Algorithm 3 and Theorem 4.8"
    label = "related:phased-erm"
    text = (
        "With noise N(0, σ_i²I), σ_i = 4Lη_i/κ, on a point within L²η_i/n_i of the minimum of phase i's "
        f"regularised risk, {_GUARANTEE}"
    )
    readings = (
        Reading(
            id="printed",
            text="κ is the source's ρ; each point is used in one phase; the solver's accuracy holds surely.",
            statement=_GUARANTEE,
            method=_METHOD,
            weight=AUDIT_WEIGHT,
        ),
    )
    sensitivity = "Lη_i between the minimisers of neighbours, and Lη_i on each side for the solver"
    constant = Sharpness(
        constant="4 in σ_i = 4Lη_i/κ",
        claimed=float(NOISE),
        holds_with=3.0,
        needed=3.0,
        how="by strong convexity; needed by linear losses on a line with a solver that errs by L²η_i/n_i to "
        "opposite sides; with an exact solver 1 is enough and needed",
    )

    def witness(self) -> PhasedErmNoise:
        """Return the witness."""
        return PhasedErmNoise(n=POINTS, lipschitz="1", step_size="1/100")
