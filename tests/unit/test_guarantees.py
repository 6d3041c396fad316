"""The guarantees in one call each: verdicts, figures, bad input."""

import math
import time

import numpy as np
import pytest
from scipy.stats import binom

from dpsco_verify.auditing import AuditVerdict
from dpsco_verify.auditing.mechanism import MechanismError
from dpsco_verify.errors import InputError
from dpsco_verify.guarantees import (
    FunctionError,
    equal_law,
    mean_at_least,
    mean_at_most,
    quantile_at_most,
    rate,
    ratio_at_most,
    tail_at_most,
)
from dpsco_verify.guarantees.tails import quantile_lower_bound, tail_log_e_value, tail_mdv
from dpsco_verify.inference.unbounded_mean import Spread, UnboundedMeanTest

PASS, FAIL, OPEN = AuditVerdict.NOT_VIOLATED, AuditVerdict.VIOLATED, AuditVerdict.UNDECIDED


def uniform(size, rng):
    return rng.random(size)


def normal(size, rng):
    return rng.standard_normal(size)


def power_law(a):
    return lambda n, size, rng: rng.random(size) * n**a


BOUNDS = {10: 10**-0.5, 100: 100**-0.5}
CALLS = {
    "mean at most": lambda off: mean_at_most(uniform, 0.5 - off, low=0, high=1, samples=3000),
    "mean at least": lambda off: mean_at_least(uniform, 0.5 + off, low=0, high=1, samples=3000),
    "mean, deviation": lambda off: mean_at_most(normal, -2 * off, standard_deviation=1.0, samples=3000),
    "mean, tail": lambda off: mean_at_least(normal, 2 * off, sub_gaussian=1.0, samples=3000),
    "tail": lambda off: tail_at_most(uniform, 0.9, 0.1 - off / 3, samples=3000),
    "quantile": lambda off: quantile_at_most(uniform, 0.9, 0.9 - off / 2, samples=3000),
    "rate": lambda off: rate(power_law(-0.5), [10, 20, 100], -0.5 - off, high=1.0, samples=3000),
    "ratio": lambda off: ratio_at_most(power_law(-0.5), BOUNDS, 0.5 - off, high=1.0, samples=3000),
    "law": lambda off: equal_law(normal, lambda size, rng: normal(size, rng) + 4 * off, samples=3000),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "call",
    [
        pytest.param(CALLS[one], marks=[pytest.mark.long] * (one in {"mean at least", "ratio"}), id=one)
        for one in CALLS
    ],
)
def test_a_true_claim_stands_and_a_false_one_falls_with_what_was_seen(call):
    right, wrong = call(0.0), call(0.1)
    assert right.verdict is PASS
    assert right.counterexample is None
    assert right.mdv > 0.0
    assert "would have been found with probability 0.9" in right.summary
    assert wrong.verdict is FAIL
    assert wrong.counterexample in wrong.summary
    assert wrong.p_value <= wrong.alpha == 1e-6
    assert wrong.mdv is None
    assert wrong.reproduce() == wrong
    assert wrong.call.startswith(wrong.kind)


@pytest.mark.slow
def test_the_undecided_say_so():
    few = {"samples": 60, "violation_of_interest": 0.01}
    for result in (
        mean_at_most(uniform, 0.5, low=0, high=1, **few),
        mean_at_most(normal, 0.0, standard_deviation=1.0, **few),
        tail_at_most(uniform, 0.9, 0.1, **few),
        rate(power_law(-0.5), [10, 100], -0.5, high=1.0, **few),
        ratio_at_most(power_law(-0.5), BOUNDS, 0.5, high=1.0, **few),
        equal_law(uniform, uniform, samples=100, violation_of_interest=0.01),
    ):
        assert result.verdict is OPEN
        assert "undecided" in result.summary


def test_never_is_refuted_by_one_occurrence():
    assert tail_at_most(uniform, 1.0, 0.0).verdict is PASS
    assert tail_at_most(uniform, 0.99, 0.0, samples=2000).verdict is FAIL
    assert tail_mdv(100, 0.0, 1e-6) == pytest.approx(1 - 0.1 ** (1 / 100))


def test_infinite_stopping_times_are_observations():
    result = tail_at_most(lambda size, rng: np.full(size, math.inf), 10.0, 0.5, samples=100)
    assert result.verdict is FAIL


@pytest.mark.parametrize(("p", "q"), [(0.1, 0.1), (0.1, 0.05), (0.9, 0.9), (1e-4, 1e-4), (0.0, 0.0)])
@pytest.mark.parametrize("samples", [5, 300])
def test_the_e_value_of_a_tail_has_mean_one_at_the_bound_and_less_below(p, q, samples):
    mdv = tail_mdv(samples, p, 0.05)
    k = np.arange(samples + 1)
    seen = k[binom.pmf(k, samples, q) > 0]
    values = np.exp([tail_log_e_value(int(one), samples, p, mdv) for one in seen])
    mean = float(binom.pmf(seen, samples, q) @ values)
    assert mean <= 1.0 + 1e-9
    if p == q > 0.0:
        assert mean == pytest.approx(1.0, rel=1e-9)


def test_a_tail_s_e_value_grows_with_the_evidence():
    found = [
        tail_at_most(uniform, 0.9, claimed, samples=3000).log_e_value for claimed in (0.3, 0.1, 0.05, 0.0)
    ]
    assert found == sorted(found)
    assert found[0] < 0.0 < found[2]
    assert found[3] == math.inf


def test_the_quantile_bound_is_an_order_statistic_of_its_level():
    values = np.arange(100.0)
    # P(Bin(100, 0.9) ≤ 80) = 0.0021 and P(Bin(100, 0.9) ≤ 81) = 0.0046.
    assert quantile_lower_bound(values, 0.9, 0.003) == 80.0
    assert quantile_lower_bound(values, 0.9, 1e-200) == -math.inf


@pytest.mark.parametrize("spread", Spread)
def test_factors_of_the_unbounded_tests_have_mean_at_most_one(spread):
    # Symmetric two-point law of deviation 1; it is 1-sub-Gaussian too (Hoeffding's lemma).
    test = UnboundedMeanTest(bound=3.0, scale=2.0, spread=spread, alpha=0.1)
    means = np.exp(test.log_factors(np.array([1.0, 5.0]))).mean(axis=1)
    assert (means <= 1.0 + 1e-12).all()
    assert np.exp(test.log_factors(np.array([5.0]))).max() > 1.5
    if spread is Spread.STANDARD_DEVIATION:
        x = 2.0 * 1e160 + 3.0
        both = test.log_factors(np.array([x, 6.0 - x]))
        assert np.isfinite(both).all()
        # log(1 + y + y²/2) against arbitrary precision, at the largest bet λσ = 2.
        assert both[-1, 0] == pytest.approx(2 * math.log(2e160) - math.log(2) - math.log1p(2.0), rel=1e-14)


@pytest.mark.slow
def test_the_exponent_is_bounded_from_both_sides():
    result = rate(power_law(-0.7), [10, 20, 50, 100], 0.0, high=1.0, alpha=0.01)
    low, high = result.figures["exponent_lower_bound"], result.figures["exponent_upper_bound"]
    assert -0.75 < low < -0.7 < high < -0.65
    # The end of the interval is the smallest exponent that is not rejected.
    for claimed, verdict in ((low + 1e-6, PASS), (low - 1e-6, FAIL)):
        assert rate(power_law(-0.7), [10, 20, 50, 100], claimed, high=1.0, alpha=0.01).verdict is verdict


@pytest.mark.slow
def test_the_least_constant_is_below_the_true_one_and_near():
    result = ratio_at_most(power_law(-0.5), BOUNDS, 2.0, high=1.0, alpha=0.01)
    assert 0.48 < result.figures["constant_lower_bound"] < 0.5


@pytest.mark.slow
@pytest.mark.parametrize("cases", [(0.2, 0.8), pytest.param((0.8, 0.2), marks=pytest.mark.long)])
def test_the_least_constant_is_that_of_the_worst_case(cases):
    """The mean is half the case, and the laws are drawn from a fixed seed."""
    bounds = dict.fromkeys(cases, 1.0)
    result = ratio_at_most(
        lambda most, size, rng: most * rng.random(size), bounds, 0.9, high=1.0, samples=2000
    )
    assert 0.35 < result.figures["constant_lower_bound"] < 0.4
    assert "(at 0.8)" in result.seen


@pytest.mark.slow
def test_vectors_strings_and_counts_have_laws():
    def correlated(size, rng):
        x = rng.standard_normal((size, 2))
        x[:, 1] += 0.8 * x[:, 0]
        return x / [1, 1.64**0.5]

    assert equal_law(lambda size, rng: rng.standard_normal((size, 2)), correlated).verdict is FAIL
    words = lambda p: lambda size, rng: rng.choice(["yes", "no"], size, p=[p, 1 - p]).tolist()  # noqa: E731  a family of laws in a line
    assert equal_law(words(0.5), words(0.5)).verdict is PASS
    assert equal_law(words(0.5), words(0.6)).verdict is FAIL


def stuck(size, rng):
    time.sleep(30)


BAD = {
    "returned an array of shape \\(3,\\)": lambda size, rng: np.zeros(3),
    "returned nan": lambda size, rng: np.full(size, np.nan),
    "returned inf": lambda size, rng: np.full(size, np.inf),
    "returned a value of type str": lambda size, rng: "many",
    "raised ZeroDivisionError": lambda size, rng: 1 / 0,
    "did not return within time_limit=0.05": stuck,
    "ignores the rng: two calls with generators in the same state": lambda size, rng: (
        np.random.default_rng().random(size)
    ),
    "returned the same varied": lambda size, rng: np.linspace(0, 1, size),
    "outside of \\[0.0, 1.0\\]": lambda size, rng: 2.0 + rng.random(size),
}


@pytest.mark.parametrize("said", BAD)
def test_bad_functions_are_one_sentence(said):
    with pytest.raises(FunctionError, match=said) as error:
        mean_at_most(BAD[said], 0.5, low=0, high=1, samples=100, time_limit=0.05)
    assert "\n" not in str(error.value)
    assert "; " in str(error.value)


@pytest.mark.slow
@pytest.mark.parametrize("name", [None, "mine"])
def test_a_result_has_the_name_of_its_function_unless_another_is_given(name):
    def own(size, rng):
        return rng.random(size)

    def other(size, rng):
        return rng.random(size)

    def at(case, size, rng):
        return rng.random(size)

    few = {"samples": 200, "name": name}
    results = (
        mean_at_most(own, 0.9, low=0, high=1, **few),
        tail_at_most(own, 0.9, 0.9, **few),
        quantile_at_most(own, 0.5, 0.9, **few),
        equal_law(own, other, **few),
        rate(at, [10, 20], 1.0, high=1.0, **few),
        ratio_at_most(at, {1: 1.0}, 0.9, high=1.0, **few),
    )
    names = [result.name.rpartition(".")[2] for result in results]
    assert all(0.0 < result.p_value <= 1.0 for result in results)
    assert names == ([name] * 6 if name else ["own", "own", "own", "own and other", "at", "at"])


def test_bad_arguments_are_refused():
    for match, call in {
        "do not say one thing": lambda: mean_at_most(uniform, 0.5),
        "do not bound": lambda: mean_at_most(uniform, 0.5, low=0),
        "leaves nothing to test": lambda: mean_at_most(uniform, 1.0, low=0, high=1),
        "bound=0.0 leaves nothing to test": lambda: mean_at_least(uniform, 0.0, low=0, high=1),
        "bound=1.0 leaves nothing to test": lambda: mean_at_least(uniform, 1.0, low=0, high=1),
        "bound=nan": lambda: mean_at_most(uniform, math.nan, low=0, high=1),
        "standard_deviation=-1": lambda: mean_at_most(uniform, 0.5, standard_deviation=-1),
        "alpha=0 ": lambda: mean_at_most(uniform, 0.5, low=0, high=1, alpha=0),
        "not callable": lambda: mean_at_most(3, 0.5, low=0, high=1),
        "probability=1 holds": lambda: tail_at_most(uniform, 1.0, 1),
        "probability=-0.1": lambda: tail_at_most(uniform, 1.0, -0.1),
        "level=1 ": lambda: quantile_at_most(uniform, 1, 1.0),
        "do not increase": lambda: rate(power_law(1), [10, 5], -1, high=1),
        "exponent=inf": lambda: rate(power_law(1), [5, 10], math.inf, high=1),
        "constant=0 ": lambda: ratio_at_most(power_law(1), BOUNDS, 0, high=1),
        "leaves nothing to test for": lambda: ratio_at_most(power_law(1), {1: 1.0}, 2, high=1),
        "is not above low=0.5": lambda: ratio_at_most(power_law(1), {1: 0.1, 2: 0.3}, 2, low=0.5, high=1),
        "bounds={} holds no bound": lambda: ratio_at_most(power_law(1), {}, 2, high=1),
        "second=3 is not callable": lambda: equal_law(uniform, 3),
    }.items():
        with pytest.raises(InputError, match=match):
            call()
    with pytest.raises(MechanismError, match="raised"):
        equal_law(lambda size, rng: 1 / 0, lambda size, rng: 1 / 0)


@pytest.mark.slow
def test_a_function_that_raises_has_another_law():
    result = equal_law(uniform, lambda size, rng: 1 / 0, samples=1000)
    assert result.verdict is FAIL
    assert "exception (ZeroDivisionError)" in result.counterexample


@pytest.mark.slow
def test_a_result_has_no_truth_value():
    with pytest.raises(TypeError, match="result.verdict"):
        assert mean_at_most(uniform, 0.5, low=0, high=1, samples=100)


@pytest.mark.slow
def test_the_mdv_of_one_law_has_room_for_the_choice_among_parts():
    """The same numbers, alone and as vectors of one: the latter's events are chosen among more."""

    def line(size, rng):
        return rng.standard_normal(size)

    def column(size, rng):
        return rng.standard_normal((size, 1))

    def single(size, rng):
        return [(x,) for x in rng.standard_normal(size)]

    alone, vectors, tuples = (equal_law(f, f, samples=2000, seed=1) for f in (line, column, single))
    # Half a standard error of the difference of two frequencies, of an event that is about as frequent as not.
    room = 0.5 * math.sqrt(0.5 / 1333)
    assert alone.mdv + 0.5 * room < vectors.mdv < alone.mdv + 1.5 * room
    assert alone.mdv + 0.5 * room < tuples.mdv < alone.mdv + 1.5 * room
