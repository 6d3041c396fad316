"""Audits by canaries: verdicts, figures, bad input, pictures."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpsco_verify.auditing import AuditVerdict, audit_canaries
from dpsco_verify.auditing.canaries import Family, Method, minimum_detectable_epsilon, split_by_coins
from dpsco_verify.auditing.canaries.guesses import planned_guesses
from dpsco_verify.auditing.canaries.scores import ranked
from dpsco_verify.errors import InputError
from dpsco_verify.privacy.claims import GaussianDP, ZeroConcentratedDP

ONE = np.ones(500)
AT = {"epsilon": 1.0, "delta": 1e-5}


def gaussian(mu, n, seed=0, outside=None):
    rng = np.random.default_rng(seed)
    return rng.normal(mu, 1.0, n), rng.normal(0.0, 1.0, n if outside is None else outside)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "least", "most"),
    [
        ({"family": "gaussian", "guesses": 1000}, 12.3, 13.39),
        ({"family": "gaussian"}, 8.4, 13.39),
        ({"family": "gaussian", "method": "clopper-pearson"}, 8.4, math.inf),
        ({"guesses": 1000}, 5.8, 5.82),
        ({"guesses": 1000, "method": "one-run-dp"}, 5.78, 5.79),
        ({}, 5.5, 5.81),
    ],
)
def test_perfectly_separated_scores(options, least, most):
    result = audit_canaries(ONE, 0 * ONE, **AT, **options)
    assert result.verdict is AuditVerdict.VIOLATED
    assert least <= result.epsilon_lower <= most


@pytest.mark.slow
@pytest.mark.parametrize(("n", "least"), [(500, 7.0), (5000, 8.6)])
def test_gaussian_scores_four_apart(n, least):
    found = [
        audit_canaries(*gaussian(4.0, n, seed), **AT, family="gaussian").epsilon_lower for seed in range(5)
    ]
    assert least <= np.median(found) <= 13.39


@pytest.mark.slow
def test_a_result_names_its_family_and_says_what_was_found():
    result = audit_canaries(*gaussian(3.0, 500), claim=GaussianDP(0.5), delta=1e-5, name="training")
    assert result.verdict is AuditVerdict.VIOLATED
    assert result.family is Family.GAUSSIAN
    assert result.mu_lower is not None
    assert 0.5 < result.mu_lower < 3.0
    assert result.p_value < 1e-3
    assert "training with 500 canaries in and 500 out violates 0.5-GDP" in result.summary
    assert "every GDP mechanism" in result.summary
    assert dict(result.true_positive_rates)[0.01] > 0.5
    assert result.area_under_roc == pytest.approx(0.983, abs=0.01)
    with pytest.raises(TypeError, match="verdict"):
        bool(result)


def test_what_ideal_canaries_would_not_have_shown_is_undecided():
    result = audit_canaries(*gaussian(0.0, 12), **AT)
    assert result.verdict is AuditVerdict.UNDECIDED
    assert result.canaries_needed is not None
    assert 24 < result.canaries_needed < 100
    assert "give more canaries" in result.summary
    enough = audit_canaries(*gaussian(0.0, result.canaries_needed // 2 + 1), **AT)
    assert enough.verdict is AuditVerdict.NOT_VIOLATED
    assert enough.mdv is not None
    assert 1.0 < enough.mdv.epsilon <= 3.0
    assert minimum_detectable_epsilon(1000, **AT) < minimum_detectable_epsilon(100, **AT)
    assert minimum_detectable_epsilon(4, **AT) == math.inf


@pytest.mark.slow
@pytest.mark.parametrize(("canaries", "guesses", "least"), [(600, 450, 7.81), (300, 150, 10.51)])
def test_a_fixed_number_of_guesses_has_an_mdv(canaries, guesses, least):
    """Rounding made the accuracy of ideal canaries exceed 1, of which a binomial tail is NaN: nothing seemed enough."""
    claim = GaussianDP(0.4918)
    found = minimum_detectable_epsilon(canaries, claim=claim, delta=0.05, alpha=7e-9, guesses=guesses)
    assert found == pytest.approx(least, abs=0.01)
    parts = np.linspace(0.01, 0.5, 50)
    assert max(Family.GAUSSIAN.accuracy(mu, 0.05, part) for mu in range(5, 36) for part in parts) <= 1.0


@pytest.mark.slow
def test_a_level_below_delta_shows_nothing_and_says_why():
    result = audit_canaries(ONE, 0 * ONE, **AT, alpha=1e-6)
    assert result.verdict is AuditVerdict.UNDECIDED
    assert "raise it above δ" in result.summary


@pytest.mark.slow
@pytest.mark.parametrize(
    "method",
    [pytest.param(one, marks=[pytest.mark.long] * (one is Method.CLOPPER_PEARSON)) for one in Method],
)
def test_constant_scores_and_tiny_groups_show_nothing(method):
    for inside, outside in ((ONE, ONE[:480]), (ONE[:1], ONE[:1]), (np.array([2.0]), np.array([1.0]))):
        result = audit_canaries(inside, outside, epsilon=0.1, method=method)
        assert result.verdict is not AuditVerdict.VIOLATED
        assert result.p_value > 0.05


@pytest.mark.slow
def test_equal_scores_are_ordered_by_the_seed_alone():
    rng = np.random.default_rng(1)
    inside, outside = rng.integers([[1], [0]], 4, size=(2, 300)).astype(float)
    first, second, other = (
        audit_canaries(inside, outside, epsilon=0.1, seed=seed).p_value for seed in (0, 0, 1)
    )
    assert first == second != other


def test_where_all_are_guessed_an_outstanding_gap_near_the_middle_says_how_many_in():
    for inside in (470, 500, 520):
        coins = np.repeat([1.0, 0.0], [inside, 1000 - inside])
        scores = ranked(coins[:inside], coins[inside:], np.random.default_rng(0))
        assert planned_guesses(1000, None)[0].correct(scores) == 1000
        assert planned_guesses(1000, (500, 500))[0].correct(scores) == 1000 - abs(inside - 500)


@pytest.mark.slow
def test_claims_that_are_curves_are_judged():
    scores = gaussian(4.0, 1000)
    assert audit_canaries(*scores, claim=ZeroConcentratedDP(0.1)).verdict is AuditVerdict.VIOLATED
    assert audit_canaries(*scores, claim=GaussianDP(4.0)).verdict is not AuditVerdict.VIOLATED


@pytest.mark.parametrize(
    ("inside", "outside", "options", "message"),
    [
        ([1.0, math.nan], [0.0], AT, r"scores_in\[1\]=nan"),
        ([1.0], [], AT, r"scores_out=\[\] holds no score"),
        (ONE, ONE[:300], AT, "a fair coin for each"),
        (ONE, ONE, {"epsilon": 1.0, "delta": 0.0}, "delta=0.0 is outside"),
        (ONE, ONE, {"epsilon": 1.0, "delta": 1.0}, "delta=1.0 is outside"),
        (ONE, ONE, {"epsilon": -1.0}, "epsilon=-1.0 is negative"),
        (ONE, ONE, {}, "nothing is claimed"),
        (ONE, ONE, {"epsilon": 1.0, "family": "gaussian"}, "delta=None"),
        (ONE, ONE, {**AT, "claim": GaussianDP(1.0)}, "were both given"),
        (ONE, ONE, {**AT, "method": "magic"}, "method='magic' is unknown"),
        (ONE, ONE, {**AT, "alpha": 1.0}, "alpha=1.0 is outside"),
        (ONE, ONE, {**AT, "guesses": 1001}, "guesses=1001"),
        (ONE, ONE, {**AT, "guesses": 10, "method": "clopper-pearson"}, "guesses=10 has no meaning"),
        (ONE, ONE, {"claim": GaussianDP(1.0), "method": "one-run-dp"}, "knows claims of"),
        (np.ones((2, 2)), ONE, AT, "scores_in.shape"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(inside, outside, options, message):
    with pytest.raises(InputError, match=message):
        audit_canaries(inside, outside, **options)


def test_coins_divide_scores_and_must_match_them():
    inside, outside = split_by_coins([3.0, 1.0, 2.0], [1, 0, 1])
    assert inside.tolist() == [3.0, 2.0]
    assert outside.tolist() == [1.0]
    for coins in ([1, 0], [1, 0, 2], ["a", "b", "c"]):
        with pytest.raises(InputError, match="coins"):
            split_by_coins([3.0, 1.0, 2.0], coins)


@pytest.mark.slow
def test_bootstrapped_scores_are_told_of():
    rng = np.random.default_rng(0)
    inside, outside = (rng.choice(scores, 1000) for scores in gaussian(1.0, 150))
    assert "those of fewer canaries" in audit_canaries(inside, outside, **AT).summary
    twice = (np.repeat(scores, 2) for scores in gaussian(1.0, 150))
    assert "those of fewer canaries" in audit_canaries(*twice, **AT).summary
    assert not audit_canaries(*gaussian(1.0, 1000), **AT).notes
    levels = np.arange(40) % 20
    assert not audit_canaries(levels + 3.0, levels, **AT).notes


def test_scores_that_tell_nothing_pass_with_a_warning():
    result = audit_canaries(*gaussian(0.0, 500), **AT)
    assert result.verdict is AuditVerdict.NOT_VIOLATED
    assert "hardly tell canaries in from canaries out" in result.summary


@pytest.mark.slow
def test_the_picture_shows_the_scores_and_the_claim():
    from dpsco_verify.reporting.drawing import standalone

    scores, roc = audit_canaries(*gaussian(2.0, 300), **AT).plots()
    observed, claimed = roc.series
    assert max(observed.y) == 1.0
    assert claimed.y[0] == pytest.approx(1e-5)
    middle = np.interp(0.2, observed.x, observed.y)
    assert middle > np.interp(0.2, claimed.x, claimed.y)
    for plot in (scores, roc, *audit_canaries([1.0], [1.0], **AT).plots()):
        assert b"<svg" in standalone(plot)
