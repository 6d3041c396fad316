"""The paper's Algorithm 1, behind the protocol of its neighbours."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpsco_verify.algorithm import (
    Run,
    Schedule,
    StoppingRule,
    private_sgd,
    run_ensemble,
    translated_schedule,
    utility_bound,
    utility_step_size,
)
from dpsco_verify.arrays import FloatArray
from dpsco_verify.privacy.whole_run import calibrate
from dpsco_verify.related.budget import Guarantee, PrivacyBudget
from dpsco_verify.related.conditions import Condition, bounded_set, positive_delta
from dpsco_verify.related.system import Calibration, Fit, System
from dpsco_verify.related.task import Task

_SMALLEST_N = 2
"""The fewest points of a run that can stop half-way."""


class AlgorithmOne(System):
    """Algorithm 1 with batches of one point and the least noise that a certified bound on its transcript allows.

    The noise on a step is ``N(0, σ²I)``, the subgradient's sensitivity is 2L, and at most ``⌊n/2⌋ + 1`` of the n points
    are used, each once: σ is the smallest at which the bound of :mod:`dpsco_verify.privacy.whole_run` proves
    (ε, δ)-differential privacy of all iterates. ``η = D/(√n(L + σ√d))``,
    and Theorem ``thm:utility_guarantee`` (4.4) bounds the excess risk by ``(5/2) D(L + σ√d)/√n``.
    """

    id = "algorithm-1"
    title = "Algorithm 1, certified noise"
    source = "Arora, Marinov and Ullah, Algorithm 1 and Theorem 4.4; noise by the bounds of this project"
    section = "4, 5"
    guarantee = Guarantee.APPROXIMATE

    def conditions(self, task: Task, n: int, budget: PrivacyBudget) -> tuple[Condition, ...]:
        """W bounded, δ > 0, n ≥ 2."""
        return (
            bounded_set(task),
            positive_delta(budget),
            Condition(
                holds=n >= _SMALLEST_N, words=f"n={n} must be at least {_SMALLEST_N}; give more points"
            ),
        )

    def noise(self, task: Task, n: int, budget: PrivacyBudget) -> float:
        """Return σ, the standard deviation of a coordinate of the noise on a step."""
        return task.lipschitz * _certified_noise(n, budget.epsilon, budget.delta)

    def step_size(self, task: Task, n: int, budget: PrivacyBudget) -> float:
        """Return η."""
        sigma = self.noise(task, n, budget)
        return utility_step_size(
            diameter=task.diameter, lipschitz=task.lipschitz, sigma=sigma, n=n, dimension=task.dimension
        )

    def _calibrate(self, task: Task, n: int, budget: PrivacyBudget) -> Calibration:
        return Calibration(
            figures={"σ": self.noise(task, n, budget), "η": self.step_size(task, n, budget)},
            gradient_queries=float(StoppingRule.LOOP.distinct_points(n)),
        )

    def _risk_bound(self, task: Task, n: int, budget: PrivacyBudget) -> float | None:
        sigma = self.noise(task, n, budget)
        return utility_bound(
            diameter=task.diameter, lipschitz=task.lipschitz, sigma=sigma, n=n, dimension=task.dimension
        )

    def _fit(
        self,
        sample: FloatArray,
        task: Task,
        budget: PrivacyBudget,
        rng: np.random.Generator,
        *,
        keep_transcript: bool,
    ) -> Fit:
        n = sample.shape[1]
        arguments: dict[str, Any] = {
            "loss": task.loss,
            "convex_set": task.convex_set,
            "step_size": self.step_size(task, n, budget),
            "sigma": self.noise(task, n, budget),
            "lipschitz": task.lipschitz,
            "rng": rng,
            "initial_point": task.initial_point,
        }
        if keep_transcript:
            return _with_transcripts([private_sgd(data, transcript=True, **arguments) for data in sample])
        ensemble = run_ensemble(sample, **arguments)
        return Fit(solution=ensemble.outputs, gradient_queries=ensemble.gradient_queries.astype(np.float64))


def _with_transcripts(runs: Sequence[Run]) -> Fit:
    """Return runs with all iterates; those of a shorter run end with its last one repeated."""
    outputs, iterates = [], []
    for run in runs:
        assert run.output is not None  # noqa: S101  the average is defined under the default options
        assert run.transcript is not None  # noqa: S101  it was asked for
        outputs.append(run.output)
        iterates.append(run.transcript.iterates[1:])
    longest = max((len(w) for w in iterates), default=0)
    return Fit(
        solution=np.stack(outputs),
        gradient_queries=np.array([float(run.gradient_queries) for run in runs]),
        transcript=np.stack(
            [np.concatenate([w, np.repeat(w[-1:], longest - len(w), axis=0)]) for w in iterates]
        ),
    )


class PrintedAlgorithmOne(AlgorithmOne):
    """Algorithm 1 as the remark after Theorem ``thm:main_result`` (5.3) sets it up for a target (ε, δ).

    ``σ = 8L√log(1/δ₀)/(√n ε₀)`` with ``δ₀ = δ/3`` and ``ε₀ = ε/(8√log(1/δ₀))``, for ``n ≥ 16 log(6/δ)`` and
    ``ε₀ ≤ 1/(2√n)``.
    """

    id = "algorithm-1-printed"
    title = "Algorithm 1, the theorem's noise"
    source = "Arora, Marinov and Ullah, Theorem 5.3 and the remark after it"
    section = "5"

    def conditions(self, task: Task, n: int, budget: PrivacyBudget) -> tuple[Condition, ...]:
        """Those of Algorithm 1, and the theorem's regime."""
        basic = super().conditions(task, n, budget)
        if not all(condition.holds for condition in basic):
            return basic
        log_term = math.log(3.0) + budget.log_inverse_delta
        inner = budget.epsilon / (8.0 * math.sqrt(log_term))
        fewest, most = 16.0 * (math.log(6.0) + budget.log_inverse_delta), 1.0 / (4.0 * inner * inner)
        return (
            *basic,
            Condition(
                holds=budget.delta <= 3.0 * math.exp(-4.0),
                words=f"delta={budget.delta:g} must be at most 3e⁻⁴={3.0 * math.exp(-4.0):.3g}; give a smaller δ",
            ),
            Condition(
                holds=n >= fewest,
                words=f"n={n} must be at least 16 log(6/δ)={fewest:.4g}; give more points",
            ),
            Condition(
                holds=n <= most,
                words=f"n={n} must be at most 16 log(3/δ)/ε²={most:.4g}, where the theorem's ε ends at 1/(2√n); "
                "give a smaller ε",
            ),
        )

    def noise(self, task: Task, n: int, budget: PrivacyBudget) -> float:
        """Return the theorem's σ."""
        return _printed_schedule(task, n, budget).sigma

    def _risk_bound(self, task: Task, n: int, budget: PrivacyBudget) -> float | None:
        return _printed_schedule(task, n, budget).risk_bound


def _printed_schedule(task: Task, n: int, budget: PrivacyBudget) -> Schedule:
    return translated_schedule(
        n=n,
        dimension=task.dimension,
        diameter=task.diameter,
        lipschitz=task.lipschitz,
        epsilon=budget.epsilon,
        delta=budget.delta,
    )


@functools.lru_cache(maxsize=1024)
def _certified_noise(n: int, epsilon: float, delta: float) -> float:
    """Return σ/L."""
    return calibrate(n=n, epsilon=epsilon, delta=delta, certify=False).sigma_over_lipschitz
