"""The MDV against mechanisms whose event probabilities are known."""

import math

import numpy as np
import pytest

from dpsco_verify.auditing import AuditVerdict, audit
from dpsco_verify.auditing.one_pair import AT_ONCE, _rounds
from dpsco_verify.inference.fixed_size_test import FixedSizeTest

pytestmark = pytest.mark.slow  # many audits that find nothing


def randomised_response(epsilon):
    p = 1.0 / (1.0 + math.exp(-epsilon))
    return lambda data, size, rng: (rng.random(size) < (p if data else 1.0 - p)).astype(float)


def audited(mechanism, *, epsilon=1.0, delta=0.0, seed=0, samples=10_000, alpha=1e-6, **options):
    return audit(
        mechanism, 0, 1, epsilon=epsilon, delta=delta, seed=seed, samples=samples, alpha=alpha, **options
    )


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_the_mdv_of_randomised_response_has_the_power_that_it_states(epsilon):
    # Its event is one of two outputs, and its losses are ±ε. One audit knows the losses to a few per cent only.
    results = [audited(randomised_response(epsilon), epsilon=epsilon, seed=seed) for seed in range(5)]
    p = 1.0 / (1.0 + math.exp(-np.median([result.mdv.epsilon for result in results])))
    n, alpha = results[0].witness.samples, AT_ONCE * _rounds(10_000)[-1].weight * 1e-6
    test = FixedSizeTest.aimed(epsilon=epsilon, delta=0.0, p=p, samples=n, alpha=alpha)
    # It is 0.97 with the room for the choice of the event, at the worse end of the bounds for p.
    assert 0.88 < test.power(p, 1.0 - p, alpha=alpha) < 0.995
    for result in results:
        assert result.verdict is AuditVerdict.NOT_VIOLATED
        assert result.mdv.delta == result.mdv.delta_excess  # the claimed one is 0


def test_a_mechanism_far_below_its_claim_needs_a_larger_factor():
    at_the_claim = audited(randomised_response(1.0)).mdv
    below = audited(randomised_response(0.5)).mdv
    assert below.privacy_loss_factor > 1.5 * at_the_claim.privacy_loss_factor
    # The ε that would have been found is one of the test, not of the mechanism.
    assert below.epsilon == pytest.approx(at_the_claim.epsilon, rel=0.05)


def test_without_a_privacy_loss_there_is_no_factor_but_an_epsilon():
    mdv = audited(lambda data, size, rng: rng.random(size)).mdv
    assert mdv.privacy_loss_factor is None
    assert 1.0 < mdv.epsilon < math.inf
    assert 0.0 < mdv.delta < 1.0


def test_more_samples_and_a_laxer_level_see_smaller_violations():
    few, many, lax = (
        audited(randomised_response(1.0), **options).mdv.epsilon
        for options in ({"samples": 2000}, {"samples": 50_000}, {"samples": 50_000, "alpha": 0.05})
    )
    assert few > many > lax > 1.0


def test_outputs_that_are_never_seen_twice_have_an_mdv_too():
    # Learned and exact events have no cells of their own.
    mdv = audited(lambda data, size, rng: np.where(rng.random((size, 3)) < 0.5, 0.0, 1.0), samples=3000).mdv
    assert mdv is not None
    assert math.isfinite(mdv.epsilon)


def test_against_a_claim_of_no_loss_at_all_the_losses_are_those_that_were_seen():
    # Below so strict a level a small loss is seen and not yet a violation.
    result = audited(randomised_response(0.2), epsilon=0.0, samples=3000, alpha=1e-12)
    assert result.verdict is AuditVerdict.NOT_VIOLATED
    assert result.mdv.privacy_loss_factor is not None
    assert result.mdv.epsilon > 0.2
