"""Where the noise of mini-batch SGD and what is true of it disagree."""

from __future__ import annotations

from dpsco_verify.evidence import Consequence
from dpsco_verify.ledger.errata import Discrepancy

MINIBATCH_DISCREPANCIES = (
    Discrepancy(
        id="minibatch-noise",
        title="Noisy mini-batch SGD: the noise is too small for few steps",
        lines=(),
        consequence=Consequence.GUARANTEE,
        text="The proof cites the moments accountant, whose constants are not given and which is for batches "
        "that hold a point at most once. With the printed σ and batches drawn with replacement the claim is "
        "false at (1, 10⁻⁶) for small n, or large d, where T is small, and at ε = 5 for n = 1000, where T = 125.",
        repair="on the grid of ε ≤ 1 and T ≥ 1000 the printed noise is enough at δ = 10⁻⁶; elsewhere take σ from "
        "a bound on the composition itself",
        shown_by=(
            "minibatch-sgd-privacy/output-before",
            "minibatch-sgd-privacy/output-after",
            "minibatch-sgd-privacy/every-epsilon",
        ),
        constants=(
            ("minibatch-sgd-privacy/output-before", "8 in σ²"),
            ("minibatch-sgd-privacy/output-after", "8 in σ²"),
        ),
    ),
)

SMOOTHED_DISCREPANCIES = (
    Discrepancy(
        id="smoothed-minibatch-noise",
        title="Noisy mini-batch SGD on Moreau envelopes: the noise of the smooth case for L",
        lines=(),
        consequence=Consequence.GUARANTEE,
        text="The envelope's gradients are at most L, but noise for L is too little: a linear loss is its own "
        "envelope's slope, so the claim is false at (1, 10⁻⁶) where T is small, as in the smooth case.",
        repair="noise for 2L, a bound on the envelope over W that is not sharp, holds on the grid from T = 10 on",
        shown_by=("smoothed-minibatch-sgd-privacy/noise-for-l",),
        constants=(("smoothed-minibatch-sgd-privacy/noise-for-l", "8 in σ²"),),
    ),
)
