"""Closed-form values, errors and extremes of the potentials and their minimisers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpsco_verify.errors import InputError
from dpsco_verify.geometry import (
    AffineSubspace,
    Box,
    ConvergenceError,
    Euclidean,
    HalfSpace,
    L1Ball,
    L2Ball,
    LpBall,
    NegativeEntropy,
    PNorm,
    Potential,
    Simplex,
    WholeSpace,
    bregman_projection,
    dual_solver,
)
from dpsco_verify.geometry.dual_solver import minimise_by_dual_ascent
from dpsco_verify.geometry.properties import check_gradient_inverse, check_pythagorean_inequality

EVERY_POTENTIAL = [Euclidean(), PNorm(1.1), PNorm(1.5), PNorm(2.0), NegativeEntropy()]


def test_values_at_a_point():
    x = np.array([3.0, 4.0])
    assert Euclidean().value(x) == 12.5
    assert Euclidean().conjugate(x) == 12.5
    assert PNorm(2.0).value(x) == pytest.approx(12.5, rel=1e-15)
    assert PNorm(1.5).value([1.0, 1.0]) == pytest.approx(0.5 * 2 ** (4 / 3), rel=1e-15)
    assert PNorm(1.5).conjugate([1.0, 1.0]) == pytest.approx(0.5 * 2 ** (2 / 3), rel=1e-15)
    assert PNorm(1.5).gradient([1.0, -1.0]) == pytest.approx([2 ** (1 / 3), -(2 ** (1 / 3))], rel=1e-15)
    assert PNorm(1.5).gradient([0.0, -0.0]).tolist() == [0.0, 0.0]
    assert NegativeEntropy().value([1.0, 0.0, math.e]) == pytest.approx(math.e, rel=1e-15)
    assert NegativeEntropy().gradient([1.0, math.e]) == pytest.approx([1.0, 2.0], rel=1e-15)
    assert NegativeEntropy().conjugate([1.0, 2.0]) == pytest.approx(1 + math.e, rel=1e-15)
    assert NegativeEntropy().conjugate_gradient([1.0, 2.0]) == pytest.approx([1.0, math.e], rel=1e-15)


def test_constants_and_norms():
    x = [3.0, -4.0]
    assert (Euclidean().strong_convexity, PNorm(1.25).strong_convexity) == (1.0, 0.25)
    assert NegativeEntropy().strong_convexity == 1.0
    assert (Euclidean().norm(x), Euclidean().dual_norm(x)) == (5.0, 5.0)
    assert (NegativeEntropy().norm(x), NegativeEntropy().dual_norm(x)) == (7.0, 4.0)
    assert PNorm(1.5).norm(x) == pytest.approx((3**1.5 + 4**1.5) ** (2 / 3), rel=1e-15)
    assert PNorm(1.5).dual_norm(x) == pytest.approx((27 + 64) ** (1 / 3), rel=1e-15)


@pytest.mark.parametrize("potential", EVERY_POTENTIAL, ids=repr)
def test_norms_are_dual(potential):
    """``<x, y> <= ||x|| ||y||_*`` with equality at some x of norm 1."""
    rng = np.random.default_rng(3)
    y = rng.standard_normal(6)
    directions = rng.standard_normal((2000, 6))
    reached = (directions @ y) / potential.norm(directions)
    assert (reached <= potential.dual_norm(y) * (1 + 1e-14)).all()
    if isinstance(potential, NegativeEntropy):
        best = np.zeros(6)
        best[np.argmax(np.abs(y))] = np.sign(y[np.argmax(np.abs(y))])
    else:
        best = potential.conjugate_gradient(y)
    assert best @ y / potential.norm(best) == pytest.approx(float(potential.dual_norm(y)), rel=1e-13)


@pytest.mark.parametrize("potential", EVERY_POTENTIAL, ids=repr)
def test_gradients_are_derivatives(potential):
    """Against central differences, whose error at step h = 1e-6 is some h^2 plus u / h, relative."""
    rng = np.random.default_rng(4)
    x = rng.uniform(0.5, 2, 5)
    for value, gradient in (
        (potential.value, potential.gradient),
        (potential.conjugate, potential.conjugate_gradient),
    ):
        steps = 1e-6 * np.eye(5)
        differences = (value(x + steps) - value(x - steps)) / 2e-6
        np.testing.assert_allclose(gradient(x), differences, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("potential", EVERY_POTENTIAL, ids=repr)
def test_shapes_follow_the_leading_axes(potential):
    """A row alone is the row of a batch: to the last bit where there are no powers, elsewhere as far as powers go.

    A power is right to two units in the last place (4u), relative, wherever it stands. The norms and their half squares
    are made of two, which the second of them does not magnify by more than q = 11, and of a sum of positive terms; the
    entropy's terms are of order 1, added to at least 0.1; the divergences say themselves what their error is.
    """
    exact = isinstance(potential, Euclidean)
    rounding = 0.0 if exact else 2 * (4 * 11 + 4 + 5) * 2.0**-53 * 10

    def check(in_a_batch, alone, error=0.0):
        assert abs(in_a_batch - alone) <= rounding * abs(alone) + (0.0 if exact else 2.0 * error)

    x, y = np.random.default_rng(5).uniform(0.1, 2, (2, 4, 3, 5))
    for method in (potential.value, potential.conjugate, potential.norm, potential.dual_norm):
        assert method(x).shape == (4, 3)
        check(method(x)[1, 2], method(x[1, 2]))
    for method in (
        potential.gradient,
        potential.conjugate_gradient,
        potential.gradient_rounding,
        potential.inverse_rounding,
    ):
        assert method(x).shape == (4, 3, 5)
    for method, error in (
        (potential.divergence, potential.divergence_error),
        (potential.conjugate_divergence, potential.conjugate_divergence_error),
        (potential.divergence_error, potential.divergence_error),
    ):
        assert method(x, y).shape == (4, 3)
        check(method(x, y[0, 0])[1, 2], method(x[1, 2], y[0, 0]), float(error(x[1, 2], y[0, 0])))
    assert potential.tilted_minimiser(Simplex(5), x).shape == (4, 3, 5)
    assert potential.bregman_projection(Simplex(5), x).shape == (4, 3, 5)


def test_magnitudes_from_1e_minus_150_to_1e150():
    for p in (1.01, 1.5, 2.0):
        for scale in (1e-150, 1e150):
            potential, x = PNorm(p), np.array([1.0, -2.0, 0.0])
            assert potential.value(x * scale) / scale / scale == pytest.approx(
                float(potential.value(x)), rel=1e-14
            )
            np.testing.assert_allclose(
                potential.gradient(x * scale) / scale, potential.gradient(x), rtol=1e-14
            )
        check_gradient_inverse(PNorm(p), np.array([1e-150, 1.0, 1e150, -1e-150]))
    assert NegativeEntropy().value([1e-150, 1e150]) == pytest.approx(1e150 * 150 * math.log(10), rel=1e-15)


def test_overflow_is_an_error_not_infinity():
    with pytest.raises(InputError, match=r"Phi\(x\) is above the largest double"):
        Euclidean().value([1e200, 0.0])
    with pytest.raises(InputError, match=r"Phi\(x\) is above"):
        PNorm(1.5).value([1e200, 0.0])
    with pytest.raises(InputError, match=r"Phi\*\(y\) is above"):
        NegativeEntropy().conjugate([711.0])
    with pytest.raises(InputError, match=r"grad Phi\*\(y\) is above"):
        NegativeEntropy().conjugate_gradient([711.0])
    with pytest.raises(InputError, match=r"D\(x \|\| y\) is above"):
        NegativeEntropy().conjugate_divergence([711.0], [0.0])


def test_arguments_are_checked():
    for potential in EVERY_POTENTIAL:
        with pytest.raises(InputError, match="not finite"):
            potential.value([1.0, math.nan])
        with pytest.raises(InputError, match=r"x\.shape=\(\)"):
            potential.value(1.0)
        with pytest.raises(InputError, match=r"tilt\.shape=\(2,\) does not fit"):
            potential.tilted_minimiser(Simplex(3), [1.0, 2.0])
        with pytest.raises(InputError, match=r"\(2,\)"):
            potential.bregman_projection(Simplex(3), [1.0, 2.0])
    for p in (1.0, 2.5, math.nan):
        with pytest.raises(InputError, match="p="):
            PNorm(p)
    with pytest.raises(InputError, match="needs x >= 0"):
        NegativeEntropy().value([1.0, -1e-300])
    with pytest.raises(InputError, match="needs x > 0"):
        NegativeEntropy().gradient([1.0, 0.0])
    with pytest.raises(InputError, match="infinite"):
        NegativeEntropy().divergence([1.0], [0.0])


@pytest.mark.parametrize(
    ("potential", "convex_set", "expected"),
    [
        (Euclidean(), L2Ball([3, 4], 1.0), [2.4, 3.2]),
        (Euclidean(), Simplex(4), [0.25] * 4),
        (PNorm(1.5), Simplex(4, 2.0), [0.5] * 4),
        (PNorm(1.5), L2Ball([0, 0], 1.0), [0.0, 0.0]),
        (PNorm(1.5), Box([1, -2], [2, 3]), [1.0, 0.0]),
        (PNorm(1.5), Box([1, -2], [2, -1]), [1.0, -1.0]),
        (PNorm(1.5), WholeSpace(2), [0.0, 0.0]),
        # w ~ sign(a) |a|^(q-1) with q = 3
        (PNorm(1.5), HalfSpace([1, 2], -9.0), [-1.0, -4.0]),
        (PNorm(1.5), AffineSubspace([[1, 2]], [9]), [1.0, 4.0]),
        (NegativeEntropy(), Simplex(4, 2.0), [0.5] * 4),
        (NegativeEntropy(), WholeSpace(2), [math.exp(-1)] * 2),
        (NegativeEntropy(), Box([-1, 1], [0.25, 2]), [0.25, 1.0]),
        (NegativeEntropy(), Box([-1, 0], [1, 0]), [math.exp(-1), 0.0]),
        (NegativeEntropy(), HalfSpace([1, 1], 0.5), [0.25, 0.25]),
        (NegativeEntropy(), HalfSpace([1, 0], 0.0), [0.0, math.exp(-1)]),
        (NegativeEntropy(), AffineSubspace([[1, 1]], [4]), [2.0, 2.0]),
        (NegativeEntropy(), L1Ball(2, 0.5), [0.25, 0.25]),
        (NegativeEntropy(), L2Ball([0, 0], 0.1), [0.1 / math.sqrt(2)] * 2),
        (NegativeEntropy(), LpBall(2, 3.0, 1.0), [math.exp(-1)] * 2),
    ],
)
def test_minimisers_have_their_closed_form_values(potential, convex_set, expected):
    np.testing.assert_allclose(convex_set.minimiser(potential), expected, rtol=2e-10, atol=1e-15)


def test_the_entropic_step_on_the_simplex_is_softmax():
    tilt = np.array([[1.0, 2.0, 3.0], [1e300, 0.0, -1e300], [-700.0, -700.0, -700.0]])
    w = NegativeEntropy().tilted_minimiser(Simplex(3), tilt)
    weights = np.exp([1.0, 2.0, 3.0])
    np.testing.assert_allclose(w, [weights / weights.sum(), [1, 0, 0], [1 / 3] * 3], rtol=1e-15)


def test_entropic_projections_are_normalisation_and_clipping():
    y = np.array([1e150, 3e150])
    assert bregman_projection(NegativeEntropy(), Simplex(2), y) == pytest.approx([0.25, 0.75], rel=1e-15)
    assert bregman_projection(NegativeEntropy(), Box([0, 0], [1, 1]), [0.5, 7.0]).tolist() == [0.5, 1.0]
    assert bregman_projection(NegativeEntropy(), WholeSpace(2), y).tolist() == y.tolist()


def test_euclidean_projections_are_the_sets_own():
    ball, y = L2Ball([0, 0], 1.0), np.array([[3.0, 4.0], [0.1, 0.2]])
    assert bregman_projection(Euclidean(), ball, y).tolist() == ball.project(y).tolist()


@pytest.mark.slow
@pytest.mark.parametrize(
    "convex_set",
    [
        Box([-2.0], [-1.0]),
        HalfSpace([1.0], -1.0),
        L2Ball([-3.0], 1.0),
        pytest.param(AffineSubspace([[1.0]], [-1.0]), marks=pytest.mark.long),
    ],
    ids=repr,
)
def test_sets_off_the_orthant_have_no_entropic_minimiser(convex_set):
    with pytest.raises(InputError, match=r"misses|keeps the box off|was not found"):
        convex_set.minimiser(NegativeEntropy())


@pytest.mark.parametrize("potential", [PNorm(1.25), PNorm(1.5), NegativeEntropy()], ids=repr)
@pytest.mark.parametrize(
    "convex_set", [Simplex(5, 0.5), Box(np.full(5, 0.1), np.ones(5)), HalfSpace(np.ones(5), 0.3)]
)
def test_the_solver_agrees_with_the_closed_forms(potential, convex_set):
    """Both to 1e-9, which is the solver's tolerance times the inverse of the strong convexity, and some."""
    tilt = np.random.default_rng(6).uniform(-1, 2, 5)
    direct = potential.tilted_minimiser(convex_set, tilt)
    solved = minimise_by_dual_ascent(potential, convex_set, tilt)
    np.testing.assert_allclose(solved, direct, atol=4e-9)


def test_the_solver_reports_what_it_cannot_certify(monkeypatch):
    monkeypatch.setattr(dual_solver, "_MAX_ITERATIONS", 2)
    with pytest.raises(ConvergenceError, match="was not found to 1e-10"):
        L2Ball([2.0, 3.0], 1.0).minimiser(PNorm(1.5))


def test_a_potential_of_your_own_needs_only_the_abstract_methods():
    class Quadratic(Potential):
        """``Phi(x) = 1/2 sum a_i x_i^2``."""

        weights = np.array([1.0, 4.0])
        strong_convexity = 1.0

        def norm(self, x):
            return np.sqrt(np.sum(np.asarray(x) ** 2, axis=-1))

        def dual_norm(self, y):
            return self.norm(y)

        def value(self, x):
            return 0.5 * np.sum(self.weights * np.asarray(x) ** 2, axis=-1)

        def gradient(self, x):
            return self.weights * np.asarray(x)

        def conjugate(self, y):
            return 0.5 * np.sum(np.asarray(y) ** 2 / self.weights, axis=-1)

        def conjugate_gradient(self, y):
            return np.asarray(y) / self.weights

    potential = Quadratic()
    assert potential.divergence([1.0, 1.0], [0.0, 0.0]) == pytest.approx(2.5)
    assert potential.conjugate_divergence([1.0, 4.0], [0.0, 0.0]) == pytest.approx(2.5)
    # Minimise (w1 - 1)^2 + 4 (w2 - 1)^2 on w1 + w2 = 1: the gaps are in the ratio 4 to 1.
    w = bregman_projection(potential, Simplex(2), [1.0, 1.0])
    assert w == pytest.approx([0.2, 0.8], abs=1e-9)
    check_pythagorean_inequality(potential, Box([0.0, 0.0], [1.0, 1.0]), [0.5, 0.5], [0.2, 0.9])
