"""A claim held against the mechanism's own density: found where events are too rare; wrong densities are refused."""

import math

import msgspec
import numpy as np
import pytest
from scipy import stats

from dpsco_verify.auditing import AuditVerdict, MechanismError, audit_density
from dpsco_verify.evidence import Verdict, checker
from dpsco_verify.evidence.checker import Kinds
from dpsco_verify.evidence.verdict_backing import with_checked_certificate
from dpsco_verify.guarantees import privacy_by_density
from dpsco_verify.privacy.claims import ApproximateDP, GaussianDP, PureDP
from dpsco_verify.privacy.gaussian import gaussian_delta

PAIR = (0.0, 1.0)


def gaussian(sigma):
    return lambda dataset, size, rng: dataset + sigma * rng.normal(size=size)


def density(sigma):
    return lambda outputs, dataset: stats.norm.logpdf(outputs, loc=dataset, scale=sigma)


def textbook(epsilon, delta):
    return math.sqrt(2.0 * math.log(1.25 / delta)) / epsilon


@pytest.mark.slow
def test_the_textbook_formula_is_found_out_at_large_epsilon():
    """At ε = 20 its δ is 150 times the claim: seen in 10,000 outputs."""
    sigma = textbook(20.0, 1e-5)
    truth = float(gaussian_delta(20.0, 1.0 / sigma))
    assert truth > 100e-5
    found = audit_density(gaussian(sigma), PAIR, ApproximateDP(20.0, 1e-5), density(sigma))
    assert found.verdict is AuditVerdict.VIOLATED
    assert 1e-5 < found.delta_lower <= truth
    assert "is violated" in found.summary


@pytest.mark.slow
def test_where_it_is_not_enough_it_says_what_would_be():
    """At ε = 10 it is 2.3 times the claim, of which 10,000 outputs show next to nothing."""
    sigma = textbook(10.0, 1e-5)
    found = audit_density(gaussian(sigma), PAIR, ApproximateDP(10.0, 1e-5), density(sigma))
    assert found.verdict is AuditVerdict.UNDECIDED
    assert 1e5 < found.samples_needed < 1e8
    assert "samples would show 3 times what is allowed" in found.summary


@pytest.mark.slow
@pytest.mark.parametrize(("audits", "most"), [(12, 11), pytest.param(40, 24, marks=pytest.mark.long)])
def test_a_right_claim_is_left_alone_at_its_level(audits, most):
    """α = 0.2 at exactly the claim: all of 12, or 25 of 40, alarm with a chance below 1e-8."""
    claim = GaussianDP(1.0)
    alarms = sum(
        audit_density(gaussian(1.0), PAIR, claim, density(1.0), alpha=0.2, samples=300, seed=seed).verdict
        is AuditVerdict.VIOLATED
        for seed in range(audits)
    )
    assert alarms <= most


@pytest.mark.parametrize(
    "wrong",
    [
        density(0.8),
        density(1.3),
        lambda outputs, dataset: stats.norm.logpdf(outputs, loc=0.5 * dataset),
        lambda outputs, dataset: stats.laplace.logpdf(outputs, loc=dataset, scale=0.4),
        lambda outputs, dataset: np.where(outputs > 1.5, -np.inf, 0.0) if dataset == 0.0 else 0.0 * outputs,
    ],
)
def test_a_density_that_is_not_the_mechanism_s_is_refused(wrong):
    with pytest.raises(MechanismError, match="log_density"):
        audit_density(gaussian(1.0), PAIR, GaussianDP(1.0), wrong)


def test_the_second_data_set_may_show_it():
    """Outputs of the uniform law on [0, 1] in one case and on [0, 1 + 1/4] in the other: δ = 1/5, in one direction."""

    def uniform(dataset, size, rng):
        return rng.uniform(0.0, 1.0 + 0.25 * dataset, size)

    def log_density(outputs, dataset):
        return np.where(outputs <= 1.0 + 0.25 * dataset, -math.log(1.0 + 0.25 * dataset), -np.inf)

    found = audit_density(uniform, PAIR, ApproximateDP(3.0, 0.1), log_density)
    assert found.verdict is AuditVerdict.VIOLATED
    assert found.swapped
    assert 0.1 < found.delta_lower <= 0.2


@pytest.mark.slow
def test_rounding_of_the_density_is_no_loss():
    """Laplace noise is ε-DP to the last digit, though half of its log ratios are rounded above ε: it was accused."""

    def laplace(dataset, size, rng):
        return dataset + rng.laplace(size=size)

    for log_density in (stats.laplace.logpdf, lambda outputs, loc: 1e6 - np.abs(outputs - loc)):
        found = audit_density(laplace, PAIR, PureDP(1.0), log_density)
        assert (found.verdict, found.delta_lower) == (AuditVerdict.UNDECIDED, 0.0)
        assert audit_density(laplace, PAIR, PureDP(0.99), log_density).verdict is AuditVerdict.VIOLATED


@pytest.mark.slow
def test_as_a_guarantee_it_has_a_certificate_that_the_checker_reads():
    sigma = textbook(20.0, 1e-5)
    found = privacy_by_density(
        gaussian(sigma), PAIR, density(sigma), epsilon=20.0, delta=1e-5, name="textbook"
    )
    assert found.verdict is AuditVerdict.VIOLATED
    assert found.p_value < 1e-6 / 2
    certificate = checker.issue("own:textbook", "density", found.witness)
    backed = with_checked_certificate(Verdict.REFUTED, found.summary, certificate, Kinds())
    assert backed.verdict is Verdict.REFUTED, backed.summary
    weaker = msgspec.structs.replace(found.witness, bound="1/100")
    with pytest.raises(checker.Rejected):
        checker.issue("own:textbook", "density", weaker)
    assert found.reproduce() == found


@pytest.mark.slow
def test_a_right_density_passes_nothing_as_a_guarantee():
    right = gaussian_delta(1.0, 1.0)
    found = privacy_by_density(gaussian(1.0), lambda: PAIR, density(1.0), epsilon=1.0, delta=float(right))
    assert found.verdict is AuditVerdict.UNDECIDED
    assert found.witness is None
    assert "this test passes nothing" in found.summary


@pytest.mark.slow
def test_a_pure_claim_is_held_against_the_density_too():
    def log_density(outputs, dataset):
        return -2.0 * np.abs(outputs - dataset)

    found = privacy_by_density(
        lambda d, size, rng: d + rng.laplace(scale=0.5, size=size), PAIR, log_density, epsilon=1.0
    )
    assert found.verdict is AuditVerdict.VIOLATED
    assert found.figures["tested_delta"] == 0.0
