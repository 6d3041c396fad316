"""One run of Algorithm 1, all of its points canaries, beside what is certified of it."""

from __future__ import annotations

import pytest

from dpsco_verify.algorithm.canaries import audit_whole_run
from dpsco_verify.auditing import AuditVerdict

pytestmark = pytest.mark.slow  # audits of many outputs


@pytest.mark.long
def test_a_run_keeps_its_certified_curve_and_shows_a_part_of_it():
    # At σ/L = 0.3 the score of a point that was used is that of a Gaussian mechanism of μ = 6.7 among 201 steps.
    found = audit_whole_run(400, sigma=0.3, delta=1e-5)
    assert found.against_curve.verdict is not AuditVerdict.VIOLATED
    assert found.against_curve.area_under_roc == pytest.approx(0.73, abs=0.1)
    assert 0.5 < found.epsilon_lower < found.epsilon_upper
    assert 0.0 < found.ratio < 1.0


def test_a_run_with_a_fraction_of_its_noise_is_refuted():
    found = audit_whole_run(200, sigma=1.0, delta=1e-5, true_sigma=0.05)
    assert found.against_curve.verdict is AuditVerdict.VIOLATED
    assert found.epsilon_lower > 2
