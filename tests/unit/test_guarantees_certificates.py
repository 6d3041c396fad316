"""The certificates of violated guarantees: the independent checker accepts them, and refuses what was changed."""

from __future__ import annotations

import math
from fractions import Fraction
from math import comb

import flint
import msgspec
import numpy as np
import pytest

from dpsco_verify.evidence import checker
from dpsco_verify.evidence.checker import Kinds, OwnMean, OwnTail, OwnUnboundedMean
from dpsco_verify.evidence.checker import arithmetic as checker_arithmetic
from dpsco_verify.gating.guarantee_evidence import findings_of
from dpsco_verify.guarantees import (
    equal_law,
    identity,
    mean_at_least,
    mean_at_most,
    quantile_at_most,
    rate,
    ratio_at_most,
    tail_at_most,
)
from dpsco_verify.inference.witnesses import are_few, coarser
from dpsco_verify.papers.arora2020.paper import PAPER


def uniform(size, rng):
    return rng.random(size)


def normal(size, rng):
    return rng.standard_normal(size)


def powers(n, size, rng):
    return rng.random(size) * n**-0.5


FEW = {"samples": 2000}
VIOLATED = {
    "mean at most": lambda: mean_at_most(uniform, 0.4, low=0, high=1, **FEW),
    "mean at least": lambda: mean_at_least(uniform, 0.6, low=0, high=1, **FEW),
    "mean, deviation": lambda: mean_at_most(normal, -0.5, standard_deviation=1.0, **FEW),
    "mean, tail": lambda: mean_at_least(normal, 0.3, sub_gaussian=1.0, **FEW),
    "ratio": lambda: ratio_at_most(powers, {10: 10**-0.5, 100: 0.1}, 0.4, high=1.0, **FEW),
    "rate": lambda: rate(powers, [10, 20, 100], -0.7, high=1.0, **FEW),
    "tail": lambda: tail_at_most(uniform, 0.9, 0.05, **FEW),
    "never": lambda: tail_at_most(uniform, 0.9, 0.0, **FEW),
    "quantile": lambda: quantile_at_most(normal, 0.9, 1.0, **FEW),
    "law": lambda: equal_law(normal, lambda size, rng: normal(size, rng) + 0.5, **FEW),
}


@pytest.mark.parametrize("call", VIOLATED.values(), ids=VIOLATED)
def test_a_violation_has_a_certificate_that_the_checker_accepts(call):
    result = call()
    [(finding, level, data)] = findings_of(result, id_="mine", reading="claim", reproduce="")
    assert finding.verdict.value == "refuted"
    assert finding.reproduce == result.call
    assert level == result.alpha == 1e-6
    assert finding.certificate == "certificates/mine--claim.json"
    decided = Kinds().check(Kinds().decode(data))
    assert decided.claim == "own:mine"
    assert "these" in decided.argument


def test_a_paper_s_claim_has_no_use_for_them():
    null = next(
        reading.null for entry in PAPER.statements for reading in entry.readings if reading.null is not None
    )
    for result in (VIOLATED["mean at most"](), VIOLATED["tail"]()):
        with pytest.raises(checker.Rejected, match="of the user's own, and not of"):
            result.witness.require_admitted(null)
        with pytest.raises(checker.Rejected):
            checker.issue("single-step", "replace-one", result.witness)


def tail(**changes):
    told = {"null_hypothesis": "x", "alpha": "1/1000", "probability": "1/10", "above": 9, "samples": 20}
    return OwnTail(**(told | changes))


def test_the_tail_is_the_binomial_one_exactly():
    p, n, k = Fraction(1, 10), 20, 9
    exact = sum(comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(k, n + 1))
    with flint.ctx.workprec(256):
        _, right, _ = tail().sides("")
        assert right.contains(flint.arb(flint.fmpq(exact.numerator, exact.denominator)))
        assert right.rad() < 1e-60


@pytest.mark.parametrize(
    "changes",
    [
        {"above": 6},
        {"probability": "1/5"},
        {"alpha": "1/100000"},
        {"samples": 40},
        {"samples": 8},
        {"above": 0},
    ],
)
def test_a_weaker_tail_is_refused(changes):
    checker.issue("own:mine", "claim", tail())
    with pytest.raises(checker.Rejected):
        checker.issue("own:mine", "claim", tail(**changes))


def test_a_mean_with_an_observation_less_is_refused():
    witness = VIOLATED["mean at most"]().witness
    assert isinstance(witness, OwnMean)
    short = msgspec.structs.replace(witness, observations=witness.observations[:-200])
    with pytest.raises(checker.Rejected):
        checker.issue("own:mine", "claim", short)


MANY = {
    "bounded": lambda: mean_at_most(
        lambda size, rng: rng.random(size), 0.4945, low=0, high=1, samples=150_000, alpha=1e-6
    ),
    "sub-Gaussian": lambda: mean_at_most(
        lambda size, rng: rng.standard_normal(size) + 0.018,
        0.0,
        sub_gaussian=1.0,
        samples=150_000,
        alpha=1e-6,
    ),
    "rate": lambda: rate(
        lambda n, size, rng: rng.random(size) * n**-0.494,
        [1, 2, 10],
        -0.5,
        high=1.0,
        samples=100_000,
        alpha=1e-6,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("bounded", marks=pytest.mark.long),
        "sub-Gaussian",
        pytest.param("rate", marks=pytest.mark.long),
    ],
)
def test_a_violation_that_takes_many_different_observations_has_a_certificate(kind):
    """Rounded down to as many different ones as the checker's limit allows."""
    witness = MANY[kind]().witness
    assert len(witness.observations) * max(len(witness.bets), 10) > checker_arithmetic.MOST_STEPS
    checker.issue("own:mine", "claim", witness)


def test_rounding_down_makes_few_of_many_and_none_larger():
    values = np.random.default_rng(0).random(30_000)
    few = coarser(values, bets=100)
    assert are_few(few, bets=100)
    assert not are_few(values, bets=100)
    assert (few <= values).all()
    assert float((values - few).sum()) < 1.1 * (-(-30_000 * 100 // 1_000_000) - 1) / 2
    assert np.array_equal(coarser(values, bets=10), values)


UNBOUNDED = {
    "standard deviation": lambda y, bet: (
        (1 + y + y**2 / 2 if y >= 0 else 1 / (1 - y + y**2 / 2)) / (1 + bet**2 / 2)
    ),
    "sub-Gaussian scale": lambda y, bet: math.exp(y - bet**2 / 2),
}


@pytest.mark.parametrize("spread", UNBOUNDED)
def test_the_e_value_of_unbounded_observations_is_the_product_of_its_factors(spread):
    seen, bets, scale, bound = (4.0, 0.5, 9.0, 8.0, 4.0), (0.5, 1.0), 2.0, 1.0
    witness = OwnUnboundedMean(
        null_hypothesis="x",
        alpha="1/10",
        spread=spread,
        scale="2",
        bound="1",
        bets=("1/2", "1"),
        observations=tuple(str(Fraction(x)) for x in seen),
    )
    factor = UNBOUNDED[spread]
    wealth = sum(math.prod(factor(bet * (x - bound) / scale, bet) for x in seen) for bet in bets) / 2
    left, right, _ = witness.sides("")
    assert float(left) == pytest.approx(wealth, rel=1e-14)
    assert float(right) == 10.0
    checker.issue("own:mine", "claim", witness)
    for change in (
        {"scale": "8"},
        {"bound": "5"},
        {"scale": "0"},
        {"bets": ()},
        {"bets": ("-1",)},
        {"observations": ("4",)},
        {"alpha": "1/100000"},
    ):
        with pytest.raises(checker.Rejected):
            checker.issue("own:mine", "claim", msgspec.structs.replace(witness, **change))


@pytest.mark.slow
def test_a_counterexample_to_a_property_says_that_it_has_no_certificate():
    result = identity(lambda x: x, lambda x: x + 1.0, (0.0, 1.0))
    [(finding, _, data)] = findings_of(result, id_="mine", reading="claim", reproduce="")
    assert data is None
    assert finding.certificate is None
    assert finding.verdict.value == "refuted"
    assert "only the function itself" in finding.evidence["certificate"].note
