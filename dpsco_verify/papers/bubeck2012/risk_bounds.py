"""Risk bounds (label related:mirror-descent)."""

from __future__ import annotations

from dpsco_verify.ledger.systems.risk_statement import RiskClaim

RISK_BOUNDS = (
    RiskClaim(
        system="mirror-descent-entropic",
        name="mirror-descent",
        title="The excess risk of online mirror descent",
        reference="Bubeck and Cesa-Bianchi 2012, Theorem 5.5, by averaging",
        bound="G√(2R/(αn))",
        cells=(("simplex-8", 100),),
        standard=(("simplex-8", 1000),),
    ),
)
