"""What the classifier and the regressor share: parameters, the fit, and the linear scores."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal, Never, get_args

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from dpsco_verify.arrays import BoolArray, FloatArray
from dpsco_verify.choices import Relation
from dpsco_verify.errors import InputError
from dpsco_verify.estimators.descent import Problem, Release, Slopes, descend, release_of
from dpsco_verify.estimators.noise import Plan, PrivacyStatement, plan
from dpsco_verify.estimators.randomness import SeededSource, SystemSource
from dpsco_verify.estimators.records import finite_rows, largest_norm
from dpsco_verify.estimators.warnings import warn_of_leak, warn_of_noise
from dpsco_verify.geometry import Box, ConvexSet, L1Ball, L2Ball, Simplex
from dpsco_verify.validation import require_positive

Constraint = Literal["l2", "l1", "box", "simplex"]
_TOO_NOISY = 0.5


class PrivateLinearModel(BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """A linear model fitted by Algorithm 1's noisy steps; the subclasses give loss and targets."""

    _reach: ClassVar[float]
    """The default radius, and the bound of the intercept, in the units of clipped rows and scaled targets."""

    epsilon: float
    delta: float
    data_norm: float | None
    constraint: str
    radius: float | None
    fit_intercept: bool
    batch_size: int | str
    epochs: int | str
    random_state: Any

    coef_: FloatArray
    intercept_: Any
    epsilon_: float
    delta_: float
    sigma_: float
    n_iter_: int
    batch_size_: int
    data_norm_: float
    privacy_statement_: PrivacyStatement
    n_features_in_: int

    def __sklearn_tags__(self) -> Any:
        """Return the tags: missing values are fine."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _checked_rows(self, X: Any, *, reset: bool) -> FloatArray:
        rows: FloatArray = validate_data(
            self,
            X,
            reset=reset,
            dtype=np.float64,
            order="C",
            ensure_all_finite=False,
            ensure_min_samples=2 if reset else 1,
        )
        return rows

    def _norm(self, rows: FloatArray, provided: list[str]) -> float:
        """Return the norm to clip at: that given, or, with a warning, the largest there is."""
        if self.data_norm is not None:
            norm = require_positive("data_norm", self.data_norm)
            if not 1e-100 <= norm <= 1e100:
                raise InputError(f"data_norm={self.data_norm!r} is outside [1e-100, 1e100]; rescale the data")
            return norm
        provided.append("the largest norm of a record, which was read from the data, is public")
        warn_of_leak(
            "data_norm=None was read from the data, which the guarantee does not cover; give the norm to clip records "
            "at, by your own knowledge or private_norm, or scale each record to norm 1 by itself and give data_norm=1"
        )
        return largest_norm(rows)

    def _random(self, provided: list[str]) -> SystemSource | SeededSource:
        if self.random_state is None:
            return SystemSource()
        provided.append("nobody knows or guesses random_state")
        warn_of_leak(
            f"random_state={self.random_state!r} is for tests: whoever knows it takes the noise off again; "
            "leave it out for a private fit"
        )
        return SeededSource(self.random_state)

    def _descend(
        self,
        rows: FloatArray,
        targets: FloatArray,
        *,
        counted: BoolArray | None,
        slopes: Slopes,
        slope_bound: float,
        target_scale: float,
        provided: list[str],
    ) -> FloatArray:
        """Fit, and return coefficients and the intercept of each output, shape (k, d + 1).

        The score of a record x is ``⟨w, x/norm⟩ + b`` in units of `target_scale`, so that a coefficient is w times
        `target_scale`/norm.
        """
        n, d = rows.shape
        norm = self._norm(rows, provided)
        unit = target_scale / norm
        problem = Problem(
            rows=rows,
            norm=norm,
            targets=targets,
            counted=counted,
            slopes=slopes,
            slope_bound=slope_bound,
            convex_set=self._convex_set(d, unit),
            intercept_bound=self._reach if self.fit_intercept else None,
        )
        chosen = plan(
            n=n,
            parameters=problem.parameters,
            epsilon=self.epsilon,
            delta=self.delta,
            batch_size=self.batch_size,
            epochs=self.epochs,
        )
        self._warn_if_hopeless(chosen, problem.parameters)
        release = release_of(problem, chosen)
        source = self._random(provided)
        w = descend(problem, chosen, release, source)
        self._state(chosen, release, norm, provided)
        found = np.zeros((problem.outputs, d + 1))
        found[:, :d] = w[:, :d] * unit
        if self.fit_intercept:
            found[:, d] = w[:, d] * target_scale
        return found

    def _state(self, chosen: Plan, release: Release, norm: float, provided: list[str]) -> None:
        self.epsilon_, self.delta_ = float(self.epsilon), float(self.delta)
        self.sigma_ = release.sigma
        self.n_iter_ = chosen.steps
        self.batch_size_ = chosen.batch_size
        self.data_norm_ = norm
        self.privacy_statement_ = PrivacyStatement(
            epsilon=self.epsilon_,
            delta=self.delta_,
            relation=str(Relation.REPLACE_ONE),
            theorem=chosen.theorem,
            sigma=release.sigma,
            lipschitz=release.lipschitz,
            n=chosen.n,
            batch_size=chosen.batch_size,
            epochs=chosen.epochs,
            points=chosen.points,
            provided=tuple(provided),
        )

    def _convex_set(self, d: int, unit: float) -> ConvexSet:
        """Return the set in the units of the fit, in which a coefficient is divided by `unit`."""
        if self.constraint not in get_args(Constraint):
            raise InputError(
                f"constraint={self.constraint!r} is not allowed; give one of {', '.join(get_args(Constraint))}"
            )
        if self.radius is not None:
            radius = require_positive("radius", self.radius) / unit
        else:
            radius = 1.0 / unit if self.constraint == "simplex" else self._reach
        if not 1e-100 <= radius <= 1e100:
            raise InputError(
                f"radius={self.radius!r} and data_norm differ by more than doubles hold; rescale the data"
            )
        match self.constraint:
            case "l2":
                return L2Ball(np.zeros(d), radius)
            case "l1":
                return L1Ball(d, radius)
            case "box":
                return Box(np.full(d, -radius), np.full(d, radius))
            case _:
                return Simplex(d, radius)

    def _warn_if_hopeless(self, chosen: Plan, parameters: int) -> None:
        ratio = chosen.noise_to_signal(parameters)
        if ratio > _TOO_NOISY:
            factor = ratio / _TOO_NOISY
            warn_of_noise(
                f"n={chosen.n} is too few for epsilon={self.epsilon!r} and {parameters} parameters: the noise is "
                f"{ratio:.2g} times the largest gradient; about n={math.ceil(chosen.n * factor):.3g} or "
                f"epsilon={float(self.epsilon) * factor:.3g} would do"
            )

    def _scores(self, X: Any) -> FloatArray:
        """Return ``X coef_ᵀ + intercept_``, shape (n, k); missing and infinite values as in ``fit``."""
        check_is_fitted(self)
        rows = finite_rows(self._checked_rows(X, reset=False))
        scores: FloatArray = rows @ np.atleast_2d(self.coef_).T + self.intercept_
        return scores


def refuse_unsupported(unsupported: dict[str, Any]) -> None:
    """Refuse weights of records with a reason, and any other argument as Python does.

    Raises
    ------
    InputError, TypeError
        As said; nothing if there are none, or only ``sample_weight=None``.
    """
    for name, value in unsupported.items():
        if name != "sample_weight":
            raise TypeError(f"fit() got an unexpected keyword argument '{name}'")
        if value is not None:
            _refuse_weights()


def _refuse_weights() -> Never:
    raise InputError(
        "sample_weight is not supported: a record of weight w moves the gradient w times as far, so the noise would "
        "have to grow with the largest weight; leave it out"
    )
