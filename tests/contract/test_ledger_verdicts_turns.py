"""For each statement: weaken the implementation or strengthen the claim, and see the verdict turn.

What it is as things are, the test of the whole ledger holds.
The seeds are fixed and each statistical refutation is at the level of the run's error budget, so these outcomes are
reproducible; at another seed each would be the same but for probability 1e-6.
"""

from __future__ import annotations

import math
from fractions import Fraction

import msgspec
import pytest

from dpsco_verify.algorithm import NoiseConvention, StoppingRule
from dpsco_verify.evidence import Verdict, checker
from dpsco_verify.evidence.checker import MeanEvidence, Scope
from dpsco_verify.evidence.verdict_backing import with_checked_certificate
from dpsco_verify.ledger.installed import installed_ledger
from dpsco_verify.papers.arora2020.single_step import empirical, exact
from dpsco_verify.papers.arora2020.single_step import statement as single_step
from dpsco_verify.papers.arora2020.stopping_tail import law
from dpsco_verify.papers.arora2020.stopping_tail import statement as stopping_tail
from dpsco_verify.papers.arora2020.utility import certificates, measure
from dpsco_verify.papers.arora2020.utility.certificates import UtilityConstant
from dpsco_verify.papers.arora2020.utility.instances import DIAMETER
from dpsco_verify.papers.arora2020.utility.statement import Utility

pytestmark = pytest.mark.slow  # runs of the quick profile


def claim(monkeypatch, constant):
    """Let the theorem, and what the checker knows of it, claim another constant."""
    monkeypatch.setattr(Utility, "constant", constant)
    monkeypatch.setattr(certificates, "CLAIMED", Fraction(constant))
    for reading, null in certificates.nulls().items():
        monkeypatch.setitem(installed_ledger().kinds._nulls, f"utility/{reading}", null)


def test_stopping_after_all_points_is_noticed_in_the_implementation(verify, certificate_of, monkeypatch):
    monkeypatch.setattr(StoppingRule, "distinct_points", lambda self, n: n)
    finding, result = verify("stopping-tail/loop")
    assert finding.verdict is Verdict.REFUTED
    assert result.record.exit_code == 1
    assert isinstance(certificate_of(finding, result).witness, MeanEvidence)


def test_one_point_too_many_is_noticed_as_another_law(verify, monkeypatch):
    right = StoppingRule.distinct_points
    monkeypatch.setattr(StoppingRule, "distinct_points", lambda self, n: right(self, n) + 1)
    finding, result = verify("stopping-tail/loop")
    assert finding.verdict is Verdict.INCONCLUSIVE
    assert "do not follow the exact law" in finding.summary
    assert result.record.exit_code == 3


def test_a_stronger_stopping_claim_is_refuted(verify, monkeypatch):
    """Twice the decay of the proven exponent is more than the exact tail has."""
    monkeypatch.setattr(law, "claimed_tail", lambda n: 2.0 * math.exp(-2.0 * n))
    monkeypatch.setattr(stopping_tail, "claimed_tail", lambda n: 2.0 * math.exp(-2.0 * n))
    # the certificate is about the paper's own bound, so the checker does not accept it: the verdict cannot stand
    finding, result = verify("stopping-tail/loop")
    assert finding.verdict is Verdict.INCONCLUSIVE
    assert "no certificate could be issued" in finding.summary
    assert result.record.exit_code == 3


def test_the_text_rule_repairs_the_all_points_reading(verify, monkeypatch):
    monkeypatch.setattr(law, "points_at_stop", lambda rule, n: math.ceil(n / 2))
    monkeypatch.setattr(StoppingRule, "distinct_points", lambda self, n: (n + 1) // 2)
    finding, _ = verify("stopping-tail/all-points")
    assert finding.verdict is not Verdict.REFUTED


@pytest.mark.parametrize("key", ["single-step/replace-one", "single-step/zero-out"])
def test_more_noise_repairs_the_lemma(verify, monkeypatch, key):
    right = exact.sigma_ball
    monkeypatch.setattr(exact, "sigma_ball", lambda e, d, f: 40 * right(e, d, f))
    monkeypatch.setattr(single_step, "points", lambda places, profile, *, factor: ())
    assert verify(key)[0].verdict is Verdict.HOLDS_ON_GRID


def test_too_little_noise_is_noticed_in_the_implementation(verify, certificate_of, monkeypatch):
    right = empirical.noisy_step

    def weak(w, batch, fresh, noise, **keywords):
        return right(w, batch, fresh, 0.25 * noise, **keywords)

    monkeypatch.setattr(empirical, "noisy_step", weak)
    finding, result = verify("single-step/corrected")
    assert finding.verdict is Verdict.REFUTED
    assert "the implementation's step violates the claim" in finding.summary
    assert result.record.exit_code == 1
    certificate_of(finding, result)


def test_too_much_noise_is_noticed_too(verify, monkeypatch):
    """A step that does not show the exact gap is not the step of the formula: nothing is passed."""
    right = empirical.noisy_step

    def strong(w, batch, fresh, noise, **keywords):
        return right(w, batch, fresh, 3.0 * noise, **keywords)

    monkeypatch.setattr(empirical, "noisy_step", strong)
    finding, result = verify("single-step/replace-one")
    assert finding.verdict is Verdict.INCONCLUSIVE
    assert result.record.exit_code == 3


def test_half_the_repairs_noise_fails_on_the_map(verify, monkeypatch):
    right = exact.sigma_ball
    monkeypatch.setattr(exact, "sigma_ball", lambda e, d, f: right(e, d, f) / 2)
    finding, _ = verify("single-step/corrected")
    assert finding.verdict is Verdict.INCONCLUSIVE
    assert "disagree" in finding.summary


def test_a_constant_below_the_truth_is_refuted_from_samples(verify, certificate_of, monkeypatch):
    claim(monkeypatch, 0.05)
    finding, result = verify("utility/diameter")
    assert finding.verdict is Verdict.REFUTED
    assert isinstance(certificate_of(finding, result).witness, MeanEvidence)
    assert result.record.exit_code == 1


def test_a_constant_between_proof_and_samples_is_not_certified(verify, monkeypatch):
    monkeypatch.setattr(Utility, "constant", 1.6)
    finding, _ = verify("utility/diameter")
    assert finding.verdict is Verdict.NOT_REFUTED
    assert "power 0.9" in finding.summary


def test_an_algorithm_that_walks_uphill_is_refuted(verify, monkeypatch):
    right = measure.run_ensemble
    monkeypatch.setattr(measure, "run_ensemble", lambda data, **keywords: right(-data, **keywords))
    finding, _ = verify("utility/diameter")
    assert finding.verdict is Verdict.REFUTED
    assert "the implementation's excess risk" in finding.summary


def test_a_constant_of_five_repairs_the_reading_with_any_start(verify, monkeypatch):
    claim(monkeypatch, 5.0)
    assert verify("utility/norm-arbitrary")[0].verdict is Verdict.CERTIFIED  # 4 + ln 2 < 5


def test_a_verdict_without_a_certificate_does_not_stand():
    backed = with_checked_certificate(Verdict.REFUTED, "because", None, installed_ledger().kinds)
    assert backed.verdict is Verdict.INCONCLUSIVE
    assert "no certificate" in backed.summary
    assert (backed.data, backed.scope) == (None, None)


def test_a_verdict_with_a_wrong_certificate_does_not_stand():
    right = checker.issue("utility", "diameter", UtilityConstant(constant="5/2"))
    wrong = msgspec.structs.replace(right, left=right.left.replace("5", "6"))
    assert wrong.left != right.left
    kinds = installed_ledger().kinds
    backed = with_checked_certificate(Verdict.CERTIFIED, "because", wrong, kinds)
    assert backed.verdict is Verdict.INCONCLUSIVE
    assert "the certificate was rejected" in backed.summary
    assert backed.data is None
    stands = with_checked_certificate(Verdict.CERTIFIED, "because", right, kinds)
    assert (stands.verdict, stands.scope) == (Verdict.CERTIFIED, Scope.ARGUMENT)


@pytest.mark.parametrize("verdict", [verdict for verdict in Verdict if verdict is not Verdict.CERTIFIED])
def test_a_certificate_backs_no_other_verdict_than_its_own(verdict):
    right = checker.issue("utility", "diameter", UtilityConstant(constant="5/2"))
    backed = with_checked_certificate(verdict, "because", right, installed_ledger().kinds)
    assert backed.verdict is Verdict.INCONCLUSIVE
    assert f"it certifies utility/diameter, and the verdict is {verdict.value}" in backed.summary


def test_a_vacuous_bound_is_not_measured():
    """At n = 16 and σ = 10 L the bound exceeds the largest risk there is, so nothing could fail."""
    arguments = {
        "instance": "drift",
        "geometry": DIAMETER,
        "noise": NoiseConvention.COVARIANCE_SIGMA_SQUARED,
        "runs": 10,
        "alpha": 1e-3,
        "constant": 2.5,
        "seed": 0,
        "name": "x",
    }
    assert measure.measure(n=16, sigma_over_lipschitz=10.0, **arguments) is None
    assert measure.measure(n=16, sigma_over_lipschitz=0.1, **arguments) is not None
