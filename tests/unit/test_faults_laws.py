"""The exact laws of the museum's mechanisms, against closed forms, enumeration and second ways to compute them."""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest
from scipy import integrate

from dpsco_verify.errors import InputError
from dpsco_verify.faults import laws
from dpsco_verify.faults.exhibits.selection import opposed
from dpsco_verify.faults.mechanisms.additive import gaussian_sigma
from dpsco_verify.faults.mechanisms.selection import ExponentialMechanism, NoisyMax, PermuteAndFlip
from dpsco_verify.faults.mechanisms.sparse_vector import SparseVector, algorithm

COUNTS = np.array([[1, 0, 1, 1], [1, 0, 0, 1], [1, 0, 0, 0]])  # counts 3, 0, 1, 2


def law_epsilon(first, second):
    """Return the largest ``|log P(x)/P'(x)|`` of two discrete laws: ε at δ = 0."""
    return max(
        math.inf if min(p, q) == 0.0 else abs(math.log(p / q))
        for p, q in ((first.get(x, 0.0), second.get(x, 0.0)) for x in {*first, *second})
        if max(p, q) > 0.0
    )


def row(*counts):
    """Return a data set of one record with these counts."""
    return np.array([counts], dtype=np.int64)


def test_the_threshold_row_has_the_numbers_that_were_reported():
    assert laws.discrete_laplace_tail(4, scale=1.0) == pytest.approx(0.013390, abs=5e-7)
    assert laws.discrete_laplace_tail(5, scale=1.0) == pytest.approx(0.004926, abs=5e-7)


@pytest.mark.parametrize("z", [-3, 0, 1, 4])
def test_the_tail_of_discrete_laplace_is_the_sum_of_its_law(z):
    law = laws.discrete_laplace_law(0, scale=1.7)
    assert math.fsum(law.values()) == pytest.approx(1.0, abs=1e-15)
    tail = math.fsum(p for value, p in law.items() if value >= z)
    assert laws.discrete_laplace_tail(z, scale=1.7) == pytest.approx(tail, rel=1e-13)


def test_laplace_delta_is_the_integral_of_the_positive_part():
    for true_epsilon in (0.5, 1.1, 2.0):

        def gap(x, s=true_epsilon):
            return s / 2 * max(math.exp(-s * abs(x)) - math.e * math.exp(-s * abs(x - 1.0)), 0.0)

        integral = integrate.quad(gap, -40, 40, points=[0.0, 1.0], limit=400)[0]
        assert laws.laplace_delta(1.0, true_epsilon=true_epsilon) == pytest.approx(integral, abs=1e-7)


def test_delta_and_epsilon_of_laws():
    first, second = {"a": 0.7, "b": 0.3}, {"a": 0.2, "b": 0.8}
    assert laws.law_delta(first, second, 0.0) == pytest.approx(0.5)
    assert laws.law_delta(first, second, math.log(2)) == pytest.approx(
        0.3
    )  # by a; the other way round, b gives 0.2
    assert law_epsilon(first, second) == pytest.approx(math.log(3.5))
    assert law_epsilon({"a": 1.0}, {"a": 0.5, "b": 0.5}) == math.inf
    assert laws.law_delta({"a": 1.0}, {"b": 1.0}, 5.0) == 1.0


def test_permute_and_flip_against_all_orders():
    mechanism = PermuteAndFlip(epsilon=1.3)
    counts = COUNTS.sum(axis=0)
    heads = np.exp(0.65 * (counts - counts.max()))
    expected = np.zeros(4)
    for order in itertools.permutations(range(4)):
        left = 1.0
        for place in order:
            expected[place] += left * heads[place] / 24
            left *= 1.0 - heads[place]
    law = laws.permute_and_flip_law(mechanism, COUNTS)
    assert [law[i] for i in range(4)] == pytest.approx(expected.tolist(), rel=1e-12)


def test_permute_and_flip_meets_its_claim_exactly():
    pair = [np.vstack([COUNTS[:, :3], last]) for last in ([1, 0, 0], [0, 1, 1])]
    epsilon = law_epsilon(*(laws.permute_and_flip_law(PermuteAndFlip(epsilon=1.0), d) for d in pair))
    assert epsilon <= 1.0 + 1e-12


def test_the_exponential_law():
    law = laws.exponential_law(ExponentialMechanism(epsilon=2.0), row(1, 0))
    assert law[0] == pytest.approx(math.e / (1 + math.e), rel=1e-14)
    assert law[0] + law[1] == pytest.approx(1.0, rel=1e-15)


@pytest.mark.parametrize("gap", [0, 1, 3])
def test_noisy_max_of_two_against_the_law_of_a_difference(gap):
    # The difference of two Laplace variables of scale b exceeds t with probability e^{-t/b} (1/2 + t/(4b)).
    law = laws.noisy_max_law(NoisyMax(epsilon=1.6, with_value=False), row(gap, 0))
    t = gap * 0.8
    assert law[1] == pytest.approx(math.exp(-t) * (0.5 + t / 4), rel=1e-12)
    assert law[0] + law[1] == pytest.approx(1.0, rel=1e-13)


def test_the_densities_of_noisy_max_integrate_to_its_law():
    mechanism = NoisyMax(epsilon=0.7, with_value=True)
    v, weights = laws.quadrature([0.0, 1.0, 2.0, 3.0], scale=2 / 0.7)
    mass = weights @ laws.noisy_max_densities(mechanism, COUNTS, v)
    law = laws.noisy_max_law(NoisyMax(epsilon=0.7, with_value=False), COUNTS)
    assert mass.tolist() == pytest.approx([law[i] for i in range(4)], rel=1e-11)


def test_the_value_of_noisy_max_costs_half_of_epsilon_a_query():
    mechanism = NoisyMax(epsilon=0.7, with_value=True)
    low, high = np.zeros((1, 5), dtype=np.int64), np.ones((1, 5), dtype=np.int64)
    v = np.array([-30.0])
    ratio = laws.noisy_max_densities(mechanism, low, v) / laws.noisy_max_densities(mechanism, high, v)
    assert np.log(ratio[0]).tolist() == pytest.approx([1.75] * 5, rel=1e-10)
    # The event that the maximum is negative bounds δ from below: 2^-5 against (e^{-0.35}/2)^5.
    bound = 0.5**5 - math.exp(0.7) * (0.5 * math.exp(-0.35)) ** 5
    delta = laws.noisy_max_value_delta(mechanism, low, high, 0.7)
    assert bound < delta < 0.1
    assert laws.noisy_max_value_delta(mechanism, low, high, 1.75) < 1e-9


@pytest.mark.parametrize("number", [1, 2, 4, 5, 6])
def test_the_laws_of_the_sparse_vector_technique_sum_to_one(number):
    mechanism = algorithm(number, epsilon=1.0, cutoff=2, threshold=1.0)
    assert math.fsum(laws.sparse_vector_law(mechanism, COUNTS).values()) == pytest.approx(1.0, abs=1e-13)


def test_one_query_against_the_law_of_a_difference():
    # ν − ρ for Laplace scales a ≠ b exceeds t > 0 with probability (a² e^{-t/a} − b² e^{-t/b})/(2(a² − b²)).
    mechanism = algorithm(4, epsilon=1.0, cutoff=1, threshold=3.0)
    a, b, t = 4.0 / 3.0, 4.0, 3.0
    above = (a**2 * math.exp(-t / a) - b**2 * math.exp(-t / b)) / (2 * (a**2 - b**2))
    law = laws.sparse_vector_law(mechanism, row(0))
    assert law[1,] == pytest.approx(above, rel=1e-12)


def test_algorithm_5_in_closed_form():
    mechanism = algorithm(5, epsilon=1.0, cutoff=1, threshold=1.0)
    first, second = (laws.sparse_vector_law(mechanism, d) for d in (row(0, 1), row(1, 0)))
    # Below on 0 and above on 1 means −1 < ρ ≤ 0 for ρ of scale 2.
    assert first[0, 1] == pytest.approx(-0.5 * math.expm1(-0.5), rel=1e-12)
    assert second[0, 1] == 0.0
    assert law_epsilon(first, second) == math.inf


def test_algorithms_1_and_2_are_one_when_they_stop_at_the_first():
    one, two = (algorithm(number, epsilon=1.0, cutoff=1, threshold=1.0) for number in (1, 2))
    first, second = laws.sparse_vector_law(one, COUNTS), laws.sparse_vector_law(two, COUNTS)
    assert first.keys() == second.keys()
    assert all(first[x] == pytest.approx(second[x], rel=1e-11) for x in first)


def test_a_refreshed_threshold_makes_stretches_independent():
    mechanism = algorithm(2, epsilon=1.0, cutoff=2, threshold=1.0)
    law = laws.sparse_vector_law(mechanism, row(0, 1, 0, 1))
    stretch = SparseVector(
        threshold=1.0, threshold_scale=mechanism.threshold_scale, query_scale=mechanism.query_scale, cutoff=1
    )
    first = laws.sparse_vector_law(stretch, row(0, 1))[0, 1]
    assert law[0, 1, 0, 1] == pytest.approx(first**2, rel=1e-11)


@pytest.mark.parametrize("first", [[0, 1], [0] * 6 + [1], [0, 0, 0, 1, 0, 0, 0, 1], [1, 0, 0, 1]])
@pytest.mark.parametrize("threshold", [-1.0, 0.0, 2.0])
def test_the_variants_keep_what_is_true_of_them(first, threshold):
    pair = opposed(first)

    def epsilon(number, cutoff):
        mechanism = algorithm(number, epsilon=1.0, cutoff=cutoff, threshold=threshold)
        return law_epsilon(*(laws.sparse_vector_law(mechanism, data) for data in pair))

    for cutoff in (1, 2):
        assert epsilon(1, cutoff) <= 1.0 + 1e-9
        assert epsilon(2, cutoff) <= 1.0 + 1e-9
        assert epsilon(4, cutoff) <= (1 + 6 * cutoff) / 4 + 1e-9
    assert epsilon(5, 1) == math.inf


def test_algorithms_4_and_6_break_their_claim_and_6_without_bound():
    four = algorithm(4, epsilon=1.0, cutoff=2, threshold=1.0)
    pair = opposed([0] * 5 + [1] * 5)
    assert 2.5 < law_epsilon(*(laws.sparse_vector_law(four, d) for d in pair)) < 3.25
    six = algorithm(6, epsilon=1.0, cutoff=1, threshold=1.0)
    losses = [
        law_epsilon(*(laws.sparse_vector_law(six, d) for d in opposed([0] * h + [1] * h)))
        for h in (1, 2, 3, 4)
    ]
    # Each half of a pair of queries adds at least ε/2, as in Lyu, Su and Li's proof for their Algorithm 6.
    assert all(later - earlier > 0.5 for earlier, later in itertools.pairwise(losses))


def test_the_densities_of_values_integrate_to_the_law_of_answers():
    numeric = algorithm(3, epsilon=1.0, cutoff=1, threshold=1.0)
    silent = SparseVector(threshold=1.0, threshold_scale=2.0, query_scale=2.0, cutoff=1)
    data = row(0, 2, 1)
    rho, weights = laws.quadrature([-1.0, 1.0, 0.0], scale=2.0)
    mass = weights @ laws.numeric_sparse_vector_densities(numeric, data, rho, weights)
    law = laws.sparse_vector_law(silent, data)
    answers = [(1, -1, -1), (0, 1, -1), (0, 0, 1)]
    assert mass.tolist() == pytest.approx([law[x] for x in answers], rel=1e-12)


def test_a_running_integral():
    x, weights = laws.quadrature([1.0, 2.5], scale=1.0)
    values = np.stack([laws.laplace_density(x, 1.0), laws.laplace_density(x - 2.5, 1.0)], axis=1)
    integrals = laws.running_integral(values, weights)
    expected = np.stack([laws.laplace_below(x, 1.0), laws.laplace_below(x - 2.5, 1.0)], axis=1)
    assert integrals == pytest.approx(expected, abs=1e-14)


def test_the_delta_of_algorithm_3_is_that_of_its_likelihood_ratio():
    # A half-line on the last value is one event, so δ is at least what it shows, computed by a quadrature of its own.
    mechanism = algorithm(3, epsilon=1.0, cutoff=1, threshold=1.0)
    pair = opposed([0] * 5 + [1])
    delta = laws.numeric_sparse_vector_delta(mechanism, *pair, 1.0)

    def below(x):
        return 0.5 * math.exp(x / 2) if x < 0 else 1 - 0.5 * math.exp(-x / 2)

    def probability(low, last, t):
        """Return the chance that five queries at `low` are below and one at `last` is answered by less than t."""

        def integrand(rho):
            inside = max(below(t - last) - below(1 + rho - last), 0.0)
            return math.exp(-abs(rho) / 2) / 4 * below(1 + rho - low) ** 5 * inside

        return integrate.quad(integrand, -80, t - 1, points=[-1.0, 0.0, 1.0], limit=300)[0]

    shown = probability(0, 1, 3.5) - math.e * probability(1, 0, 3.5)
    assert 0.012 < shown < delta < 0.03


def test_a_finer_quadrature_changes_nothing():
    v, weights = laws.quadrature([0.0, 1.0], scale=2.0)
    fine_v, fine_weights = laws.quadrature([0.0, 1.0], scale=2.0, cells=3)

    def integral(x, w):
        return float(w @ (laws.laplace_density(x, 2.0) * laws.laplace_below(x - 1.0, 2.0)))

    assert integral(v, weights) == pytest.approx(integral(fine_v, fine_weights), rel=1e-13)


def test_the_analytic_calibration_against_bisection_in_thirty_digits():
    with mpmath.workdps(30):

        def delta(sigma):
            mu = 1 / sigma
            first, second = mu / 2 - 1 / mu, -mu / 2 - 1 / mu
            return mpmath.ncdf(first) - mpmath.e * mpmath.ncdf(second)

        sigma = mpmath.mpf(gaussian_sigma(1.0, 1e-5))
        assert delta(sigma) <= mpmath.mpf("1e-5")
        assert delta(sigma * (1 - mpmath.mpf("1e-10"))) > mpmath.mpf("1e-5")
    assert gaussian_sigma(1.0, 1e-5, sensitivity=3.0) == pytest.approx(3 * gaussian_sigma(1.0, 1e-5))


def test_there_are_six_algorithms():
    with pytest.raises(InputError, match="number=7 is not an algorithm"):
        algorithm(7, epsilon=1.0, cutoff=1, threshold=0.0)
