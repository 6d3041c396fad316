"""Scores step by step: level at every time, detection, thresholds from the past alone; coins that stay sealed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpsco_verify.auditing.canaries import (
    SealedCoins,
    SequentialCanaryAudit,
    UpdateScores,
    canary_gradients,
)
from dpsco_verify.errors import InputError
from dpsco_verify.inference.binomial import clopper_pearson_lower
from dpsco_verify.privacy.claims import GaussianDP


def steps(mu, n, seed):
    rng = np.random.default_rng([seed, n])
    coins = rng.random(n) < 0.5
    return mu * coins + rng.normal(size=n), coins


@pytest.mark.slow
def test_a_step_with_too_little_noise_is_found_and_bounded():
    audit = SequentialCanaryAudit(claim=GaussianDP(0.5), delta=1e-5)
    assert audit.update(*steps(2.0, 1000, 0))
    assert audit.violated_at is not None
    assert 32 < audit.violated_at < 400
    assert 1.2 < audit.parameter_lower < 2.0
    assert audit.epsilon_lower > 5
    assert audit.p_value < 1e-10
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(audit)


@pytest.mark.slow
def test_it_may_be_fed_in_any_portions():
    scores, coins = steps(1.0, 700, 1)
    whole, one, portions = (SequentialCanaryAudit(epsilon=1.0, delta=1e-5) for _ in range(3))
    whole.update(scores, coins)
    for x, coin in zip(scores, coins, strict=True):
        one.update(x, coin)
    for part in np.array_split(np.arange(700), 9):
        portions.update(scores[part], coins[part])
    assert whole.steps == one.steps == 700
    for other in (one, portions):
        assert other.log_e_value == pytest.approx(whole.log_e_value, abs=1e-9)
        assert other.violated_at == whole.violated_at
        assert other.parameter_lower == whole.parameter_lower


@pytest.mark.slow
@pytest.mark.parametrize("audits", [25, pytest.param(100, marks=pytest.mark.long)])
def test_at_the_claim_it_alarms_no_more_often_than_the_level_whenever_it_is_looked_at(audits):
    """Each looked at after all of 250 steps; Clopper-Pearson at 1e-9."""
    alarms = np.zeros(3, dtype=int)
    for seed in range(audits):
        audit = SequentialCanaryAudit(epsilon=0.5, alpha=0.2)
        rng = np.random.default_rng([seed, 3])
        coins = rng.random(250) < 0.5
        told = np.where(rng.random(250) < 1 / (1 + math.exp(-0.5)), coins, ~coins)
        audit.update(told.astype(float), coins)
        nothing = SequentialCanaryAudit(epsilon=0.0, alpha=0.2)
        nothing.update(np.zeros(250) if seed % 2 else rng.normal(size=250), coins)
        alarms += [audit.violated, audit.parameter_lower > 0.5, nothing.violated]
    assert (clopper_pearson_lower(alarms, audits, alpha=1e-9 / 3) <= 0.2).all()


@pytest.mark.parametrize(
    ("options", "scores", "coins", "message"),
    [
        ({"epsilon": 1.0}, [1.0, math.nan], [0, 1], r"scores\[1\]=nan"),
        ({"epsilon": 1.0}, [1.0, 2.0], [1], "does not match"),
        ({"epsilon": 1.0}, [1.0], [0.5], "give 1 for in"),
        ({"epsilon": 1.0, "delta": 1.0}, [1.0], [1], "delta=1.0 is outside"),
        ({}, [1.0], [1], "do not make one claim"),
    ],
)
def test_bad_input_is_refused(options, scores, coins, message):
    with pytest.raises(InputError, match=message):
        SequentialCanaryAudit(**options).update(scores, coins)


def test_coins_are_fair_repeatable_and_open_once():
    coins = SealedCoins(400, seed=3)
    assert len(coins) == 400
    assert "sealed" in repr(coins)
    chosen = coins.indices()
    assert np.array_equal(chosen, SealedCoins(400, seed=3).indices())
    assert not np.array_equal(chosen, SealedCoins(400, seed=4).indices())
    assert abs(chosen.size - 200) < 70
    examples, labels = np.arange(400), np.arange(400) % 7
    inserted, of_them = coins.put_in(examples, labels)
    assert np.array_equal(inserted, chosen)
    assert np.array_equal(of_them, chosen % 7)
    scores_in, scores_out = coins.open(examples.astype(float))
    assert np.array_equal(scores_in, chosen)
    assert scores_in.size + scores_out.size == 400
    assert "opened" in repr(coins)
    coins.open(examples.astype(float))
    with pytest.raises(InputError, match="can be scored once"):
        coins.open(-examples.astype(float))
    with pytest.raises(InputError, match="give all canaries"):
        coins.put_in(examples[:-1])
    two_kinds = SealedCoins(10, seed=0).open(np.ones((10, 2)))
    assert two_kinds[0].shape[1] == 2


@pytest.mark.slow
def test_a_canary_s_gradient_scores_as_a_gaussian_mechanism_of_the_steps():
    gradients = canary_gradients(300, 500, norm=0.5, seed=0)
    assert gradients @ gradients.T == pytest.approx(0.25 * np.eye(300), abs=1e-12)
    assert np.linalg.norm(canary_gradients(9, 4, norm=2.0, seed=0), axis=1) == pytest.approx(np.full(9, 2.0))
    coins, rng, sigma = SealedCoins(300, seed=1), np.random.default_rng(2), 4.0
    (inserted,) = coins.put_in(gradients)
    kept = UpdateScores(gradients, keep_steps=True)
    for _ in range(16):
        kept.add(inserted.sum(axis=0) + rng.normal(scale=0.5 * sigma, size=500))
    assert kept.steps.sum(axis=0) == pytest.approx(kept.scores)
    scores_in, scores_out = coins.open(kept.scores)
    # μ = √16/4 = 1 in units of the noise √16 · 4 · 0.5²; ten standard errors.
    noise = 4.0 * sigma * 0.25
    assert (scores_in.mean() - scores_out.mean()) / noise == pytest.approx(1.0, abs=10 * math.sqrt(4 / 300))
    assert scores_out.std() / noise == pytest.approx(1.0, abs=0.5)
    with pytest.raises(InputError, match="keep_steps"):
        _ = UpdateScores(gradients).steps
