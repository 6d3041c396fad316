"""The whole transcript of Algorithm 1 audited by its exact likelihood ratio, repeat draws hidden.

The neighbours are two data sets of n points, all with gradient 0 but one, whose gradient is +L in S and −L in S'. What
is seen of a run are its iterates, hence the increments ``x_t = g_t + ξ_t`` and their number T; which draws were repeats
is hidden. T and the fresh pattern do not depend on the data, and given T the differing point is used first at time t
with probability ``p_t = P(draw t is fresh | T)/n``, by symmetry among the points. So, with ``a = L/σ²`` and
``q = Σ p_t``,

    dP/dP' (x) = (1 − q + Σ_t p_t exp(a x_t − aL/2)) / (1 − q + Σ_t p_t exp(−a x_t − aL/2)),

and the divergence is the mean of ``(1 − e^ε dP'/dP)_+`` under P, a variable in [0, 1].
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import cast

import numpy as np
from scipy.special import logsumexp

from dpsco_verify.algorithm.options import Options, StoppingRule
from dpsco_verify.algorithm.private_sgd import Transcript, private_sgd
from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.errors import InputError, no_truth_value
from dpsco_verify.geometry import WholeSpace
from dpsco_verify.inference import BettingConfidenceSequence
from dpsco_verify.problems import Linear
from dpsco_verify.validation import (
    require_finite_array,
    require_integer,
    require_non_negative,
    require_positive,
)


@cache
def _use_law(n: int, points: int, iterations: int) -> tuple[float, ...]:
    """Return ``p_1, …, p_T`` by the forward and backward recursions over the number of distinct points seen."""
    fresh = 1.0 - np.arange(points + 1) / n
    forward = np.zeros((iterations + 1, points + 1))
    forward[0, 0] = 1.0
    for t in range(iterations):
        seen = forward[t, :points]  # a run at `points` has stopped
        forward[t + 1, :points] += seen * (1.0 - fresh[:points])
        forward[t + 1, 1:] += seen * fresh[:points]
    backward = np.zeros((iterations + 1, points + 1))  # P(the run ends exactly at T | k distinct after t)
    backward[iterations, points] = 1.0
    for t in range(iterations - 1, -1, -1):
        backward[t, :points] = (
            backward[t + 1, :points] * (1.0 - fresh[:points]) + backward[t + 1, 1:] * fresh[:points]
        )
    ends = backward[0, 0]
    return tuple(
        float((forward[t, :points] * fresh[:points] * backward[t + 1, 1:]).sum() / ends / n)
        for t in range(iterations)
    )


def use_law(n: int, points: int, iterations: int) -> FloatArray:
    """Return the law ``p_t`` of the time at which one point is used, given T; shape (T,), summing to points/n.

    Parameters
    ----------
    n, points
        The number of points, and of distinct ones at the stop.
    iterations
        T, at least `points`.
    """
    n = require_integer("n", n, minimum=2)
    points = require_integer("points", points, minimum=1)
    iterations = require_integer("iterations", iterations, minimum=points)
    if points > n or (points == 1 and iterations > 1):
        raise InputError(
            f"points={points} of n={n} are never first seen at iterations={iterations}; give a stop that can occur"
        )
    return np.array(_use_law(n, points, iterations))


def log_likelihood_ratio(increments: ArrayLike, *, n: int, points: int, sigma: float) -> float:
    """Return ``log dP/dP'`` of a run whose increments, in units of L, were these, shape (T,); σ in units of L."""
    x = require_finite_array("increments", increments)
    sigma = require_positive("sigma", sigma)
    law = use_law(n, points, len(x))
    unused = np.log1p(-law.sum()) if points < n else -np.inf
    a = 1.0 / sigma**2
    with np.errstate(divide="ignore"):  # p_t = 0 where the second of two points is drawn last
        terms = np.log(law) - 0.5 * a
    up = logsumexp(np.append(terms + a * x, unused))
    down = logsumexp(np.append(terms - a * x, unused))
    return float(up - down)


@dataclass(frozen=True, kw_only=True)
class WholeRunAudit:
    """An interval for δ(ε) of the pair, from `runs` runs, that holds with probability at least 1 − α at all times."""

    epsilon: float
    low: float
    high: float
    mean: float
    runs: int
    alpha: float

    __bool__ = no_truth_value("result.low <= claimed_delta")


def audit_whole_runs(
    *,
    n: int,
    sigma: float,
    epsilon: float,
    runs: int,
    alpha: float,
    rng: np.random.Generator,
    stopping: StoppingRule = StoppingRule.LOOP,
) -> WholeRunAudit:
    """Run the implementation on S and estimate δ(ε) of its transcripts against S' by the likelihood ratio.

    `low` is a lower bound on the worst case over all neighbours; `high` speaks of this pair alone.

    Parameters
    ----------
    n, sigma
        The size of the data and σ/L.
    epsilon
        ε ≥ 0.
    runs, alpha
        How many runs, and the level of the interval.
    """
    epsilon = require_non_negative("epsilon", epsilon)
    runs = require_integer("runs", runs, minimum=1)
    points = stopping.distinct_points(n)
    data = np.zeros((n, 1))
    data[0, 0] = 1.0
    payoffs = np.empty(runs)
    for i in range(runs):
        run = private_sgd(
            data,
            loss=Linear(),
            convex_set=WholeSpace(1),
            step_size=1.0,
            sigma=sigma,
            lipschitz=1.0,
            initial_point=[0.0],
            rng=rng,
            options=Options(stopping=stopping),
            transcript=True,
        )
        # f(w, z) = -<w, z> has gradient -z: the sign of the pair, which is symmetric, is that of the increments.
        increments = np.diff(cast("Transcript", run.transcript).iterates[:, 0])
        ratio = log_likelihood_ratio(increments, n=n, points=points, sigma=sigma)
        payoffs[i] = max(0.0, -np.expm1(min(epsilon - ratio, 0.0)))
    sequence = BettingConfidenceSequence(low=0.0, high=1.0, alpha=alpha)
    sequence.update(payoffs)
    return WholeRunAudit(
        epsilon=epsilon,
        low=float(sequence.lower),
        high=float(sequence.upper),
        mean=float(payoffs.mean()),
        runs=runs,
        alpha=alpha,
    )
