"""The certified solvers: against cvxpy, against themselves at a higher accuracy, and with something broken."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import cvxpy
import numpy as np
import pytest

from dpsco_verify.errors import InputError
from dpsco_verify.geometry import Box, HalfSpace, L1Ball, L2Ball, Simplex, WholeSpace
from dpsco_verify.problems import AbsoluteDeviation, Hinge, Huber, Linear, Logistic, Quantile
from dpsco_verify.problems.losses import EuclideanDistance, LinearPredictorLoss, Loss
from dpsco_verify.related import PrivacyBudget, Task
from dpsco_verify.related.phased_erm import SharpPhasedErm
from dpsco_verify.related.solvers import SolverError, augmented, is_supported, minimise_regularised
from dpsco_verify.related.solvers.distance_terms import DistanceTerms
from dpsco_verify.related.solvers.newton import Smoothed
from dpsco_verify.related.solvers.predictor_terms import PredictorTerms, score_curvature
from dpsco_verify.related.solvers.set_penalty import penalty, projection_jacobian

pytestmark = pytest.mark.slow

LOSSES = [
    Linear(),
    AbsoluteDeviation(),
    Hinge(),
    Quantile(0.3),
    Huber(0.25),
    Logistic(),
    EuclideanDistance(),
]
KINKED = [loss for loss in LOSSES if loss.smoothness(1.0) is None]
SETS = [
    WholeSpace(3),
    L2Ball(np.array([0.2, 0.0, -0.1]), 0.4),
    Box([-0.3, -0.1, 0.0], [0.2, 0.5, 0.1]),
    Simplex(3, 0.7),
    L1Ball(3, 0.3),
    HalfSpace([1.0, 1.0, 0.0], -0.1),
]


def name_of(thing):
    return thing.name if isinstance(thing, Loss) else type(thing).__name__


def sample_of(loss, rng, *, runs, m, d):
    """Features of norm 1, targets near a linear function of them."""
    a = rng.normal(size=(runs, m, d))
    a /= np.linalg.norm(a, axis=-1, keepdims=True)
    if not isinstance(loss, LinearPredictorLoss):
        return a
    t = a @ rng.normal(size=d) + 0.3 * rng.normal(size=(runs, m))
    if isinstance(loss, Hinge | Logistic):
        t = np.where(t > 0, 1.0, -1.0)
    return np.concatenate([a, t[..., None]], axis=-1)


def objective(loss, z, w, *, lam, centre, tilt):
    risk = np.mean(loss.value(w, z))
    return float(risk + tilt @ w + 0.5 * lam * np.sum((w - centre) ** 2))


def cvxpy_risk(loss, z, w):
    if not isinstance(loss, LinearPredictorLoss):
        return -cvxpy.sum(z @ w) if isinstance(loss, Linear) else sum(cvxpy.norm(w - point) for point in z)
    a, t = z[:, :-1], z[:, -1]
    scores = a @ w
    match loss:
        case AbsoluteDeviation():
            return cvxpy.sum(cvxpy.abs(scores - t))
        case Hinge():
            return cvxpy.sum(cvxpy.pos(1 - cvxpy.multiply(t, scores)))
        case Quantile():
            return cvxpy.sum(cvxpy.maximum(loss.level * (t - scores), (loss.level - 1) * (t - scores)))
        case Huber():
            return 0.5 * cvxpy.sum(cvxpy.huber(scores - t, loss.threshold))
        case Logistic():
            return cvxpy.sum(cvxpy.logistic(-cvxpy.multiply(t, scores)))


def cvxpy_constraints(convex_set, w):
    match convex_set:
        case WholeSpace():
            return []
        case L2Ball():
            return [cvxpy.norm(w - convex_set.center) <= convex_set.radius]
        case Box():
            return [w >= convex_set.low, w <= convex_set.high]
        case Simplex():
            return [w >= 0, cvxpy.sum(w) == convex_set.total]
        case L1Ball():
            return [cvxpy.norm1(w) <= convex_set.radius]
        case HalfSpace():
            return [convex_set.normal @ w <= convex_set.offset]


def by_cvxpy(loss, z, convex_set, *, lam, centre, tilt):
    w = cvxpy.Variable(centre.size)
    goal = cvxpy_risk(loss, z, w) / len(z) + tilt @ w + 0.5 * lam * cvxpy.sum_squares(w - centre)
    problem = cvxpy.Problem(cvxpy.Minimize(goal), cvxpy_constraints(convex_set, w))
    problem.solve(solver=cvxpy.CLARABEL)
    return problem.value, w.value


@pytest.mark.parametrize("convex_set", SETS, ids=name_of)
@pytest.mark.parametrize(
    "loss",
    [one if k % 3 == 2 else pytest.param(one, marks=pytest.mark.long) for k, one in enumerate(LOSSES)],
    ids=name_of,
)
def test_agrees_with_cvxpy(loss, convex_set):
    rng = np.random.default_rng(5)
    z = sample_of(loss, rng, runs=1, m=12, d=3)
    lam, centre, tilt = 0.4, 0.3 * rng.normal(size=3), 0.1 * rng.normal(size=3)
    found = minimise_regularised(
        loss, z, convex_set, regularisation=lam, centre=centre[None], tilt=tilt[None], distance=1e-6
    )
    assert found.distance[0] <= 1e-6
    value, w = by_cvxpy(loss, z[0], convex_set, lam=lam, centre=centre, tilt=tilt)
    assert convex_set.contains(found.point[0])
    assert np.linalg.norm(found.point[0] - w) <= 1e-4
    reached = objective(loss, z[0], found.point[0], lam=lam, centre=centre, tilt=tilt)
    assert reached <= value + 1e-8
    assert reached - value <= found.gap[0] + 1e-7


@pytest.mark.parametrize("convex_set", SETS, ids=name_of)
@pytest.mark.parametrize(
    "loss",
    [one if k % 3 == 0 else pytest.param(one, marks=pytest.mark.long) for k, one in enumerate(LOSSES)],
    ids=name_of,
)
def test_a_rough_answer_is_as_near_as_it_says(loss, convex_set):
    """Against the same solver at a far higher accuracy, which the comparison with cvxpy has checked."""
    rng = np.random.default_rng(6)
    z = sample_of(loss, rng, runs=4, m=40, d=3)
    options = {"regularisation": 0.05, "centre": 0.2 * rng.normal(size=(4, 3)), "tilt": np.zeros((4, 3))}
    fine = minimise_regularised(loss, z, convex_set, **options, distance=1e-5)
    for distance in (0.3, 0.03):
        rough = minimise_regularised(loss, z, convex_set, **options, distance=distance)
        assert (rough.distance <= distance).all()
        assert (
            np.linalg.norm(rough.point - fine.point, axis=-1) <= rough.distance + fine.distance + 1e-15
        ).all()
        for r in range(4):
            worth = [
                objective(loss, z[r], w[r], lam=0.05, centre=options["centre"][r], tilt=np.zeros(3))
                for w in (rough.point, fine.point)
            ]
            assert worth[0] - worth[1] <= rough.gap[r] + 1e-14
    by_gap = minimise_regularised(loss, z, convex_set, **options, gap=1e-4)
    assert (by_gap.gap <= 1e-4).all()


def test_points_on_a_kink_all_at_once():
    """Half of all data at one point: the minimiser sits on the kink, where a slope must be found, not computed."""
    z = np.concatenate(
        [np.ones((1, 3000, 1)), np.where(np.arange(3000) < 1600, 0.25, -1.0)[None, :, None]], -1
    )
    found = minimise_regularised(
        AbsoluteDeviation(),
        z,
        L2Ball([0.0], 1.0),
        regularisation=0.05,
        centre=np.zeros((1, 1)),
        distance=6e-6,
    )
    assert abs(found.point[0, 0] - 0.25) <= 6e-6


@pytest.mark.parametrize("loss", LOSSES, ids=name_of)
def test_runs_do_not_depend_on_each_other(loss):
    rng = np.random.default_rng(7)
    z = sample_of(loss, rng, runs=5, m=30, d=3)
    options = {"convex_set": SETS[1], "regularisation": 0.2, "distance": 1e-5}
    centre = 0.3 * rng.normal(size=(5, 3))
    together = minimise_regularised(loss, z, centre=centre, **options)
    for r in range(5):
        alone = minimise_regularised(loss, z[r : r + 1], centre=centre[r : r + 1], **options)
        assert np.allclose(alone.point[0], together.point[r], rtol=0, atol=1e-13)
        assert alone.gradient_queries[0] == together.gradient_queries[r]


@pytest.mark.parametrize("loss", LOSSES, ids=name_of)
def test_a_shared_sample_stands_for_its_copies(loss):
    rng = np.random.default_rng(8)
    z = sample_of(loss, rng, runs=1, m=30, d=3)
    options = {
        "convex_set": SETS[1],
        "regularisation": 0.2,
        "distance": 1e-5,
        "centre": rng.normal(size=(4, 3)),
    }
    shared = minimise_regularised(loss, z, **options)
    copied = minimise_regularised(loss, np.repeat(z, 4, axis=0), **options)
    assert np.allclose(shared.point, copied.point, rtol=0, atol=1e-13)


def test_blocks_of_runs_are_put_together(monkeypatch):
    from dpsco_verify.related.solvers import minimise

    loss, rng = Hinge(), np.random.default_rng(9)
    z = sample_of(loss, rng, runs=5, m=30, d=3)
    options = {
        "convex_set": SETS[1],
        "regularisation": 0.2,
        "distance": 1e-5,
        "centre": rng.normal(size=(5, 3)),
    }
    whole = minimise_regularised(loss, z, **options)
    monkeypatch.setattr(minimise, "_BLOCK", 2 * 30 * 7)
    parts = minimise_regularised(loss, z, **options)
    assert np.allclose(whole.point, parts.point, rtol=0, atol=1e-13)
    assert (whole.gradient_queries == parts.gradient_queries).all()


@dataclass(frozen=True)
class Counting(Logistic):
    """Logistic, with a count of the slopes that were asked for."""

    asked: list[int] = field(default_factory=list)

    def score_slope(self, score, target):
        self.asked.append(score.size)
        return super().score_slope(score, target)


def test_every_gradient_is_counted():
    loss, rng = Counting(), np.random.default_rng(10)
    z = sample_of(loss, rng, runs=1, m=50, d=3)
    found = minimise_regularised(
        loss, z, SETS[1], regularisation=0.01, centre=np.zeros((1, 3)), distance=1e-8
    )
    assert sum(loss.asked) == found.gradient_queries[0] > 2 * 50


def test_the_linear_loss_is_a_projection():
    rng = np.random.default_rng(11)
    z = rng.normal(size=(6, 40, 3))
    found = minimise_regularised(
        Linear(), z, SETS[1], regularisation=0.5, centre=np.ones((1, 3)), distance=1e-12
    )
    assert np.allclose(found.point, SETS[1].project(1.0 + z.mean(axis=1) / 0.5), atol=1e-14)
    assert (found.gradient_queries == 40).all()


def test_an_accuracy_beyond_arithmetic_is_refused():
    z = np.ones((1, 5, 3))
    options = {"convex_set": SETS[1], "regularisation": 1e-3, "centre": np.zeros((1, 3))}
    with pytest.raises(SolverError, match="nothing is released"):
        minimise_regularised(Linear(), z, **options, distance=1e-17)
    with pytest.raises(SolverError, match="nothing is released"):
        minimise_regularised(EuclideanDistance(), z, **options, gap=1e-30)


def frozen(self, state):
    return np.zeros_like(state.w)


def short(self, state):
    return 1e-4 * STEP(self, state)


def crooked(self, state):
    """One coordinate is forgotten."""
    step = STEP(self, state)
    step[:, 0] = 0.0
    return step


def backwards(self, state):
    return -STEP(self, state)


STEP = Smoothed.step


@pytest.mark.parametrize("broken", [frozen, short, crooked, backwards])
@pytest.mark.parametrize(
    "loss", [LOSSES[2], *(pytest.param(one, marks=pytest.mark.long) for one in LOSSES[4::2])], ids=name_of
)
def test_a_broken_search_certifies_nothing(loss, broken, monkeypatch):
    rng = np.random.default_rng(12)
    z = sample_of(loss, rng, runs=2, m=30, d=3)
    options = {"convex_set": WholeSpace(3), "regularisation": 0.02, "centre": np.zeros((2, 3))}
    minimise_regularised(loss, z, **options, distance=1e-4)
    monkeypatch.setattr(Smoothed, "step", broken)
    monkeypatch.setattr(augmented, "_ITERATIONS", 60)
    with pytest.raises(SolverError):
        minimise_regularised(loss, z, **options, distance=1e-4)


@pytest.mark.parametrize("loss", LOSSES[1:], ids=name_of)
def test_a_certificate_that_flatters_is_found_out(loss, monkeypatch):
    """With the duality gap left out the first point passes, far from the minimiser: the tests above would see it."""
    rng = np.random.default_rng(13)
    z = sample_of(loss, rng, runs=1, m=30, d=3)
    options = {"convex_set": WholeSpace(3), "regularisation": 0.02, "centre": np.zeros((1, 3))}
    fine = minimise_regularised(loss, z, **options, distance=1e-4)
    for kind in (PredictorTerms, DistanceTerms):
        monkeypatch.setattr(kind, "duality_gap", lambda self, w, at, point, error: np.zeros(w.shape[0]))
    monkeypatch.setattr(Smoothed, "step", frozen)
    flattered = minimise_regularised(loss, z, **options, distance=1e-6)
    assert np.linalg.norm(flattered.point - fine.point) > 1e-2


@pytest.mark.parametrize("loss", [Huber(0.25), Logistic()], ids=name_of)
def test_curvature_is_the_slope_s_derivative(loss):
    score, target = np.linspace(-3, 3, 101) + 0.0123, np.ones(101)
    slope, h = loss.score_slope(score, target), 1e-6
    numeric = (loss.score_slope(score + h, target) - loss.score_slope(score - h, target)) / (2 * h)
    assert np.allclose(score_curvature(loss, slope), numeric, atol=1e-6)


@pytest.mark.parametrize("convex_set", SETS[1:], ids=name_of)
def test_the_jacobian_of_the_projection(convex_set):
    rng = np.random.default_rng(14)
    x, h = 0.8 * rng.normal(size=(50, 3)), 1e-6
    jacobian = projection_jacobian(convex_set, x)
    for j in range(3):
        shift = h * np.eye(3)[j]
        numeric = (convex_set.project(x + shift) - convex_set.project(x - shift)) / (2 * h)
        assert np.allclose(jacobian[:, :, j], numeric, atol=1e-5)
    eigenvalues = np.linalg.eigvalsh(jacobian)
    assert eigenvalues.min() >= -1e-12
    assert eigenvalues.max() <= 1 + 1e-12


def test_the_penalty_s_gradient():
    rng = np.random.default_rng(15)
    w, anchor, tau, h = rng.normal(size=(9, 3)), rng.normal(size=(9, 3)), np.full(9, 0.3), 1e-6
    _, gradient, _ = penalty(SETS[1], w, anchor, tau)
    for j in range(3):
        shift = h * np.eye(3)[j]
        up, down = (penalty(SETS[1], w + s * shift, anchor, tau)[0] for s in (1, -1))
        assert np.allclose(gradient[:, j], (up - down) / (2 * h), atol=1e-6)


@pytest.mark.parametrize("loss", LOSSES[1:], ids=name_of)
def test_the_derivatives_of_the_smoothed_problem(loss):
    rng = np.random.default_rng(16)
    z = sample_of(loss, rng, runs=3, m=20, d=3)
    kind = PredictorTerms.of(loss, z) if isinstance(loss, LinearPredictorLoss) else DistanceTerms(z)
    w = rng.normal(size=(3, 3))
    anchor, tau = kind.anchor(0.1 * w)
    problem = Smoothed(kind, SETS[1], 0 * w, 0.3, anchor, 10 * tau, 0.2 * w, np.full(3, 0.4))
    state, h = problem.at(w), 1e-6
    step = problem.step(state)
    hessian_times_step = (problem.at(w + h * step).gradient - problem.at(w - h * step).gradient) / (2 * h)
    assert np.allclose(hessian_times_step, -state.gradient, atol=1e-4)
    for j in range(3):
        shift = h * np.eye(3)[j]
        numeric = (problem.at(w + shift).value - problem.at(w - shift).value) / (2 * h)
        assert np.allclose(state.gradient[:, j], numeric, atol=1e-6)
    assert np.allclose(kind.exact_gradient(state.risk), state.risk.gradient, atol=1e-14)
    assert replace(problem, weight=0.6).at(w).value[0] > state.value[0]


class Strange(Loss):
    """A loss of which nothing is known."""

    name = "strange"
    data_dimension = features = value = subgradient = lipschitz = None


def test_what_cannot_be_solved_is_said():
    Strange.__abstractmethods__ = frozenset()
    assert not is_supported(Strange())
    assert all(map(is_supported, LOSSES))
    z, options = np.ones((1, 5, 3)), {"convex_set": SETS[1], "centre": np.zeros((1, 3))}
    with pytest.raises(TypeError, match="strange has no certified solver"):
        minimise_regularised(Strange(), z, **options, regularisation=1.0, gap=1.0)
    with pytest.raises(InputError, match="ask for nothing"):
        minimise_regularised(Linear(), z, **options, regularisation=1.0)
    with pytest.raises(InputError, match="regularisation=0"):
        minimise_regularised(Linear(), z, **options, regularisation=0.0, gap=1.0)


@pytest.mark.parametrize("scale", [1e-20, 1e-56, 1e-200])
@pytest.mark.parametrize("dimension", [1, 2])
def test_points_on_a_tiny_scale_beside_the_set_are_solved(scale, dimension):
    """Distances of 1e-56 in a ball of radius 1 made Newton's matrix singular."""
    data = np.zeros((2, dimension))
    data[0, 0], data[1, -1] = 2.1 * scale, 1.7 * scale
    task = Task(EuclideanDistance(), L2Ball(np.zeros(dimension), 1.0), 1.0)
    for sensitivity in SharpPhasedErm(step_size=0.5).sensitivities(task, 2, PrivacyBudget(1.0, 1e-6)):
        # Both points are 0 up to rounding, so any minimiser is within the solver's accuracy of 0.
        assert np.linalg.norm(sensitivity.query(data)) <= sensitivity.rounding + sensitivity.bound


@pytest.mark.parametrize("scale", [1e-6, 1e-12, 2e-16, 1e-60, 5e-324])
@pytest.mark.parametrize("loss", [AbsoluteDeviation(), Quantile(0.3)], ids=name_of)
def test_targets_that_all_but_agree_with_the_start_are_solved(loss, scale):
    """Data decide whether a search ends, and an error that hangs on a record would tell of it."""
    for features in ([[0.5], [0.0]], [[0.5], [0.25]], [[1.0], [-0.3]]):
        sample = np.concatenate([np.array(features), np.full((2, 1), scale)], axis=-1)
        found = minimise_regularised(
            loss, sample[None], Box([-0.4], [1.0]), regularisation=0.5, centre=np.zeros((1, 1)), distance=1e-5
        )
        # The regularised minimiser lies between 0 and the kinks, at scale/|a|.
        assert abs(found.point.item()) <= scale / 0.25 + found.distance.item()
