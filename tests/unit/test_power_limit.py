"""The power that no test exceeds: held to exact binomial tests, and the zoo's laws to its mechanisms."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from benchmarks.power_limit import Law, least_favourable, most_power, samples_for
from benchmarks.zoo_cases import SNIPER
from benchmarks.zoo_laws import LAWS

CASES = {case.name: case for case in SNIPER}


def response(epsilon):
    p = 1.0 / (1.0 + math.exp(-epsilon))
    return Law.discrete(np.array([p, 1.0 - p]), np.array([1.0 - p, p]))


def exact_power(true, claim, n, alpha):
    """The most powerful test of randomised response: by how many of 2n answers are right, at random on the edge."""
    p, p0 = (1.0 / (1.0 + math.exp(-e)) for e in (true, claim))
    k = int(binom.isf(alpha, 2 * n, p0))
    part = (alpha - binom.sf(k, 2 * n, p0)) / binom.pmf(k, 2 * n, p0)
    return binom.sf(k, 2 * n, p) + part * binom.pmf(k, 2 * n, p)


@pytest.mark.parametrize(("n", "alpha"), [(300, 0.05), (3_000, 1e-6), (12_000, 1e-6)])
@pytest.mark.parametrize("true", [0.1, 0.25])
def test_the_limit_is_that_of_the_most_powerful_test(true, n, alpha):
    law, claim = response(true), 0.5 * true
    p, q = least_favourable(law, claim)
    np.testing.assert_allclose([p[0], q[1]], 1.0 / (1.0 + math.exp(-claim)), rtol=1e-12)
    exact = exact_power(true, claim, n, alpha)
    found = most_power(law, claim, n, alpha)
    # The grid costs a little, and never gives.
    assert exact * (1.0 - 1e-9) <= found <= exact * 1.01 + 1e-9


@pytest.mark.slow
def test_the_number_of_outputs_is_where_the_power_is():
    n = samples_for(response(0.25), 0.125, 1e-6, power=0.5)
    assert (
        exact_power(0.25, 0.125, round(0.98 * n), 1e-6)
        < 0.5
        < exact_power(0.25, 0.125, round(1.02 * n), 1e-6)
    )


@pytest.mark.parametrize("name", LAWS)
def test_each_pair_of_the_zoo_has_its_epsilon_and_a_null_pair_within_the_claim(name):
    law, claim = LAWS[name](), 0.5 * CASES[name].true
    np.testing.assert_allclose([law.p.sum(), law.q.sum()], 1.0, rtol=0, atol=1e-13)
    ratio = np.log(law.p / law.q)
    assert (law.low - 1e-12 <= ratio).all()
    assert (ratio <= law.high + 1e-12).all()
    assert max(ratio.max(), -ratio.min()) <= CASES[name].true * (1.0 + 1e-9)
    p, q = least_favourable(law, claim)
    np.testing.assert_allclose([p.sum(), q.sum()], 1.0, rtol=0, atol=1e-12)
    shift = np.log(p / q) - ratio
    assert (shift + law.high).max() <= claim + 1e-9
    assert (shift + law.low).min() >= -claim - 1e-9


def first_above(outputs):
    return np.where((outputs == 1).any(axis=1), (outputs == 1).argmax(axis=1), outputs.shape[1])


def set_bits(outputs):
    return 5 * outputs[:, :4].sum(axis=1) + outputs[:, 4:8].sum(axis=1)


CELLS = {
    "truncated geometric": lambda outputs: outputs,
    "arg max, Laplace": lambda outputs: outputs,
    "arg max, exponential": lambda outputs: outputs,
    "sparse vector 1": first_above,
    "sparse vector 2": first_above,
    "sparse vector 4": first_above,
    "RAPPOR": set_bits,
    "RAPPOR, permanent step": set_bits,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CELLS)
def test_the_laws_are_the_mechanisms(name):
    # Seeded. By Bernstein's inequality each frequency is within its bound but for a chance of 2e-9, of 226 in all.
    law, case, n = LAWS[name](), CASES[name], 20_000
    for side, masses in enumerate((law.p, law.q)):
        outputs = np.asarray(case.mechanism(case.pair[side], n, np.random.default_rng(side)))
        seen = np.bincount(CELLS[name](outputs), minlength=masses.size) / n
        assert seen.size == masses.size
        far = math.log(1e9) / n
        assert (np.abs(seen - masses) <= np.sqrt(2.0 * masses * (1.0 - masses) * far) + far).all()


@pytest.mark.long
def test_half_of_epsilon_is_within_reach_of_eleven_of_fifteen_at_a_million_and_of_one_at_ten_thousand():
    few, many = (
        [most_power(LAWS[name](), 0.5 * CASES[name].true, n, 1e-6) for name in LAWS]
        for n in (10_000, 1_000_000)
    )
    assert (sum(power >= 0.5 for power in few), sum(power >= 0.5 for power in many)) == (1, 11)
    assert sum(few) < 2.0
    assert sum(many) < 12.0
