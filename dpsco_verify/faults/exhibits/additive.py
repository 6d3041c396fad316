"""Faults of additive noise: its floating-point grid, what it is scaled by, and next to nothing too little of it."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.faults.exhibit import Exhibit
from dpsco_verify.faults.laws import laplace_delta
from dpsco_verify.faults.mechanisms.additive import (
    GaussianSum,
    GradientStep,
    LaplaceSum,
    UnclippedPath,
    gaussian_sigma,
)
from dpsco_verify.faults.mechanisms.floating_point import NaiveLaplace
from dpsco_verify.privacy.claims import ApproximateDP, PureDP
from dpsco_verify.privacy.gaussian import gaussian_delta

_EPSILON, _DELTA = 1.0, 1e-5
_CLAIM = ApproximateDP(_EPSILON, _DELTA)
_SIGMA = gaussian_sigma(_EPSILON, _DELTA)
"""The noise that sensitivity 1 needs."""
_BATCH = 10
_OUTLIER = 40.0
_COUNTS = 10


def _gaussian_truth(sensitivity: float) -> float:
    """Return δ(1) where the noise is for a sensitivity of 1."""
    return float(gaussian_delta(_EPSILON, sensitivity / _SIGMA))


def gradients(first: float) -> FloatArray:
    """Return a batch of 10 gradients in 4 dimensions, the first of this size and the others summing to zero."""
    rows = np.zeros((_BATCH, 4))
    rows[0, 0] = first
    rows[1:5, 1:] = 0.5
    rows[5:9, 1:] = -0.5
    return rows


def _next_to_nothing(true_epsilon: float, samples: int) -> Exhibit:
    return Exhibit(
        id=f"laplace-{true_epsilon:g}",
        title=f"Laplace noise for ε = {true_epsilon:g} against a claim of 1",
        source="the smallest violations: a constant slightly wrong",
        mechanism=LaplaceSum(scale=1.0 / true_epsilon),
        pairs=((np.array([0.2, 0.7, 1.0]), np.array([0.2, 0.7])),),
        claim=PureDP(1.0),
        relation="add-remove",
        truth=f"ε = {true_epsilon:g}; δ(1) = 1 − e^((1 − {true_epsilon:g})/2)",
        true_delta=partial(laplace_delta, 1.0, true_epsilon=true_epsilon),
        samples=samples,
    )


ADDITIVE_FAULTS: tuple[Exhibit, ...] = (
    Exhibit(
        id="naive-laplace",
        title="Laplace noise added in doubles, judged to the last bit",
        source="Mironov (2012), On significance of the least significant bits for differential privacy",
        mechanism=NaiveLaplace(scale=1.0),
        pairs=((np.array([0.0]), np.array([1.0])),),
        claim=PureDP(1.0),
        relation="replace-one",
        truth="unbounded: outputs below 1/2 in size are multiples of 2^−53 from 1, all of them, and mostly not from 0",
        samples=10_000,
        floating_point=True,
    ),
    Exhibit(
        id="batch-clip",
        title="DP-SGD that clips the mean of a batch of 10, with noise for per-example clipping",
        source="public software for DP-SGD: clipping after the mean over the batch",
        mechanism=GradientStep(clip=1.0, noise_multiplier=_SIGMA, per_example=False),
        pairs=((gradients(1000.0), gradients(0.0)),),
        claim=_CLAIM,
        relation="zero-out",
        truth="the ratio of noise to sensitivity is a tenth of the claimed one",
        true_delta=partial(_gaussian_truth, float(_BATCH)),
        samples=10_000,
    ),
    Exhibit(
        id="unclipped-path",
        title="Clips its records, then uses those from before the clip",
        source="public software for DP-SGD: the result of the clip is dropped",
        mechanism=UnclippedPath(sigma=_SIGMA, clip=1.0),
        pairs=((np.array([[0.6, 0.8], [0.0, -1.0], [_OUTLIER, 0.0]]), np.array([[0.6, 0.8], [0.0, -1.0]])),),
        claim=_CLAIM,
        relation="add-remove",
        truth="unbounded in the size of the outlier, here 40 times the clip",
        true_delta=partial(_gaussian_truth, _OUTLIER),
        samples=10_000,
    ),
    Exhibit(
        id="wrong-norm",
        title="Ten counts with Gaussian noise for their ∞-norm sensitivity",
        source="public software: Gaussian noise calibrated coordinate by coordinate",
        mechanism=GaussianSum(sigma=_SIGMA, clip=None),
        pairs=((np.ones((5, _COUNTS)), np.ones((4, _COUNTS))),),
        claim=_CLAIM,
        relation="add-remove",
        truth="the ℓ₂ sensitivity is √10 times as large",
        true_delta=partial(_gaussian_truth, math.sqrt(_COUNTS)),
        samples=24_000,
    ),
    _next_to_nothing(1.1, 160_000),
    _next_to_nothing(1.25, 24_000),
    _next_to_nothing(1.5, 12_000),
    _next_to_nothing(2.0, 8_000),
)
