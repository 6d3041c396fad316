"""Risk bounds (labels related:output-perturbation, related:objective-perturbation)."""

from __future__ import annotations

from dpsco_verify.evidence import Stance
from dpsco_verify.ledger.systems.risk_statement import RiskClaim

RISK_BOUNDS = (
    RiskClaim(
        system="output-perturbation",
        name="output-perturbation",
        title="The excess risk of output perturbation",
        reference="Chaudhuri, Monteleoni and Sarwate 2011; the bound with its constants by this project",
        bound="ΛD²/2 + 2L²/(nΛ) + Lr + 1.001 · 2dL²/(nΛε)",
        stance=Stance.EXTENSION,
        cells=(("drift", 400), ("signs-5", 1000)),
        standard=(("median", 1000),),
    ),
    RiskClaim(
        system="objective-perturbation",
        name="objective-perturbation",
        title="The excess risk of objective perturbation",
        reference="Chaudhuri, Monteleoni and Sarwate 2011; the bound with its constants by this project",
        bound="(Λ + Δ)D²/2 + 2L²/(n(Λ + Δ)) + 2d(d + 1)L²/(ε'²n²(Λ + Δ)) + L(r + 2rd/ε₂)",
        stance=Stance.EXTENSION,
        cells=(("drift", 400), ("signs-5", 1000)),
    ),
)
