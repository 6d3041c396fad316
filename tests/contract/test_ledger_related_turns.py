"""The claims of the related systems: change a constant or break an implementation, and see each verdict turn."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType, SimpleNamespace

import numpy as np
import pytest

from dpsco_verify.choices import Profile
from dpsco_verify.comparison import audits
from dpsco_verify.comparison.audits import SystemAudit
from dpsco_verify.evidence import AuditVerdict, Consequence, Verdict
from dpsco_verify.evidence.checker import EventEvidence, MeanEvidence
from dpsco_verify.ledger.installed import installed_ledger
from dpsco_verify.ledger.systems import privacy_statement
from dpsco_verify.ledger.systems import risk_statement as risk
from dpsco_verify.ledger.systems.risk_instances import build
from dpsco_verify.papers.arora2020.certified_noise import statement as certified_noise
from dpsco_verify.papers.bassily2014.noisy_sgd_erm import bounds as noisy_sgd_bounds
from dpsco_verify.papers.bassily2014.noisy_sgd_erm.certificates import NoisySgdViolation
from dpsco_verify.papers.bassily2019.minibatch import bounds as minibatch
from dpsco_verify.papers.bassily2019.minibatch.certificates import (
    MinibatchViolation,
    SmoothedMinibatchViolation,
)
from dpsco_verify.papers.chaudhuri2011.objective_perturbation import statement as objective_perturbation
from dpsco_verify.papers.chaudhuri2011.output_perturbation import statement as output_perturbation
from dpsco_verify.papers.chaudhuri2011.output_perturbation.certificates import OutputPerturbationViolation
from dpsco_verify.papers.feldman2020.iteration_sgd import statement as iteration
from dpsco_verify.papers.feldman2020.iteration_sgd.certificates import IterationStepViolation
from dpsco_verify.papers.feldman2020.phased import statement as phased
from dpsco_verify.related import ConditionError, PrivacyBudget, Task
from dpsco_verify.related.catalogue import SYSTEMS
from dpsco_verify.related.output_perturbation import OutputPerturbation
from dpsco_verify.related.phased_sgd import PhasedSgd

pytestmark = pytest.mark.slow

STATEMENTS = [statement for entry in installed_ledger().papers for statement in entry.statements]
PRIVACY = [s for s in STATEMENTS if isinstance(s, privacy_statement.PrivacyStatement)]
AUDITED = [f"{s.id}/{reading.id}" for s in PRIVACY for reading in s.readings if reading.weight]


@pytest.fixture
def _no_audit(monkeypatch):
    """The audit is not what turns these verdicts, and costs most of their time."""

    def quiet(*, alpha, **_):
        return SystemAudit(
            system="s",
            pair="pair",
            claim="claim",
            n=2,
            dimension=1,
            verdict=AuditVerdict.NOT_VIOLATED,
            summary="nothing was found",
            samples=100,
            event="value in [0, inf)",
            occurrences=10,
            occurrences_neighbour=9,
            order=1.0,
            delta_at_order=1e-6,
            detectable_epsilon=2.0,
            epsilon_lower=0.0,
            alpha=alpha,
            test_alpha=alpha,
            counts=(1, 9, 8, 82),
            fractions=(0.5,),
        )

    monkeypatch.setattr(privacy_statement, "audit_system", quiet)


def replaced(monkeypatch, module, system):
    """Let a module's catalogue hold another implementation under the same id."""
    monkeypatch.setattr(module, "SYSTEMS", MappingProxyType({**SYSTEMS, system.id: system}))


def test_one_statement_a_system_and_kind():
    bounds = [s for s in STATEMENTS if isinstance(s, risk.RiskClaim)]
    for of_one_kind in (PRIVACY, bounds):
        assert of_one_kind
        assert len({s.id for s in of_one_kind}) == len(of_one_kind)
        assert {s.system for s in of_one_kind} <= set(SYSTEMS)
    assert len(AUDITED) == len({s.system for s in PRIVACY}) == len(PRIVACY)


def test_the_measured_ratios_may_reach_the_largest_excess_over_the_bound(monkeypatch):
    """No excess risk is above L D, here 1 times √2; the level is what e-processes over that range keep."""
    monkeypatch.setattr(risk, "tested", lambda ratios, span, **_: (ratios, span))
    system, instance = "mirror-descent-entropic", build("simplex-8")
    arguments = {"runs": 3, "alpha": 0.1, "seed": 0, "name": "range"}
    ratios, span = risk.measure(system=system, instance="simplex-8", n=200, **arguments)
    bound = SYSTEMS[system].risk_bound(instance.task, 200, PrivacyBudget(risk.EPSILON, risk.DELTA))
    assert span.high == pytest.approx(math.sqrt(2.0) / bound)
    assert span.gap == instance.gap / bound
    assert span.low == pytest.approx(-span.gap, abs=1e-8)
    assert ratios.shape == (3,)
    assert ((span.low <= ratios) & (ratios <= span.high)).all()
    assert risk.measure(system=system, instance="simplex-8", n=2, **arguments) is None


@pytest.mark.parametrize(
    ("key", "kind", "consequence"),
    [
        ("output-perturbation-privacy/any-lipschitz", OutputPerturbationViolation, Consequence.NOTHING),
        ("noisy-sgd-erm-privacy/every-epsilon", NoisySgdViolation, Consequence.NOTHING),
        ("minibatch-sgd-privacy/output-before", MinibatchViolation, Consequence.GUARANTEE),
        ("minibatch-sgd-privacy/output-after", MinibatchViolation, Consequence.GUARANTEE),
        ("minibatch-sgd-privacy/every-epsilon", MinibatchViolation, None),
        ("smoothed-minibatch-sgd-privacy/noise-for-l", SmoothedMinibatchViolation, None),
        ("iteration-sgd-privacy/any-step-size", IterationStepViolation, Consequence.NOTHING),
    ],
)
def test_what_is_false_has_its_certificate_and_its_erratum(verify, certificate_of, key, kind, consequence):
    finding, result = verify(key)
    assert finding.verdict is Verdict.REFUTED
    assert type(certificate_of(finding, result).witness) is kind
    if consequence is None:  # nobody claims it
        assert result.record.errata == ()
        return
    (erratum,) = result.record.errata
    assert erratum.shown_by == (key,)
    assert erratum.consequence is consequence


@pytest.mark.usefixtures("_no_audit")
@pytest.mark.parametrize(
    ("module", "name", "value", "key"),
    [
        (output_perturbation, "NOISE", 3, "output-perturbation-privacy/unit-lipschitz"),
        (phased, "NOISE", 5, "phased-sgd-privacy/printed"),
        (phased, "NOISE", 5, "phased-erm-privacy/printed"),
        (objective_perturbation, "POWER", 3, "objective-perturbation-privacy/printed"),
        (minibatch, "NOISE", 9.0, "minibatch-sgd-privacy/many-steps"),
        (noisy_sgd_bounds, "NOISE", 33.0, "noisy-sgd-erm-privacy/proof-range"),
    ],
)
def test_an_implementation_with_less_than_the_noise_asked_for_is_not_certified(
    verify, monkeypatch, module, name, value, key
):
    monkeypatch.setattr(module, name, value)
    finding, result = verify(key)
    assert finding.verdict is Verdict.INCONCLUSIVE
    assert "implementation" in finding.summary
    assert result.record.exit_code == 3


@pytest.mark.usefixtures("_no_audit")
def test_batches_that_are_too_small_are_noticed(verify, monkeypatch):
    real = iteration.constant_batches
    monkeypatch.setattr(iteration, "constant_batches", lambda *arguments: np.maximum(real(*arguments) - 1, 1))
    finding, _ = verify("iteration-sgd-privacy/printed")
    assert finding.verdict is Verdict.INCONCLUSIVE


@pytest.mark.usefixtures("_no_audit")
def test_a_thirtieth_of_the_noise_is_not_proven_for_noisy_sgd(verify, monkeypatch):
    real = noisy_sgd_bounds.steps_of
    monkeypatch.setattr(noisy_sgd_bounds, "steps_of", lambda *a: real(*a).scaled(1 / 30))
    finding, _ = verify("noisy-sgd-erm-privacy/proof-range")
    assert finding.verdict is Verdict.INCONCLUSIVE
    assert finding.evidence["grid points at which it fails"].value > 0


@pytest.mark.usefixtures("_no_audit")
def test_far_fewer_steps_leave_too_little_noise(verify, monkeypatch):
    """At d = 10⁸ a hundred points are left with one step, which the noise of one step does not hide."""
    assert verify("noisy-sgd-erm-privacy/fewer-steps")[0].verdict is Verdict.HOLDS_ON_GRID

    def without(system):
        raise ConditionError("a task in so many dimensions is not built")

    monkeypatch.setattr(noisy_sgd_bounds, "Place", lambda *_: SimpleNamespace(figures=without))
    monkeypatch.setitem(noisy_sgd_bounds._DIMENSIONS, Profile.QUICK, (10**8,))
    finding, _ = verify("noisy-sgd-erm-privacy/fewer-steps")
    assert finding.verdict is Verdict.INCONCLUSIVE
    assert finding.evidence["grid points at which it fails"].value > 0


@pytest.mark.usefixtures("_no_audit")
def test_twice_the_noise_repairs_the_mini_batch(verify, monkeypatch):
    assert verify("minibatch-sgd-privacy/output-before")[0].verdict is Verdict.REFUTED
    needed = verify("minibatch-sgd-privacy/output-before")[0].sharpness[0].needed
    assert needed is not None
    real = minibatch.printed
    factor = 1.01 * math.sqrt(needed / minibatch.NOISE)
    monkeypatch.setattr(minibatch, "printed", lambda *a: real(*a).scaled(factor))
    finding, _ = verify("minibatch-sgd-privacy/output-before")
    assert finding.verdict is Verdict.INCONCLUSIVE  # the implementation has less; no point fails any more
    assert finding.evidence["grid points at which it fails"].value == 0


@pytest.mark.usefixtures("_no_audit")
def test_less_noise_by_this_projects_bounds_is_not_proven(verify, monkeypatch):
    for key, system in (
        ("algorithm-1-privacy/certified-noise", "algorithm-1"),
        ("subsampled-one-pass-privacy/certified-noise", "subsampled-one-pass"),
    ):
        real = SYSTEMS[system]

        class _Quiet(type(real)):
            def _calibrate(self, task, n, budget):
                found = super()._calibrate(task, n, budget)
                return replace(found, figures={k: 0.98 * v for k, v in found.figures.items()})

        with monkeypatch.context() as context:
            replaced(context, certified_noise, _Quiet())
            finding, _ = verify(key)
        assert finding.verdict is Verdict.INCONCLUSIVE
        assert "no bound proves" in finding.summary


class _QuietOutput(OutputPerturbation):
    """A tenth of the noise."""

    def sensitivity(self, task, n, budget):
        return super().sensitivity(task, n, budget) / 10.0


@pytest.mark.parametrize("system", [_QuietOutput()])
def test_an_implementation_that_leaks_is_refuted_by_its_audit(verify, certificate_of, monkeypatch, system):
    """The exact figures look at the calibration alone; here they see the right one, and only the samples tell."""
    replaced(monkeypatch, audits, system)
    finding, result = verify("output-perturbation-privacy/unit-lipschitz")
    assert finding.verdict is Verdict.REFUTED
    assert isinstance(certificate_of(finding, result).witness, EventEvidence)
    assert result.record.exit_code == 1


class _StandStill(PhasedSgd):
    """It never moves, whatever the data say, and still promises a bound that is too small for that."""

    def _risk_bound(self, task: Task, n, budget):
        return 0.3 * super()._risk_bound(task, n, budget)

    def _fit(self, sample, task, budget, rng, *, keep_transcript):
        found = super()._fit(sample, task, budget, rng, keep_transcript=keep_transcript)
        return replace(found, solution=np.full_like(found.solution, -0.5))


def test_a_risk_above_the_bound_is_refuted_by_observations(verify, certificate_of, monkeypatch):
    assert verify("phased-sgd-risk/measured")[0].verdict is Verdict.NOT_REFUTED
    replaced(monkeypatch, risk, _StandStill())
    finding, result = verify("phased-sgd-risk/measured")
    assert finding.verdict is Verdict.REFUTED
    certificate = certificate_of(finding, result)
    assert isinstance(certificate.witness, MeanEvidence)
    assert Fraction(certificate.witness.bound) == 1


def test_a_bound_above_every_risk_decides_nothing(verify, monkeypatch):
    class _Boundless(PhasedSgd):
        def _risk_bound(self, task, n, budget):
            return 2.0 * task.lipschitz * task.diameter

    replaced(monkeypatch, risk, _Boundless())
    finding, _ = verify("phased-sgd-risk/measured")
    assert finding.verdict is Verdict.INCONCLUSIVE
    assert "exceeds the largest risk" in finding.summary


def test_the_levels_of_a_claim_are_within_its_share(verify):
    for key in ("phased-sgd-risk/measured", "phased-sgd-privacy/printed"):
        _, result = verify(key)
        spent = result.record.error_budget.by_claim[key]
        assert 0.0 < spent <= result.record.error_budget.total
