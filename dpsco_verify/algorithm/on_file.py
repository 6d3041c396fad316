"""Algorithm 1 on a user's own data file: what ``dpsco-verify run`` does."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dpsco_verify.algorithm.options import NoiseConvention, Options, StoppingRule
from dpsco_verify.algorithm.private_sgd import private_sgd
from dpsco_verify.algorithm.schedules import (
    OutsideRegime,
    translated_schedule,
    utility_bound,
    utility_step_size,
)
from dpsco_verify.arrays import FloatArray
from dpsco_verify.choices import LossName
from dpsco_verify.errors import InputError
from dpsco_verify.geometry import L2Ball
from dpsco_verify.problems import AbsoluteDeviation, Hinge, Huber, Linear, Logistic, Loss, Quantile
from dpsco_verify.validation import (
    require_finite_array,
    require_integer,
    require_non_negative,
    require_positive,
)


@dataclass(frozen=True, kw_only=True)
class Request:
    """What to run. Either `sigma` or both `epsilon` and `delta`, the guarantee of the whole run, must be given.

    W is the ℓ2 ball of `radius` about 0, so D, its diameter, is twice that. Draws and noise come from the operating
    system's entropy; a `seed` is for tests: whoever knows it can take the noise off again.
    """

    loss: LossName
    radius: float
    lipschitz: float
    sigma: float | None = None
    epsilon: float | None = None
    delta: float | None = None
    level: float = 0.5
    threshold: float = 1.0
    initial_point: tuple[float, ...] | None = None
    seed: int | None = None
    outside_regime: OutsideRegime = "error"
    options: Options = field(default_factory=Options)


def read_table(path: Path) -> FloatArray:
    """Return the numbers in a comma-separated file, one point a line; shape (n, k).

    Raises
    ------
    InputError
        If the file cannot be read, is empty, is ragged, or holds anything but finite numbers.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # numpy warns of an empty file; it is an error here
            table = np.loadtxt(path, delimiter=",", ndmin=2, dtype=np.float64)
    except OSError as error:
        raise InputError(
            f"data={str(path)!r} cannot be read ({error.strerror}); give a readable file"
        ) from None
    except ValueError as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise InputError(
            f"data={str(path)!r} is no table of numbers ({reason}); give comma-separated numbers"
        ) from None
    if table.size == 0:
        raise InputError(f"data={str(path)!r} is empty; give one point a line")
    return require_finite_array("data", table)


@dataclass(frozen=True, kw_only=True)
class _Setting:
    """How a run is set up, what that was made of, and what the paper claims of the run."""

    step_size: float
    sigma: float
    calibrated_from: str
    claimed: dict[str, Any]


def run_on_file(path: Path, request: Request) -> dict[str, Any]:
    """Run Algorithm 1 once on the points in a file and return what it did, as plain values.

    ``reproducible`` says that the noise came from a seed; ``private``, that it is positive and did not, which says
    nothing of its size. ``claimed_by_the_paper`` holds the total ε and δ and the bound on the excess risk, None where
    the paper claims none; ``reason`` then says why.

    Raises
    ------
    InputError
        For bad data or parameters, a subgradient longer than the stated L, or an initial point outside W.
    """
    loss = _loss(request)
    seed = None if request.seed is None else require_integer("seed", request.seed, minimum=0)
    data = loss.require_data(read_table(path))
    n, width = data.shape
    dimension = width - loss.data_dimension(1) + 1
    lipschitz = require_positive("lipschitz", request.lipschitz)
    radius = require_positive("radius", request.radius)
    require_integer("n", n, minimum=2)
    setting = _setting(request, n=n, dimension=dimension, diameter=2.0 * radius, lipschitz=lipschitz)
    result = private_sgd(
        data,
        loss=loss,
        convex_set=L2Ball(np.zeros(dimension), radius),
        step_size=setting.step_size,
        sigma=setting.sigma,
        lipschitz=lipschitz,
        rng=np.random.default_rng(np.random.SeedSequence(seed)),  # None: of the operating system's entropy
        initial_point=request.initial_point,
        options=request.options,
    )
    return {
        "output": None if result.output is None else result.output.tolist(),
        "undefined_indices": list(result.undefined_indices),
        "reproducible": seed is not None,
        "private": seed is None and setting.sigma > 0.0,
        "seed": seed,
        "n": n,
        "dimension": dimension,
        "step_size": setting.step_size,
        "sigma": setting.sigma,
        "calibrated_from": setting.calibrated_from,
        "iterations": result.iterations,
        "distinct_points": result.distinct_points,
        "gradient_queries": result.gradient_queries,
        "claimed_by_the_paper": setting.claimed,
    }


def _setting(request: Request, *, n: int, dimension: int, diameter: float, lipschitz: float) -> _Setting:
    departure = _departure(request.options)
    if request.sigma is None:
        if request.epsilon is None or request.delta is None:
            raise InputError(
                f"sigma=None with epsilon={request.epsilon!r}, delta={request.delta!r} fixes no noise; "
                "give sigma, or epsilon and delta"
            )
        schedule = translated_schedule(
            n=n,
            dimension=dimension,
            diameter=diameter,
            lipschitz=lipschitz,
            epsilon=request.epsilon,
            delta=request.delta,
            outside_regime=request.outside_regime,
        )
        total = schedule.privacy if departure is None else None
        return _Setting(
            step_size=schedule.step_size,
            sigma=schedule.sigma,
            calibrated_from=f"the total epsilon={request.epsilon!r} and delta={request.delta!r}, by the remark after "
            "Theorem 5.3",
            claimed=_claimed(
                epsilon=None if total is None else total.epsilon,
                delta=None if total is None else total.delta,
                risk=None if total is None else schedule.risk_bound,
                reason=schedule.outside or departure,
            ),
        )
    if request.epsilon is not None or request.delta is not None:
        raise InputError(
            f"sigma={request.sigma!r} and epsilon={request.epsilon!r}, delta={request.delta!r} are both given; "
            "give sigma alone, or epsilon and delta"
        )
    sigma = require_non_negative("sigma", request.sigma)
    sizes: dict[str, Any] = {
        "diameter": diameter,
        "lipschitz": lipschitz,
        "sigma": sigma,
        "n": n,
        "dimension": dimension,
    }
    return _Setting(
        step_size=utility_step_size(**sizes),
        sigma=sigma,
        calibrated_from=f"sigma={sigma!r}, as given",
        claimed=_claimed(
            epsilon=None,
            delta=None,
            risk=utility_bound(**sizes) if departure is None else None,
            reason=departure or "sigma was given, not epsilon and delta",
        ),
    )


def _claimed(
    *, epsilon: float | None, delta: float | None, risk: float | None, reason: str | None
) -> dict[str, Any]:
    return {"epsilon": epsilon, "delta": delta, "excess_risk_at_most": risk, "reason": reason}


def _departure(options: Options) -> str | None:
    """Return in which option a run departs from the algorithm that the theorems are about, in a clause."""
    if options.batch_size != 1:
        return f"batch_size={options.batch_size} is not the 1 of Algorithm 1, of which the theorems speak"
    if options.stopping is StoppingRule.ALL_POINTS:
        return f"stopping={options.stopping.value!r} is not when Algorithm 1 stops"
    if options.noise is not NoiseConvention.COVARIANCE_SIGMA_SQUARED:
        return f"noise={options.noise.value!r} is not the covariance σ²I on which Section 5 rests"
    return None


def _loss(request: Request) -> Loss:
    match request.loss:
        case "linear":
            return Linear()
        case "absolute":
            return AbsoluteDeviation()
        case "quantile":
            return Quantile(request.level)
        case "huber":
            return Huber(request.threshold)
        case "hinge":
            return Hinge()
        case "logistic":
            return Logistic()
