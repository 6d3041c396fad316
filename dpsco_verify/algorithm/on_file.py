"""Algorithm 1 on a user's own data file: what ``dpsco-verify run`` does."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec
import numpy as np

from dpsco_verify.algorithm.accounting import noise_remark
from dpsco_verify.algorithm.options import NoiseConvention, Options, StoppingRule
from dpsco_verify.algorithm.private_sgd import private_sgd
from dpsco_verify.algorithm.schedules import (
    OutsideRegime,
    translated_schedule,
    utility_bound,
    utility_step_size,
)
from dpsco_verify.algorithm.table import read_table
from dpsco_verify.arrays import FloatArray
from dpsco_verify.choices import LossName, Relation
from dpsco_verify.errors import InputError
from dpsco_verify.geometry import L2Ball
from dpsco_verify.geometry.norms import euclidean_norm
from dpsco_verify.privacy.whole_run import calibrate
from dpsco_verify.problems import (
    AbsoluteDeviation,
    Hinge,
    Huber,
    Linear,
    LinearPredictorLoss,
    Logistic,
    Loss,
    Quantile,
)
from dpsco_verify.problems.losses import ClassificationLoss
from dpsco_verify.validation import (
    require_integer,
    require_non_negative,
    require_positive,
)

NoiseFrom = Literal["accountant", "theorem"]


@dataclass(frozen=True, kw_only=True)
class Request:
    """What to run. Either `sigma` or both `epsilon` and `delta`, the guarantee of the whole run, must be given.

    For `epsilon` and `delta` the noise is the least that the bound on a whole run proves, or by
    ``noise_from="theorem"`` that of Theorem 5.3, whose regime `outside_regime` speaks of.

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
    classes: tuple[str, ...] | None = None
    seed: int | None = None
    noise_from: NoiseFrom = "accountant"
    outside_regime: OutsideRegime = "error"
    options: Options = field(default_factory=Options)


@dataclass(frozen=True, kw_only=True)
class _Setting:
    """How a run is set up, what that was made of, what is proven of it, and what the paper claims."""

    step_size: float
    sigma: float
    calibrated_from: str
    guarantee: dict[str, Any] | None
    claimed: dict[str, Any]
    remark: str | None = None


def run_on_file(path: Path, request: Request) -> dict[str, Any]:
    """Run Algorithm 1 once on the points in a file and return what it did, as plain values.

    ``reproducible`` says that the noise came from a seed; ``private``, that it is positive and did not, which says
    nothing of its size. ``calibrated_from`` says what theorem or bound the noise comes from. ``guarantee`` holds
    what is proven of noise that the accountant calibrated: the total ε and δ, bounds on δ from both sides, and a
    certificate for the independent checker (None where there is none); it is None for other noise. ``remark`` says
    where that noise hides what is to be learned, and what would do.
    ``claimed_by_the_paper`` holds the total ε and δ and the bound on the excess risk, None where the paper claims
    none; ``reason`` then says why.

    The features of a point are clipped to the norm at which no subgradient is longer than the stated L, which
    makes the guarantee hold for any data: an L that has to be raised until the data fit would tell of them.

    Raises
    ------
    InputError
        For bad data or parameters, or an initial point outside W.
    """
    loss = _loss(request)
    seed = None if request.seed is None else require_integer("seed", request.seed, minimum=0)
    lipschitz = require_positive("lipschitz", request.lipschitz)
    labelled = isinstance(loss, ClassificationLoss)
    if request.classes is not None and not labelled:
        raise InputError(
            f"classes={','.join(request.classes)!r} cannot be combined with loss={request.loss!r}; leave it out"
        )
    table = read_table(path, labelled=labelled, classes=request.classes)
    data = loss.require_data(_clipped(table.points, loss, lipschitz))
    n, width = data.shape
    dimension = width - loss.data_dimension(1) + 1
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
        "columns": None if table.columns is None else list(table.columns),
        "classes": None if table.classes is None else list(table.classes),
        "classes_from_data": table.classes is not None
        and request.classes is None
        and table.classes != ("-1", "1"),
        "step_size": setting.step_size,
        "sigma": setting.sigma,
        "calibrated_from": setting.calibrated_from,
        "guarantee": setting.guarantee,
        "remark": setting.remark,
        "iterations": result.iterations,
        "distinct_points": result.distinct_points,
        "gradient_queries": result.gradient_queries,
        "claimed_by_the_paper": setting.claimed,
    }


def _clipped(points: FloatArray, loss: Loss, lipschitz: float) -> FloatArray:
    """Return the points with features of norm at most L/s, s the largest slope of the loss (1 for the linear one)."""
    clipped = points.copy()
    features, norm = clipped, lipschitz
    if isinstance(loss, LinearPredictorLoss):
        features, norm = clipped[:, :-1], lipschitz / loss.slope_bound
    lengths = euclidean_norm(features)
    beyond = lengths > norm
    features[beyond] *= (norm / lengths[beyond])[:, np.newaxis]
    return clipped


def _setting(request: Request, *, n: int, dimension: int, diameter: float, lipschitz: float) -> _Setting:
    if request.noise_from not in get_args(NoiseFrom):
        raise InputError(
            f"noise_from={request.noise_from!r} is not allowed; give one of {', '.join(get_args(NoiseFrom))}"
        )
    sizes: dict[str, Any] = {"diameter": diameter, "lipschitz": lipschitz, "n": n, "dimension": dimension}
    if request.sigma is not None:
        return _with_given_noise(request, request.sigma, sizes)
    if request.epsilon is None or request.delta is None:
        raise InputError(
            f"sigma=None with epsilon={request.epsilon!r}, delta={request.delta!r} fixes no noise; "
            "give sigma, or epsilon and delta"
        )
    total = f"the total epsilon={request.epsilon!r} and delta={request.delta!r}"
    if request.noise_from == "theorem":
        return _with_noise_of_the_theorem(request, total, sizes)
    if request.outside_regime != "error":
        raise InputError(
            f"outside_regime={request.outside_regime!r} cannot be combined with noise_from='accountant', which has no "
            "regime; leave it out, or give noise_from='theorem'"
        )
    points = _most_points(request.options, n)
    found = calibrate(n=n, epsilon=request.epsilon, delta=request.delta, lipschitz=lipschitz, points=points)
    departure = _departure(request.options)
    certified = "without a certificate" if found.certificate is None else "with a certificate"
    return _Setting(
        step_size=utility_step_size(sigma=found.sigma, **sizes),
        sigma=request.options.noise.parameter(found.sigma),
        calibrated_from=f"{total}, by the bound on a whole run (docs/whole-run.md), {certified}",
        guarantee={
            "epsilon": request.epsilon,
            "delta": request.delta,
            "relation": str(Relation.REPLACE_ONE),
            "delta_upper": found.delta_upper,
            "delta_lower": found.delta_lower,
            "certificate": msgspec.to_builtins(found.certificate),
        },
        claimed=_claimed(
            epsilon=None,
            delta=None,
            risk=utility_bound(sigma=found.sigma, **sizes) if departure is None else None,
            reason=departure or "the noise is the accountant's, of which Theorem 5.3 says nothing",
        ),
        remark=noise_remark(
            n=n,
            dimension=dimension,
            points=points,
            sigma_over_lipschitz=found.sigma_over_lipschitz,
            epsilon=request.epsilon,
            delta=request.delta,
        ),
    )


def _with_noise_of_the_theorem(request: Request, total: str, sizes: dict[str, Any]) -> _Setting:
    assert request.epsilon is not None  # noqa: S101  checked by the caller; for the type checker
    assert request.delta is not None  # noqa: S101  likewise
    departure = _departure(request.options)
    schedule = translated_schedule(
        epsilon=request.epsilon, delta=request.delta, outside_regime=request.outside_regime, **sizes
    )
    promised = schedule.privacy if departure is None else None
    return _Setting(
        step_size=schedule.step_size,
        sigma=schedule.sigma,
        calibrated_from=f"{total}, by the remark after Theorem 5.3",
        guarantee=None,
        claimed=_claimed(
            epsilon=None if promised is None else promised.epsilon,
            delta=None if promised is None else promised.delta,
            risk=None if promised is None else schedule.risk_bound,
            reason=schedule.outside or departure,
        ),
    )


def _with_given_noise(request: Request, given: float, sizes: dict[str, Any]) -> _Setting:
    if request.epsilon is not None or request.delta is not None:
        raise InputError(
            f"sigma={given!r} and epsilon={request.epsilon!r}, delta={request.delta!r} are both given; "
            "give sigma alone, or epsilon and delta"
        )
    sigma = require_non_negative("sigma", given)
    departure = _departure(request.options)
    return _Setting(
        step_size=utility_step_size(sigma=sigma, **sizes),
        sigma=sigma,
        calibrated_from=f"sigma={sigma!r}, as given",
        guarantee=None,
        claimed=_claimed(
            epsilon=None,
            delta=None,
            risk=utility_bound(sigma=sigma, **sizes) if departure is None else None,
            reason=departure or "sigma was given, not epsilon and delta",
        ),
    )


def _most_points(options: Options, n: int) -> int:
    """Return the most points that a run can use: the last batch may pass the stopping rule's number.

    A step averages over the *fresh* points of a batch, which may be one. An average of f gradients under noise σ
    is an average of f steps of one under ``σ√f ≥ σ``, so a run with batches is as private as one without that uses
    the points one by one, with the same σ.
    """
    return min(options.stopping.distinct_points(n) + options.batch_size - 1, n)


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
