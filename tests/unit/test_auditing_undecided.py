"""What an audit must have been able to find for a pass, and what it says it needs."""

import math

import numpy as np
import pytest

from dpsco_verify.auditing import AuditVerdict, audit, conclusion
from dpsco_verify.errors import InputError
from dpsco_verify.privacy.claims import ApproximateDP, GaussianDP


def noise(data, size, rng):
    return rng.random(size)


def laplace(epsilon):
    return lambda data, size, rng: data + rng.laplace(scale=1 / epsilon, size=size)


def audited(mechanism=noise, **arguments):
    return audit(mechanism, 0.0, 1.0, **arguments)


@pytest.mark.slow
def test_a_pass_that_says_little_is_undecided_and_says_how_many_samples_it_needs():
    result = audited(epsilon=0.02)
    assert result.verdict is AuditVerdict.UNDECIDED
    assert result.mdv.epsilon > 3.0 * 0.02
    assert "a violation of 3 times the claim was to be found" in result.summary
    assert f"give more samples, about {result.samples_needed:,}" in result.summary
    assert 50_000 < result.samples_needed < 300_000
    enough = [audited(epsilon=0.02, samples=result.samples_needed, seed=seed) for seed in (1, 2, 3)]
    passed = [one for one in enough if one.verdict is AuditVerdict.NOT_VIOLATED]
    assert len(passed) >= 2
    assert all(one.samples_needed is None for one in passed)


@pytest.mark.slow
def test_one_option_lowers_the_bar_and_raises_it():
    assert audited(epsilon=0.02, multiple_of_interest=15).verdict is AuditVerdict.NOT_VIOLATED
    assert audited(epsilon=0.02, multiple_of_interest=math.inf).verdict is AuditVerdict.NOT_VIOLATED
    assert audited(laplace(1.0), epsilon=1.0).verdict is AuditVerdict.NOT_VIOLATED
    assert audited(laplace(1.0), epsilon=1.0, multiple_of_interest=1.1).verdict is AuditVerdict.UNDECIDED


@pytest.mark.slow
def test_what_no_number_of_samples_shows_is_said_to_be_so():
    result = audited(laplace(1.0), epsilon=1.0, epsilon_of_interest=0.9)
    assert result.verdict is AuditVerdict.UNDECIDED
    assert result.samples_needed is None
    assert "no number of samples would do" in result.summary


@pytest.mark.slow
def test_an_order_at_which_no_epsilon_is_claimed_is_judged_by_its_delta():
    for claim in (ApproximateDP(0.0, 0.3), GaussianDP(0.8)):
        assert audited(claim=claim).verdict is AuditVerdict.NOT_VIOLATED
    assert audited(claim=ApproximateDP(0.0, 0.01)).verdict is AuditVerdict.UNDECIDED


@pytest.mark.slow
def test_a_claim_of_nothing_is_held_to_an_absolute_bar():
    assert audited(epsilon=0.0, samples=1000).verdict is AuditVerdict.NOT_VIOLATED
    result = audited(epsilon=0.0, samples=64)
    assert result.verdict is AuditVerdict.UNDECIDED
    assert result.samples_needed > 64


@pytest.mark.slow
def test_a_claim_beyond_the_reach_of_the_samples_says_how_many_would_do():
    result = audited(laplace(8.0), epsilon=8.0, samples=1000)
    assert result.verdict is AuditVerdict.UNDECIDED
    assert result.mdv is None
    assert 10_000 < result.samples_needed < 1_000_000


@pytest.mark.parametrize("multiple", [1.0, 0.5, -1.0, math.nan])
def test_a_multiple_that_is_no_violation_is_refused(multiple):
    with pytest.raises(InputError, match="multiple_of_interest="):
        audited(epsilon=1.0, multiple_of_interest=multiple)


@pytest.mark.slow
def test_the_bar_holds_for_each_pair_of_a_list():
    result = audit(
        lambda data, size, rng: np.zeros(size) + data * 0.0 + rng.random(size),
        pairs=[(0.0, 1.0), (0.0, 2.0)],
        epsilon=0.02,
    )
    assert result.verdict is AuditVerdict.UNDECIDED
    assert result.samples_needed is not None


def test_a_claim_that_no_number_of_samples_decides_has_an_answer():
    """At ε = 20 the search for the number of samples went beyond what doubles count, and did not end."""

    def textbook(data, size, rng):
        return data + math.sqrt(2.0 * math.log(1.25e5)) / 20.0 * rng.normal(size=size)

    result = audited(textbook, claim=ApproximateDP(20.0, 1e-5), samples=2000)
    assert result.verdict is AuditVerdict.UNDECIDED
    assert result.samples_needed is None or result.samples_needed < 2**51


@pytest.mark.slow
@pytest.mark.parametrize("audits", [8, pytest.param(20, marks=pytest.mark.long)])
def test_an_event_that_was_seen_well_beyond_the_claim_is_noted_with_what_would_tell(audits):
    """Laplace noise for ε = 1.1 against 1: 3.3 standard errors on average, of 4.8 that the level asks for.

    The choice of the event costs half of one, so two of five are noted; fewer than a fifth of 20 with a probability
    of 0.02.
    """
    few = [audited(laplace(1.1), epsilon=1.0, seed=seed) for seed in range(audits)]
    assert sum(result.verdict is AuditVerdict.NOT_VIOLATED for result in few) >= 0.85 * audits
    noted = [note for result in few for note in result.notes if "standard errors beyond the claim" in note]
    assert len(noted) >= 0.2 * audits
    needed = [int(note.split("and about ")[1].split(" ")[0].replace(",", "")) for note in noted]
    assert 15_000 < min(needed) <= max(needed) < 60_000
    many = [audited(laplace(1.1), epsilon=1.0, samples=max(needed), seed=seed) for seed in range(audits // 2)]
    found = [result for result in many if result.verdict is AuditVerdict.VIOLATED]
    assert len(found) >= audits // 4
    assert not any("standard errors" in note for result in found for note in result.notes)


@pytest.mark.slow
@pytest.mark.parametrize("audits", [25, pytest.param(150, marks=pytest.mark.long)])
def test_at_the_claim_hardly_any_event_is(monkeypatch, audits):
    """With probability 0.98 at most one of 150 is noted, if it is one of 700."""
    monkeypatch.setattr(conclusion, "detectable", lambda *_: None)
    monkeypatch.setattr(conclusion, "pairs_needed", lambda *_, **__: None)
    results = [audited(laplace(1.0), epsilon=1.0, samples=600, seed=seed) for seed in range(audits)]
    assert sum("standard errors" in note for result in results for note in result.notes) <= 1
