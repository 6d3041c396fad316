"""The exact divergence of the single step, beside numerical integration and a privacy-loss accountant.

All three compute the same numbers: the worst δ(ε) of the step for replaced points, a batch of one, which is that of
``pN(1, σ²) + (1 − p)N(−1, σ²)`` against ``N(−1, σ²)``. Integration is told where the integrand begins, and the
accountant has its default discretisation. Errors are relative, against ball arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy import integrate

from benchmarks.measure import faster, relative_difference, seconds
from benchmarks.record import Row, row
from benchmarks.size import Size
from dpsco_verify.arrays import FloatArray
from dpsco_verify.privacy import StepCurve, inner_epsilon, log_step_delta, step_delta
from dpsco_verify.privacy.balls import ball, enclose
from dpsco_verify.privacy.single_step import (
    replace_one_delta,
    zero_out_absent_delta,
    zero_out_present_delta,
    zero_out_upper_bound,
)

GROUP = "single step"
_WANTED_SPEED = 200_000
_ALLOWED_ERROR = 1e-9

_TWINS = {
    StepCurve.REPLACE_ONE: replace_one_delta,
    StepCurve.ZERO_OUT_PRESENT: zero_out_present_delta,
    StepCurve.ZERO_OUT_ABSENT: zero_out_absent_delta,
    StepCurve.ZERO_OUT_UPPER: zero_out_upper_bound,
}


def rows(size: Size) -> Iterator[Row]:
    """Yield speed and error of each curve over the whole range, then the comparison of three ways."""
    for curve in StepCurve:
        yield _speed(curve, size)
        yield _error(curve, size)
    yield from _three_ways(size)


def _wide(count: int, seed: int) -> FloatArray:
    """Return (p, ε, σ), from 1e-12 to 1, 1e-8 to 100 and 1e-2 to 1e6; σ mostly where δ is above 1e-300."""
    rng = np.random.default_rng(seed)
    p, epsilon = 10.0 ** rng.uniform(-12, 0, count), 10.0 ** rng.uniform(-8, 2, count)
    p[::10] = 1.0
    inner, depth = inner_epsilon(p, epsilon), rng.uniform(0.0, 37.0, count)
    mu = 2.0 * inner / (np.sqrt(depth * depth + 2.0 * inner) + depth)  # the event has probability Q(depth)
    anywhere = rng.random(count) < 0.2
    return np.stack(
        [p, epsilon, np.where(anywhere, 10.0 ** rng.uniform(-2, 6, count), np.clip(1.5 / mu, 1e-2, 1e6))]
    )


def _speed(curve: StepCurve, size: Size) -> Row:
    places = _wide(size.of(200_000, 1_000), 0)
    log_step_delta(curve, *places)
    taken = [seconds(lambda: log_step_delta(curve, *places)) for _ in range(size.rounds)]
    return row(
        GROUP,
        f"{curve}: points a second",
        [places.shape[1] / t for t in taken],
        unit="points/s",
        at_least=_WANTED_SPEED,
        note="of one core's time",
    )


def _reference(curve: StepCurve, p: float, epsilon: float, sigma: float) -> float:
    return enclose(lambda: _TWINS[curve](ball(p), ball(epsilon), ball(sigma)).log(), relative=1e-15)[0]


def _error(curve: StepCurve, size: Size) -> Row:
    places = _wide(size.of(2_000, 50), 1)
    got = log_step_delta(curve, *places)
    errors = [
        relative_difference(value, _reference(curve, *map(float, place)))
        for place, value in zip(places.T, got.tolist(), strict=True)
        if value > math.log(1e-300)
    ]
    return row(
        GROUP,
        f"{curve}: largest relative error",
        [max(errors)],
        unit="1",
        at_most=_ALLOWED_ERROR,
        note=f"at {len(errors)} points with δ > 1e-300, against balls",
    )


def by_integration(p: float, epsilon: float, sigma: float) -> float:
    """Return δ by adaptive quadrature of the positive part, from where it begins."""
    start = -1.0 + sigma * sigma / 2.0 * (float(inner_epsilon(p, epsilon)) + 2.0 / (sigma * sigma))
    factor, share = math.exp(epsilon), 1.0 / (sigma * math.sqrt(2.0 * math.pi))

    def integrand(x: float) -> float:
        up, down = (
            share * math.exp(-0.5 * ((x - 1.0) / sigma) ** 2),
            share * math.exp(-0.5 * ((x + 1.0) / sigma) ** 2),
        )
        return max(p * up + (1.0 - p) * down - factor * down, 0.0)

    value, _ = integrate.quad(integrand, start, start + 40.0 * sigma, epsabs=0.0, epsrel=1e-10, limit=200)
    return float(value)


def by_accountant(p: float, epsilon: float, sigma: float) -> float:
    """Return δ by dp-accounting's privacy-loss distribution."""
    from dp_accounting.pld import privacy_loss_distribution  # noqa: PLC0415  slow to import, and wanted here alone

    distribution = privacy_loss_distribution.from_gaussian_mechanism(sigma, sensitivity=2.0, sampling_prob=p)
    return float(distribution.get_delta_for_epsilon(epsilon))


def _three_ways(size: Size) -> Iterator[Row]:
    rng = np.random.default_rng(2)
    many = size.of(20_000, 200)
    p, sigma = 10.0 ** rng.uniform(-3, -0.5, many), 10.0 ** rng.uniform(0.0, 1.0, many)
    epsilon = np.log1p(p * np.expm1(2.0 / sigma * rng.uniform(0.5, 3.0, many)))
    few, fewer = size.of(100, 5), size.of(8, 2)

    def ours() -> object:
        return step_delta(StepCurve.REPLACE_ONE, p, epsilon, sigma)

    def each(way: object, count: int) -> list[float]:
        return [way(float(p[i]), float(epsilon[i]), float(sigma[i])) for i in range(count)]  # type: ignore[operator]  # a function

    yield faster(
        GROUP,
        "scipy.integrate.quad over the closed form, time a point",
        ours,
        lambda: each(by_integration, few),
        rounds=size.rounds,
        fast_points=many,
        slow_points=few,
        note=f"{many} points at once against {few} one by one",
    )
    yield faster(
        GROUP,
        "dp-accounting's PLD over the closed form, time a point",
        ours,
        lambda: each(by_accountant, fewer),
        rounds=size.rounds,
        fast_points=many,
        slow_points=fewer,
        note="each point has a (p, σ) of its own, hence a distribution of its own",
    )
    reference = [
        _reference(StepCurve.REPLACE_ONE, float(p[i]), float(epsilon[i]), float(sigma[i])) for i in range(few)
    ]
    closed = step_delta(StepCurve.REPLACE_ONE, p[:few], epsilon[:few], sigma[:few]).tolist()
    for name, values in (
        ("closed form", closed),
        ("scipy.integrate.quad", each(by_integration, few)),
        ("dp-accounting's PLD", each(by_accountant, fewer)),
    ):
        errors = [
            relative_difference(math.log(value) if value > 0 else -math.inf, true)
            for value, true in zip(values, reference[: len(values)], strict=True)
        ]
        yield row(GROUP, f"{name}: relative error at the same points", errors, unit="1", note="against balls")
