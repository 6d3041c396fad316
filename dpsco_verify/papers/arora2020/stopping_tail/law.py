"""Units of work of ``stopping-tail``: exact tails, and the implementation's stopping times held against the law."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpsco_verify.algorithm import Options, StoppingRule, run_ensemble
from dpsco_verify.algorithm.stopping_law import relative_error, survival
from dpsco_verify.execution import stream
from dpsco_verify.geometry import Box
from dpsco_verify.guarantees.mean_tests import BoundedMean
from dpsco_verify.inference import goodness_of_fit
from dpsco_verify.problems import Linear


def points_at_stop(rule: StoppingRule, n: int) -> int:
    """Return the number m of distinct points at the stop, from the paper's words (not from the implementation)."""
    match rule:
        case StoppingRule.LOOP:  # the smallest size with not |F| ≤ n/2
            return math.floor(n / 2) + 1
        case StoppingRule.TEXT:  # the smallest size with |F| ≥ n/2
            return math.ceil(n / 2)
        case StoppingRule.ALL_POINTS:
            return n


def claimed_tail(n: int) -> float:
    """Return ``2e^{−n/16}``."""
    return 2.0 * math.exp(-n / 16.0)


@dataclass(frozen=True, kw_only=True)
class Tail:
    """The tail ``P(τ > 2n)`` at one n: a double and a proven bound on its relative error."""

    n: int
    points: int
    draws: int
    probability: float
    relative_error: float

    @property
    def ratio(self) -> float:
        """The tail over the claimed one."""
        return self.probability / claimed_tail(self.n)


def exact_tails(*, rule: StoppingRule, counter: bool, sizes: tuple[int, ...]) -> list[Tail]:
    """Return ``P(τ > 2n)`` for each n; with `counter`, τ is the counter's final value, one more than the iterations."""
    tails = []
    for n in sizes:
        m, t = points_at_stop(rule, n), 2 * n - int(counter)
        tails.append(
            Tail(
                n=n,
                points=m,
                draws=t,
                probability=float(survival(n, m, t)[t]),
                relative_error=relative_error(m, t),
            )
        )
    return tails


@dataclass(frozen=True, kw_only=True)
class Simulation:
    """Stopping times of the implementation at one n against the exact law and against the claimed tail.

    `tail_log_wealth` is the log of the wealth after all runs of the e-process against the claimed tail.
    """

    n: int
    runs: int
    alpha: float
    distance: float
    threshold: float
    detectable_distance: float
    follows_law: bool
    claimed: float
    late: int
    tail_rejected: bool
    tail_log_wealth: float
    tail_mdv: float | None
    late_flags: tuple[bool, ...]


def simulate(
    *, rule: StoppingRule, counter: bool, n: int, runs: int, alpha: float, seed: int, name: str
) -> Simulation:
    """Run Algorithm 1 itself, on data that do not matter, and test its stopping times, half of `alpha` a test.

    The law is tested by the Dvoretzky-Kiefer-Wolfowitz inequality with Massart's constant, the claimed tail by
    the betting e-process on the indicators of τ > 2n.
    """
    rng = stream(seed, name)
    ensemble = run_ensemble(
        np.zeros((runs, n, 1)),
        loss=Linear(),
        convex_set=Box([-1.0], [1.0]),
        step_size=1.0,
        sigma=0.0,
        lipschitz=1.0,
        rng=rng,
        options=Options(stopping=rule),
    )
    iterations = ensemble.iterations
    m = points_at_stop(rule, n)
    law = 1.0 - survival(n, m, int(iterations.max()))
    fit = goodness_of_fit.decide(
        iterations, lambda k: np.where(k >= 0, law[np.maximum(k, 0)], 0.0), alpha=alpha / 2
    )
    tau = iterations + int(counter)
    late = tau > 2 * n
    claimed = claimed_tail(n)
    test = BoundedMean(bound=claimed, low=0.0, high=1.0, alpha=alpha / 2)
    decision = test.update(late.astype(np.float64))
    stop = decision.rejected_at or 0
    return Simulation(
        n=n,
        runs=runs,
        alpha=alpha,
        distance=fit.distance,
        threshold=fit.critical_distance,
        detectable_distance=goodness_of_fit.minimum_detectable_distance(runs, alpha=alpha / 2),
        follows_law=not fit.rejected,
        claimed=claimed,
        late=int(late.sum()),
        tail_rejected=decision.rejected,
        tail_log_wealth=decision.log_wealth,
        tail_mdv=test.surely_detectable(runs),
        late_flags=tuple(bool(x) for x in late[:stop]),
    )
