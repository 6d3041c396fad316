"""Noisy stochastic gradient descent for the empirical risk, with many passes over single points."""

from __future__ import annotations

import math
from typing import SupportsIndex

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.related.batch_sensitivity import ROUNDING
from dpsco_verify.related.budget import Guarantee, PrivacyBudget
from dpsco_verify.related.conditions import (
    Condition,
    at_most_epsilon,
    bounded_problem,
    enough_points,
    positive_delta,
)
from dpsco_verify.related.one_pass import Steps, repeated, take_steps
from dpsco_verify.related.system import Calibration, Fit, Sensitivity, System
from dpsco_verify.related.task import Task
from dpsco_verify.validation import require_integer

_BLOCK = 2**16
"""Numbers of noise that are drawn at once."""
_FEWEST_STEPS = 2


class NoisySgdErm(System):
    """``w_{t+1} = P(w_t − η_t(n∇f(w_t, z_i) + b_t))``, i uniform in 1..n and new at each t, ``b_t ~ N(0, σ²I)``.

    The output is w_T. ``σ² = 32L²n² log(n/δ) log(1/δ)/ε²``, ``η_t = D/√(t(n²L² + dσ²))``, and ``T = n²``
    iterates, of which T − 1 steps are taken. Any convex L-Lipschitz loss; W bounded.

    **Privacy.** ``n∇f(w, z_i)`` has sensitivity 2nL to the drawn point. A step that knows the point is (ε',
    δ')-private; drawing it out of n makes that about ``(2ε'/n, δ'/n)`` for ε' ≤ 1, and strong composition over n²
    steps gives (ε, δ). The source's one-step level is ``ε/(2√log(1/δ))``, whence the condition ``ε ≤ 2√log(1/δ)``.
    The figure ``ε proven`` is what :func:`~dpsco_verify.related.noisy_sgd_erm.composed_epsilon` shows with
    exact one-step amplification; it is below ε for ε ≤ 1, and above it near the end of the source's range, where that
    chain does not close.

    **Risk.** The bound is on the empirical risk: by Shamir and Zhang (2013), Theorem 2, with ``G = √(n²L² + dσ²)``,
    ``E F̂(w_T) − min F̂ ≤ 2DG(2 + log T)/(n√T)`` (the figure ``empirical risk``). The source has no constant for the
    population's, so `risk_bound` is None.

    The transcript holds the noisy gradients ``n∇f + b_t``, from which all iterates follow; the guarantee covers
    them.

    Parameters
    ----------
    steps
        T, at least 2; by default n². With more than n² the source's guarantee ends.
    """

    id = "noisy-sgd-erm"
    title = "Noisy SGD for ERM"
    source = "Bassily, Smith and Thakurta (2014), Algorithm 1 and its theorems"
    section = "3, 5, 6"
    guarantee = Guarantee.APPROXIMATE

    def __init__(self, *, steps: SupportsIndex | None = None) -> None:
        self._steps = None if steps is None else require_integer("steps", steps, minimum=_FEWEST_STEPS)

    def conditions(self, task: Task, n: int, budget: PrivacyBudget) -> tuple[Condition, ...]:
        """W bounded, L > 0, δ > 0, n ≥ 2, ``ε ≤ 2√log(1/δ)`` and T ≤ n²."""
        basic = (*bounded_problem(task), positive_delta(budget), enough_points(n, 2, "the fewest"))
        if not all(condition.holds for condition in basic):
            return basic
        steps = self.iterates(task, n, budget)
        return (
            *basic,
            at_most_epsilon(budget, 2.0 * math.sqrt(budget.log_inverse_delta)),
            Condition(
                holds=steps <= n * n,
                words=f"steps={steps} must be at most n²={n * n}; give fewer steps, a smaller ε or more points",
            ),
        )

    def iterates(self, task: Task, n: int, budget: PrivacyBudget) -> int:  # noqa: ARG002  for the variants
        """Return T."""
        return n * n if self._steps is None else self._steps

    def noise(self, task: Task, n: int, budget: PrivacyBudget) -> float:
        """Return σ."""
        return n * _noise_over_root_steps(task, n, budget)

    def gradient_scale(self, task: Task, n: int, budget: PrivacyBudget) -> float:
        """Return ``G = √(n²L² + dσ²)``, which bounds the root mean square of a noisy gradient."""
        return math.hypot(n * task.lipschitz, math.sqrt(task.dimension) * self.noise(task, n, budget))

    def proven_epsilon(self, task: Task, n: int, budget: PrivacyBudget) -> float:
        """Return the ε that subsampling and strong composition prove at δ for these numbers."""
        mu = 2.0 * n * task.lipschitz / self.noise(task, n, budget)
        steps = self.iterates(task, n, budget) - 1
        return composed_epsilon(steps=steps, n=n, mu=mu, delta=budget.delta)

    def empirical_risk_bound(self, task: Task, n: int, budget: PrivacyBudget) -> float:
        """Return the bound on ``E F̂(w_T) − min F̂``."""
        steps = self.iterates(task, n, budget)
        scale = self.gradient_scale(task, n, budget)
        return 2.0 * task.diameter * scale * (2.0 + math.log(steps)) / (n * math.sqrt(steps))

    def _calibrate(self, task: Task, n: int, budget: PrivacyBudget) -> Calibration:
        steps = self.iterates(task, n, budget)
        return Calibration(
            figures={
                "T": float(steps),
                "σ": self.noise(task, n, budget),
                "η₁": task.diameter / self.gradient_scale(task, n, budget),
                "ε proven": self.proven_epsilon(task, n, budget),
                "empirical risk": self.empirical_risk_bound(task, n, budget),
            },
            gradient_queries=float(steps - 1),
        )

    def _sensitivities(self, task: Task, n: int, budget: PrivacyBudget) -> tuple[Sensitivity, ...]:  # noqa: ARG002  the interface
        def gradient(sample: FloatArray) -> FloatArray:
            return n * task.loss.subgradient(task.initial_point, sample[0])

        return (
            Sensitivity(
                what="n times the gradient at the first point",
                bound=2.0 * n * task.lipschitz,
                query=gradient,
                rounding=ROUNDING * n * task.lipschitz,
            ),
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
        runs, n = sample.shape[:2]
        steps = self.iterates(task, n, budget) - 1
        sigma = self.noise(task, n, budget)
        first = task.diameter / self.gradient_scale(task, n, budget)
        w = repeated(task.initial_point, runs)
        released = np.empty((runs, steps, task.dimension)) if keep_transcript else None
        block = max(1, _BLOCK // max(1, w.size))
        for start in range(0, steps, block):
            count = min(block, steps - start)
            drawn = rng.integers(n, size=(count, runs))
            w, _ = take_steps(
                Steps(
                    order=drawn,
                    sizes=first / np.sqrt(np.arange(start + 1, start + count + 1)),
                    sigmas=np.full(count, sigma),
                    scale=float(n),
                ),
                sample,
                w,
                loss=task.loss,
                convex_set=task.convex_set,
                rng=rng,
                released=None if released is None else released[:, start : start + count],
            )
        return Fit(solution=w, gradient_queries=np.full(runs, float(steps)), transcript=released)


class ShortNoisySgdErm(NoisySgdErm):
    """The same noise, but ``T = ⌈(nε)²/√d⌉`` iterates, as Section 6 of the paper has it.

    **Privacy.** Fewer steps than the n² that σ was made for, so nothing is lost while ``ε² ≤ √d``.

    **Risk.** The empirical bound is proportional to ``G(2 + log T)/√T`` with G unchanged: it is larger than that of
    n² steps by about ``n/√T = d^{1/4}/ε``. With this σ the source's result is not kept;
    :class:`ShortScaledNoisySgdErm` is what the paper's remark needs.
    """

    id = "noisy-sgd-erm-short"
    title = "Noisy SGD for ERM, (nε)²/√d steps"
    source = "Bassily, Smith and Thakurta (2014), Algorithm 1; steps by Arora, Marinov and Ullah, Section 6"
    section = "6"

    def __init__(self) -> None:
        super().__init__()

    def iterates(self, task: Task, n: int, budget: PrivacyBudget) -> int:
        """Return T."""
        return max(_FEWEST_STEPS, math.ceil((n * budget.epsilon) ** 2 / math.sqrt(task.dimension)))


class ShortScaledNoisySgdErm(ShortNoisySgdErm):
    """``T = ⌈(nε)²/√d⌉`` iterates with the noise of T steps: ``σ² = 32L²T log(n/δ) log(1/δ)/ε²``.

    **Risk.** While ``dσ²`` outweighs ``n²L²``, that is for ``T ≥ (nε)²/(32d log(n/δ) log(1/δ))``, the empirical
    bound ``2DG(2 + log T)/(n√T)`` does not depend on T but for the logarithm: n² steps may be cut as the paper
    says, and further.

    **Privacy.** One step has the ratio ``μ = 2nL/σ ≈ d^{1/4}/√(8 log(n/δ) log(1/δ))`` of sensitivity to noise, no
    longer small in n. The condition is that subsampling and composition prove ε with it
    (:func:`~dpsco_verify.related.noisy_sgd_erm.composed_epsilon`), which excludes large d.
    """

    id = "noisy-sgd-erm-short-scaled"
    title = "Noisy SGD for ERM, (nε)²/√d steps and their noise"

    def conditions(self, task: Task, n: int, budget: PrivacyBudget) -> tuple[Condition, ...]:
        """Those with the noise for n² steps, and that composition proves ε."""
        basic = super().conditions(task, n, budget)
        if not all(condition.holds for condition in basic):
            return basic
        proven = self.proven_epsilon(task, n, budget)
        return (
            *basic,
            Condition(
                holds=proven <= budget.epsilon,
                words=f"epsilon={budget.epsilon:g} must be at least what composition proves, {proven:g}, "
                f"for dimension={task.dimension} and n={n}; give a smaller dimension",
            ),
        )

    def noise(self, task: Task, n: int, budget: PrivacyBudget) -> float:
        """Return σ."""
        return math.sqrt(self.iterates(task, n, budget)) * _noise_over_root_steps(task, n, budget)


def _noise_over_root_steps(task: Task, n: int, budget: PrivacyBudget) -> float:
    """Return ``L√(32 log(n/δ) log(1/δ))/ε``."""
    logs = (math.log(n) + budget.log_inverse_delta) * budget.log_inverse_delta
    return task.lipschitz * math.sqrt(32.0 * logs) / budget.epsilon


def composed_epsilon(*, steps: int, n: int, mu: float, delta: float) -> float:
    """Return an ε with which `steps` adaptive Gaussian answers, each about one of n points drawn anew, are private.

    That is (ε, δ)-private. With `mu` the sensitivity to the drawn point over the standard deviation, an answer
    about a fixed point is ``(μ²/2 + μ√(2 log(1/(2δ'))), δ')``-private by the tail of the privacy loss; drawing
    the point turns (ε', δ') into ``(log(1 + (e^ε' − 1)/n), δ'/n)`` (Balle, Barthe and Gaboardi 2018, Theorem 9,
    replace-one), and ``ε₀√(2T log(1/δ'')) + Tε₀(e^ε₀ − 1)`` composes T of them (Dwork, Rothblum and Vadhan 2010,
    Theorem III.3). δ is halved between ``Tδ'/n`` and δ''.
    """
    inner_delta = min(0.5 * n * delta / steps, 0.5)
    inner = 0.5 * mu * mu + mu * math.sqrt(2.0 * -math.log(2.0 * inner_delta))
    if inner > 700.0:
        return math.inf
    epsilon = math.log1p(math.expm1(inner) / n)
    return epsilon * math.sqrt(2.0 * steps * math.log(2.0 / delta)) + steps * epsilon * math.expm1(epsilon)
