"""The statements about the whole transcript: strengthen or repair each, and see its verdict turn.

What they are as things are, and how sharp, the test of the whole ledger holds.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpsco_verify.choices import Profile
from dpsco_verify.evidence import Verdict
from dpsco_verify.papers.arora2020.composition import claim as composition
from dpsco_verify.papers.arora2020.composition import proof as composition_proof
from dpsco_verify.papers.arora2020.composition.certificates import CompositionViolation
from dpsco_verify.papers.arora2020.privacy import claim as privacy
from dpsco_verify.papers.arora2020.privacy.certificates import PrivacyRange
from dpsco_verify.papers.arora2020.privacy.statement import Range
from dpsco_verify.papers.arora2020.risk import statement as risk
from dpsco_verify.papers.arora2020.risk.certificates import RiskConstants, RiskDriftViolation
from dpsco_verify.papers.arora2020.risk.instances import drift_ratio, search_drift, smallest_useful_n
from dpsco_verify.papers.arora2020.transcript_cells import Place, decide_places
from dpsco_verify.papers.arora2020.translation import statement as translation
from dpsco_verify.privacy import transcript
from dpsco_verify.privacy.transcript import Status

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    """Two sizes are enough to see a verdict turn."""
    monkeypatch.setitem(composition._SIZES, Profile.QUICK, (16, 10**8))
    monkeypatch.setitem(privacy._SIZES, Profile.QUICK, (16, 400, 10**8))
    monkeypatch.setitem(translation._SIZES, Profile.QUICK, (76, 10**8))


def steps(finding):
    return {step.id: step.verdict for step in finding.proof_steps}


@pytest.mark.slow
def test_composition_is_refuted_by_a_first_increment_near_delta_one(verify, certificate_of):
    finding, result = verify("composition/literal")
    assert finding.verdict is Verdict.REFUTED
    witness = certificate_of(finding, result).witness
    assert isinstance(witness, CompositionViolation)
    assert witness.tau == 1
    assert 0.8 < finding.evidence["smallest δ of a ladder at which it fails"].value < 0.99
    assert steps(finding)["single-step"] is Verdict.REFUTED


def test_more_noise_repairs_composition(verify, monkeypatch):
    monkeypatch.setattr(composition, "NOISE_SQUARED", 40_000)
    finding, _ = verify("composition/literal")
    assert finding.verdict is Verdict.HOLDS_ON_GRID
    assert steps(finding)["single-step"] is Verdict.HOLDS_ON_GRID


@pytest.mark.slow
def test_small_deltas_fail_with_a_tenth_of_the_noise(verify, monkeypatch):
    # the certificate speaks of the printed noise, so no refutation may stand on it
    monkeypatch.setattr(composition, "NOISE_SQUARED", 0.03)
    broken, result = verify("composition/small-delta")
    assert broken.verdict is Verdict.INCONCLUSIVE
    assert "no certificate could be issued" in broken.summary
    assert result.record.exit_code == 3


@pytest.mark.slow
def test_without_the_bound_on_the_whole_run_small_deltas_stay_open(verify, monkeypatch):
    monkeypatch.setattr(transcript, "moment_bound", lambda **_: None)
    finding, result = verify("composition/small-delta")
    assert finding.verdict is Verdict.INCONCLUSIVE
    assert finding.evidence["grid points between the bounds"].value > 50
    assert result.record.exit_code == 3


@pytest.mark.parametrize("profile", [Profile.STANDARD, Profile.DEEP])
@pytest.mark.parametrize("step", [6, pytest.param(1, marks=pytest.mark.long)])
def test_small_deltas_hold_at_the_points_of_the_larger_profiles(profile, step):
    for n in composition.sizes(profile)[::step]:
        cells = decide_places(
            claim=composition.printed, places=composition.places(profile, n, every_delta=False)
        )
        assert {cell.status for cell in cells} == {Status.HOLDS}, n


@pytest.mark.slow
def test_the_surplus_of_noise_is_not_without_end(verify, monkeypatch):
    monkeypatch.setattr(privacy, "NOISE", Fraction(1, 10))
    broken, result = verify("privacy/literal")
    assert broken.verdict is Verdict.INCONCLUSIVE
    assert (
        "false at" in broken.summary
    )  # by a lower bound; a refutation would need a certificate of the printed claim
    assert steps(broken)["noise"] is Verdict.REFUTED
    assert result.record.exit_code == 3


def test_a_proof_with_tau_at_most_n_would_give_delta(monkeypatch):
    from dpsco_verify.papers.arora2020.privacy import proof

    monkeypatch.setattr(proof, "_TAU_OVER_N", 1)
    assert {s.id: s.verdict for s in proof.proof_steps()}["delta"] is Verdict.CERTIFIED


def test_a_smaller_range_breaks_the_order_of_the_remark(verify, monkeypatch):
    monkeypatch.setattr(translation, "ORDER_FACTOR", Fraction(1, 100))
    broken, _ = verify("translation/corrected")
    assert broken.verdict is not Verdict.HOLDS_ON_GRID
    assert steps(broken)["order"] is Verdict.REFUTED


def test_a_larger_range_breaks_the_steps_of_the_remark(verify, monkeypatch):
    monkeypatch.setattr(translation, "ORDER_FACTOR", Fraction(9))
    finding, _ = verify("translation/corrected")
    assert steps(finding)["risk"] is Verdict.REFUTED
    assert finding.verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize("reading", ["diameter", "norm-argmin"])
def test_the_risk_turns_with_its_constants(verify, certificate_of, monkeypatch, reading):
    finding, result = verify(f"risk/{reading}")
    assert finding.verdict is Verdict.CERTIFIED
    assert isinstance(certificate_of(finding, result).witness, RiskConstants)
    monkeypatch.setattr(risk, "CONSTANTS", (5, 13))
    assert verify(f"risk/{reading}")[0].verdict is Verdict.INCONCLUSIVE


def test_a_constant_of_38_repairs_the_risk_from_any_start(verify, certificate_of, monkeypatch):
    finding, result = verify("risk/norm-arbitrary")
    assert finding.verdict is Verdict.REFUTED
    assert isinstance(certificate_of(finding, result).witness, RiskDriftViolation)
    assert finding.evidence["constant proven in place of 20"].value < 38
    monkeypatch.setattr(risk, "CONSTANTS", (5, 38))
    assert (
        verify("risk/norm-arbitrary")[0].verdict is Verdict.INCONCLUSIVE
    )  # weaker than what the theorem claims
    monkeypatch.setitem(RiskConstants.readings, "norm-arbitrary", (5, 38))
    assert verify("risk/norm-arbitrary")[0].verdict is Verdict.CERTIFIED


def test_the_bound_on_the_drift_is_below_what_runs_show():
    """200 runs at n = 2000, δ = 0.9, from a fixed seed: the mean lies 0.15 above the bound, its error is 0.01."""
    n, delta = 2000, 0.9
    ratio, _ = drift_ratio(n, delta, first=5.0, second=20.0)
    root_log = float(np.sqrt(-np.log(delta)))
    bound = ratio * (5.0 + 40.0 * root_log) / n**0.5
    sigma, m, runs = 16.0 * root_log, n // 2 + 1, 200
    eta = 1.0 / (n**0.5 * (1.0 + sigma))
    rng = np.random.default_rng(5)
    w, fresh, total = np.full(runs, -1.0), np.zeros(runs, dtype=int), np.zeros(runs)
    while (fresh < m).any():
        new = (rng.random(runs) >= fresh / n) & (fresh < m)
        total += np.where(new, 1.0 - w, 0.0)
        w = np.clip(w + eta * (new + sigma * rng.standard_normal(runs)), -1.0, 1.0)
        fresh += new
    mean = float((total / m).mean())
    assert bound < mean < 4 * bound


def test_where_the_bound_says_anything():
    n = smallest_useful_n(first=5, second=20, dimension=10, delta=1e-6)
    edge = [5 / k**0.5 + 20 * (10 * np.log(1e6)) ** 0.5 / (k / (2 * k**0.5)) for k in (n - 1, n)]
    assert edge[1] < 1 <= edge[0]
    assert smallest_useful_n(first=1, second=0, dimension=1, delta=0.5) == 16


def test_the_search_for_a_drift_reports_the_largest_where_none_exceeds():
    drift = search_drift(first=500.0, second=2000.0)
    assert drift is not None
    assert drift.ratio < 1


def test_the_range_of_privacy_is_certified_only_where_the_argument_reaches(verify, certificate_of):
    finding, result = verify("privacy/bounded-n")
    assert finding.verdict is Verdict.CERTIFIED
    assert isinstance(certificate_of(finding, result).witness, PrivacyRange)
    reach = finding.evidence["largest power of ten that the argument reaches"].value
    beyond, result = verify("privacy/bounded-n", Range(power=reach + 1))
    assert beyond.verdict is Verdict.INCONCLUSIVE
    assert result.record.exit_code == 3


def test_the_range_of_privacy_is_not_certified_against_the_grid(verify, monkeypatch):
    monkeypatch.setattr(privacy, "NOISE", Fraction(1, 10))
    finding, _ = verify("privacy/bounded-n")
    assert finding.verdict is Verdict.INCONCLUSIVE
    assert "disagree" in finding.summary


def test_random_points_of_the_range_are_proven_by_the_bounds_themselves():
    """The closed form says so for every point; the bounds are evaluated at 150 of them, n up to 10¹²."""
    rng = np.random.default_rng(11)
    for _ in range(150):
        place = Place(
            n=int(10.0 ** rng.uniform(1.21, 12.0)),
            draws=None,
            scale=Fraction(float(rng.uniform(0.0, 0.5)) or 0.5),
            delta=Fraction(float(np.exp(-(10.0 ** rng.uniform(-2.0, 2.0))))),
            delta_prime=Fraction(float(np.exp(-(10.0 ** rng.uniform(-2.0, 2.0))))),
        )
        (cell,) = decide_places(claim=privacy.printed, places=(place,))
        assert cell.status is Status.HOLDS, str(place)


def test_without_amplification_there_is_nothing_to_lose_by_conditioning(monkeypatch):
    def step():
        return {s.id: s.verdict for s in composition_proof.proof_steps()}["conditioning"]

    assert step() is Verdict.ILL_POSED
    monkeypatch.setattr(composition_proof, "CONDITIONING_SIZE", 1)
    assert step() is Verdict.HOLDS_ON_GRID
