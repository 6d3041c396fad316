"""Faults of releases: a threshold, a sensitivity of zero, and outputs whose form gives the data away."""

from __future__ import annotations

from functools import partial

import numpy as np

from dpsco_verify.faults.exhibit import Exhibit
from dpsco_verify.faults.laws import discrete_laplace_tail
from dpsco_verify.faults.mechanisms.release import NoisyRecords, SelectedMean, SumOfSquares, ThresholdRelease
from dpsco_verify.privacy.claims import ApproximateDP, PureDP

_THRESHOLD = 5


def always() -> float:
    """Return δ of a pair whose outputs never agree."""
    return 1.0


RELEASE_FAULTS: tuple[Exhibit, ...] = (
    Exhibit(
        id="threshold-release",
        title="Keys released above a threshold, with a δ that is too small by the factor e",
        source="public software: partition selection with an off-by-one in its δ",
        mechanism=ThresholdRelease(scale=1.0, threshold=_THRESHOLD),
        pairs=((["rare"], []),),
        claim=ApproximateDP(1.0, discrete_laplace_tail(_THRESHOLD, scale=1.0)),
        relation="add-remove",
        truth="the rare key is released with probability P(1 + Z ≥ 5), not P(Z ≥ 5), and never without its record",
        true_delta=partial(discrete_laplace_tail, _THRESHOLD - 1, scale=1.0),
        samples=45_000,
        cost=1.5,
        slow=True,
    ),
    Exhibit(
        id="sum-of-squares",
        title="A sum of squares whose sensitivity takes the lower bound twice, and is zero",
        source="public software: the sensitivity of a variance, from the wrong end of the bounds",
        mechanism=SumOfSquares(lower=0.0, upper=1.0, ends=(0.0, 0.0), epsilon=1.0),
        pairs=((np.array([0.3, 0.8, 1.0]), np.array([0.3, 0.8, 0.0])),),
        claim=PureDP(1.0),
        relation="replace-one",
        truth="unbounded: the output is deterministic and differs",
        true_delta=always,
        samples=10_000,
    ),
    Exhibit(
        id="length-of-output",
        title="As many noisy numbers as there are records",
        source="public software: vector outputs under add/remove neighbours",
        mechanism=NoisyRecords(epsilon=1.0),
        pairs=((np.array([0.1, 0.5, 0.9, 1.0]), np.array([0.1, 0.5, 0.9])),),
        claim=PureDP(1.0),
        relation="add-remove",
        truth="unbounded: the length of the output is the number of records",
        true_delta=always,
        samples=10_000,
    ),
    Exhibit(
        id="nan-when-empty",
        title="A mean that is NaN where no record is selected",
        source="public software: statistics of an empty selection",
        mechanism=SelectedMean(epsilon=1.0),
        pairs=((np.array([[0.0, 0.4], [1.0, 0.7]]), np.array([[0.0, 0.4]])),),
        claim=PureDP(1.0),
        relation="add-remove",
        truth="unbounded: NaN comes out where nothing is selected, and nowhere else",
        true_delta=always,
        samples=10_000,
    ),
)
