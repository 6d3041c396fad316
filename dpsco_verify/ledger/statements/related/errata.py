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
        shown_by=("minibatch-sgd-privacy/as-printed", "minibatch-sgd-privacy/every-epsilon"),
        constants=(("minibatch-sgd-privacy/as-printed", "8 in σ²"),),
    ),
)

SMOOTHED_DISCREPANCIES = (
    Discrepancy(
        id="smoothed-minibatch-noise",
        title="Noisy mini-batch SGD on Moreau envelopes: the same noise",
        lines=(),
        consequence=Consequence.GUARANTEE,
        text="The noise is that of the smooth case, and a linear loss is its own envelope's slope: the claim is "
        "false at (1, 10⁻⁶) where T is small.",
        repair="as for the smooth case",
        shown_by=("smoothed-minibatch-sgd-privacy/as-printed",),
        constants=(("smoothed-minibatch-sgd-privacy/as-printed", "8 in σ²"),),
    ),
)
