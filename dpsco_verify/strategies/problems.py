"""Hypothesis strategies for losses, data, parameters, neighbouring data sets and finite populations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dpsco_verify.arrays import FloatArray
from dpsco_verify.problems.losses import (
    AbsoluteDeviation,
    ClassificationLoss,
    Hinge,
    Huber,
    Linear,
    LinearPredictorLoss,
    Logistic,
    Loss,
    Quantile,
)
from dpsco_verify.problems.populations.finite import FinitePopulation


class Neighbours(NamedTuple):
    """Two data sets of one shape ``(n, k)`` that differ in exactly one row, and the number of that row."""

    data: FloatArray
    neighbour: FloatArray
    row: int


def losses() -> st.SearchStrategy[Loss]:
    """Return a strategy for the linear loss and every shipped loss of a linear predictor, with its parameters."""
    return st.one_of(st.just(Linear()), predictor_losses())


def predictor_losses() -> st.SearchStrategy[LinearPredictorLoss]:
    """Return a strategy for the losses of a linear predictor."""
    return st.one_of(
        st.just(AbsoluteDeviation()),
        st.builds(Quantile, st.floats(2.0**-10, 1.0 - 2.0**-10)),
        st.builds(Huber, st.floats(1e-3, 1e3)),
        st.just(Hinge()),
        st.just(Logistic()),
    )


def parameter_points(dimension: int, *, count: int, bound: float = 1e3) -> st.SearchStrategy[FloatArray]:
    """Return a strategy for parameters, shape ``(count, dimension)``, with entries of at most `bound`."""
    return hnp.arrays(np.float64, (count, dimension), elements=st.floats(-bound, bound))


@st.composite
def data_points(
    draw: st.DrawFn, loss: Loss, dimension: int, *, count: int, radius: float = 1e3, target_bound: float = 1e3
) -> FloatArray:
    """Draw data points for a loss, shape ``(count, k)``: features of norm at most `radius`, targets that fit.

    Labels are ±1, other targets have an absolute value of at most `target_bound`.
    """
    # Rounded towards 0 by more than the rounding of a norm.
    bound = radius / np.sqrt(dimension) * (1.0 - 1e-12)
    features = draw(hnp.arrays(np.float64, (count, dimension), elements=st.floats(-bound, bound)))
    width = loss.data_dimension(dimension) - dimension
    if isinstance(loss, ClassificationLoss):
        elements: st.SearchStrategy[float] = st.sampled_from([-1.0, 1.0])
    else:
        elements = st.floats(-target_bound, target_bound)
    targets = draw(hnp.arrays(np.float64, (count, width), elements=elements))
    return np.concatenate([features, targets], axis=-1)


@st.composite
def neighbouring_data(
    draw: st.DrawFn, loss: Loss, dimension: int, *, count: int, radius: float = 1.0, target_bound: float = 1.0
) -> Neighbours:
    """Draw two data sets of `count` points that differ in exactly one row (the paper's neighbouring relation)."""
    points = data_points(loss, dimension, count=count, radius=radius, target_bound=target_bound)
    point = data_points(loss, dimension, count=1, radius=radius, target_bound=target_bound)
    data = draw(points)
    index = draw(st.integers(0, count - 1))
    replacement = draw(point.filter(lambda row: not np.array_equal(row[0], data[index])))
    neighbour = data.copy()
    neighbour[index] = replacement[0]
    return Neighbours(data, neighbour, index)


@st.composite
def finite_populations(
    draw: st.DrawFn,
    *,
    loss: st.SearchStrategy[Loss] | None = None,
    max_dimension: int = 3,
    max_count: int = 8,
    radius: float = 10.0,
) -> FinitePopulation:
    """Draw a population of at most `max_count` points, uniform or with probabilities, some of which may be 0."""
    chosen = draw(losses() if loss is None else loss)
    dimension = draw(st.integers(1, max_dimension))
    count = draw(st.integers(1, max_count))
    data = draw(data_points(chosen, dimension, count=count, radius=radius, target_bound=radius))
    weights = draw(st.none() | hnp.arrays(np.float64, (count,), elements=st.floats(0.0, 1.0)))
    if weights is None or weights.sum() < 1e-3:
        return FinitePopulation(data, chosen)
    return FinitePopulation(data, chosen, weights / weights.sum())
