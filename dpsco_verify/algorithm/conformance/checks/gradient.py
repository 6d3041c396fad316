"""Each step is η times the subgradient at the current iterate, of one point or of none, plus the noise.

Judged where the gradients are those of the points and where they depend on the iterate, without projection.
"""

from __future__ import annotations

from dpsco_verify.algorithm.conformance.bench import Bench
from dpsco_verify.algorithm.conformance.finding import Check, Outcome
from dpsco_verify.algorithm.conformance.gaussian import detectable_shift
from dpsco_verify.algorithm.conformance.problems import CURVED, LINEAR


def _judge(bench: Bench, alpha: float) -> Outcome:
    wrong, worst, steps, runs, detectable = 0, 0.0, 0, 0, 0.0
    for problem in (LINEAR, CURVED):
        distances = bench.explained(problem).distance
        radius = bench.radius(problem, alpha=alpha / 2.0)
        wrong += int((distances > radius).sum())
        worst = max(worst, float(distances.max()))
        steps += distances.size
        runs += len(bench.runs(problem))
        shift = detectable_shift(radius=radius / problem.noise, dimension=problem.dimension)
        detectable = max(detectable, shift * problem.noise)
    return Outcome(
        violated=wrong > 0,
        detail=(
            f"{wrong} of {steps} steps are further from every point's subgradient, and from 0, than the noise "
            f"reaches, the worst {worst:.3g}"
        ),
        detectable=f"an error of {detectable:.3g} in one step's gradient, of L = {LINEAR.lipschitz:g}",
        runs=runs,
    )


GRADIENT = Check(
    id="gradient",
    null="each step uses the subgradient at the current iterate of one point, or none",
    judge=_judge,
)
