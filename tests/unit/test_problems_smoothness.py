"""Which losses have a Lipschitz gradient, with which constant, and that the checker finds a wrong one."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from dpsco_verify.errors import InputError
from dpsco_verify.problems import (
    AbsoluteDeviation,
    EuclideanDistance,
    Hinge,
    Huber,
    Linear,
    Logistic,
    Quantile,
)
from loss_properties import loss_violations, smoothness_violation

RNG = np.random.default_rng(8)
W, U = RNG.normal(size=(2, 50, 3))
Z = np.column_stack([RNG.normal(size=(50, 3)), RNG.choice([-1.0, 1.0], size=50)])


@pytest.mark.parametrize(
    ("loss", "constant"),
    [
        (Linear(), 0.0),
        (Huber(0.5), 9.0),  # curvature 1 whatever the threshold
        (Huber(2.0), 9.0),
        (Logistic(), 2.25),  # σ(m)(1 − σ(m)) ≤ 1/4
    ],
)
def test_the_constants(loss, constant):
    assert loss.smoothness(3.0) == constant
    assert loss.smoothness(0.0) == 0.0


@pytest.mark.parametrize("loss", [AbsoluteDeviation(), Quantile(0.25), Hinge(), EuclideanDistance()])
def test_a_kink_has_none(loss):
    assert loss.smoothness(3.0) is None
    assert smoothness_violation(loss, W, U, Z[:, : loss.data_dimension(3)]) is None


@pytest.mark.parametrize("loss", [AbsoluteDeviation(), Quantile(0.25), Hinge(), EuclideanDistance()])
def test_no_constant_would_do_for_a_kink(loss):
    """Two points at distance 1e-12 about the kink, with gradients that differ by at least 1."""
    z = np.array([[1.0, 1.0]]) if not isinstance(loss, EuclideanDistance) else np.array([[1.0]])
    w, u = np.array([[1.0 - 5e-13]]), np.array([[1.0 + 5e-13]])
    assert abs(loss.subgradient(w, z) - loss.subgradient(u, z)).item() >= 1.0


@pytest.mark.parametrize("radius", [-1.0, math.nan, math.inf])
@pytest.mark.parametrize("loss", [Huber(1.0), Logistic(), Hinge()])
def test_a_radius_that_is_none_is_refused(loss, radius):
    with pytest.raises(InputError, match="data_radius="):
        loss.smoothness(radius)


@pytest.mark.parametrize(
    ("loss", "score"), [(Huber(0.25), 1.0), (Huber(10.0), 1.0), (Logistic(), 0.0)], ids=str
)
def test_the_constant_is_approached(loss, score):
    """About the score of the largest curvature, along the features: the quotient reaches 0.999999·β, at most β."""
    a = np.array([3.0, 4.0])
    z = np.append(a, 1.0)  # Huber's residual is 0 at score 1
    w, u = (a * (score + shift) / 25.0 for shift in (-1e-3, 1e-3))
    quotient = np.linalg.norm(loss.subgradient(w, z) - loss.subgradient(u, z)) / np.linalg.norm(w - u)
    beta = loss.smoothness(5.0)
    assert 0.999999 * beta <= quotient <= beta * (1.0 + 1e-12)


@dataclass(frozen=True)
class Understated(Logistic):
    """The curvature of the logistic function at margin 1, not at 0."""

    @property
    def curvature_bound(self):
        return 0.19661193324148185


@dataclass(frozen=True)
class Promised(Hinge):
    """A kinked loss that promises a Lipschitz gradient."""

    @property
    def curvature_bound(self):
        return 100.0


@dataclass(frozen=True)
class FeaturesNotSquared(Huber):
    """``β`` proportional to the radius instead of its square."""

    def smoothness(self, data_radius):
        return self.curvature_bound * data_radius


@dataclass(frozen=True)
class NotANumber(Logistic):
    def subgradient(self, w, z):
        return np.nan * super().subgradient(w, z)


def test_the_checker_passes_the_shipped_and_finds_the_broken():
    near = 1e-3 * U
    for loss in (Huber(0.25), Logistic()):
        assert smoothness_violation(loss, W, U, Z) is None
        assert smoothness_violation(loss, W, W + near, Z) is None
    assert smoothness_violation(Understated(), near, 2.0 * near, Z) is not None
    kink = np.array([[1.0, 1.0]])
    assert smoothness_violation(Promised(), 0.999 * kink[:, :1], 1.001 * kink[:, :1], kink) is not None
    assert smoothness_violation(FeaturesNotSquared(100.0), W, U, 3.0 * Z) is not None
    assert smoothness_violation(NotANumber(), W, U, Z) is not None


def test_a_witness_alone_shows_the_violation_and_the_whole_set_reports_it():
    loss = FeaturesNotSquared(100.0)
    violation = smoothness_violation(loss, W, U, 3.0 * Z)
    w, u, z = (violation.witness[name] for name in "wuz")
    excess = np.linalg.norm(loss.subgradient(w, z) - loss.subgradient(u, z)) - loss.smoothness(
        float(np.linalg.norm(z[:-1]))
    ) * np.linalg.norm(w - u)
    assert excess == pytest.approx(violation.excess + violation.allowance, rel=1e-12)
    assert [found.property for found in loss_violations(loss, W, U, 3.0 * Z)] == [violation.property]
