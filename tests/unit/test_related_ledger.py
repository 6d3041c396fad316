"""The bounds behind the claims of the related systems, and the audits of their implementations."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, stats

from dpsco_verify.comparison.audit_settings import AuditSetting, Statistic, setting_for
from dpsco_verify.comparison.audits import audit_implementation, audit_system
from dpsco_verify.errors import InputError
from dpsco_verify.ledger.systems.grid import Point, table
from dpsco_verify.ledger.systems.sampled import (
    SampledSteps,
    lower_delta,
    renyi_delta,
    upper_delta,
)
from dpsco_verify.related import PrivacyBudget
from dpsco_verify.related.catalogue import SYSTEMS
from dpsco_verify.related.iteration_sgd import IterationSgd
from dpsco_verify.related.minibatch_sgd import MinibatchSgd
from dpsco_verify.related.output_perturbation import OutputPerturbation
from dpsco_verify.related.phased_sgd import PhasedSgd

pytestmark = pytest.mark.slow  # the everyday part has two minutes

STEPS = SampledSteps(n=20, batch=1, steps=30, noise=2.0)


def exact_one_draw(n, noise, epsilon):
    """δ of one step on one draw: all others −1, the point's ±1, the best half-line, by scipy."""
    grid = np.linspace(-10.0, 30.0, 400_001)
    inside = (1 / n) * stats.norm.sf(grid, loc=2.0, scale=noise) + (1 - 1 / n) * stats.norm.sf(
        grid, scale=noise
    )
    return float(np.max(inside - math.exp(epsilon) * stats.norm.sf(grid, scale=noise)))


@pytest.mark.parametrize("epsilon", [0.05, 0.2, 0.5])
def test_the_bounds_meet_for_one_draw(epsilon):
    one = replace(STEPS, steps=1)
    exact = exact_one_draw(one.n, one.noise, epsilon)
    low, _ = lower_delta(one, epsilon)
    assert low == pytest.approx(exact, rel=1e-6)
    assert exact <= upper_delta(one, epsilon) <= 1.01 * exact + 1e-9
    assert exact <= float(renyi_delta(one, Fraction(epsilon)))


@pytest.mark.parametrize(("batch", "noise"), [(4, 0.5), (4, 2.0), (10, 0.3)])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.5])
def test_the_bounds_meet_for_one_batch(batch, noise, epsilon):
    """How often the point is drawn stays hidden: one step's bound is that of the mixture, up to the grid."""
    one = SampledSteps(n=20, batch=batch, steps=1, noise=noise)
    low, high = lower_delta(one, epsilon)[0], upper_delta(one, epsilon)
    assert low <= high <= 1.01 * low + 1e-12


def test_a_small_delta_is_not_lost_in_rounding():
    """Bassily et al. 2019 at n = 10⁵, ε = 1 and δ = 1/n² = 10⁻¹⁰: half of the claim, with 12500 steps."""
    steps = SampledSteps(n=10**5, batch=448, steps=12_500, noise=0.015174271293851464)
    low, high = lower_delta(steps, 1.0)[0], upper_delta(steps, 1.0)
    assert 0.0 < low < high < 0.6e-10


@pytest.mark.parametrize(
    "steps", [replace(STEPS, batch=m, steps=t) for m, t in ((1, 1), (1, 30), (4, 1), (4, 30), (40, 30))]
)
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0])
def test_lower_bounds_lie_below_upper_ones(steps, epsilon):
    low, _ = lower_delta(steps, epsilon)
    assert low <= upper_delta(steps, epsilon)
    if steps.batch == 1:
        assert low <= float(renyi_delta(steps, Fraction(epsilon)))


def test_the_two_upper_bounds_agree_on_many_single_draws():
    steps = SampledSteps(n=100, batch=1, steps=10_000, noise=8.0)
    by_composition, by_renyi = upper_delta(steps, 1.0), float(renyi_delta(steps, Fraction(1)))
    assert lower_delta(steps, 1.0)[0] <= by_composition <= by_renyi <= 20.0 * by_composition


def test_the_renyi_moment_is_the_integral():
    """One step, order 8: the closed form is above the integral of ``r^α + r^{1−α} − 1 − r`` over r > 1, and near it."""
    q, mu, order = 0.05, 1.0, 8

    def excess(z):
        r = 1 + q * math.expm1(mu * z - mu * mu / 2)
        return (r**order + r ** (1 - order) - 1 - r) * stats.norm.pdf(z)

    exact = integrate.quad(excess, mu / 2, 20.0, limit=200)[0]
    epsilon = Fraction(1)
    one = SampledSteps(n=20, batch=1, steps=1, noise=2.0)
    with_order = math.log1p(exact) - (order - 1) * float(epsilon)
    wanted = math.exp(with_order) * (1 - 1 / order) ** (order - 1) / order
    found = float(renyi_delta(one, epsilon))
    assert found <= wanted * 1.05  # at order 8 or at a better one


def test_more_noise_is_more_private_and_more_steps_are_less():
    base = upper_delta(STEPS, 0.5)
    assert upper_delta(STEPS.scaled(1.2), 0.5) < base < upper_delta(replace(STEPS, steps=60), 0.5)
    assert lower_delta(STEPS.scaled(1.2), 0.5)[0] < lower_delta(STEPS, 0.5)[0]


def test_a_renyi_bound_is_for_single_draws():
    with pytest.raises(AssertionError, match="batch=2"):
        renyi_delta(replace(STEPS, batch=2), Fraction(1))


PRIVATE = [name for name, system in SYSTEMS.items() if system.is_private]


@pytest.mark.parametrize(
    "system",
    [
        pytest.param(name, marks=[pytest.mark.long] * (k % 3 > 0 and not name.startswith("algorithm")))
        for k, name in enumerate(PRIVATE)
    ],
)
def test_no_audit_accuses_a_system_at_its_claim(system):
    """Level 1e-10 each, so that all of them alarm falsely with probability below 3e-9."""
    found = audit_system(
        system=system, epsilon=1.0, delta=1e-6, alpha=1e-10, samples=400, seed=3, name=f"test/{system}"
    )
    assert not found.is_violated
    if system == "algorithm-1-printed":  # n ≥ 16 log(6/δ) and n ≤ 16 log(3/δ)/ε² exclude each other at ε = 1
        assert found.verdict is None
        assert "must be" in found.summary
    else:
        assert found.samples == 400
        assert sum(found.counts) > 0


class _QuietOutput(OutputPerturbation):
    """A third of the noise."""

    id = "quiet-output-perturbation"

    def sensitivity(self, task, n, budget):
        return super().sensitivity(task, n, budget) / 3.0


class _QuietPhases(PhasedSgd):
    """A third of the noise that is needed, a sixth of the source's."""

    id = "quiet-phased-sgd"
    noise_factor = PhasedSgd.noise_factor / 6.0


class _QuietIteration(IterationSgd):
    """A third of the noise."""

    id = "quiet-iteration-sgd"

    def noise(self, task):
        return super().noise(task) / 3.0


class _Unmatched(MinibatchSgd):
    """A third of the noise and the claim unchanged."""

    id = "quiet-minibatch-sgd"

    def __init__(self):
        super().__init__(noise_factor=1.0 / 3.0)


BROKEN = [
    (_QuietOutput(), setting_for("output-perturbation"), 20_000),
    (_QuietPhases(), setting_for("phased-sgd"), 20_000),
    (_QuietIteration(), replace(setting_for("iteration-sgd"), n=15, statistic=Statistic.FIRST), 100_000),
    (_Unmatched(), replace(setting_for("minibatch-sgd"), n=24), 20_000),
]


@pytest.mark.slow
@pytest.mark.parametrize(("system", "setting", "samples"), BROKEN, ids=lambda x: getattr(x, "id", None))
def test_a_third_of_the_noise_is_found(system, setting, samples):
    """The violations are of such a size that the audit misses them at this level with probability below 1e-9."""
    found = audit_implementation(
        system,
        budget=PrivacyBudget(1.0, 1e-6),
        setting=setting,
        alpha=1e-9,
        samples=samples,
        seed=0,
        name="broken",
    )
    assert found.is_violated, found.summary
    assert found.epsilon_lower >= found.order


def test_an_audit_is_repeatable_and_depends_on_its_name():
    arguments = {
        "system": "phased-sgd",
        "epsilon": 1.0,
        "delta": 1e-6,
        "alpha": 1e-9,
        "samples": 500,
        "seed": 0,
    }
    first = audit_system(**arguments, name="a")
    assert first == audit_system(**arguments, name="a")
    assert first.counts != audit_system(**arguments, name="b").counts or first != audit_system(
        **arguments, name="b"
    )


def test_what_cannot_be_audited_is_refused():
    arguments = {"epsilon": 1.0, "delta": 1e-6, "alpha": 1e-9, "samples": 500, "seed": 0, "name": "x"}
    with pytest.raises(InputError, match="system='none' is unknown"):
        audit_system(system="none", **arguments)
    with pytest.raises(InputError, match="claims no privacy"):
        audit_system(system="mirror-descent-euclidean", **arguments)


@pytest.mark.parametrize("system", PRIVATE)
def test_the_data_sets_of_an_audit_are_neighbours_within_the_task(system):
    setting = setting_for(system)
    first, second = setting.pair()
    assert first.shape == second.shape == (setting.n, first.shape[1])
    assert np.count_nonzero(np.any(first != second, axis=1)) == 1
    features = setting.task().loss.features(np.concatenate([first, second]))
    assert np.linalg.norm(features, axis=1).max() <= setting.task().data_radius
    assert str(setting.n) in setting.words


def test_a_setting_is_frozen():
    with pytest.raises(AttributeError):
        AuditSetting(n=3).n = 4


def test_an_upper_bound_is_shown_to_three_digits_rounded_up_and_not_beyond_what_it_shows():
    uppers = (4.899266541e-07, 4.899266333e-07, 9.9991e-07, 1.0001e-06, None)
    points = [Point(words="p", claimed=9.9995e-07, upper=upper) for upper in uppers]
    shown = [(row[3], row[4]) for row in table(points).rows]
    assert shown == [
        (4.9e-07, "holds"),
        (4.9e-07, "holds"),
        (9.9995e-07, "holds"),
        (1.01e-06, "open"),
        (None, "open"),
    ]


@pytest.mark.parametrize("loss", ["linear", "logistic"])
def test_audited_data_sets_differ_in_the_first_point_as_far_as_they_may(loss):
    setting = AuditSetting(n=3, dimension=2, others=-1.0, loss=loss)
    label = [1.0] if loss == "logistic" else []
    first, second = setting.pair()
    shared = [[-1.0, 0.0, *label]] * 2
    assert first.tolist() == [[1.0, 0.0, *label], *shared]
    assert second.tolist() == [[-1.0, 0.0, *label], *shared]
