"""Noisy mini-batch stochastic gradient descent on the Moreau envelope of a loss, which need not be smooth."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import SupportsFloat

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.related.budget import PrivacyBudget
from dpsco_verify.related.conditions import Condition
from dpsco_verify.related.minibatch_sgd import MinibatchSgd, rate
from dpsco_verify.related.proximal import envelope_gap, envelope_gradient, has_envelope
from dpsco_verify.related.system import Calibration, Fit
from dpsco_verify.related.task import Task
from dpsco_verify.validation import require_positive


class SmoothedMinibatchSgd(MinibatchSgd):
    """Mini-batch SGD with ``∇f_β(w, z) = β(w − prox_{f/β}(w))`` in place of ∇f.

    ``f_β(w, z) = min_v f(v, z) + (β/2)‖v − w‖²`` over R^d is convex, L-Lipschitz and β-smooth, and at most
    ``L²/(2β)`` below f. ``β = (L/D) min(√n/4, εn/(8√(d log(1/δ))))``, less than the ``2/η`` that the smooth system
    allows; everything else is as there.

    **Privacy.** As without smoothing, with noise for gradients of norm L (see :class:`TwiceSmoothedMinibatchSgd` for
    another reading of the source): ``‖∇f_β‖ ≤ L`` is all it needs, and the gradient is a slope within its
    bounds times the features, however inaccurate the proximal point. The source solves for the proximal point
    with many gradients of f and has to bound that error; here it is a closed form or, for the logistic loss, one
    certified root (`optimality_gap`).

    **Risk.** The smooth bound and the smoothing error: ``10LD max(√(d log(1/δ))/(εn), 1/√n) + L²/(2β)``.

    A proximal point counts as one gradient.

    Parameters
    ----------
    beta
        β; by default as above. At most ``2/η``.
    noise_factor
        As for :class:`~dpsco_verify.related.minibatch_sgd.MinibatchSgd`.
    """

    id = "smoothed-minibatch-sgd"
    title = "Noisy mini-batch SGD, Moreau envelope"
    source = "Bassily, Feldman, Talwar and Thakurta (2019), Section 4"
    section = "3"

    def __init__(self, *, beta: SupportsFloat | None = None, noise_factor: SupportsFloat = 1.0) -> None:
        super().__init__(noise_factor=noise_factor)
        self._beta = None if beta is None else require_positive("beta", beta)

    def conditions(self, task: Task, n: int, budget: PrivacyBudget) -> tuple[Condition, ...]:
        """W bounded, L > 0, 0 < δ, ε ≤ 1, T ≥ 1, a loss of a linear predictor, and β ≤ 2/η."""
        basic = (
            *self._conditions_of_steps(task, n, budget),
            Condition(
                holds=has_envelope(task.loss),
                words=f"loss={task.loss.name} has no known proximal point; give a loss of a linear predictor",
            ),
        )
        if not all(condition.holds for condition in basic):
            return basic
        beta, largest = self.beta(task, n, budget), 2.0 / self.step_size(task, n, budget)
        return (
            *basic,
            Condition(
                holds=beta <= largest * (1.0 + 1e-12),
                words=f"beta={beta:g} must be at most 2/η={largest:g}; give a smaller beta",
            ),
        )

    def beta(self, task: Task, n: int, budget: PrivacyBudget) -> float:
        """Return β."""
        if self._beta is not None:
            return self._beta
        private = budget.epsilon * n / (8.0 * math.sqrt(task.dimension * budget.log_inverse_delta))
        return task.lipschitz / task.diameter * min(math.sqrt(n) / 4.0, private)

    def _calibrate(self, task: Task, n: int, budget: PrivacyBudget) -> Calibration:
        found = super()._calibrate(task, n, budget)
        return replace(found, figures={**found.figures, "β": self.beta(task, n, budget)})

    def _risk_bound(self, task: Task, n: int, budget: PrivacyBudget) -> float | None:
        smooth = super()._risk_bound(task, n, budget)
        return None if smooth is None else smooth + task.lipschitz**2 / (2.0 * self.beta(task, n, budget))

    def _mean_gradient(
        self, task: Task, w: FloatArray, points: FloatArray, n: int, budget: PrivacyBudget
    ) -> FloatArray:
        beta = self.beta(task, n, budget)
        gradients = envelope_gradient(task.loss, w[:, np.newaxis], points, beta=beta)
        mean: FloatArray = np.mean(gradients, axis=1)
        return mean

    def _fit(
        self,
        sample: FloatArray,
        task: Task,
        budget: PrivacyBudget,
        rng: np.random.Generator,
        *,
        keep_transcript: bool,
    ) -> Fit:
        found = super()._fit(sample, task, budget, rng, keep_transcript=keep_transcript)
        beta = self.beta(task, sample.shape[1], budget)
        return replace(found, optimality_gap=envelope_gap(task, beta=beta))


class TwiceSmoothedMinibatchSgd(SmoothedMinibatchSgd):
    """Mini-batch SGD on Moreau envelopes with the noise for gradients of norm 2L.

    That ``‖∇f_β‖ ≤ 2L`` follows from ``f(v) + (β/2)‖v − w‖² ≤ f(w)`` at the proximal point v alone, for the envelope
    over W as well; L is true too (there, with the normal cone). So σ is twice what :class:`SmoothedMinibatchSgd` has.

    **Risk.** At most ``24LD max(√(d log(1/δ))/(εn), 1/√n)``: the mean square of a step is at most ``L² + dσ² ≤ 2L²``,
    as ``dσ² ≤ 32dTL² log(1/δ)/(n²ε²) ≤ L²``, so T steps cost ``(3/2)LD/√T ≤ 12LD max(…)`` with T rounded down, the
    stability of SGD ``LD/√(8n)``, and the smoothing ``L²/(2β) ≤ 4LD max(…)``.
    """

    id = "smoothed-minibatch-sgd-2l"
    title = "Noisy mini-batch SGD, Moreau envelope, noise for 2L"

    def __init__(self) -> None:
        super().__init__(noise_factor=2.0)

    def _risk_bound(self, task: Task, n: int, budget: PrivacyBudget) -> float | None:
        return 24.0 * task.lipschitz * task.diameter * rate(task, n, budget)
