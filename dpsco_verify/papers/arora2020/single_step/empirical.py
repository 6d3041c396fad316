"""Units of work of ``single-step`` that see only samples: the implementation's own step, audited as a black box."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpsco_verify.algorithm import noisy_step, single_step_sigma
from dpsco_verify.algorithm.tape import draw_batches
from dpsco_verify.arrays import FloatArray
from dpsco_verify.auditing import Sampler, SamplersAudit, audit_samplers
from dpsco_verify.execution import stream
from dpsco_verify.geometry import Box
from dpsco_verify.inference.privacy_event_test import minimum_detectable_violation
from dpsco_verify.privacy.balls import ball
from dpsco_verify.privacy.single_step import NeighbouringStep
from dpsco_verify.problems import Linear

LIPSCHITZ = 1.0
STEP_SIZE = 1.0
SURE = 1.0 - 1e-9
"""The power with which a gap must be within reach before the auditor's failure to see it is held against the code."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """A pair of neighbours and the parameters at which the step is audited.

    `factor` multiplies the lemma's σ.
    """

    pair: NeighbouringStep
    epsilon_tilde: float
    delta: float
    cap: int
    factor: float = 1.0

    @property
    def probability_drawn(self) -> float:
        """``m/n``."""
        return self.pair.m / self.pair.n

    @property
    def epsilon(self) -> float:
        """The claimed ε."""
        return self.probability_drawn * math.expm1(self.epsilon_tilde)

    @property
    def claimed_delta(self) -> float:
        """The claimed δ."""
        return self.probability_drawn * self.delta

    @property
    def sigma(self) -> float:
        """The noise's standard deviation, for L = 1."""
        return self.factor * single_step_sigma(
            lipschitz=LIPSCHITZ, epsilon_tilde=self.epsilon_tilde, delta=self.delta
        )


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What the auditor found at a point, beside the exact gap of the best half-line."""

    point: Point
    alpha: float
    result: SamplersAudit
    exact_gap: float
    sure_gap: float

    @property
    def within_reach(self) -> bool:
        """Whether a violation of the exact size cannot escape within the cap, but for probability 1e-9.

        A tenth of the gap is left for the event's choice from a finite search sample.
        """
        return 0.9 * self.exact_gap >= self.sure_gap

    @property
    def agrees(self) -> bool:
        """Whether the samples and the exact divergence tell the same story."""
        if self.result.refuted:
            return self.exact_gap > 0
        return not self.within_reach


def step_sampler(point: Point, gradient: Fraction) -> Sampler:
    """Return a sampler of ``M_i¹(w, F, S)`` by the implementation's own step, `gradient` being ρ's, w = 0, d = 1.

    The loss is ``−wz``, so a point z has gradient −z. Points 0, …, fresh − 1 are fresh, ρ = 0 among them, and the
    rest has been seen. W = [−B, B] is so wide that no half-line of interest ends outside it.
    """
    pair, sigma = point.pair, point.sigma
    bound = 100.0 * (1.0 + sigma)
    data = np.full((pair.n, 1), -float(pair.h))
    data[0, 0] = -float(gradient)
    seen = np.arange(pair.n) >= pair.fresh
    convex_set, loss = Box([-bound], [bound]), Linear()

    def sample(rng: np.random.Generator, size: int) -> FloatArray:
        indices = draw_batches(rng, runs=size, n=pair.n, batch_size=pair.m)
        w = np.zeros((size, 1))
        noise = sigma * rng.standard_normal((size, 1))
        stepped = noisy_step(
            w,
            data[indices],
            ~seen[indices],
            noise,
            loss=loss,
            convex_set=convex_set,
            step_size=STEP_SIZE,
            lipschitz=LIPSCHITZ,
        )
        return stepped[:, 0]

    return sample


def exact_probabilities(point: Point) -> tuple[float, float]:
    """Return ``(P(E|S), P(E|S'))`` of the best half-line by the closed form."""
    pair = point.pair
    threshold = pair.best_threshold(point.epsilon, point.sigma)
    sigma = ball(point.sigma)
    return (
        float(pair.probability(pair.g, threshold, sigma)),
        float(pair.probability(pair.g_prime, threshold, sigma)),
    )


def audit_point(*, point: Point, alpha: float, seed: int, name: str) -> Seen:
    """Audit the step at a point; the event is chosen on a stream of its own, a fifth as long as the cap."""
    first, second = exact_probabilities(point)
    result = audit_samplers(
        step_sampler(point, point.pair.g),
        step_sampler(point, point.pair.g_prime),
        epsilon=point.epsilon,
        delta=point.claimed_delta,
        alpha=alpha,
        search_rng=stream(seed, f"{name}/search"),
        confirm_rng=stream(seed, f"{name}/confirm"),
        search_samples=max(10_000, point.cap // 5),
        cap=point.cap,
    )
    return Seen(
        point=point,
        alpha=alpha,
        result=result,
        exact_gap=first - math.exp(point.epsilon) * second - point.claimed_delta,
        sure_gap=minimum_detectable_violation(
            epsilon=point.epsilon,
            delta=point.claimed_delta,
            q=second,
            samples=point.cap,
            alpha=alpha,
            power=SURE,
        ),
    )
