"""Audits by canaries at their boundary, at length: ``python -m benchmarks.canary_validity [--audits N]``.

How often true claims are accused at the level 0.05, with the Clopper-Pearson upper bound of that rate at confidence
0.99; how often lower bounds exceed the truth; and how long a million scores take, over the time to sort them.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from dpsco_verify.arrays import BoolArray, FloatArray
from dpsco_verify.auditing.canaries import (
    Family,
    Method,
    SequentialCanaryAudit,
    audit_canaries,
)
from dpsco_verify.auditing.canaries.guesses import Guesses, planned_guesses
from dpsco_verify.auditing.canaries.lines import TradeOffLines, approximate_lines, gaussian_lines
from dpsco_verify.auditing.canaries.many_runs import ManyRuns
from dpsco_verify.auditing.canaries.one_run import OneRun, approximate_dp, f_dp
from dpsco_verify.auditing.canaries.scores import ranked
from dpsco_verify.inference.binomial import clopper_pearson_upper
from dpsco_verify.privacy.claims import GaussianDP

Law = Callable[[np.random.Generator, BoolArray], FloatArray]

LEVEL = 0.05
NULLS: dict[str, tuple[int, Law]] = {
    "normal scores, m = 1000": (1000, lambda rng, coins: rng.normal(size=coins.size)),
    "scores of two values, m = 1000": (
        1000,
        lambda rng, coins: rng.integers(2, size=coins.size).astype(float),
    ),
    "constant scores, m = 100": (100, lambda _, coins: np.zeros(coins.size)),
    "normal scores, m = 5": (5, lambda rng, coins: rng.normal(size=coins.size)),
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--audits", type=int, default=5000)
    audits = parser.parse_args().audits
    for name, (m, law) in NULLS.items():
        _told(name, _alarms(m, law, approximate_lines(0.0, 0.0), audits), audits)
    for mu in (0.5, 1.0, 2.0):
        found = _alarms(500, _gaussian(mu), gaussian_lines(mu), audits)
        _told(f"GDP of μ = {mu}, m = 500", {k: v for k, v in found.items() if k != "one-run-dp"}, audits)
    _told("unequal groups, 900 and 100 (many runs)", _unequal(audits), audits)
    _told("correlated, all told with probability 0.04", _all_told(audits), audits)
    _told(
        "single steps of μ = 1, 300 of them, at any time", _steps(max(audits // 10, 1)), max(audits // 10, 1)
    )
    for n in (500, 5000):
        _bounds(4.0, n, 2 * audits // 5)
    _bounds(1.0, 500, 2 * audits // 5)
    _speed()


def _gaussian(mu: float) -> Law:
    return lambda rng, coins: mu * coins + rng.normal(size=coins.size)


def _alarms(m: int, law: Law, lines: TradeOffLines, audits: int) -> dict[str, int]:
    alarms = dict.fromkeys(("one-run-f-dp", "one-run-f-dp, 40 guesses", "one-run-dp", "clopper-pearson"), 0)
    for seed in range(audits):
        rng = np.random.default_rng([seed, m])
        coins = rng.random(m) < 0.5
        if not 0 < coins.sum() < m:
            continue
        scores = law(rng, coins)
        found = ranked(scores[coins], scores[~coins], rng)
        plans = planned_guesses(m, None)
        few = (Guesses(top=min(20, m // 2), bottom=min(20, m // 2), canaries=m),)
        alarms["one-run-f-dp"] += OneRun.of(f_dp, plans, found).rejects(lines, LEVEL)
        alarms["one-run-f-dp, 40 guesses"] += OneRun.of(f_dp, few, found).rejects(lines, LEVEL)
        if lines.slopes.size == 1:
            alarms["one-run-dp"] += OneRun.of(approximate_dp, plans, found).rejects(lines, LEVEL)
        alarms["clopper-pearson"] += ManyRuns.of(found).rejects(lines, LEVEL)
    return alarms


def _unequal(audits: int) -> dict[str, int]:
    alarms = 0
    for seed in range(audits):
        rng = np.random.default_rng([seed, 11])
        found = ranked(rng.normal(1.0, 1.0, 900), rng.normal(0.0, 1.0, 100), rng)
        alarms += ManyRuns.of(found).rejects(gaussian_lines(1.0), LEVEL)
    return {"clopper-pearson": alarms}


def _all_told(audits: int) -> dict[str, int]:
    """Count the alarms of an (ε, δ) that holds because all coins are told at once with probability δ = 0.04."""
    alarms = 0
    for seed in range(audits):
        rng = np.random.default_rng([seed, 12])
        coins = rng.random(200) < 0.5
        scores = np.where(rng.random() < 0.04, coins, rng.random(200) < 0.5).astype(float)
        found = ranked(scores[coins], scores[~coins], rng)
        test = OneRun.of(f_dp, planned_guesses(200, None), found)
        alarms += test.rejects(approximate_lines(0.0, 0.04), LEVEL)
    return {"one-run-f-dp": alarms}


def _steps(audits: int) -> dict[str, int]:
    alarms = 0
    for seed in range(audits):
        rng = np.random.default_rng([seed, 13])
        coins = rng.random(300) < 0.5
        alarms += SequentialCanaryAudit(claim=GaussianDP(1.0), delta=1e-5, alpha=LEVEL).update(
            coins + rng.normal(size=300), coins
        )
    return {"sequential": alarms}


def _told(name: str, alarms: dict[str, int], audits: int) -> None:
    for method, count in alarms.items():
        upper = clopper_pearson_upper(count, audits, alpha=0.01)
        _say(f"{name:48} {method:26} {count:4} of {audits} accused; at most {upper:.4f}")


def _bounds(mu: float, n: int, repetitions: int) -> None:
    for method in (Method.ONE_RUN_F_DP, Method.CLOPPER_PEARSON):
        found = []
        for seed in range(repetitions):
            rng = np.random.default_rng([seed, n])
            result = audit_canaries(
                rng.normal(mu, 1.0, n),
                rng.normal(0.0, 1.0, n),
                epsilon=1.0,
                delta=1e-5,
                family=Family.GAUSSIAN,
                method=method,
                alpha=LEVEL,
            )
            found.append((result.mu_lower or 0.0, result.epsilon_lower))
        low, epsilon = np.array(found).T
        _say(
            f"μ = {mu:g}, {n} a side, {method.value}: ε at least {np.median(epsilon):.2f} (median; 5 % below "
            f"{np.quantile(epsilon, 0.05):.2f}); above the truth {(low > mu).sum()} of {repetitions}"
        )


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201  a benchmark prints


def _speed() -> None:
    rng = np.random.default_rng(0)
    inside, outside = rng.normal(1.0, 1.0, 500_000), rng.normal(0.0, 1.0, 500_000)
    started = time.perf_counter()
    np.sort(np.concatenate([inside, outside]))
    sorting = time.perf_counter() - started
    for method in Method:
        started = time.perf_counter()
        audit_canaries(inside, outside, epsilon=4.0, delta=1e-5, method=method)
        took = time.perf_counter() - started
        _say(f"10⁶ scores, {method.value}: {took:.2f} s, {took / sorting:.0f} times their sorting")


if __name__ == "__main__":
    main()
