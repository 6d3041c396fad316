"""The catalogue of systems, the plans, and what is left out of them."""

from __future__ import annotations

import numpy as np
import pytest

from dpsco_verify.choices import Profile
from dpsco_verify.comparison import comparison_units, plan_for
from dpsco_verify.comparison.measure import DesignPoint, measure_system
from dpsco_verify.comparison.plan import Study
from dpsco_verify.comparison.problems import PROBLEMS
from dpsco_verify.comparison.questions import noise_of_schedules, potentials_on_the_simplex
from dpsco_verify.comparison.systems import RATES, nominal_seconds
from dpsco_verify.errors import InputError
from dpsco_verify.evidence import CellState
from dpsco_verify.related import PrivacyBudget, System
from dpsco_verify.related.catalogue import SYSTEMS

pytestmark = pytest.mark.slow

BUDGET = PrivacyBudget(1.0, 1e-6)


def measured(system, places, **more):
    given = {
        "system": system,
        "problem": "linear-signs-5",
        "places": places,
        "delta": 1e-6,
        "runs": 5,
        "most_seconds": 1.0,
        "seed": 0,
    }
    return measure_system(**(given | more))


def test_every_system_has_its_words_and_its_rates():
    assert set(RATES) == set(SYSTEMS)
    for name, system in SYSTEMS.items():
        assert isinstance(system, System)
        assert system.id == name
        assert system.title
        assert system.source
        assert system.section
    titles = [system.title for system in SYSTEMS.values()]
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize("profile", list(Profile))
def test_each_profile_has_a_unit_for_every_system_on_every_problem(profile):
    plan = plan_for(profile.value)
    names = [unit.name for unit in comparison_units(plan, seed=0)]
    assert len(set(names)) == len(names) == len(plan.problems) * len(SYSTEMS) + 2


def test_standard_and_deep_have_every_problem_and_go_to_a_hundred_thousand_points():
    for profile in ("standard", "deep"):
        plan = plan_for(profile)
        assert set(plan.problems) == set(PROBLEMS)
        assert any(max(plan.sizes_of(problem)) == 100_000 for problem in plan.problems)
        assert (plan.epsilon, plan.delta) == (1.0, 1e-6)


def test_a_users_choice_takes_the_place_of_the_profiles():
    plan = plan_for("standard", problems=["hinge"], sizes=[64, 16], epsilons=[0.5, 2.0], delta=1e-5, runs=3)
    assert plan.problems == ("hinge",)
    assert plan.places("hinge") == (
        DesignPoint(n=16, epsilon=0.5),
        DesignPoint(n=64, epsilon=0.5),
        DesignPoint(n=64, epsilon=2.0),
    )
    assert (plan.delta, plan.runs) == (1e-5, 3)
    for chosen in ({"problems": ["hinge"]}, {"sizes": [64]}, {"epsilons": [2.0]}):
        own = plan_for("standard", **chosen)
        assert own.schedules is own.potentials is None
    assert plan_for("standard").schedules is not None
    assert plan_for("standard").potentials is not None
    assert len(comparison_units(plan, seed=0)) == len(SYSTEMS)


def test_one_epsilon_is_that_of_the_sweep_over_n():
    plan = plan_for("quick", epsilons=[2.0])
    assert {place.epsilon for place in plan.places("hinge")} == {2.0}


@pytest.mark.parametrize(
    "wrong",
    [
        {"problems": ["none"]},
        {"epsilons": [0.0]},
        {"sizes": [1]},
        {"runs": 1},
        {"most_seconds": float("nan")},
    ],
)
def test_what_cannot_be_compared_is_refused(wrong):
    with pytest.raises(InputError):
        plan_for("quick", **wrong)


def test_all_systems_see_the_same_samples_and_another_seed_gives_others(monkeypatch):
    seen = {}
    for name in ("phased-sgd", "iteration-sgd"):
        kind = type(SYSTEMS[name])
        original = kind._fit

        def keep(self, sample, *rest, original=original, **more):
            seen.setdefault(self.id, []).append(np.array(sample))
            return original(self, sample, *rest, **more)

        monkeypatch.setattr(kind, "_fit", keep)
        measured(name, (DesignPoint(n=40, epsilon=1.0), DesignPoint(n=40, epsilon=0.5)))
    first, second = seen["phased-sgd"], seen["iteration-sgd"]
    assert np.array_equal(first[0], second[0])
    # The same points for each ε too.
    assert np.array_equal(first[0], first[1])
    measured("phased-sgd", (DesignPoint(n=40, epsilon=1.0),), seed=1)
    assert not np.array_equal(first[0], seen["phased-sgd"][-1])


def test_large_samples_are_taken_in_parts(monkeypatch):
    """Three runs at a time instead of all five: the cells agree in shape, and every run is there."""
    from dpsco_verify.comparison import measure

    monkeypatch.setattr(measure, "_NUMBERS_AT_ONCE", 3 * 40 * 5)
    (cell,) = measured("phased-sgd", (DesignPoint(n=40, epsilon=1.0),))
    assert cell.state is CellState.MEASURED
    assert cell.excess.shape == (5,)
    assert np.unique(cell.excess).size == 5


def test_what_is_too_slow_is_left_out_without_a_clock():
    task = PROBLEMS["linear-signs-5"].task
    system = SYSTEMS["noisy-sgd-erm"]
    wanted = nominal_seconds(system, system.calibrate(task, 300, BUDGET), task, runs=5)
    place = (DesignPoint(n=300, epsilon=1.0),)
    (cell,) = measured("noisy-sgd-erm", place, most_seconds=0.99 * wanted)
    assert cell.state is CellState.TOO_SLOW
    assert cell.gradient_queries == 300**2 - 1
    assert "9e+04 gradient queries" in cell.reason


def test_a_condition_that_is_not_met_is_told():
    (cell,) = measured("phased-sgd", (DesignPoint(n=300, epsilon=1.0),), problem="hinge")
    assert cell.state is CellState.CONDITIONS
    assert "no Lipschitz gradient" in cell.reason


def test_excess_risk_counts_from_the_lower_bound():
    (cell,) = measured("mirror-descent-euclidean", (DesignPoint(n=500, epsilon=1.0),))
    problem = PROBLEMS["linear-signs-5"]
    assert (cell.excess >= 0.0).all()
    assert cell.excess.max() <= problem.population.lipschitz * problem.convex_set.diameter


def test_subsampling_needs_the_noise_of_algorithm_1_not_that_of_iteration():
    """Section 6: many times the noise of iteration, at n = 10,000, and more of it the larger n is against 4d/κ²."""
    study = Study(sizes=(10_000,), dimensions=(5, 20), epsilons=(1.0,))
    for d, _, _, subsampled, by_batch, iteration, ours in noise_of_schedules(study=study, delta=1e-6):
        assert iteration == d**-0.5
        assert min(subsampled, by_batch) > 5.0 * iteration
        assert min(subsampled, by_batch) > 0.9 * ours


def test_the_entropic_potential_wins_where_d_is_large_and_its_bound_says_so():
    study = Study(sizes=(3000,), dimensions=(256,), epsilons=(20.0,))
    ((*_, risk, _, _, bound, other_risk, _, _, other_bound),) = potentials_on_the_simplex(
        study=study, delta=1e-6, runs=4, seed=0
    )
    assert other_bound < 0.5 * bound
    assert other_risk < risk
    assert risk <= bound
    assert other_risk <= other_bound
