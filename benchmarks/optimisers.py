"""What ``check_optimiser`` catches and how long it takes, at default settings: ``python -m benchmarks.optimisers``.

The systems of :mod:`dpsco_verify.related` go through with their sources' claims; then optimisers with one fault each.
Names as arguments choose some of them. The expected finding stands beside each: the claims that a fault breaks, or none
for a fault that breaks no claim.
"""

from __future__ import annotations

import functools
import math
import sys
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.optimize import brentq

from dpsco_verify.arrays import FloatArray
from dpsco_verify.evidence import AuditVerdict
from dpsco_verify.geometry import ConvexSet
from dpsco_verify.guarantees.optimiser import OptimiserReport, check_optimiser
from dpsco_verify.guarantees.optimiser.systems import check_system
from dpsco_verify.privacy import gaussian_delta
from dpsco_verify.problems import Loss
from dpsco_verify.related.catalogue import SYSTEMS

STEPS = 20
"""Steps of the full-batch optimiser."""


@functools.cache
def noise(epsilon: float, delta: float) -> float:
    """Return the least deviation of Gaussian noise on a quantity of sensitivity 2, for L = 1 (Balle and Wang 2018)."""
    return 2.0 / float(brentq(lambda mu: float(gaussian_delta(epsilon, mu)) - delta, 1e-3, 50.0))


def lengths(vectors: FloatArray) -> FloatArray:
    """Return the lengths along the last axis, which is kept."""
    return np.asarray(np.linalg.norm(vectors, axis=-1, keepdims=True))


def onto_ball(w: FloatArray, radius: float) -> FloatArray:
    """Return the projection onto the ball about 0."""
    return w * np.minimum(1.0, radius / np.maximum(1e-300, lengths(w)))


_cached: dict[tuple[int, ...], FloatArray] = {}


def one_pass(  # noqa: C901, PLR0912  a branch a fault
    data: FloatArray,
    L: float,
    D: float,
    epsilon: float,
    delta: float,
    rng: np.random.Generator,
    loss: Loss,
    convex_set: ConvexSet,
    *,
    fault: str = "",
) -> FloatArray:
    """Make one pass in random order with a clipped, noisy gradient at each step, and return the average."""
    runs, n, _ = data.shape
    d = convex_set.dimension
    if fault == "seed ignored":
        rng = np.random.default_rng()
    elif fault == "seed from the data":
        rng = np.random.default_rng(np.frombuffer(data[0].tobytes(), dtype=np.uint32))
    sigma: Any = noise(epsilon, delta) * L
    step = D / (2.0 * math.sqrt(n * (L**2 + d * sigma**2)))
    step *= 10.0 if fault == "step ten times too large" else 1.0
    if fault == "noise from the data":
        at_start = loss.subgradient(np.zeros((runs, 1, d)), data)
        sigma = noise(epsilon, delta) * lengths(at_start).max(axis=1)
    else:
        sigma *= {
            "noise halved": 0.5,
            "noise scaled with D": D / L,
            "noise forgets L": 1.0 / L,
        }.get(fault, 1.0)
    used = max(1, math.floor(0.9 * n)) if fault == "last tenth ignored" else n
    order = rng.permuted(np.tile(np.arange(used), (runs, 1)), axis=1)
    if fault == "read in order":
        order = np.tile(np.arange(n), (runs, 1))
    elif fault == "one half before the other":
        order = np.take_along_axis(order, np.argsort(order >= n // 2, axis=1, kind="stable"), axis=1)
    shared = rng.standard_normal((runs, d))
    if fault == "noise kept from the first call":
        shared = _cached.setdefault(shared.shape, shared)
    w = np.zeros((runs, d))
    total, count, alive = np.zeros_like(w), np.zeros((runs, 1)), np.ones((runs, 1))
    best, kept = np.full(runs, np.inf), w
    start = loss.value(w[:, np.newaxis, :], data).mean(axis=1)
    for t in range(2 * n if fault == "second pass" else used):
        g = loss.subgradient(w, data[np.arange(runs), order[:, t % used]])
        if fault == "clipped by coordinates":
            g = np.clip(g, -L, L)
        elif fault != "no clipping":
            g = g / np.maximum(1.0, lengths(g) / L)
        z = shared if fault.startswith(("noise drawn once", "noise kept")) else rng.standard_normal(w.shape)
        eta = step / (t + 1.0) if fault == "step like 1/t" else step
        w = w - eta * (g + sigma * z)
        if fault == "onto the cube":
            w = np.clip(w, -D / 2.0, D / 2.0)
        elif fault in {"onto half the ball", "onto twice the ball"}:
            w = onto_ball(w, D / 4.0 if fault == "onto half the ball" else D)
        elif fault != "no projection":
            w = convex_set.project(w)
        if fault in {"best iterate", "stops early"}:
            value = loss.value(w[:, np.newaxis, :], data).mean(axis=1)
            kept = np.where((value < best)[:, np.newaxis], w, kept)
            best = np.minimum(value, best)
        total, count = total + alive * w, count + alive
        if fault == "stops early":
            alive = alive * (best > start - 0.1 * L * D)[:, np.newaxis]
    if fault == "best iterate":
        return kept
    return w if fault == "last iterate" else total / count


def full_batch(
    data: FloatArray,
    L: float,
    D: float,
    epsilon: float,
    delta: float,
    rng: np.random.Generator,
    loss: Loss,
    convex_set: ConvexSet,
    *,
    fault: str = "",
) -> FloatArray:
    """Make a fixed number of steps on the mean of all clipped gradients, with the noise of their composition."""
    runs, n, _ = data.shape
    d = convex_set.dimension
    sigma = noise(epsilon, delta) * L * math.sqrt(STEPS) / n
    step = D / (2.0 * math.sqrt(STEPS * (L**2 + d * sigma**2)))
    sigma *= STEPS**-0.5 if fault == "noise of one step" else 1.0
    w = np.zeros((runs, d))
    total = np.zeros_like(w)
    for _ in range(STEPS):
        g = loss.subgradient(np.broadcast_to(w[:, np.newaxis, :], (runs, n, d)), data)
        if fault == "clipped after averaging":
            g = g.mean(axis=1)
            g = g / np.maximum(1.0, lengths(g) / L)
        else:
            g = (g / np.maximum(1.0, lengths(g) / L)).mean(axis=1)
        w = convex_set.project(w - step * (g + sigma * rng.standard_normal(w.shape)))
        total += w
    return total / STEPS


def bound_of_one_pass(
    n: int, d: int, L: float, D: float, epsilon: float, delta: float, problem: str
) -> float:
    """Return the regret bound, and less where it is known that the average does better."""
    regret = 0.5 * L * D * math.sqrt((1.0 + d * noise(epsilon, delta) ** 2) / n)
    return regret * (0.4 if problem == "still" else 1.1)


def bound_of_full_batch(n: int, d: int, L: float, D: float, epsilon: float, delta: float) -> float:
    """Return a bound of the optimisation error and twice the uniform deviation of means on the line."""
    sigma = noise(epsilon, delta) * math.sqrt(STEPS) / n
    return 1.1 * L * D * (0.5 * math.sqrt((1.0 + d * sigma**2) / STEPS) + math.sqrt(d / n))


ONE_PASS: Mapping[str, str] = {
    "": "",
    "noise halved": "privacy",
    "step ten times too large": "risk",
    "no clipping": "privacy",
    "last iterate": "risk",
    "read in order": "permutation",
    "no projection": "in_set",
    "one half before the other": "permutation",
    "seed ignored": "deterministic_given_seed",
    "noise drawn once": "risk",
    "noise kept from the first call": "deterministic_given_seed",
    "noise scaled with D": "privacy",
    "noise forgets L": "privacy",
    "noise from the data": "privacy",
    "clipped by coordinates": "privacy",
    "second pass": "gradient_queries",
    "stops early": "risk",
    "seed from the data": "deterministic_given_seed",
    "onto the cube": "in_set",
    "onto half the ball": "risk",
    "onto twice the ball": "in_set",
    "step like 1/t": "risk",
    "last tenth ignored": "permutation",
    "best iterate": "privacy",
}
FULL_BATCH: Mapping[str, str] = {
    "": "",
    "clipped after averaging": "privacy",
    "noise of one step": "privacy",
}


def checked_one_pass(fault: str, **options: Any) -> OptimiserReport:
    """Return what is found of :func:`one_pass` with a fault."""
    claims: dict[str, Any] = {"risk": bound_of_one_pass, "batched": True, "name": fault or "one pass"}
    # A batch has one loss for all its data sets, so the queries are counted of a single one.
    return check_optimiser(functools.partial(one_pass, fault=fault), **(claims | options))


def checked_full_batch(fault: str, **options: Any) -> OptimiserReport:
    """Return what is found of :func:`full_batch` with a fault."""
    claims: dict[str, Any] = {"risk": bound_of_full_batch, "batched": True, "name": fault or "full batch"}
    return check_optimiser(functools.partial(full_batch, fault=fault), **(claims | options))


def main(chosen: list[str]) -> int:
    """Print a line for each, and return how many were not found as expected."""
    wrong, whole = 0, time.perf_counter()
    for system in SYSTEMS:
        if not chosen or system in chosen or "systems" in chosen:
            report = check_system(system)
            wrong += report.verdict is AuditVerdict.VIOLATED
            _line(system, report, "")
    sys.stdout.write(f"systems: {time.perf_counter() - whole:.0f} s\n")
    for checked, faults in ((checked_one_pass, ONE_PASS), (checked_full_batch, FULL_BATCH)):
        for fault, expected in faults.items():
            if not chosen or fault in chosen or "faults" in chosen:
                queries = {"gradient_queries": lambda n, *_: n} if checked is checked_one_pass else {}
                report = checked(fault, **queries)
                broken = {r.kind for r in report.results if r.verdict is AuditVerdict.VIOLATED}
                wrong += expected not in broken if expected else bool(broken)
                _line(fault or "(no fault)", report, expected)
    sys.stdout.write(f"{wrong} not as expected\n")
    return int(wrong > 0)


def _line(name: str, report: OptimiserReport, expected: str) -> None:
    found = [r.kind for r in report.results if r.verdict is AuditVerdict.VIOLATED]
    unsure = [r.kind for r in report.results if r.verdict is AuditVerdict.UNDECIDED]
    unsure += [kind for kind, _ in report.skipped]
    told = f"breaks {', '.join(found)}" if found else "keeps all" if not unsure else ""
    told += f"; undecided: {', '.join(unsure)}" if unsure else ""
    sys.stdout.write(f"{name:<34} {report.seconds:5.1f} s  {told}  (expected: {expected or 'none'})\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
