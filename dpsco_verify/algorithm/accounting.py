"""The account of a run: what is known of its privacy, beside what Theorem 5.3 promises for the same noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize

from dpsco_verify.evidence import Axis, LinePlot, Scale, Series, SeriesStyle
from dpsco_verify.privacy.whole_run import (
    View,
    WholeRun,
    delta_lower,
    delta_upper,
    epsilon_lower,
    epsilon_upper,
    output_is_known,
)
from dpsco_verify.validation import require_integer, require_open_interval, require_positive

TOO_NOISY = 0.5
"""The norm of the noise, on the average of all steps, that is worth a warning, in units of the largest gradient."""
_SMALLEST_DRAWN = 1e-12
_DRAWN = 32


def noise_remark(
    *, n: int, dimension: int, points: int, sigma_over_lipschitz: float, epsilon: float, delta: float
) -> str | None:
    """Return, where the noise hides what is to be learned, a sentence that says so and at which ε it would not.

    The average of the K steps that use a fresh point has noise of about ``σ√(d/K)``; the largest gradient is L.
    """
    ratio = sigma_over_lipschitz * math.sqrt(dimension / points)
    if ratio <= TOO_NOISY:
        return None
    enough = WholeRun(n=n, sigma=sigma_over_lipschitz * TOO_NOISY / ratio, points=points)
    return (
        f"n={n} is too few for epsilon={epsilon!r} and {dimension} parameters: the noise on the average of all steps "
        f"is {ratio:.2g} times the largest gradient; epsilon={epsilon_upper(enough, delta):.2g} or more points would do"
    )


def theorem_epsilon(*, n: int, sigma_over_lipschitz: float, delta: float) -> float | None:
    """Return the ε that Theorem ``thm:main_result`` (5.3) promises at δ for noise σ; None outside its conditions.

    With ``σ = 8L√log(1/δ₁)/(√n ε₁)``, ``n ≥ 16`` and ``ε₁ ≤ 1/(2√n)`` it promises ``(4ε₁(√log(1/δ₁) + 2), δ)``-DP, δ₁
    and δ₁' of the theorem being equal: ``δ₁ = (δ − 2e^{−n/16})/2``.

    Raises
    ------
    InputError
        For n < 2, σ/L that is not positive, or a δ outside (0, 1).
    """
    n = require_integer("n", n, minimum=2)
    ratio = require_positive("sigma_over_lipschitz", sigma_over_lipschitz)
    delta = require_open_interval("delta", delta, 0.0, 1.0)
    part = 0.5 * (delta - 2.0 * math.exp(-n / 16.0))
    if n < 16 or part <= 0.0:
        return None
    root = math.sqrt(-math.log(part))
    epsilon = 8.0 * root / (math.sqrt(n) * ratio)
    return 4.0 * epsilon * (root + 2.0) if epsilon <= 1.0 / (2.0 * math.sqrt(n)) else None


def theorem_delta(*, n: int, sigma_over_lipschitz: float, epsilon: float) -> float | None:
    """Return the least δ at which Theorem 5.3 promises ε for noise σ; None where it promises it at none."""

    def excess(log_delta: float) -> float:
        found = theorem_epsilon(n=n, sigma_over_lipschitz=sigma_over_lipschitz, delta=math.exp(log_delta))
        return 1.0 if found is None else found / epsilon - 1.0

    high = math.log(1.0 - 1e-12)
    if epsilon <= 0.0 or excess(high) > 0.0:
        return None
    return math.exp(float(optimize.bisect(excess, -700.0, high, xtol=1e-9)) + 1e-9)


@dataclass(frozen=True, kw_only=True)
class Account:
    """δ at an ε, and ε at a δ: bounds from both sides and the theorem's promise, None where there is none.

    The upper bounds hold whatever is seen of the run; the lower ones for the pattern of repeats shown, and for the
    output alone.
    """

    run: WholeRun
    epsilon: float | None
    delta: float | None
    delta_upper: float | None
    delta_lower: float | None
    delta_lower_output: float | None
    delta_theorem: float | None
    epsilon_upper: float | None
    epsilon_lower: float | None
    epsilon_lower_output: float | None
    epsilon_theorem: float | None

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, as ``dpsco-verify account --json`` prints them."""
        run = self.run
        return {
            "n": run.n,
            "points": run.law[0][0],
            "batch_size": run.batch_size,
            "epochs": run.epochs,
            "relation": "replace-one",
            "sigma": run.sigma,
            "lipschitz": run.lipschitz,
            "delta_at_epsilon": None
            if self.epsilon is None
            else {
                "epsilon": self.epsilon,
                "upper": self.delta_upper,
                "lower": self.delta_lower,
                "lower_output_alone": self.delta_lower_output,
                "theorem_5_3": self.delta_theorem,
            },
            "epsilon_at_delta": None
            if self.delta is None
            else {
                "delta": self.delta,
                "upper": self.epsilon_upper,
                "lower": self.epsilon_lower,
                "lower_output_alone": self.epsilon_lower_output,
                "theorem_5_3": self.epsilon_theorem,
            },
            "upper_holds_for": [str(view) for view in View],
            "lower_holds_for": [str(View.PATTERN)],
        }


def account(run: WholeRun, *, epsilon: float | None = None, delta: float | None = None) -> Account:
    """Return what is known of the run's δ at `epsilon` and of its ε at `delta`, where given.

    The theorem speaks of batches of one and one epoch of the default K.

    Raises
    ------
    InputError
        For an ε below 0 or a δ outside (0, 1).
    """
    ratio, known = _theorems_ratio(run), output_is_known(run)
    return Account(
        run=run,
        epsilon=epsilon,
        delta=delta,
        delta_upper=None if epsilon is None else delta_upper(run, epsilon),
        delta_lower=None if epsilon is None else delta_lower(run, epsilon),
        delta_lower_output=None
        if epsilon is None or not known
        else delta_lower(run, epsilon, view=View.OUTPUT),
        delta_theorem=None
        if epsilon is None or ratio is None
        else theorem_delta(n=run.n, sigma_over_lipschitz=ratio, epsilon=epsilon),
        epsilon_upper=None if delta is None else epsilon_upper(run, delta),
        epsilon_lower=None if delta is None else epsilon_lower(run, delta),
        epsilon_lower_output=None
        if delta is None or not known
        else epsilon_lower(run, delta, view=View.OUTPUT),
        epsilon_theorem=None
        if delta is None or ratio is None
        else theorem_epsilon(n=run.n, sigma_over_lipschitz=ratio, delta=delta),
    )


def curves(run: WholeRun) -> LinePlot:
    """Return the picture of δ(ε): both bounds, and the theorem's promise where it makes one."""
    orders = np.linspace(0.0, epsilon_upper(run, _SMALLEST_DRAWN), _DRAWN)
    upper = [(float(e), delta_upper(run, float(e))) for e in orders]
    lower = [(float(e), delta_lower(run, float(e))) for e in orders]
    series = [
        _series("upper bound, every view", upper, SeriesStyle.LINE),
        _series("lower bound, pattern shown", lower, SeriesStyle.BOUND),
    ]
    ratio = _theorems_ratio(run)
    if ratio is not None:
        deltas = np.geomspace(_SMALLEST_DRAWN, 0.5, _DRAWN)
        promised = [
            (promise, float(delta))
            for delta in deltas
            if (promise := theorem_epsilon(n=run.n, sigma_over_lipschitz=ratio, delta=float(delta)))
            is not None
        ]
        if promised:
            series.append(_series("Theorem 5.3", promised, SeriesStyle.POINTS))
    return LinePlot(
        id="whole-run",
        title="The privacy of a whole run",
        caption=f"δ(ε) of a run on n = {run.n} points, K = {run.law[0][0]} of them used, "
        f"σ/L = {2.0 / (run.distance * run.batch_size):.6g}, replace-one neighbours.",
        x_axis=Axis(label="ε"),
        y_axis=Axis(label="δ", scale=Scale.LOG),
        series=tuple(series),
    )


def _series(name: str, points: list[tuple[float, float]], style: SeriesStyle) -> Series:
    kept = [(x, y) for x, y in points if y >= _SMALLEST_DRAWN]
    return Series(name=name, x=tuple(x for x, _ in kept), y=tuple(y for _, y in kept), style=style)


def _theorems_ratio(run: WholeRun) -> float | None:
    """Return σ/L if the theorem speaks of such a run."""
    if run.batch_size > 1 or run.epochs > 1 or run.points is not None:
        return None
    return 2.0 / run.distance
