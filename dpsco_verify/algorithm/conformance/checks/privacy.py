"""The first step is as private as one step of Algorithm 1 with the stated noise, at the worst pair of neighbours.

Two points, of gradients −L and −L, against L and −L; the step shows ``(w_1 − w_2)/η = g + ξ``. The exact δ(ε) of the
step, ``p δ_G(ε̂; 2L/σ)`` with p = 1/2 (:mod:`dpsco_verify.privacy.single_step`), is the claim, and
:func:`dpsco_verify.auditing.audit` the judge. It sees the first step alone, which is never a repeat.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from dpsco_verify.algorithm.conformance.bench import Bench
from dpsco_verify.algorithm.conformance.check import Outcome, check
from dpsco_verify.algorithm.conformance.problems import LIPSCHITZ, WIDE, Problem
from dpsco_verify.arrays import FloatArray
from dpsco_verify.auditing import AuditVerdict, audit
from dpsco_verify.geometry import L2Ball
from dpsco_verify.privacy.balls import ball, enclose
from dpsco_verify.privacy.claims import PrivacyCurve
from dpsco_verify.privacy.single_step import replace_one_delta
from dpsco_verify.problems import Linear

_ORDERS = (0.5, 1.0, 1.5)
_FEWEST_SAMPLES = 256

PAIR = Problem(
    name="pair of neighbours",
    data=np.array([[-LIPSCHITZ], [LIPSCHITZ]]),
    loss=Linear(),
    convex_set=L2Ball(np.zeros(1), WIDE),
    step_size=0.25,
    noise=LIPSCHITZ,
    initial_point=np.array([0.5]),
    runs=2048,
)
"""σ = L: half of that noise is seen within some hundred runs."""

NEIGHBOUR = np.array([[LIPSCHITZ], [LIPSCHITZ]])


@cache
def step_delta(epsilon: float) -> float:
    """Return the exact δ(ε) of the first step of :data:`PAIR`, rounded up."""
    drawn, sigma = ball(1.0 / PAIR.n), ball(PAIR.noise) / ball(PAIR.lipschitz)
    return enclose(lambda: replace_one_delta(drawn, ball(epsilon), sigma))[1]


@dataclass(frozen=True, kw_only=True)
class FirstStep:
    """The mechanism ``(w_1 − w_2)/η``: one run an output."""

    bench: Bench

    def __call__(self, dataset: FloatArray, size: int, rng: np.random.Generator) -> FloatArray:
        """Return the first increments of `size` runs, shape (size,)."""
        problem = replace(PAIR, data=dataset)
        increments = np.empty(size)
        for i in range(size):
            run = self.bench.run_once(problem, rng, f"{self.bench.name} on the pair of neighbours")
            assert run is not None  # noqa: S101  only outliers may be refused
            increments[i] = (run.iterates[0, 0] - run.iterates[1, 0]) / problem.step_size
        return increments


@check("single-step-privacy", "the first step has at most the exact δ(ε) of one step with the stated noise")
def single_step_privacy(bench: Bench, alpha: float) -> Outcome:
    """Judge the first step by an audit at the exact δ(ε)."""
    result = audit(
        FirstStep(bench=bench),
        PAIR.data,
        NEIGHBOUR,
        claim=PrivacyCurve(step_delta, orders=_ORDERS, label="the exact δ(ε) of one step"),
        relation="replace-one",
        alpha=alpha,
        samples=max(_FEWEST_SAMPLES, bench.number_of_runs(PAIR)),
        seed=bench.seed,
        name=f"the first step of {bench.name}",
    )
    detectable = (
        "nothing, with so few runs"
        if result.mdv is None
        else f"ε ≥ {result.mdv.epsilon:.3g} at δ = {result.delta_at_order:.3g}"
    )
    return Outcome(
        violated={AuditVerdict.VIOLATED: True, AuditVerdict.NOT_VIOLATED: False}.get(result.verdict),
        detail=(
            f"δ({result.order:g}) ≥ {result.delta_lower:.3g}, where {result.delta_at_order:.3g} is right, by the event "
            f"[{result.witness.event}]"
        ),
        detectable=detectable,
        runs=2 * (result.samples if result.samples_to_decision is None else result.samples_to_decision),
    )
