"""The estimators' steps as a system of the comparison: the same as the estimators', with the noise that they have."""

from __future__ import annotations

import numpy as np
import pytest

from dpsco_verify.auditing import AuditVerdict
from dpsco_verify.errors import InputError
from dpsco_verify.estimators import noise
from dpsco_verify.estimators.descent import Problem, Release, descend
from dpsco_verify.evidence.exit_code import ExitCode
from dpsco_verify.geometry import L2Ball, WholeSpace
from dpsco_verify.guarantees.optimiser.systems import check_system
from dpsco_verify.privacy.gaussian import gaussian_delta
from dpsco_verify.privacy.whole_run import WholeRun, delta_upper
from dpsco_verify.problems import Hinge, Linear, Logistic
from dpsco_verify.related import ConditionError, PrivacyBudget, Task
from dpsco_verify.related.estimator_steps import EstimatorBatches, EstimatorPasses

BUDGET = PrivacyBudget(1.0, 1e-6)
N, D, RADIUS = 200, 3, 2.0


class Tape:
    """The same order and normal numbers for a system, as a generator, and for the estimators, as a source."""

    def __init__(self):
        rng = np.random.default_rng(5)
        self.permutation, self.numbers, self.used = rng.permutation(N), rng.standard_normal((400, D)), 0

    def permuted(self, order, *, axis):
        assert axis == 1
        return order[:, self.permutation]

    def order(self, n):
        return self.permutation

    def standard_normal(self, shape):
        self.used += 1
        return self.numbers[self.used - 1].reshape(shape)

    def rounded_normals(self, shape, deviation):
        return np.rint(deviation * self.standard_normal(shape))


@pytest.mark.slow
@pytest.mark.parametrize("loss", [Logistic(), Hinge()], ids=["logistic", "hinge"])
@pytest.mark.parametrize("system", [EstimatorBatches(), EstimatorPasses()], ids=lambda s: s.id)
def test_the_steps_are_those_of_the_estimators(system, loss):
    rng = np.random.default_rng(0)
    rows = rng.uniform(-1.0, 1.0, size=(N, D))  # some are beyond the norm of 1
    rows /= np.maximum(np.linalg.norm(rows, axis=1), 1.0)[:, np.newaxis]
    labels = np.where(rows[:, :1] + 0.5 * rng.normal(size=(N, 1)) > 0.0, 1.0, -1.0)
    ball = L2Ball(np.zeros(D), RADIUS)
    task = Task(loss, ball, 1.0)
    fit = system.fit(
        np.column_stack([rows, labels]), task=task, budget=BUDGET, rng=Tape(), keep_transcript=True
    )
    plan = system.plan(task, N, BUDGET)
    assert (plan.steps, plan.batch_size) == ((100, N) if system.id == "estimator-passes" else (28, 7))
    problem = Problem(
        rows=rows,
        norm=1.0,
        targets=labels,
        counted=None,
        slopes=loss.score_slope,
        slope_bound=loss.slope_bound,
        convex_set=ball,
        intercept_bound=None,
    )
    sigma = plan.ratio * task.lipschitz
    fine = Release(lipschitz=task.lipschitz, sigma=sigma, deviation=plan.batch_size * sigma, lattice=2.0**-44)
    transcript = []
    found = descend(problem, plan, fine, Tape(), transcript=transcript)
    np.testing.assert_allclose(fit.solution, found[0], rtol=1e-9)
    np.testing.assert_allclose(fit.transcript, np.array(transcript)[:, 0], atol=1e-10)
    assert fit.gradient_queries == plan.epochs * plan.points


@pytest.mark.slow
def test_the_noise_is_proven():
    task = Task(Linear(), L2Ball(np.zeros(D), RADIUS), 0.5)
    figures = EstimatorBatches().calibrate(task, 5000, BUDGET).figures
    f = int(figures["f"])
    run = WholeRun(n=5000, sigma=figures["σ"], lipschitz=0.5, points=f * int(figures["T"]), batch_size=f)
    assert 0.9e-6 < delta_upper(run, 1.0) <= 1e-6
    full = EstimatorPasses().calibrate(task, 5000, BUDGET).figures
    mu = 10.0 * 2.0 * 0.5 / (5000 * full["σ"])
    assert 0.999e-6 < gaussian_delta(1.0, mu) <= 1e-6


@pytest.mark.parametrize(
    ("system", "task", "n", "budget", "words"),
    [
        (EstimatorBatches(), Task(Linear(), WholeSpace(1), 1.0), 100, BUDGET, "diameter=inf must be finite"),
        (
            EstimatorBatches(),
            Task(Linear(), L2Ball(np.zeros(1), 1.0), 1.0),
            25,
            BUDGET,
            "n=25 must be at least",
        ),
        (EstimatorPasses(), Task(Linear(), L2Ball(np.zeros(1), 1.0), 1.0), 1, BUDGET, "n=1 must be at least"),
        (
            EstimatorPasses(),
            Task(Linear(), L2Ball(np.zeros(1), 1.0), 1.0),
            100,
            PrivacyBudget(1.0, 0.0),
            "delta=0 must be at least 1e-200",
        ),
        (
            EstimatorBatches(),
            Task(Linear(), L2Ball(np.zeros(1), 1.0), 1.0),
            100,
            PrivacyBudget(1e-5, 1e-6),
            r"epsilon=1e-05 must be in \[0.0001, 100\]",
        ),
    ],
)
def test_conditions_are_told(system, task, n, budget, words):
    with pytest.raises(ConditionError, match=words):
        system.calibrate(task, n, budget)


def test_the_range_is_that_of_the_plan():
    for epsilon, delta in (
        (0.9 * noise.LEAST_EPSILON, 1e-6),
        (1.1 * noise.LARGEST_EPSILON, 1e-6),
        (1.0, 0.1 * noise.LEAST_DELTA),
    ):
        with pytest.raises(InputError, match="outside|below"):
            noise.plan(n=50, parameters=1, epsilon=epsilon, delta=delta, batch_size=50, epochs=1)


@pytest.mark.long
def test_an_optimiser_s_checks_are_kept():
    """The bank's logistic problem, and privacy with records beyond L among the pairs; at 1e-9."""
    found = check_system("estimator-passes", sizes=(40,), problems=("logistic",), alpha=1e-9)
    assert found.exit_code == ExitCode.AS_EXPECTED
    assert found.result("privacy").verdict is AuditVerdict.NOT_VIOLATED
