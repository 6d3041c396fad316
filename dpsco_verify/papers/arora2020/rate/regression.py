"""The exponent of a mean: a regression with a logarithmic link, with an interval that knows of skewness.

The model is ``log E[Y] = a + β (log x − mean of log x)`` over the individual runs Y at sizes x. A logarithm of the mean
is modelled, not the mean of a logarithm: ``E[log Y]`` has another exponent where the spread of Y changes with x. The
Gamma quasi-likelihood solves ``Σ_i (Y_i/μ_i − 1)(1, log x_i) = 0``, which weights runs as for a standard deviation in
proportion to the mean, about as it is; whatever the spread is, the estimating equation is unbiased and White's
sandwich covariance is consistent. Where the means are no exact power of x, the solution estimates that of the same
equation at the exact means: the *projected* exponent, which :func:`project` returns.

The interval is asymptotic. Far out in the tail, where an error budget lies, the first effect that a sample is finite is
that of the third cumulant κ₃ of the studentised estimate T: ``P(T ≥ z) ≈ Φ(−z) exp(κ₃ z³/6)`` and ``P(T ≤ −z) ≈ Φ(−z)
exp(−κ₃ z³/6)`` (Cramér's series; for studentised means Wang 2005, Jing, Shao & Wang 2003). The critical value is taken
for the heavier of the two tails. The solution is a function H of the means of the sizes, and for studentised functions
of means (Hall 1992, Section 2.6; g, h run over the sizes)

    ``κ₃ = −(2 Σ_g H_g³ κ₃(Ȳ_g) + 3 Σ_gh H_gh H_g H_h v_g v_h)/(Σ_g H_g² v_g)^{3/2}``,  ``v_g = Var Ȳ_g``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq, root
from scipy.special import log_ndtr, ndtri

from dpsco_verify.arrays import FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.validation import (
    require_finite_array,
    require_non_negative,
    require_open_interval,
    require_positive,
)


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """An estimated coefficient, its standard error, and the third cumulant of the studentised estimate."""

    value: float
    standard_error: float
    skewness: float


@dataclass(frozen=True, kw_only=True)
class Fit:
    """The exponent β, and the logarithm of the mean at the geometric mean of the sizes."""

    exponent: Estimate
    level: Estimate


def regress(sizes: Sequence[float], runs: Sequence[FloatArray]) -> Fit:
    """Return the fit to the positive observations of `runs`, one array a size.

    Raises
    ------
    InputError
        For fewer than two sizes, sizes or observations that are not positive, or fewer than two observations a size.
    """
    x = _centred(sizes)
    if len(runs) != len(x):
        raise InputError(f"len(runs)={len(runs)} differs from len(sizes)={len(x)}; give one array a size")
    groups = [require_finite_array("runs", group, shape=(None,)) for group in runs]
    if any(group.size < 2 or group.min() <= 0.0 for group in groups):
        raise InputError(
            f"runs of lengths {[group.size for group in groups]} hold too few or non-positive values; "
            "give at least two positive observations a size"
        )
    y = np.concatenate(groups)
    design = np.repeat(np.stack([np.ones_like(x), x], axis=-1), [group.size for group in groups], axis=0)
    fitted = _solve(y, design)
    skewness = _skewness(x, groups, np.asarray(fitted.params))
    level, exponent = (
        Estimate(
            value=float(fitted.params[i]), standard_error=float(fitted.bse[i]), skewness=float(skewness[i])
        )
        for i in range(2)
    )
    return Fit(exponent=exponent, level=level)


def _skewness(x: FloatArray, groups: Sequence[FloatArray], coefficients: FloatArray) -> FloatArray:
    """Return κ₃ of both coefficients, the derivatives of H being those of the estimating equation.

    When the means change by factors ``1 + r_g`` and the solution by b, then to second order
    ``Σ_g N_g x_g [r_g − x_g b − r_g x_g b + (x_g b)²/2] = 0``, ``N_g`` the number of runs times the ratio of the mean
    to the fitted one; so ``b = b₁ + b₂`` with ``b₁ = Σ_g H_g r_g`` and ``b₂`` quadratic in r.
    """
    design = np.stack([np.ones_like(x), x], axis=-1)
    size = np.array([group.size for group in groups])
    mean = np.array([group.mean() for group in groups])
    variance = (
        np.array([np.mean((group / m - 1.0) ** 2) for group, m in zip(groups, mean, strict=True)]) / size
    )
    third = (
        np.array([np.mean((group / m - 1.0) ** 3) for group, m in zip(groups, mean, strict=True)]) / size**2
    )
    weight = size * mean / np.exp(design @ coefficients)
    solve = np.linalg.inv((design.T * weight) @ design) @ (design.T * weight)
    skewness = np.empty(2)
    for i, h in enumerate(solve):
        w = h * variance
        moved = design @ (solve @ w)
        second = 2.0 * (solve @ (moved**2 / 2.0 - w * moved))[i]
        skewness[i] = -(2.0 * np.sum(h**3 * third) + 3.0 * second) / np.sum(h**2 * variance) ** 1.5
    return skewness


@dataclass(frozen=True, kw_only=True)
class Projection:
    """What :func:`regress` estimates when the means are known: the exponent and the level."""

    exponent: float
    level: float


def project(sizes: Sequence[float], means: Sequence[float]) -> Projection:
    """Return the solution of the estimating equation at exact positive means (with as many runs at each size)."""
    x = _centred(sizes)
    y = np.array([require_positive("means", mean) for mean in means])
    design = np.stack([np.ones_like(x), x], axis=-1)

    # The equation is the gradient of a convex function, so its root is unique.
    def equation(coefficients: FloatArray) -> FloatArray:
        return np.asarray(design.T @ (y * np.exp(-(design @ coefficients)) - 1.0))

    def slope(coefficients: FloatArray) -> FloatArray:
        return np.asarray(-(design.T * (y * np.exp(-(design @ coefficients)))) @ design)

    start, *_ = np.linalg.lstsq(design, np.log(y), rcond=None)
    solution = root(equation, start, jac=slope, tol=1e-13)
    return Projection(exponent=float(solution.x[1]), level=float(solution.x[0]))


def critical_value(alpha: float, skewness: float) -> float | None:
    """Return the smallest z with ``Φ(−z) exp(|κ₃| z³/6) ≤ alpha/2``; None if the tail never gets there.

    Two-sided at level `alpha`. None says that there are too few runs for this level.
    """
    alpha = require_open_interval("alpha", alpha, 0.0, 1.0)
    third = require_non_negative("abs(skewness)", abs(skewness))

    def excess(z: float) -> float:
        return float(log_ndtr(-z)) + third * z**3 / 6.0 - math.log(alpha / 2.0)

    start = -float(ndtri(alpha / 2.0))
    if third == 0.0:
        return start
    turn = max(start, 2.0 / third)  # from about 2/|κ₃| on the bound rises again
    if excess(turn) > 0.0:
        return None
    return float(brentq(excess, min(0.0, start), turn, xtol=1e-12))


def _centred(sizes: Sequence[float]) -> FloatArray:
    x = np.log([require_positive("sizes", size) for size in sizes])
    if np.unique(x).size < 2:
        raise InputError(f"sizes={list(sizes)!r} hold no two different ones; give at least two")
    return np.asarray(x - x.mean())


def _solve(y: FloatArray, design: FloatArray) -> Any:
    # Imported here: it takes half a second, which only this statement needs.
    from statsmodels.genmod.families import Gamma  # noqa: PLC0415  see above
    from statsmodels.genmod.families.links import Log  # noqa: PLC0415  see above
    from statsmodels.genmod.generalized_linear_model import GLM  # noqa: PLC0415  see above

    return GLM(y, design, family=Gamma(link=Log())).fit(tol=1e-12, maxiter=200, cov_type="HC0")
