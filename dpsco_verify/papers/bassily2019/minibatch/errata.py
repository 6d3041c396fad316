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
        text="The claim is for ε ≤ 1 and, as far as public texts show, δ ≤ 1/n²; an average of iterates is released. "
        "Its proof cites the moments accountant, whose constants are not given. With T = 1 or 2, for small n or large "
        "d, the average tells a whole noisy step, whose σ falls with √T, and shows more than 10⁻⁶ at ε = 1. So it does "
        "at T = 1 if the batch is drawn without replacement.",
        repair="for ε ≤ 1, δ = 1/n² and T ≥ 25 the printed noise is enough at every point of the grid; for fewer steps "
        "take σ from a bound on the composition itself",
        shown_by=(
            "minibatch-sgd-privacy/output-before",
            "minibatch-sgd-privacy/output-after",
        ),
        constants=(
            ("minibatch-sgd-privacy/output-before", "8 in σ²"),
            ("minibatch-sgd-privacy/output-after", "8 in σ²"),
        ),
    ),
)
