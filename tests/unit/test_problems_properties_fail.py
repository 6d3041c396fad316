"""Each checker of properties goes red at a loss, or a minimum, that lacks the property."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from dpsco_verify.geometry import L2Ball
from dpsco_verify.problems import AbsoluteDeviation, Hinge, LinearSigns, Logistic, Quantile
from dpsco_verify.problems.losses import LinearPredictorLoss
from dpsco_verify.problems.minimisation.predictor_risk import PredictorRisk
from loss_properties import (
    attainment_violation,
    batch_violation,
    convexity_violation,
    lipschitz_violation,
    loss_violations,
    minimum_violation,
    subgradient_inequality_violation,
)

RNG = np.random.default_rng(20)
W, U = RNG.normal(size=(2, 20, 10))
Z = np.column_stack([RNG.normal(size=(20, 10)), RNG.choice([-1.0, 1.0], size=20)])
HALF = np.full(20, 0.5)


@dataclass(frozen=True)
class WrongSign(Hinge):
    def subgradient(self, w, z):
        return -super().subgradient(w, z)


@dataclass(frozen=True)
class TooSteep(AbsoluteDeviation):
    """A subgradient that exceeds the Lipschitz constant by a tenth, and is none."""

    def subgradient(self, w, z):
        return 1.1 * super().subgradient(w, z)


@dataclass(frozen=True)
class Clipped(AbsoluteDeviation):
    """``min(|r|, 1)`` is not convex; its slope is right wherever it has one."""

    def score_value(self, score, target):
        return np.minimum(super().score_value(score, target), 1.0)

    def score_slope(self, score, target):
        return super().score_slope(score, target) * (np.abs(score - target) < 1.0)


@dataclass(frozen=True)
class Understated(Quantile):
    @property
    def slope_bound(self):
        return min(self.level, 1.0 - self.level)


@dataclass(frozen=True)
class Overstated(Logistic):
    @property
    def slope_bound(self):
        return 1.001


@dataclass(frozen=True)
class MatrixProduct(AbsoluteDeviation):
    """Sums along whichever axis lies apart in memory, so that the order of addition depends on the batch."""

    def value(self, w, z):
        return np.abs(np.add.reduce(np.asfortranarray(w * z[..., :-1]), axis=-1) - z[..., -1])


@dataclass(frozen=True)
class NotANumber(AbsoluteDeviation):
    def value(self, w, z):
        return np.nan * super().value(w, z)


def test_shipped_losses_pass():
    for loss in (Hinge(), AbsoluteDeviation(), Quantile(0.3), Logistic()):
        assert loss_violations(loss, W, U, Z) == []
        assert attainment_violation(loss, Z) is None


def test_wrong_sign():
    violation = subgradient_inequality_violation(WrongSign(), W, U, Z)
    assert violation is not None
    # The witness alone shows the violation again.
    w, u, z = (violation.witness[name] for name in "wuz")
    loss = WrongSign()
    excess = loss.value(w, z) + loss.subgradient(w, z) @ (u - w) - loss.value(u, z)
    assert excess == pytest.approx(violation.excess + violation.allowance, rel=1e-12)
    assert "fails by" in str(violation)


def test_subgradient_above_the_lipschitz_constant():
    violation = lipschitz_violation(TooSteep(), W, U, Z)
    assert violation is not None
    assert violation.property == "‖g‖ ≤ L"


def test_non_convex():
    assert convexity_violation(Clipped(), W, U, Z, HALF) is not None
    assert subgradient_inequality_violation(Clipped(), W, U, Z) is not None
    assert convexity_violation(AbsoluteDeviation(), W, U, Z, HALF) is None


def test_understated_lipschitz_constant():
    # Along the features the values themselves differ by more than the constant allows.
    assert lipschitz_violation(Understated(0.1), 2.0 * Z[:, :-1], 3.0 * Z[:, :-1], Z).property.startswith(
        "|f(w, z)"
    )
    assert lipschitz_violation(Understated(0.1), W, U, Z) is not None


def test_overstated_lipschitz_constant():
    assert lipschitz_violation(Overstated(), W, U, Z) is None
    assert attainment_violation(Overstated(), Z) is not None


def test_order_of_addition_that_depends_on_the_batch():
    violation = batch_violation(MatrixProduct(), W, Z)
    assert violation is not None
    assert "same bits" in violation.property


def test_nan_is_a_violation():
    assert subgradient_inequality_violation(NotANumber(), W, U, Z) is not None
    assert convexity_violation(NotANumber(), W, U, Z, HALF) is not None
    assert lipschitz_violation(NotANumber(), W, U, Z) is not None


def test_every_broken_loss_is_found_by_the_whole_set():
    for loss in (WrongSign(), TooSteep(), Clipped(), Understated(0.1), MatrixProduct(), NotANumber()):
        assert loss_violations(loss, W, U, Z), loss


def test_false_minima():
    population, ball = LinearSigns([0.5, -0.25, 0.0]), L2Ball(np.zeros(3), 2.0)
    good = population.minimum(ball)
    points = ball.project(np.random.default_rng(0).normal(size=(5, 3)))
    assert minimum_violation(population, ball, good, points) is None
    false = {
        "F(u) ≥ the lower bound": replace(
            good, value=population.risk(np.zeros(3)), w=np.zeros(3), lower_bound=good.lower_bound + 1e-9
        ),
        "the minimiser lies in the set": replace(good, w=1.0001 * good.w),
        "the minimum's value is the risk": replace(good, value=good.value - 1e-12),
        "the lower bound is no larger than the value": replace(good, lower_bound=good.value + 1e-9),
    }
    for property_, minimum in false.items():
        violation = minimum_violation(population, ball, minimum, np.vstack([points, good.w]))
        assert violation is not None
        assert violation.property == property_


def test_slopes_outside_the_domain_give_a_false_bound():
    """The one thing that the dual bound asks of the slopes matters: with the slope 2, |w + 2| ≥ 1 'becomes' ≥ 2."""
    ball = L2Ball(np.zeros(1), 1.0)
    risk = PredictorRisk(AbsoluteDeviation(), np.array([[1.0]]), np.array([-2.0]), np.array([1.0]))
    assert risk.lower_bound(np.array([1.0]), ball).value == pytest.approx(1.0, rel=1e-12)  # min |x + 2| = 1
    assert risk.lower_bound(np.array([2.0]), ball).value == pytest.approx(2.0, rel=1e-12)


def test_a_user_defined_loss_needs_every_method():
    with pytest.raises(TypeError, match="abstract"):
        LinearPredictorLoss()
