"""The readings of ``single-step``: which data sets are neighbours, how large the batches are, and the repair."""

from __future__ import annotations

from dpsco_verify.ledger.statement import Reading

_EXACT = (
    "exact worst case by advanced joint convexity (Balle, Barthe and Gaboardi 2018) and the Gaussian mechanism's curve "
    "(Balle and Wang 2018), in ball arithmetic, on a grid of (m/n, ε̃, δ)"
)
_EMPIRICAL = (
    "; independently, the implementation's own step is audited from samples: an event chosen by the estimated "
    "likelihood ratio, confirmed on fresh samples by a betting e-process"
)
LEMMA = "M_i¹(w, F, ·) is ((m/n)(e^ε̃ − 1), (m/n)δ)-DP with σ = L√(3 log(1/δ))/ε̃, for all ε̃ > 0, 0 < δ < 1, w, F, i"

READINGS = (
    Reading(
        id="replace-one",
        text="neighbours differ in one point that is replaced (the paper's definition); batches of one point",
        statement=f"{LEMMA}; m = 1",
        method=_EXACT + _EMPIRICAL,
        weight=1.0,
    ),
    Reading(
        id="zero-out",
        text="neighbours differ in one point whose gradient is set to zero; batches of one point",
        statement=f"{LEMMA}; m = 1",
        method=_EXACT + _EMPIRICAL,
        weight=1.0,
    ),
    Reading(
        id="replace-one-minibatch",
        text="as replace-one, with batches of m > 1 points drawn without replacement (Section 5)",
        statement=f"{LEMMA}; m > 1",
        method=_EXACT + "; for m > 1 an upper bound and concrete neighbours below it" + _EMPIRICAL,
        weight=1.0,
    ),
    Reading(
        id="zero-out-minibatch",
        text="as zero-out, with batches of m > 1 points drawn without replacement (Section 5)",
        statement=f"{LEMMA}; m > 1",
        method=_EXACT + "; for m > 1 an upper bound and concrete neighbours below it" + _EMPIRICAL,
        weight=1.0,
    ),
    Reading(
        id="corrected",
        text="replace-one, any m; the sensitivity of a replaced gradient is 2L, so σ is doubled, and ε̃ and δ are "
        "bounded as the Gaussian mechanism needs it",
        statement="M_i¹(w, F, ·) is ((m/n)(e^ε̃ − 1), (m/n)δ)-DP with σ = 2L√(3 log(1/δ))/ε̃, for 0 < ε̃ ≤ 1.256 and "
        "0 < δ ≤ 0.81",
        method="closed form: the worst case is (m/n) δ_G(ε̂; 2L/σ) with ε̂ ≥ ε̃, and δ_G ≤ ½ δ^{3/2} e^{ε̃/2} < δ by the "
        "Gaussian tail bound, decided at the corner in ball arithmetic" + _EMPIRICAL,
        weight=1.0,
    ),
)
