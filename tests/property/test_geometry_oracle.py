"""Projections and minimisers agree with a general-purpose conic solver.

The solver is asked for a duality gap and an infeasibility of 1e-9, relative to values of up to about 30: its objective
is within some 1e-7 of the optimum. All objectives are at least (p-1)-strongly convex, so that its point is within
``sqrt(2e-7 / (p-1)) < 1e-3`` of the minimiser; the shipped objective must not exceed its by more than those 1e-7.
"""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from dpsco_verify.geometry import (
    AffineSubspace,
    Box,
    HalfSpace,
    Intersection,
    L1Ball,
    L2Ball,
    LpBall,
    NegativeEntropy,
    PNorm,
    Simplex,
)

pytestmark = pytest.mark.slow

DIMENSION = 6


def generator(seed):
    return np.random.default_rng(np.random.SeedSequence(20240817, spawn_key=(seed,)))


def center(rng):
    # In reach of the orthant for all sets below, as the entropy needs.
    return rng.uniform(-0.2, 1, DIMENSION)


def l2_ball(rng):
    c = center(rng)
    return L2Ball(c, 1.5), lambda w: [cp.norm(w - c, 2) <= 1.5]


def box(rng):
    low = -rng.uniform(0, 1, DIMENSION)
    return Box(low, low + 1), lambda w: [w >= low, w <= low + 1]


def simplex(_rng):
    return Simplex(DIMENSION, 2.0), lambda w: [w >= 0, cp.sum(w) == 2]


def l1_ball(rng):
    c = center(rng)
    return L1Ball(DIMENSION, 1.5, c), lambda w: [cp.norm(w - c, 1) <= 1.5]


def lp_ball(p):
    def build(rng):
        c = center(rng)
        return LpBall(DIMENSION, p, 1.5, c), lambda w: [cp.pnorm(w - c, p) <= 1.5]

    return build


def half_space(rng):
    normal = rng.standard_normal(DIMENSION)
    return HalfSpace(normal, -0.5), lambda w: [normal @ w <= -0.5]


def affine_subspace(rng):
    matrix = rng.standard_normal((3, DIMENSION))
    # A repeated row: the rank is 2.
    matrix[2] = matrix[0] - matrix[1]
    rhs = matrix @ center(rng)
    return AffineSubspace(matrix, rhs), lambda w: [matrix @ w == rhs]


def intersection(rng):
    parts = [box(rng), l2_ball(rng), half_space(rng)]
    sets, constraints = zip(*parts, strict=True)
    return Intersection(sets), lambda w: [item for make in constraints for item in make(w)]


def simplex_in_box(rng):
    high = rng.uniform(0.3, 0.9, DIMENSION)
    return (
        Intersection([Simplex(DIMENSION), Box(np.zeros(DIMENSION), high)]),
        lambda w: [w >= 0, cp.sum(w) == 1, w <= high],
    )


BUILDERS = {
    "l2_ball": l2_ball,
    "box": box,
    "simplex": simplex,
    "l1_ball": l1_ball,
    "lp_ball_1.5": lp_ball(1.5),
    "lp_ball_3": lp_ball(3),
    "half_space": half_space,
    "affine_subspace": affine_subspace,
    "intersection": intersection,
    "simplex_in_box": simplex_in_box,
}


def solved(constraints, objective):
    w = cp.Variable(DIMENSION)
    problem = cp.Problem(cp.Minimize(objective(w)), constraints(w))
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    assert problem.status == cp.OPTIMAL
    return w.value


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", BUILDERS)
def test_projections_agree_with_the_solver(name, seed):
    rng = generator(seed)
    convex_set, constraints = BUILDERS[name](rng)
    x = 3 * rng.standard_normal(DIMENSION)
    ours, theirs = convex_set.project(x), solved(constraints, lambda w: 0.5 * cp.sum_squares(w - x))
    assert np.linalg.norm(ours - theirs) <= 1e-3
    assert 0.5 * np.sum((ours - x) ** 2) <= 0.5 * np.sum((theirs - x) ** 2) + 1e-7


P_NORM_CASES = [
    # Its nested iterations take seconds, and at p = 1.25 a minute.
    pytest.param(p, name, marks=[pytest.mark.long] if name == "simplex_in_box" else [])
    for p in (1.25, 1.5)
    for name in BUILDERS
    if (p, name) != (1.25, "simplex_in_box")
]


@pytest.mark.parametrize(("p", "name"), P_NORM_CASES)
def test_p_norm_minimisers_agree_with_the_solver(name, p):
    rng = generator(100)
    convex_set, constraints = BUILDERS[name](rng)
    tilt = rng.standard_normal(DIMENSION)
    ours = PNorm(p).tilted_minimiser(convex_set, tilt)
    theirs = solved(constraints, lambda w: 0.5 * cp.square(cp.pnorm(w, p)) - tilt @ w)
    assert convex_set.contains(ours)
    assert np.linalg.norm(ours - theirs) <= 1e-3
    value = PNorm(p).value(ours) - tilt @ ours
    assert value <= PNorm(p).value(theirs) - tilt @ theirs + 1e-7


@pytest.mark.parametrize("name", sorted(BUILDERS))
def test_entropy_minimisers_agree_with_the_solver(name):
    rng = generator(200)
    convex_set, constraints = BUILDERS[name](rng)
    if name in {"half_space", "affine_subspace"}:
        # The others reach into the orthant by themselves.
        weights = rng.uniform(0.5, 2, DIMENSION)
        convex_set = HalfSpace(weights, 1.0) if name == "half_space" else AffineSubspace([weights], [1.0])
        constraints = (
            (lambda w: [weights @ w <= 1]) if name == "half_space" else (lambda w: [weights @ w == 1])
        )
    tilt = rng.standard_normal(DIMENSION)
    ours = NegativeEntropy().tilted_minimiser(convex_set, tilt)
    theirs = solved(constraints, lambda w: -cp.sum(cp.entr(w)) - tilt @ w)
    assert convex_set.contains(ours)
    assert np.linalg.norm(ours - theirs) <= 1e-3
    positive = np.maximum(ours, 0.0)
    value = NegativeEntropy().value(positive) - tilt @ ours
    assert value <= NegativeEntropy().value(np.maximum(theirs, 0.0)) - tilt @ theirs + 1e-7
