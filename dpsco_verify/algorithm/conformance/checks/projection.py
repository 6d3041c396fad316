"""``w_{t+1}`` is the projection of the noisy gradient step onto W.

Projections do not expand, so ``‖P(w − η(g + ξ)) − P(w − ηg)‖ ≤ η‖ξ‖``: a right step ends within η times the longest
noise of the projected step without noise, for the gradient that it used.
"""

from __future__ import annotations

import numpy as np

from dpsco_verify.algorithm.conformance.bench import Bench
from dpsco_verify.algorithm.conformance.explanation import possible_gradients
from dpsco_verify.algorithm.conformance.finding import Check, Outcome
from dpsco_verify.algorithm.conformance.gaussian import detectable_shift
from dpsco_verify.algorithm.conformance.problems import BOUNDED


def _judge(bench: Bench, alpha: float) -> Outcome:
    steps = bench.steps(BOUNDED)
    aims = BOUNDED.convex_set.project(
        steps.before[:, np.newaxis, :] - BOUNDED.step_size * possible_gradients(BOUNDED, steps.before)
    )
    misses = np.linalg.norm(steps.after[:, np.newaxis, :] - aims, axis=-1).min(axis=-1)
    radius = bench.radius(BOUNDED, alpha=alpha)
    allowed = BOUNDED.step_size * radius
    wrong = int((misses > allowed).sum())
    shift = detectable_shift(radius=radius / BOUNDED.noise, dimension=BOUNDED.dimension) * BOUNDED.noise
    return Outcome(
        violated=wrong > 0,
        detail=(
            f"{wrong} of {len(steps)} steps end further than {allowed:.3g} from every projected gradient step, "
            f"the worst {float(misses.max()):.3g}"
        ),
        detectable=f"an error of {BOUNDED.step_size * shift:.3g} in one step's end, of a W of radius "
        f"{BOUNDED.convex_set.radius:g}",
        runs=len(bench.runs(BOUNDED)),
    )


PROJECTION = Check(
    id="projection", null="each step ends in the projection onto W of the gradient step", judge=_judge
)
