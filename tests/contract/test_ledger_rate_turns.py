"""``rate``: the verdict turns when the claim is strengthened or the algorithm broken.

The seeds are fixed; at another seed each outcome would be the same but for the level of the error budget, and but for
the power, which is above 0.999 at the deviations made here: the exponents are off by at least twice the minimum
detectable violation.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from dpsco_verify.evidence import Verdict, checker
from dpsco_verify.evidence.checker import RateConstant
from dpsco_verify.execution import SerialExecutor, execute
from dpsco_verify.inference.budget import ErrorBudget
from dpsco_verify.ledger.audit import ERROR_BUDGET, _with_checked_certificate
from dpsco_verify.ledger.profile import Profile
from dpsco_verify.ledger.registry import all_claims
from dpsco_verify.ledger.statement import Context
from dpsco_verify.ledger.statements.rate import Rate, measure, measured, plan, upper

pytestmark = pytest.mark.slow  # runs of the quick profile

READINGS = {reading.id: reading for reading in Rate.readings}


def verify(name, *, seed=0, alpha=None):
    statement, reading = Rate(), READINGS[name]
    weights = {claim.key: claim.reading.weight for claim in all_claims() if claim.reading.weight > 0}
    weights |= {f"rate/{r.id}": r.weight for r in Rate.readings if r.weight > 0}
    share = ErrorBudget.split(ERROR_BUDGET, weights).share(f"rate/{name}") if reading.weight > 0 else None
    context = Context(profile=Profile.QUICK, seed=seed, share=share)
    outcomes = execute(statement.units(reading, context), SerialExecutor())
    conclusion = statement.conclude(reading, context, outcomes)
    verdict, summary, certificate = _with_checked_certificate(conclusion)
    return verdict, summary, certificate, conclusion


def test_the_upper_bound_is_certified():
    verdict, summary, certificate, conclusion = verify("upper")
    assert verdict is Verdict.CERTIFIED
    assert "C = 37.6" in summary
    decoded = checker.decode(certificate)
    assert (decoded.claim, decoded.reading) == ("rate", "upper")
    assert isinstance(decoded.witness, RateConstant)
    steps = {step.id: step.verdict for step in conclusion.proof_steps}
    assert steps == {"dominance": Verdict.CERTIFIED, "regime": Verdict.REFUTED}


def test_a_smaller_constant_is_not_certified(monkeypatch):
    monkeypatch.setattr(Rate, "constant", Fraction(75, 2))  # 37.5, just below 8(4 + ln 2)
    verdict, summary, certificate, _ = verify("upper")
    assert verdict is Verdict.INCONCLUSIVE
    assert "does not reach 37.5" in summary
    assert certificate is None


def test_a_constant_that_the_code_overstates_is_rejected_by_the_checker(monkeypatch):
    monkeypatch.setattr(Rate, "constant", Fraction(75, 2))
    monkeypatch.setattr(upper, "limit_constant", lambda factor: 0.99 * (factor**2 + math.log(2.0)))
    with pytest.raises(checker.Rejected):
        verify("upper")


def test_the_regime_of_the_theorem_repairs_the_abstract(monkeypatch):
    right = upper.rate_exponent
    monkeypatch.setattr(upper, "rate_exponent", lambda decay: right(min(decay, Fraction(1, 2))))
    steps = {step.id: step.verdict for step in verify("upper")[3].proof_steps}
    assert steps["regime"] is Verdict.CERTIFIED


@pytest.mark.parametrize("reading", ["measured-n", "measured-d"])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_claimed_exponents_are_not_refuted(reading, seed):
    verdict, summary, _, conclusion = verify(reading, seed=seed)
    assert verdict is Verdict.NOT_REFUTED
    assert "power 0.9" in summary
    assert 0.0 < conclusion.evidence["minimum detectable violation"].value < measured.VIOLATION / 2
    assert set(conclusion.spent) == {"exponent", "level"}


@pytest.mark.parametrize(
    ("reading", "exponent"),
    [("measured-n", -1.0), ("measured-n", -0.25), ("measured-d", 0.25), ("measured-d", 1.0)],
)
def test_another_exponent_departs(monkeypatch, reading, exponent):
    monkeypatch.setattr(Rate, "exponents", {**Rate.exponents, reading: exponent})
    verdict, summary, _, _ = verify(reading)
    assert verdict is Verdict.INCONCLUSIVE
    assert f"departs from the claimed {exponent:g}" in summary


def schedule_with(monkeypatch, change):
    right = measure.main_schedule

    def changed(**keywords):
        return change(right(**keywords), keywords["n"], keywords["dimension"])

    monkeypatch.setattr(measure, "main_schedule", changed)


@pytest.mark.parametrize(
    ("reading", "change"),
    [
        # a step that does not shrink with n
        ("measured-n", lambda s, n, d: replace(s, step_size=s.step_size * math.sqrt(n / 256))),
        # noise that grows with n, as at ε = 1/(2n) in place of 1/(2√n)
        ("measured-n", lambda s, n, d: replace(s, sigma=s.sigma * math.sqrt(n / 256))),
        # noise on the scale of a coordinate's share, whose norm does not grow with d
        ("measured-d", lambda s, n, d: replace(s, sigma=s.sigma / math.sqrt(d))),
    ],
)
def test_a_broken_schedule_changes_the_exponent(monkeypatch, reading, change):
    schedule_with(monkeypatch, change)
    verdict, summary, _, _ = verify(reading)
    assert verdict is Verdict.INCONCLUSIVE
    assert "departs from the claimed" in summary


@pytest.mark.parametrize("reading", ["measured-n", "measured-d"])
def test_a_constant_factor_in_the_noise_changes_the_level(monkeypatch, reading):
    """A tenth more noise leaves the exponents about where they are, but the risk is no longer the exact one."""
    schedule_with(monkeypatch, lambda s, n, d: replace(s, sigma=1.1 * s.sigma))
    verdict, summary, _, _ = verify(reading)
    assert verdict is Verdict.INCONCLUSIVE
    assert "is not the exact expectation" in summary


def test_walking_uphill_departs(monkeypatch):
    right = measure.run_ensemble
    monkeypatch.setattr(measure, "run_ensemble", lambda data, **keywords: right(-data, **keywords))
    verdict, summary, _, _ = verify("measured-d")
    assert verdict is Verdict.INCONCLUSIVE
    assert "departs from the claimed 0.5" in summary


def with_cells(monkeypatch, cells, runs):
    monkeypatch.setitem(
        plan.PLANS["measured-n"], Profile.QUICK, plan.Plan(variable="n", cells=cells, runs=runs)
    )


def test_sizes_before_the_asymptotic_range_decide_nothing(monkeypatch):
    with_cells(monkeypatch, tuple(plan.Cell(n=16 * 2**i, dimension=1, delta=0.5) for i in range(5)), 128)
    verdict, summary, _, _ = verify("measured-n")
    assert verdict is Verdict.INCONCLUSIVE
    assert "not in the asymptotic range" in summary


def test_too_few_runs_decide_nothing(monkeypatch):
    cells = plan.PLANS["measured-n"][Profile.QUICK].cells[:3]
    with_cells(monkeypatch, cells, 4)
    verdict, summary, _, conclusion = verify("measured-n")
    assert verdict is Verdict.INCONCLUSIVE
    assert "too few runs" in summary
    assert conclusion.evidence["half-width of the interval that decides"].value is None


def test_runs_without_power_decide_nothing(monkeypatch):
    cells = tuple(plan.Cell(n=n, dimension=1, delta=0.95) for n in (256, 300, 350))
    with_cells(monkeypatch, cells, 1200)
    verdict, summary, _, _ = verify("measured-n")
    assert verdict is Verdict.INCONCLUSIVE
    assert "would find a deviation of" in summary
