"""Right mechanisms at exactly their claim, which must not be accused."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from dpsco_verify.faults.exhibit import Exhibit, ExhibitKind
from dpsco_verify.faults.exhibits.additive import gradients
from dpsco_verify.faults.exhibits.selection import opposed
from dpsco_verify.faults.laws import (
    discrete_laplace_law,
    exponential_law,
    laplace_delta,
    law_delta,
    noisy_max_law,
    pair_delta,
    permute_and_flip_law,
    sparse_vector_law,
)
from dpsco_verify.faults.mechanisms.additive import (
    DiscreteLaplaceCount,
    GaussianSum,
    GradientStep,
    LaplaceSum,
    gaussian_sigma,
)
from dpsco_verify.faults.mechanisms.floating_point import GridLaplace
from dpsco_verify.faults.mechanisms.selection import (
    ExponentialMechanism,
    NoisyMax,
    PermuteAndFlip,
    RandomisedResponse,
)
from dpsco_verify.faults.mechanisms.sparse_vector import algorithm
from dpsco_verify.privacy.claims import ApproximateDP, PureDP
from dpsco_verify.privacy.gaussian import gaussian_delta

_EPSILON, _DELTA = 1.0, 1e-5
_GAUSSIAN_CLAIM = ApproximateDP(_EPSILON, _DELTA)
_SIGMA = gaussian_sigma(_EPSILON, _DELTA)
_BITS = 10


def _control(**told: Any) -> Exhibit:
    told = {"samples": 20_000, **told}
    return Exhibit(kind=ExhibitKind.CONTROL, **told)


def _gaussian_truth() -> float:
    return float(gaussian_delta(_EPSILON, 1.0 / _SIGMA))


def _discrete_laplace_truth() -> float:
    return law_delta(discrete_laplace_law(4, scale=1.0), discrete_laplace_law(3, scale=1.0), 1.0)


def _grid_truth() -> float:
    steps = 2**_BITS
    first, second = (discrete_laplace_law(centre, scale=steps + 1.0) for centre in (0, steps))
    return law_delta(first, second, 1.0)


def _none() -> float:
    """Return the δ of a claim that is met exactly at δ = 0."""
    return 0.0


_BEFORE = [[0, 1, 1, 1, 1], [0, 1, 1, 1, 1]]
_LEADER = (
    np.array([*_BEFORE, [1, 0, 0, 0, 0]], dtype=np.int64),
    np.array([*_BEFORE, [0, 1, 1, 1, 1]], dtype=np.int64),
)
"""One count falls by 1 while the four others, ahead already, rise by 1."""
_ALMOST = "holds; the outputs of this pair come close to its ε"
_NOISY_MAX = NoisyMax(epsilon=0.7, with_value=False)
_EXPONENTIAL = ExponentialMechanism(epsilon=1.0)
_PERMUTE = PermuteAndFlip(epsilon=1.0)
_SPARSE_1 = algorithm(1, epsilon=1.0, cutoff=1, threshold=0.0)
_SPARSE_2 = algorithm(2, epsilon=1.0, cutoff=2, threshold=0.0)
_SPARSE_PAIR_1 = opposed([0] * 8 + [1])
_SPARSE_PAIR_2 = opposed([0, 0, 0, 1, 0, 0, 0, 1])
_REAL = (np.array([0.2, 0.7, 1.0]), np.array([0.2, 0.7]))

CONTROLS: tuple[Exhibit, ...] = (
    _control(
        id="control-laplace",
        title="Laplace mechanism",
        source="Dwork, McSherry, Nissim and Smith (2006)",
        mechanism=LaplaceSum(scale=1.0),
        pairs=(_REAL,),
        claim=PureDP(1.0),
        relation="add-remove",
        truth="holds with equality",
        true_delta=partial(laplace_delta, 1.0, true_epsilon=1.0),
    ),
    _control(
        id="control-laplace-epsilon-0",
        title="Laplace mechanism as (0, total variation)",
        source="Dwork, McSherry, Nissim and Smith (2006)",
        mechanism=LaplaceSum(scale=1.0),
        pairs=(_REAL,),
        claim=ApproximateDP(0.0, laplace_delta(0.0, true_epsilon=1.0)),
        relation="add-remove",
        truth="holds with equality: δ(0) is the total variation",
        true_delta=partial(laplace_delta, 0.0, true_epsilon=1.0),
    ),
    _control(
        id="control-gaussian",
        title="Gaussian mechanism, calibrated analytically",
        source="Balle and Wang (2018)",
        mechanism=GaussianSum(sigma=_SIGMA, clip=1.0),
        pairs=((np.array([[0.6, 0.8], [0.0, -1.0], [40.0, 0.0]]), np.array([[0.6, 0.8], [0.0, -1.0]])),),
        claim=_GAUSSIAN_CLAIM,
        relation="add-remove",
        truth="holds with equality",
        true_delta=_gaussian_truth,
    ),
    _control(
        id="control-gradient-step",
        title="DP-SGD step that clips each gradient",
        source="Abadi et al. (2016)",
        mechanism=GradientStep(clip=1.0, noise_multiplier=_SIGMA, per_example=True),
        pairs=((gradients(1000.0), gradients(0.0)),),
        claim=_GAUSSIAN_CLAIM,
        relation="zero-out",
        truth="holds with equality",
        true_delta=_gaussian_truth,
    ),
    _control(
        id="control-discrete-laplace",
        title="Discrete Laplace mechanism",
        source="Ghosh, Roughgarden and Sundararajan (2009)",
        mechanism=DiscreteLaplaceCount(scale=1.0),
        pairs=((["a", "a", "b", "c"], ["a", "a", "b"]),),
        claim=PureDP(1.0),
        relation="add-remove",
        truth="holds with equality",
        true_delta=_discrete_laplace_truth,
    ),
    _control(
        id="control-grid-laplace",
        title="Laplace noise on a fixed grid, judged to the last bit",
        source="noise on a grid as in OpenDP; Balcer and Vadhan (2018)",
        mechanism=GridLaplace(epsilon=1.0, bits=_BITS),
        pairs=((np.array([0.0]), np.array([1.0])),),
        claim=PureDP(1.0),
        relation="replace-one",
        truth="holds, with a part in 1,025 to spare for rounding: all outputs are multiples of 2^−10 whatever the data",
        true_delta=_grid_truth,
        floating_point=True,
    ),
    _control(
        id="control-randomised-response",
        title="Randomised response",
        source="Warner (1965)",
        mechanism=RandomisedResponse(epsilon=1.0),
        pairs=((np.array([0, 1, 1]), np.array([0, 1, 0])),),
        claim=PureDP(1.0),
        relation="replace-one",
        truth="holds with equality",
        true_delta=_none,
    ),
    _control(
        id="control-exponential",
        title="Exponential mechanism",
        source="McSherry and Talwar (2007)",
        mechanism=_EXPONENTIAL,
        pairs=(_LEADER,),
        relation="replace-one",
        claim=PureDP(1.0),
        truth=_ALMOST,
        true_delta=partial(pair_delta, exponential_law, _EXPONENTIAL, _LEADER, 1.0),
    ),
    _control(
        id="control-permute-and-flip",
        title="Permute-and-flip",
        source="McKenna and Sheldon (2020)",
        mechanism=_PERMUTE,
        pairs=(_LEADER,),
        relation="replace-one",
        claim=PureDP(1.0),
        truth="holds with equality",
        true_delta=partial(pair_delta, permute_and_flip_law, _PERMUTE, _LEADER, 1.0),
    ),
    _control(
        id="control-noisy-max",
        title="Report noisy max, the place alone",
        source="Dwork and Roth (2014)",
        mechanism=_NOISY_MAX,
        pairs=(_LEADER,),
        relation="replace-one",
        claim=PureDP(0.7),
        truth=_ALMOST,
        true_delta=partial(pair_delta, noisy_max_law, _NOISY_MAX, _LEADER, 0.7),
    ),
    _control(
        id="control-sparse-vector-1",
        title="Sparse vector technique, Algorithm 1",
        source="Lyu, Su and Li (2017)",
        mechanism=_SPARSE_1,
        pairs=(_SPARSE_PAIR_1,),
        claim=PureDP(1.0),
        relation="replace-one",
        truth=_ALMOST,
        true_delta=partial(pair_delta, sparse_vector_law, _SPARSE_1, _SPARSE_PAIR_1, 1.0),
        cost=0.5,
        slow=True,
    ),
    _control(
        id="control-sparse-vector-2",
        title="Sparse vector technique, Algorithm 2",
        source="Dwork and Roth (2014)",
        mechanism=_SPARSE_2,
        pairs=(_SPARSE_PAIR_2,),
        claim=PureDP(1.0),
        relation="replace-one",
        truth=_ALMOST,
        true_delta=partial(pair_delta, sparse_vector_law, _SPARSE_2, _SPARSE_PAIR_2, 1.0),
        cost=0.5,
        slow=True,
    ),
)
