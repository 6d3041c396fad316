"""A private linear regressor."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_consistent_length, column_or_1d

from dpsco_verify.arrays import FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.estimators.base import PrivateLinearModel, refuse_unsupported
from dpsco_verify.estimators.warnings import warn_of_leak
from dpsco_verify.problems import AbsoluteDeviation, Huber, Quantile
from dpsco_verify.validation import require_finite


class PrivateSGDRegressor(RegressorMixin, PrivateLinearModel):  # type: ignore[misc]  # scikit-learn ships no types
    """A linear regressor whose fitted attributes are (ε, δ)-differentially private for *any* data.

    It minimises the absolute, Huber's or the quantile loss as
    :class:`~dpsco_verify.estimators.PrivateSGDClassifier` does its own, and with the same guarantee. The slopes of
    these losses are bounded whatever the target, so targets are clipped to their bounds for the scale's sake alone.

    Parameters
    ----------
    loss
        "absolute" (the median), "huber" or "quantile".
    epsilon, delta, data_norm, fit_intercept, batch_size, epochs, random_state
        As for the classifier.
    target_bounds
        (low, high), between which targets are expected; others are clipped, and a missing one (NaN) counts as the
        centre. They must not come from the data; None reads the least and the largest, with a warning. With
        half the width h, the intercept is within 2 h of the centre.
    level
        The level of the quantile loss, in (0, 1).
    threshold
        Where Huber's loss turns from quadratic to linear, in units of h. A smaller one needs less noise.
    constraint, radius
        The set of the coefficients: "l2", "l1" or "box", with the default radius 2 h/C; or "simplex" of this sum,
        by default 1.

    Attributes
    ----------
    coef_, intercept_
        Shape (d,), and a number.
    epsilon_, delta_, sigma_, n_iter_, batch_size_, data_norm_, privacy_statement_, n_features_in_,
    feature_names_in_
        As for the classifier.
    target_bounds_
        Those used.

    Examples
    --------
    >>> X = np.tile([[0.5, 0.0], [-0.5, 0.0]], (500, 1))
    >>> model = PrivateSGDRegressor(epsilon=1.0, data_norm=1.0, target_bounds=(-1, 1)).fit(X, X[:, 0])
    >>> model.predict(X).shape, model.coef_.shape
    ((1000,), (2,))
    """

    _reach: ClassVar[float] = 2.0

    target_bounds_: tuple[float, float]

    def __init__(
        self,
        loss: str = "absolute",
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        data_norm: float | None = None,
        target_bounds: tuple[float, float] | None = None,
        level: float = 0.5,
        threshold: float = 0.2,
        constraint: str = "l2",
        radius: float | None = None,
        fit_intercept: bool = True,
        batch_size: int | str = "auto",
        epochs: int | str = "auto",
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.epsilon = epsilon
        self.delta = delta
        self.data_norm = data_norm
        self.target_bounds = target_bounds
        self.level = level
        self.threshold = threshold
        self.constraint = constraint
        self.radius = radius
        self.fit_intercept = fit_intercept
        self.batch_size = batch_size
        self.epochs = epochs
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        """Return the tags."""
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags

    def fit(self, X: Any, y: Any, **unsupported: Any) -> Self:
        """Fit to records X, shape (n, d), and targets y, shape (n,).

        Raises
        ------
        InputError
            For parameters outside their range, or ``sample_weight``.
        ValueError
            As scikit-learn raises it for X and y of wrong shapes and types.
        """
        refuse_unsupported(unsupported)
        loss = self._loss()
        rows = self._checked_rows(X, reset=True)
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        targets = np.asarray(column_or_1d(y, warn=True), dtype=np.float64)
        check_consistent_length(rows, targets)
        provided: list[str] = []
        low, high = self._bounds(targets, provided)
        half = 0.5 * high - 0.5 * low
        centre = low + half
        scaled = np.nan_to_num((np.clip(targets, low, high) - centre) / half, nan=0.0)
        found = self._descend(
            rows,
            scaled[:, np.newaxis],
            counted=None,
            slopes=loss.score_slope,
            slope_bound=loss.slope_bound,
            target_scale=half,
            provided=provided,
        )
        self.target_bounds_ = (low, high)
        self.coef_ = found[0, :-1]
        self.intercept_ = float(found[0, -1]) + centre
        return self

    def predict(self, X: Any) -> FloatArray:
        """Return the predicted targets, shape (n,)."""
        return self._scores(X)[:, 0]

    def _loss(self) -> AbsoluteDeviation | Huber | Quantile:
        match self.loss:
            case "absolute":
                return AbsoluteDeviation()
            case "huber":
                return Huber(self.threshold)
            case "quantile":
                return Quantile(self.level)
        raise InputError(f"loss={self.loss!r} is not allowed; give 'absolute', 'huber' or 'quantile'")

    def _bounds(self, targets: FloatArray, provided: list[str]) -> tuple[float, float]:
        if self.target_bounds is not None:
            try:
                low, high = self.target_bounds
            except (TypeError, ValueError):
                raise InputError(
                    f"target_bounds={self.target_bounds!r} is not a pair; give (low, high)"
                ) from None
            low, high = require_finite("low", low), require_finite("high", high)
            if not (low < high and 1e-100 <= 0.5 * high - 0.5 * low <= 1e100):
                raise InputError(
                    f"target_bounds={self.target_bounds!r} are no interval; "
                    "give low < high, between 1e-100 and 1e100 apart"
                )
            return low, high
        provided.append("the least and the largest target, which were read from the data, are public")
        warn_of_leak(
            "target_bounds=None was read from y, which the guarantee does not cover; give the least and the largest "
            "target that are to be expected"
        )
        finite = np.clip(targets[np.isfinite(targets)], -1e99, 1e99)
        if finite.size == 0:
            return -1.0, 1.0
        low, high = float(finite.min()), float(finite.max())
        return (low, high) if high - low > 1e-12 * max(abs(low), abs(high), 1.0) else (low - 1.0, high + 1.0)
