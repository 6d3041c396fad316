"""The problems on which the systems are compared: a population over a convex set, built when it is first asked for.

The synthetic ones are instances of the kind that lower bounds are made of: features of norm 1, a small bias, and a set
on whose scale the bias is hard to see at small n. Their laws are explicit, so that their risks are exact. The real data
are populations of their own: sampling with replacement makes the risk a finite sum over the data set. Their sets are
balls about 0, large enough for the best fit to be much better than 0, and no larger than that asks: radius 5 for the
classifications, 2 for the regressions.

Every system starts at the point of the set that is nearest to 0, which minimises none of these risks.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from dpsco_verify.geometry import ConvexSet, L2Ball, Simplex
from dpsco_verify.problems import (
    AbsoluteDeviation,
    CertifiedMinimum,
    FinitePopulation,
    LinearSigns,
    Median,
    Population,
    breast_cancer,
    diabetes,
    digits,
    engel,
    fair,
    randhie,
)
from dpsco_verify.problems.populations import biased_corners, logistic_model, majority_vote, quantile_model
from dpsco_verify.related import Task


class ProblemKind(enum.StrEnum):
    """Where a problem comes from."""

    SYNTHETIC = "synthetic hard instance"
    REAL = "real data"


@dataclass(frozen=True, kw_only=True, eq=False)
class ComparisonProblem:
    """A population over a convex set.

    Attributes
    ----------
    id, title, kind
        The stable name, the name in reports, and where the problem comes from.
    build
        Returns the population and the set; called once, when one of them is first needed.
    """

    id: str
    title: str
    kind: ProblemKind
    build: Callable[[], tuple[Population, ConvexSet]]

    @functools.cached_property
    def _built(self) -> tuple[Population, ConvexSet]:
        return self.build()

    @property
    def population(self) -> Population:
        """The law of the data points with the loss."""
        return self._built[0]

    @property
    def convex_set(self) -> ConvexSet:
        """``W``."""
        return self._built[1]

    @functools.cached_property
    def task(self) -> Task:
        """What a system may know: the loss, ``W``, and the bound on the features."""
        return Task.of(self.population, self.convex_set)

    @functools.cached_property
    def minimum(self) -> CertifiedMinimum:
        """``min F`` over ``W``, between a feasible value and a certified lower bound."""
        return self.population.minimum(self.convex_set)

    @property
    def is_smooth(self) -> bool:
        """Whether the loss has a Lipschitz gradient."""
        return self.task.smoothness is not None


_BIAS = 0.1
"""Of a sign; its standard error at n = 100."""

_TRUE_DIRECTION = np.array([1.0, -1.0, 1.0, -1.0, 1.0]) / np.sqrt(5.0)

_SKEWED_NOISE = np.arange(-9.0, 2.0) / 10.0
"""With P(e < 0) = 9/11 < 0.9 < P(e ≤ 0) = 10/11."""


def _over_ball(population: Population, radius: float) -> tuple[Population, ConvexSet]:
    return population, L2Ball(np.zeros(population.dimension), radius)


def _linear_signs(dimension: int) -> tuple[Population, ConvexSet]:
    """Return signs of bias 0.1 over the ball of diameter 1, with L = 1 (Bassily, Smith and Thakurta 2014, Sec. 5)."""
    return _over_ball(LinearSigns(np.full(dimension, _BIAS)), 0.5)


def _simplex_linear() -> tuple[Population, ConvexSet]:
    """Return one coordinate that is better than 31 others: where the entropic potential has the better geometry."""
    mean = np.zeros(32)
    mean[-1] = 3.0 * _BIAS
    return LinearSigns(mean), Simplex(32)


def _median() -> tuple[Population, ConvexSet]:
    """Return two points at the ends of the interval, one a little more probable: the risk is linear in between."""
    return _over_ball(Median([-0.5, 0.5], [0.5 * (1.0 - _BIAS), 0.5 * (1.0 + _BIAS)]), 0.5)


def _absolute_deviation() -> tuple[Population, ConvexSet]:
    """Return ``|a·w − b|`` with four scales ``a`` and ``b/a`` on nine points that crowd at one end; minimiser −1/4."""
    scale, point = np.meshgrid([0.25, 0.5, 0.75, 1.0], (np.arange(9.0) / 8.0) ** 2 - 0.5)
    data = np.column_stack([scale.ravel(), (scale * point).ravel()])
    return _over_ball(
        FinitePopulation(data, AbsoluteDeviation(), name="absolute deviation", data_radius=1.0), 0.5
    )


def _catalogue() -> Mapping[str, ComparisonProblem]:
    synthetic: tuple[tuple[str, str, Callable[[], tuple[Population, ConvexSet]]], ...] = (
        *(
            (
                f"linear-signs-{d}",
                f"linear loss, signs of bias {_BIAS:g}, d = {d}",
                functools.partial(_linear_signs, d),
            )
            for d in (1, 5, 20)
        ),
        ("simplex-linear", "linear loss on the simplex, d = 32", _simplex_linear),
        ("median-1d", "median of two points", _median),
        ("absolute-deviation-1d", "absolute deviation in one dimension", _absolute_deviation),
        (
            "geometric-median",
            "geometric median, d = 5",
            lambda: _over_ball(biased_corners(np.full(5, 2.0 * _BIAS)), 1.0),
        ),
        ("hinge", "hinge, majority of 10 signs", lambda: _over_ball(majority_vote(10, flip=_BIAS), 3.0)),
        (
            "quantile",
            "quantile 0.9, skewed noise, d = 5",
            lambda: _over_ball(quantile_model(0.5 * _TRUE_DIRECTION, _SKEWED_NOISE, level=0.9), 1.0),
        ),
        (
            "logistic",
            "logistic model, d = 5",
            lambda: _over_ball(logistic_model(1.5 * _TRUE_DIRECTION), 2.0),
        ),
    )
    real: tuple[tuple[str, str, Callable[[], tuple[Population, ConvexSet]]], ...] = (
        ("breast-cancer-hinge", "breast cancer, hinge", lambda: _over_ball(breast_cancer("hinge"), 5.0)),
        (
            "breast-cancer-logistic",
            "breast cancer, logistic",
            lambda: _over_ball(breast_cancer("logistic"), 5.0),
        ),
        ("digits-hinge", "digits (even or odd), hinge", lambda: _over_ball(digits("hinge"), 5.0)),
        ("digits-logistic", "digits (even or odd), logistic", lambda: _over_ball(digits("logistic"), 5.0)),
        ("fair-hinge", "fair, hinge", lambda: _over_ball(fair("hinge"), 5.0)),
        ("fair-logistic", "fair, logistic", lambda: _over_ball(fair("logistic"), 5.0)),
        ("diabetes-absolute", "diabetes, absolute deviation", lambda: _over_ball(diabetes("absolute"), 2.0)),
        ("diabetes-huber", "diabetes, Huber", lambda: _over_ball(diabetes("huber"), 2.0)),
        ("engel-quantile", "engel, median regression", lambda: _over_ball(engel("quantile", level=0.5), 2.0)),
        ("randhie-absolute", "randhie, absolute deviation", lambda: _over_ball(randhie("absolute"), 2.0)),
        (
            "randhie-quantile",
            "randhie, quantile 0.9",
            lambda: _over_ball(randhie("quantile", level=0.9), 2.0),
        ),
    )
    return MappingProxyType(
        {
            name: ComparisonProblem(id=name, title=title, kind=kind, build=build)
            for kind, entries in ((ProblemKind.SYNTHETIC, synthetic), (ProblemKind.REAL, real))
            for name, title, build in entries
        }
    )


PROBLEMS: Mapping[str, ComparisonProblem] = _catalogue()
"""All problems by their names, the synthetic ones first."""
