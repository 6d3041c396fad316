"""Linear estimators in scikit-learn's manner as optimisers: those of this project, diffprivlib's, and a user's own."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.estimators import (
    NoiseWarning,
    PrivacyLeakWarning,
    PrivateSGDClassifier,
    PrivateSGDRegressor,
    noise,
)
from dpsco_verify.geometry import L2Ball
from dpsco_verify.guarantees.calls import FunctionError
from dpsco_verify.privacy.claims import ApproximateDP, GaussianDP, PrivacyClaim
from dpsco_verify.problems import AbsoluteDeviation, Hinge, Huber, Logistic, Loss, Quantile

_LARGEST_SEED = 2**31 - 1
_OF_A_SEED = (PrivacyLeakWarning, NoiseWarning)

CLASSIFICATION = (Hinge.__name__, Logistic.__name__)
"""The losses of :func:`private_classifier`, by name."""

REGRESSION = (AbsoluteDeviation.__name__, Quantile.__name__, Huber.__name__)
"""Those of :func:`private_regressor`."""

Make = Callable[..., Any]
"""``make(data_norm, radius, epsilon, delta, seed, loss)`` returns an estimator that is yet to be fitted."""


class EstimatorFit:
    """An estimator as ``fit(data, L, D, epsilon, delta, rng, loss)``, over the ball of diameter D about 0.

    Parameters
    ----------
    make
        ``make(data_norm=, radius=, epsilon=, delta=, seed=, loss=)`` returns an estimator with ``fit(X, y)`` and, then,
        ``coef_`` of d numbers. `data_norm` bounds the norm of the rows of X, `radius` is D/2, `loss` one of
        :mod:`dpsco_verify.problems`; it takes those of them that its signature has. An estimator that takes no seed
        draws its own randomness, and is checked with ``deterministic_given_seed=False``.
    project
        Whether the coefficients are projected onto the ball, as those of an estimator without a constraint have to be;
        it costs no privacy.
    quiet
        Warnings that are not shown.
    name
        How reports name it.

    Raises
    ------
    InputError
        If `make` is not callable.

    Notes
    -----
    The last entry of each record is the label or the target. What the estimator raises as ValueError refuses the data.
    """

    def __init__(
        self, make: Make, *, project: bool = False, quiet: tuple[type[Warning], ...] = (), name: str = ""
    ) -> None:
        if not callable(make):
            raise InputError(f"make={make!r} is not callable; give a function that returns an estimator")
        self._make, self._project, self._quiet = make, project, quiet
        parameters = inspect.signature(make).parameters
        takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
        self._takes = None if takes_all else set(parameters)
        self.__name__ = name or getattr(make, "__name__", "estimator")

    def __call__(
        self,
        data: FloatArray,
        L: float,
        D: float,
        epsilon: float,
        delta: float,
        rng: np.random.Generator,
        *,
        loss: Loss,
    ) -> FloatArray:
        """Return the coefficients, shape (d,)."""
        slope = loss.lipschitz(1.0)
        told = {
            "data_norm": L / slope,
            "radius": 0.5 * D,
            "epsilon": epsilon,
            "delta": delta,
            "seed": int(rng.integers(_LARGEST_SEED)),
            "loss": loss,
        }
        estimator = self._make(**{k: v for k, v in told.items() if self._takes is None or k in self._takes})
        with warnings.catch_warnings():
            for category in self._quiet:
                warnings.simplefilter("ignore", category)
            w = self._coefficients(estimator, data)
        if self._project and np.isfinite(w).all():
            return L2Ball(np.zeros(w.size), 0.5 * D).project(w)
        return w

    def _coefficients(self, estimator: Any, data: FloatArray) -> FloatArray:
        kind = type(estimator).__name__
        if not callable(getattr(estimator, "fit", None)):
            raise FunctionError(
                f"make={self.__name__} returned a value of type {kind}, which has no fit; return an estimator"
            )
        estimator.fit(data[:, :-1], data[:, -1])
        if getattr(estimator, "coef_", None) is None:
            raise FunctionError(
                f"make={self.__name__} returned an estimator of type {kind}, which has no coef_ once it is fitted; "
                "return a linear estimator"
            )
        return np.asarray(estimator.coef_, dtype=np.float64).reshape(-1)


def private_classifier(**parameters: Any) -> EstimatorFit:
    """Return :class:`~dpsco_verify.estimators.PrivateSGDClassifier` as an optimiser of :data:`CLASSIFICATION`.

    `parameters` are its own, such as `epochs`. It is given a seed, and its warning of that is not shown.
    """

    def make(data_norm: float, loss: Loss, seed: int, **told: Any) -> PrivateSGDClassifier:
        return PrivateSGDClassifier(
            "hinge" if isinstance(loss, Hinge) else "logistic",
            data_norm=data_norm,
            classes=(-1.0, 1.0),
            fit_intercept=False,
            random_state=seed,
            **told,
            **parameters,
        )

    return EstimatorFit(make, quiet=_OF_A_SEED, name=PrivateSGDClassifier.__name__)


def private_regressor(**parameters: Any) -> EstimatorFit:
    """Return :class:`~dpsco_verify.estimators.PrivateSGDRegressor` as an optimiser of :data:`REGRESSION`.

    Targets are expected as far apart as its predictions can be, ``D`` times the largest norm of a row. Everything else
    is as in :func:`private_classifier`.
    """

    def make(data_norm: float, radius: float, loss: Loss, seed: int, **told: Any) -> PrivateSGDRegressor:
        half = 2.0 * radius * data_norm
        of_the_loss: dict[str, Any] = {"loss": "absolute"}
        if isinstance(loss, Quantile):
            of_the_loss = {"loss": "quantile", "level": loss.level}
        elif isinstance(loss, Huber):
            of_the_loss = {"loss": "huber", "threshold": loss.threshold / half}
        return PrivateSGDRegressor(
            data_norm=data_norm,
            radius=radius,
            target_bounds=(-half, half),
            fit_intercept=False,
            random_state=seed,
            **of_the_loss,
            **told,
            **parameters,
        )

    return EstimatorFit(make, quiet=_OF_A_SEED, name=PrivateSGDRegressor.__name__)


def noise_claim(**parameters: Any) -> Callable[..., PrivacyClaim]:
    """Return what the noise of this project's estimators promises with these parameters, for ``check_optimiser``.

    Full passes promise μ-GDP, of which (ε, δ) is one point. What an estimator returns tells less than its noisy
    gradients do: on the line little more than a sign. Half the noise leaves that sign (1, δ)-private, at δ = 0.01 as
    at 1e-6; but it is frequent, and breaks μ-GDP.

    Parameters
    ----------
    parameters
        The estimator's own, as :func:`private_classifier` takes them.

    Raises
    ------
    InputError
        For parameters that the estimators refuse.
    """
    asked = {name: parameters.get(name, "auto") for name in ("batch_size", "epochs")}

    def privacy(n: int, d: int, L: float, D: float, epsilon: float, delta: float) -> PrivacyClaim:  # noqa: ARG001  a claim's signature
        plan = noise.plan(n=n, parameters=d, epsilon=epsilon, delta=delta, **asked)
        if plan.theorem == noise.GAUSSIAN:
            return GaussianDP(noise.gaussian_distance(epsilon, delta))
        return ApproximateDP(epsilon, delta)

    return privacy
