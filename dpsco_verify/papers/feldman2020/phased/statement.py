"""Phased SGD and phased ERM (labels related:phased-sgd, related:phased-erm): Gaussian noise on each phase's output."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from dpsco_verify.choices import Profile
from dpsco_verify.evidence import Quantity, Sharpness, Stance, Verdict
from dpsco_verify.ledger import Decision, Reading
from dpsco_verify.ledger.systems.calibration import Implemented, Place, compare, with_implementation
from dpsco_verify.ledger.systems.privacy_statement import (
    AUDIT_WEIGHT,
    CONCENTRATED,
    Call,
    PrivacyStatement,
    audit_null,
)
from dpsco_verify.papers.feldman2020.phased.certificates import PhasedErmNoise, PhasedSgdNoise

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
_GRID = (Place(100, 1), Place(1000, 5, lipschitz=2.0), Place(10**5, 20, lipschitz=0.5))


def implemented_noise(system: str) -> tuple[Implemented, ...]:
    """Return ``σ_1/(4Lη_1/κ)`` of the implementation on a grid of n, d and L, at (1, 1e-6)."""
    return compare(
        system,
        _GRID,
        lambda figures, at: (
            figures["σ₁"] / (NOISE * at.lipschitz * figures["η"] / 4.0 / at.budget.concentrated)
        ),
    )


class _Phased(PrivacyStatement[None, tuple[Implemented, ...]]):
    constant: ClassVar[Sharpness]
    sensitivity: ClassVar[str]

    def exact(self, reading: Reading[None], profile: Profile) -> Call[tuple[Implemented, ...]]:
        """Return the comparison of the implementation's noise with the printed one."""
        return implemented_noise, {"system": self.system}

    @abstractmethod
    def witness(self) -> PhasedSgdNoise | PhasedErmNoise:
        """Return the witness."""

    def decide(self, reading: Reading[None], value: tuple[Implemented, ...]) -> Decision:
        """Certify where the implementation adds the printed noise."""
        sensitivity = Quantity(value=self.constant.holds_with, unit="Lη_i", note=self.sensitivity)
        proven = Decision(
            verdict=Verdict.CERTIFIED,
            summary=f"holds for all parameters: the sensitivity is at most {self.constant.holds_with:g} Lη_i, and "
            f"the noise is made for {NOISE} Lη_i",
            evidence={"sensitivity": sensitivity},
            sharpness=(self.constant,),
            witness=self.witness(),
        )
        return with_implementation(proven, value)


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
            stance=Stance.PRINTED,
            parameters=None,
            text="κ is the source's ρ; each point is used in one phase; steps of size at most 2/β; the average "
            "is over the iterates at which gradients were taken.",
            statement=_GUARANTEE,
            method=_METHOD,
            weight=AUDIT_WEIGHT,
            null=audit_null(system, CONCENTRATED),
        ),
    )
    sensitivity = "non-expansive steps keep the 2Lη_i of one step; a linear loss reaches it but for 1/n_i"
    constant = Sharpness(
        constant="4 in σ_i = 4Lη_i/κ",
        claimed=float(NOISE),
        holds_with=2.0,
        needed=2.0 * (1.0 - 1.0 / POINTS),
        at=f"a linear loss whose first point of {POINTS} is replaced",
        how=f"by non-expansive steps; needed by a linear loss whose first point of {POINTS} is replaced, where "
        "each release is exactly Gaussian",
    )
    witness_kinds = (PhasedSgdNoise,)

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
            stance=Stance.PRINTED,
            parameters=None,
            text="κ is the source's ρ; each point is used in one phase; the solver's accuracy holds surely.",
            statement=_GUARANTEE,
            method=_METHOD,
            weight=AUDIT_WEIGHT,
            null=audit_null(system, CONCENTRATED),
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
    witness_kinds = (PhasedErmNoise,)

    def witness(self) -> PhasedErmNoise:
        """Return the witness."""
        return PhasedErmNoise(n=POINTS, lipschitz="1", step_size="1/100")
