"""The readings of ``single-step``: which data sets are neighbours, how large the batches are, and the repair."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpsco_verify.evidence import Consequence, Stance
from dpsco_verify.ledger import Discrepancy, Reading
from dpsco_verify.papers.arora2020.single_step.certificates import NULLS
from dpsco_verify.papers.arora2020.single_step.exact import Adjacency
from dpsco_verify.papers.arora2020.single_step.work import Batches, Place, place

DISCREPANCIES = (
    Discrepancy(
        id="sensitivity",
        title="The noise is calibrated for half of the sensitivity",
        lines=(114, 307, 333),
        consequence=Consequence.GUARANTEE,
        text=(
            "Neighbouring data sets differ in one point by replacement, so the gradient that is used may move "
            "by 2L. The noise is that of a query that moves by L."
        ),
        repair=(
            "Double σ, and state the range of ε̃ and δ on which the Gaussian mechanism needs no more: as the "
            "lemma stands it has none, and outside it even the doubled noise is too small."
        ),
        shown_by=(
            "single-step/replace-one",
            "single-step/replace-one-minibatch",
            "single-step#with-the-point",
        ),
        rests_on=("single-step/corrected",),
        constants=(("single-step/replace-one", "1 on σ"), ("single-step/corrected", "2 on σ")),
    ),
    Discrepancy(
        id="other-points",
        title="Another point in place of the differing one is not within L either",
        lines=(325, 333),
        consequence=Consequence.GUARANTEE,
        text=(
            "The amplification step also needs the output with the differing point to be close to the output "
            "without it. There another point, or none, is used, whose gradient may lie 2L away. So the lemma "
            "fails even if the differing point is zeroed out and its own gradient moves by L only."
        ),
        repair="The doubled noise serves here too.",
        shown_by=("single-step/zero-out", "single-step/zero-out-minibatch", "single-step#without-the-point"),
        rests_on=("single-step/corrected",),
        constants=(("single-step/zero-out", "1 on σ"),),
    ),
)


_EXACT = (
    "exact worst case by advanced joint convexity (Balle, Barthe and Gaboardi 2018) and the Gaussian mechanism's curve "
    "(Balle and Wang 2018), in ball arithmetic, on a grid of (m/n, ε̃, δ)"
)
_EMPIRICAL = (
    "; independently, the implementation's own step is audited from samples: an event chosen by the estimated "
    "likelihood ratio, confirmed on fresh samples by a betting e-process"
)
LEMMA = "M_i¹(w, F, ·) is ((m/n)(e^ε̃ − 1), (m/n)δ)-DP with σ = L√(3 log(1/δ))/ε̃, for all ε̃ > 0, 0 < δ < 1, w, F, i"


@dataclass(frozen=True, kw_only=True)
class Lemma:
    """What a reading fixes.

    Attributes
    ----------
    adjacency, batches
        Which data sets are neighbours, and how large the batches are.
    noise_factor
        σ over the lemma's.
    repaired
        Whether ε̃ and δ are bounded as the Gaussian mechanism needs it.
    places
        Where the implementation's step is audited. The first have the largest gaps for the number of samples (a search
        over n, m, ε̃ and δ found them), the last are where a practitioner would stand, with gaps that no affordable
        number of samples shows.
    """

    adjacency: Adjacency
    batches: Batches
    noise_factor: Fraction = Fraction(1)
    repaired: bool = False
    places: tuple[Place, ...]


READINGS: tuple[Reading[Lemma], ...] = (
    Reading(
        id="replace-one",
        stance=Stance.PRINTED,
        parameters=Lemma(
            adjacency=Adjacency.REPLACE_ONE,
            batches=Batches.SINGLE,
            places=(
                place(16, 1, 16, (1, -1, -1), 4.0, 0.5),
                place(2, 1, 2, (1, -1, -1), 1.256, 0.9),
                place(1000, 1, 1000, (1, -1, -1), 1.0, 1e-6),
            ),
        ),
        text="neighbours differ in one point that is replaced (the paper's definition); batches of one point",
        statement=f"{LEMMA}; m = 1",
        method=_EXACT + _EMPIRICAL,
        weight=1.0,
        null=NULLS["replace-one"],
    ),
    Reading(
        id="zero-out",
        stance=Stance.PRINTED,
        parameters=Lemma(
            adjacency=Adjacency.ZERO_OUT,
            batches=Batches.SINGLE,
            places=(
                place(64, 1, 64, (1, 0, -1), 4.0, 0.3),
                place(1000, 1, 1000, (1, 0, -1), 1.0, 1e-6),
            ),
        ),
        text="neighbours differ in one point whose gradient is set to zero; batches of one point",
        statement=f"{LEMMA}; m = 1",
        method=_EXACT + _EMPIRICAL,
        weight=1.0,
        null=NULLS["zero-out"],
    ),
    Reading(
        id="replace-one-minibatch",
        stance=Stance.PRINTED,
        parameters=Lemma(
            adjacency=Adjacency.REPLACE_ONE,
            batches=Batches.MINI,
            places=(
                place(16, 2, 1, (1, -1, 0), 3.0, 0.9),
                place(1000, 10, 1, (1, -1, 0), 1.0, 1e-6),
            ),
        ),
        text="as replace-one, with batches of m > 1 points drawn without replacement (Section 5)",
        statement=f"{LEMMA}; m > 1",
        method=_EXACT + "; for m > 1 an upper bound and concrete neighbours below it" + _EMPIRICAL,
        weight=1.0,
        null=NULLS["replace-one-minibatch"],
    ),
    Reading(
        id="zero-out-minibatch",
        stance=Stance.PRINTED,
        parameters=Lemma(
            adjacency=Adjacency.ZERO_OUT,
            batches=Batches.MINI,
            places=(
                place(16, 2, 1, (1, 0, 0), 3.0, 0.9),
                place(1000, 10, 2, (1, 0, -1), 1.0, 1e-6),
            ),
        ),
        text="as zero-out, with batches of m > 1 points drawn without replacement (Section 5)",
        statement=f"{LEMMA}; m > 1",
        method=_EXACT + "; for m > 1 an upper bound and concrete neighbours below it" + _EMPIRICAL,
        weight=1.0,
        null=NULLS["zero-out-minibatch"],
    ),
    Reading(
        id="corrected",
        stance=Stance.REPAIR,
        parameters=Lemma(
            adjacency=Adjacency.REPLACE_ONE,
            batches=Batches.ANY,
            noise_factor=Fraction(2),
            repaired=True,
            places=(
                place(2, 1, 2, (1, -1, -1), 1.256, 0.5),
                place(16, 1, 16, (1, -1, -1), 1.0, 0.1),
                place(16, 2, 1, (1, -1, 0), 1.0, 0.1),
            ),
        ),
        text="replace-one, any m; the sensitivity of a replaced gradient is 2L, so σ is doubled, and ε̃ and δ are "
        "bounded as the Gaussian mechanism needs it",
        statement="M_i¹(w, F, ·) is ((m/n)(e^ε̃ − 1), (m/n)δ)-DP with σ = 2L√(3 log(1/δ))/ε̃, for 0 < ε̃ ≤ 1.256 and "
        "0 < δ ≤ 0.81",
        method="closed form: the worst case is (m/n) δ_G(ε̂; 2L/σ) with ε̂ ≥ ε̃, and δ_G ≤ ½ δ^{3/2} e^{ε̃/2} < δ by the "
        "Gaussian tail bound, decided at the corner in ball arithmetic" + _EMPIRICAL,
        weight=1.0,
        null=NULLS["corrected"],
    ),
)
