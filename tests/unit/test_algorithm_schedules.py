"""Step sizes, noise scales and side conditions of the theorems."""

from __future__ import annotations

import math
import re

import pytest

from dpsco_verify.algorithm import (
    composition_sigma,
    main_schedule,
    single_step_sigma,
    translated_schedule,
    utility_bound,
    utility_step_size,
)
from dpsco_verify.errors import InputError, RegimeError

MAIN = {
    "n": 100,
    "dimension": 4,
    "diameter": 2.0,
    "lipschitz": 3.0,
    "epsilon": 0.05,
    "delta": math.exp(-9),
    "delta_prime": math.exp(-4),
}


def test_formulas():
    assert single_step_sigma(lipschitz=2.0, epsilon_tilde=0.5, delta=math.exp(-3)) == pytest.approx(12.0)
    assert utility_step_size(diameter=2.0, lipschitz=1.0, sigma=3.0, n=25, dimension=4) == pytest.approx(
        2 / 35
    )
    assert utility_bound(diameter=2.0, lipschitz=1.0, sigma=3.0, n=25, dimension=4) == pytest.approx(7.0)
    schedule = main_schedule(**MAIN)
    assert schedule.sigma == pytest.approx(8 * 3 * 3 / (10 * 0.05))
    assert schedule.privacy.epsilon == pytest.approx(4 * 0.05 * 4)
    assert schedule.privacy.delta == pytest.approx(math.exp(-9) + math.exp(-4) + 2 * math.exp(-100 / 16))
    assert schedule.risk_bound == pytest.approx(5 * 6 / 10 + 20 * 6 * 2 * 3 / (0.05 * 100))


def test_the_translation_is_the_main_theorem_in_other_letters():
    delta_bar, n = 3 * math.exp(-9), 1000
    schedule = translated_schedule(
        n=n, dimension=4, diameter=2.0, lipschitz=3.0, epsilon=0.3, delta=delta_bar
    )
    main = main_schedule(
        n=n,
        dimension=4,
        diameter=2.0,
        lipschitz=3.0,
        epsilon=0.3 / 24,
        delta=delta_bar / 3,
        delta_prime=delta_bar / 3,
    )
    assert schedule.sigma == pytest.approx(main.sigma)
    assert main.privacy.epsilon <= 0.3
    assert main.privacy.delta <= delta_bar
    assert schedule.risk_bound == pytest.approx(main.risk_bound)


@pytest.mark.parametrize(
    ("changes", "condition"),
    [({"n": 15, "epsilon": 0.05}, "n=15"), ({"epsilon": 0.0501}, r"epsilon=0.0501 exceeds 1/\(2√n\)=0.05")],
)
def test_outside_a_regime(changes, condition):
    with pytest.raises(RegimeError, match=condition):
        main_schedule(**MAIN | changes)
    allowed = main_schedule(**MAIN | changes, outside_regime="allow")
    assert allowed.sigma > 0
    assert allowed.privacy is None
    assert allowed.risk_bound is None
    assert condition.partition("=")[0] in allowed.outside


TOTAL = {"n": 1000, "dimension": 4, "diameter": 2.0, "lipschitz": 3.0, "epsilon": 0.3, "delta": 1e-6}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"delta": 0.06}, "delta=0.06 exceeds"),
        ({"n": 249}, r"n=249 is below 16 log\(6/δ\)=249.71"),
        ({"epsilon": 0.49}, r"epsilon=0.49 exceeds 4√\(log\(3/δ\)/n\)=0.488"),
    ],
)
def test_a_total_that_the_theorem_does_not_reach(changes, says):
    inside = translated_schedule(**TOTAL)
    assert (inside.privacy.epsilon, inside.privacy.delta, inside.outside) == (0.3, 1e-6, None)
    with pytest.raises(RegimeError, match=says):
        translated_schedule(**TOTAL | changes)
    allowed = translated_schedule(**TOTAL | changes, outside_regime="allow")
    assert allowed.sigma > 0
    assert allowed.privacy is None
    assert allowed.risk_bound is None
    assert re.match(says, allowed.outside)


@pytest.mark.parametrize("n", [250, 1000, 12_345, 10**7])
@pytest.mark.parametrize("delta", [1e-6, 1e-5, 3e-2])
def test_the_largest_total_that_is_named_is_within_the_main_theorem(n, delta):
    with pytest.raises(RegimeError) as caught:
        translated_schedule(**TOTAL | {"n": n, "delta": delta, "epsilon": 10.0})
    largest = float(re.search(r"\)=([\d.e-]+), the largest total", str(caught.value)).group(1))
    schedule = translated_schedule(**TOTAL | {"n": n, "delta": delta, "epsilon": largest})
    assert schedule.privacy.epsilon == largest
    with pytest.raises(RegimeError):
        translated_schedule(**TOTAL | {"n": n, "delta": delta, "epsilon": largest * 1.0001})
    # σ = 8L√log(1/δ)/(√n ε), so the theorem's own ε, and then what it promises in total
    share = delta / 3
    inner = 8 * 3 * math.sqrt(-math.log(share)) / (math.sqrt(n) * schedule.sigma)
    assert inner <= 1 / (2 * math.sqrt(n))
    main = main_schedule(**MAIN | {"n": n, "epsilon": inner, "delta": share, "delta_prime": share})
    assert main.privacy.epsilon <= largest
    assert main.privacy.delta <= delta


def test_outside_the_other_regimes():
    with pytest.raises(RegimeError, match="epsilon_tilde=1.3"):
        composition_sigma(lipschitz=1.0, epsilon_tilde=1.3, delta=0.1)
    assert composition_sigma(lipschitz=1.0, epsilon_tilde=1.3, delta=0.1, outside_regime="allow") > 0
    common = {"n": 1000, "dimension": 1, "diameter": 1.0, "lipschitz": 1.0}
    with pytest.raises(RegimeError, match="delta=0.5"):
        translated_schedule(**common, epsilon=0.1, delta=0.5)
    # the remark's own condition allows this ε̄, the theorem's does not
    epsilon_bar = 8 / math.sqrt(1000) * math.sqrt(10) * 0.9
    with pytest.raises(RegimeError, match="Theorem 5.3"):
        translated_schedule(**common, epsilon=epsilon_bar, delta=3 * math.exp(-10))
    with pytest.raises(InputError, match="outside_regime='maybe'"):
        main_schedule(**MAIN, outside_regime="maybe")


@pytest.mark.parametrize("name", ["diameter", "lipschitz", "epsilon", "delta", "delta_prime"])
@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
def test_parameters_are_positive_and_finite(name, value):
    with pytest.raises(InputError, match=f"{name}="):
        main_schedule(**MAIN | {name: value})


@pytest.mark.parametrize("value", [1.0, 1.5])
def test_delta_is_below_one(value):
    with pytest.raises(InputError, match="delta="):
        single_step_sigma(lipschitz=1.0, epsilon_tilde=1.0, delta=value)
