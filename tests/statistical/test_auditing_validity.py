"""The auditor is audited: at the boundary of a claim it hardly ever alarms, at a wrong one it does.

Seeds are fixed; the stated probabilities are those of a false alarm of this test at a random seed.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dpsco_verify.auditing import audit_samplers as audit
from dpsco_verify.inference.binomial import clopper_pearson_lower
from dpsco_verify.inference.privacy_event_test import PrivacyEventTest, required_samples
from sequential import rate_holds


def laplace(shift, scale=1.0):
    return lambda rng, size: shift + rng.laplace(scale=scale, size=size)


def run(first, second, *, seed, epsilon=1.0, delta=0.0, alpha=0.05, cap=20_000, search=2_000, chunk=1_000):
    search_rng, confirm_rng = (np.random.default_rng([seed, k]) for k in (0, 1))
    return audit(
        first,
        second,
        epsilon=epsilon,
        delta=delta,
        alpha=alpha,
        search_rng=search_rng,
        confirm_rng=confirm_rng,
        search_samples=search,
        cap=cap,
        chunk=chunk,
    )


@pytest.mark.slow
def test_at_the_boundary_it_keeps_its_level():
    """Laplace with true ε = 1 against ε = 1, looked at after every chunk: alarms at most 5 % of the time.

    An auditor that keeps its level is refused with probability at most 1e-9, and one that alarms 20 times in 100 passes
    with probability at most 1e-3.
    """
    alarms = (
        run(laplace(0.0), laplace(1.0), seed=seed, cap=2_000, search=500, chunk=100).refuted
        for seed in itertools.count()
    )
    assert rate_holds(alarms, (0.05, 0.2))


@pytest.mark.slow
def test_judging_an_event_on_the_sample_that_chose_it_is_caught_by_the_same_check():
    """Why search and confirmation are separate: the same test on the search sample alarms far too often."""
    from dpsco_verify.auditing import select_event
    from dpsco_verify.inference.privacy_event_test import CellCounts

    alarms = 0
    for seed in range(400):
        rng = np.random.default_rng([9, seed])
        first, second = rng.standard_normal((2, 200))  # the same law: (0, 0) holds exactly
        event = select_event(first, second, epsilon=0.0)
        test = PrivacyEventTest(epsilon=0.0, delta=0.0, alpha=0.05)
        alarms += test.update_counts(
            CellCounts.from_indicators(event.contains(first), event.contains(second))
        ).rejected
    assert clopper_pearson_lower(alarms, 400, alpha=1e-9) > 0.05


@pytest.mark.slow
@pytest.mark.parametrize("true_epsilon", [1.25, 1.5, 2.0])
def test_a_laplace_mechanism_with_too_little_noise_is_found(true_epsilon):
    """The half-line from the nearer mean has P = 1/2 and P' = e^(-ε)/2; power 1 − 1e-6 within the cap."""
    q = 0.5 * math.exp(-true_epsilon)
    needed = required_samples(
        violation=0.5 - math.e * q, epsilon=1.0, delta=0.0, q=q, alpha=1e-6, power=1 - 1e-6
    )
    result = run(
        laplace(0.0, 1 / true_epsilon), laplace(1.0, 1 / true_epsilon), seed=3, alpha=1e-6, cap=3 * needed
    )
    assert result.refuted
    assert result.frequency > math.e * result.frequency_neighbour


def test_the_mdv_is_that_of_the_cap():
    small = run(laplace(0.0), laplace(1.0), seed=5, cap=5_000)
    large = run(laplace(0.0), laplace(1.0), seed=5, cap=50_000)
    assert 0 < large.mdv < small.mdv < 1


def test_the_two_streams_are_apart():
    """The confirmation does not depend on the search stream once the event is fixed."""
    results = [run(laplace(0.0), laplace(9.0), seed=seed, epsilon=0.0) for seed in (1, 2)]
    assert all(result.refuted for result in results)
    assert results[0].counts != results[1].counts


@pytest.mark.slow
def test_what_one_call_returns_together_is_no_event():
    """A rare None, likelier by e^0.95 on one data set, against ε = 1 on batches that hold about one.

    "No output of this call is None" is likelier by e^2 and more. A private mechanism alarms with probability 4 · 1e-9.
    """
    from dpsco_verify.auditing import AuditVerdict
    from dpsco_verify.auditing import audit as audit_mechanism

    def rarely_none(dataset, size, rng):
        rare = rng.random(size) < 3e-3 * math.exp(0.95 * dataset[0])
        return [None if x else 0.0 for x in rare]

    for seed in range(4):
        found = audit_mechanism(rarely_none, [0], [1], epsilon=1.0, samples=10_000, seed=seed, alpha=1e-9)
        assert found.verdict is not AuditVerdict.VIOLATED
