"""The risk bounds of the systems.

Labels related:algorithm-1, related:output-perturbation, related:objective-perturbation, related:minibatch-sgd,
related:smoothed-minibatch-sgd, related:smoothed-minibatch-sgd-2l, related:phased-sgd, related:phased-erm,
related:iteration-sgd, related:subsampled-one-pass, related:private-mirror-descent, related:one-pass-sgd and
related:mirror-descent. A system without a constant in its bound has no statement here: its rate is compared
elsewhere.
"""

from __future__ import annotations

from dpsco_verify.ledger.statements.related.risk import RiskClaim


class RiskStatement(RiskClaim):
    """A risk bound of this table; its label stands in the docstring of this module."""


_SOURCE = {
    "paper": "Arora, Marinov and Ullah 2020, Theorem 4.4",
    "cms": "Chaudhuri, Monteleoni and Sarwate 2011; the bound with its constants by this project",
    "bftt": "Bassily, Feldman, Talwar and Thakurta 2019",
    "fkt": "Feldman, Koren and Talwar 2020; the bound with its constants by this project",
    "ours": "the bound by this project",
}

RISK_STATEMENTS: tuple[RiskStatement, ...] = (
    RiskStatement(
        system="algorithm-1",
        name="algorithm-1",
        title="The excess risk of Algorithm 1 with certified noise",
        reference=_SOURCE["paper"],
        bound="(5/2) D(L + σ√d)/√n",
        cells=(("drift", 1000),),
        standard=(("signs-5", 4000), ("median", 1000)),
    ),
    RiskStatement(
        system="output-perturbation",
        name="output-perturbation",
        title="The excess risk of output perturbation",
        reference=_SOURCE["cms"],
        bound="ΛD²/2 + 2L²/(nΛ) + Lr + 1.001 · 2dL²/(nΛε)",
        cells=(("drift", 400), ("signs-5", 1000)),
        standard=(("median", 1000),),
    ),
    RiskStatement(
        system="objective-perturbation",
        name="objective-perturbation",
        title="The excess risk of objective perturbation",
        reference=_SOURCE["cms"],
        bound="(Λ + Δ)D²/2 + 2L²/(n(Λ + Δ)) + 2d(d + 1)L²/(ε'²n²(Λ + Δ)) + L(r + 2rd/ε₂)",
        cells=(("drift", 400), ("signs-5", 1000)),
    ),
    RiskStatement(
        system="minibatch-sgd",
        name="minibatch-sgd",
        title="The excess risk of noisy mini-batch SGD",
        reference=f"{_SOURCE['bftt']}, Theorem 3.2",
        bound="10LD max(√(d log(1/δ))/(εn), 1/√n)",
        cells=(("drift", 400),),
        standard=(("signs-5", 1000), ("drift", 2000)),
    ),
    RiskStatement(
        system="smoothed-minibatch-sgd",
        name="smoothed-minibatch-sgd",
        title="The excess risk of noisy mini-batch SGD on Moreau envelopes",
        reference=f"{_SOURCE['bftt']}, Theorem 4.4",
        bound="10LD max(√(d log(1/δ))/(εn), 1/√n) + L²/(2β)",
        cells=(("median", 1000),),
        standard=(("drift", 400), ("signs-5", 1000)),
    ),
    RiskStatement(
        system="smoothed-minibatch-sgd-2l",
        name="smoothed-minibatch-sgd-2l",
        title="The excess risk of noisy mini-batch SGD on Moreau envelopes with noise for 2L",
        reference=f"{_SOURCE['bftt']}, Theorem 4.4",
        bound="24LD max(√(d log(1/δ))/(εn), 1/√n)",
        cells=(("median", 1000),),
        standard=(("drift", 400), ("signs-5", 1000)),
    ),
    RiskStatement(
        system="phased-sgd",
        name="phased-sgd",
        title="The excess risk of phased SGD",
        reference=_SOURCE["fkt"],
        bound="Σ_i (E‖w_{i−1} − w̄_{i−1}‖²/(2η_i n_i) + η_i L²/2) + Lσ_k√d",
        cells=(("drift", 1000),),
        standard=(("signs-5", 4000),),
    ),
    RiskStatement(
        system="phased-erm",
        name="phased-erm",
        title="The excess risk of phased ERM",
        reference=_SOURCE["fkt"],
        bound="4D²/(n_1η) + bη with η at its best",
        cells=(("drift", 1000),),
        standard=(("median", 4000), ("signs-5", 10_000)),
    ),
    RiskStatement(
        system="iteration-sgd",
        name="iteration-sgd",
        title="The excess risk of one pass with privacy by iteration",
        reference=_SOURCE["fkt"],
        bound="D²/(2η(T + 1)) + ηL²(1 + H_T)",
        cells=(("drift", 1000),),
        standard=(("signs-5", 4000),),
    ),
    RiskStatement(
        system="subsampled-one-pass",
        name="subsampled-one-pass",
        title="The excess risk of one pass with privacy by subsampling",
        reference=_SOURCE["ours"],
        bound="D√(Σ_t (L² + dσ_t²))/T",
        cells=(("drift", 1000),),
        standard=(("signs-5", 4000), ("median", 1000)),
    ),
    RiskStatement(
        system="private-mirror-descent-entropic",
        name="private-mirror-descent",
        title="The excess risk of Algorithm 1 with the entropic mirror step",
        reference=_SOURCE["ours"],
        bound="(R/η + (η/(2α))(m(G + N)² + (Eτ − m)N²))/m",
        cells=(("simplex-8", 1500),),
        standard=(("simplex-8", 4000),),
    ),
    RiskStatement(
        system="mirror-descent-euclidean",
        name="one-pass-sgd",
        title="The excess risk of one pass without privacy",
        reference=_SOURCE["ours"],
        bound="LD/√n",
        cells=(("drift", 100), ("signs-5", 100)),
    ),
    RiskStatement(
        system="mirror-descent-entropic",
        name="mirror-descent",
        title="The excess risk of online mirror descent",
        reference="Bubeck and Cesa-Bianchi 2012, Theorem 5.5, by averaging",
        bound="G√(2R/(αn))",
        cells=(("simplex-8", 100),),
        standard=(("simplex-8", 1000),),
    ),
)
"""One for each system whose bound has constants."""
