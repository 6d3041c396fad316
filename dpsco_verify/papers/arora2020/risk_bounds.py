"""Risk bounds.

Labels related:algorithm-1, related:subsampled-one-pass, related:private-mirror-descent and related:one-pass-sgd.
"""

from __future__ import annotations

from dpsco_verify.evidence import Stance
from dpsco_verify.ledger.systems.risk_statement import RiskClaim

RISK_BOUNDS = (
    RiskClaim(
        system="algorithm-1",
        name="algorithm-1",
        title="The excess risk of Algorithm 1 with certified noise",
        reference="Arora, Marinov and Ullah 2020, Theorem 4.4",
        bound="(5/2) D(L + σ√d)/√n",
        cells=(("drift", 1000),),
        standard=(("signs-5", 4000), ("median", 1000)),
    ),
    RiskClaim(
        system="subsampled-one-pass",
        name="subsampled-one-pass",
        title="The excess risk of one pass with privacy by subsampling",
        reference="the bound by this project",
        bound="D√(Σ_t (L² + dσ_t²))/T",
        stance=Stance.EXTENSION,
        cells=(("drift", 1000),),
        standard=(("signs-5", 4000), ("median", 1000)),
    ),
    RiskClaim(
        system="private-mirror-descent-entropic",
        name="private-mirror-descent",
        title="The excess risk of Algorithm 1 with the entropic mirror step",
        reference="the bound by this project",
        bound="(R/η + (η/(2α))(m(G + N)² + (Eτ − m)N²))/m",
        stance=Stance.EXTENSION,
        cells=(("simplex-8", 1500),),
        standard=(("simplex-8", 4000),),
    ),
    RiskClaim(
        system="mirror-descent-euclidean",
        name="one-pass-sgd",
        title="The excess risk of one pass without privacy",
        reference="the bound by this project",
        bound="LD/√n",
        stance=Stance.EXTENSION,
        cells=(("drift", 100), ("signs-5", 100)),
    ),
)
