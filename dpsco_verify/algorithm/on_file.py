"""Algorithm 1 on a user's own data file: what ``dpsco-verify run`` does."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from dpsco_verify.algorithm.options import Options
from dpsco_verify.algorithm.private_sgd import private_sgd
from dpsco_verify.algorithm.schedules import OutsideRegime, main_schedule, utility_bound, utility_step_size
from dpsco_verify.arrays import FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.geometry import L2Ball
from dpsco_verify.problems import AbsoluteDeviation, Hinge, Huber, Linear, Logistic, Loss, Quantile
from dpsco_verify.validation import (
    require_finite_array,
    require_integer,
    require_non_negative,
    require_positive,
)

LossName = Literal["linear", "absolute", "quantile", "huber", "hinge", "logistic"]
LOSS_NAMES: tuple[LossName, ...] = ("linear", "absolute", "quantile", "huber", "hinge", "logistic")


@dataclass(frozen=True, kw_only=True)
class Request:
    """What to run. Either `sigma` or both `epsilon` and `delta` (the schedule of Theorem 5.3) must be given.

    W is the ℓ2 ball of `radius` about 0, so D, its diameter, is twice that.
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
    seed: int = 0
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


def run_on_file(path: Path, request: Request) -> dict[str, Any]:
    """Run Algorithm 1 once on the points in a file and return what it did, as plain values.

    Raises
    ------
    InputError
        For bad data or parameters, a subgradient longer than the stated L, or an initial point outside W.
    """
    loss = _loss(request)
    seed = require_integer("seed", request.seed, minimum=0)
    data = loss.require_data(read_table(path))
    n, width = data.shape
    dimension = width - loss.data_dimension(1) + 1
    lipschitz = require_positive("lipschitz", request.lipschitz)
    radius = require_positive("radius", request.radius)
    diameter = 2.0 * radius
    require_integer("n", n, minimum=2)
    promised: dict[str, Any] = {}
    if request.sigma is not None:
        if request.epsilon is not None or request.delta is not None:
            raise InputError(
                f"sigma={request.sigma!r} and epsilon={request.epsilon!r}, delta={request.delta!r} are both given; "
                "give sigma alone, or epsilon and delta"
            )
        sigma = require_non_negative("sigma", request.sigma)
        step_size = utility_step_size(
            diameter=diameter, lipschitz=lipschitz, sigma=sigma, n=n, dimension=dimension
        )
        promised["excess_risk_at_most"] = utility_bound(
            diameter=diameter, lipschitz=lipschitz, sigma=sigma, n=n, dimension=dimension
        )
    else:
        if request.epsilon is None or request.delta is None:
            raise InputError(
                f"sigma=None with epsilon={request.epsilon!r}, delta={request.delta!r} fixes no noise; "
                "give sigma, or epsilon and delta"
            )
        schedule = main_schedule(
            n=n,
            dimension=dimension,
            diameter=diameter,
            lipschitz=lipschitz,
            epsilon=request.epsilon,
            delta=request.delta,
            delta_prime=request.delta,
            outside_regime=request.outside_regime,
        )
        sigma, step_size = schedule.sigma, schedule.step_size
        promised = {
            "epsilon": schedule.privacy.epsilon,
            "delta": schedule.privacy.delta,
            "excess_risk_at_most": schedule.risk_bound,
        }
    result = private_sgd(
        data,
        loss=loss,
        convex_set=L2Ball(np.zeros(dimension), radius),
        step_size=step_size,
        sigma=sigma,
        lipschitz=lipschitz,
        rng=np.random.default_rng(seed),
        initial_point=request.initial_point,
        options=request.options,
    )
    return {
        "output": None if result.output is None else result.output.tolist(),
        "undefined_indices": list(result.undefined_indices),
        "n": n,
        "dimension": dimension,
        "step_size": step_size,
        "sigma": sigma,
        "iterations": result.iterations,
        "distinct_points": result.distinct_points,
        "gradient_queries": result.gradient_queries,
        "claimed_by_the_paper": promised,
    }


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
