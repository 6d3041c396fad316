"""Violations so mild that no run sees them by itself: several runs do, with a certificate that stands alone.

The seeds are fixed and a refutation is at the level of the run's error budget, so these outcomes are reproducible; at
other seeds a true claim would be refuted with probability 1e-6 at most.
"""

from __future__ import annotations

import dataclasses
import json
from fractions import Fraction

import pytest
from click.testing import CliRunner

from dpsco_verify.choices import Profile
from dpsco_verify.cli import main
from dpsco_verify.evidence import Verdict
from dpsco_verify.evidence.checker import AccumulatedEventEvidence, AccumulatedMeanEvidence
from dpsco_verify.ledger.installed import installed_ledger
from dpsco_verify.ledger.run import run_audit
from dpsco_verify.papers.arora2020.single_step import empirical
from dpsco_verify.papers.arora2020.single_step import statement as single_step
from dpsco_verify.papers.arora2020.single_step.work import points
from dpsco_verify.papers.arora2020.utility import certificates
from dpsco_verify.papers.arora2020.utility import statement as utility
from dpsco_verify.papers.arora2020.utility.statement import Utility
from dpsco_verify.papers.arora2020.utility.work import WORK, Work
from dpsco_verify.store import EvidenceStore

pytestmark = pytest.mark.slow  # several runs each


@pytest.fixture
def low_constant(monkeypatch):
    """The utility theorem with a constant a little below what the drift has, and few runs of it."""
    work = Work(sizes=(64,), sigmas=(0.1,), runs=150, trials=4, search_runs=20, confirm_runs=50, largest_n=64)
    monkeypatch.setitem(WORK, Profile.QUICK, work)
    monkeypatch.setattr(utility, "NAMES", ("drift", "median"))
    monkeypatch.setattr(Utility, "constant", 1.02)
    monkeypatch.setattr(certificates, "CLAIMED", Fraction(1.02))  # and what the checker knows of the claim
    (null,) = (null for reading, null in certificates.nulls().items() if reading == "diameter")
    monkeypatch.setitem(installed_ledger().kinds._nulls, "utility/diameter", null)


@pytest.fixture
def weak_noise(monkeypatch):
    """A step with 0.35 of the noise that it says, and too few samples of it for one run."""
    right = empirical.noisy_step

    def weak(w, batch, fresh, noise, **keywords):
        return right(w, batch, fresh, 0.35 * noise, **keywords)

    def capped(places, profile, *, factor):
        return tuple(
            dataclasses.replace(point, cap=20_000) for point in points(places, profile, factor=factor)
        )

    monkeypatch.setattr(empirical, "noisy_step", weak)
    monkeypatch.setattr(single_step, "points", capped)
    monkeypatch.setattr(single_step, "panels", lambda batches, profile: ((2, 1),))


def verify(key, seed, store, *, accumulate=True):
    ledger = installed_ledger()
    return run_audit(
        ledger,
        ledger.find([key]),
        profile=Profile.QUICK,
        seed=seed,
        store=store,
        accumulate=accumulate,
    )


def refuted_by(key, runs, before, path):
    """Audit at seeds 0, 1, …; only the last of `runs` runs refutes, and none by itself. Return its audit."""
    with EvidenceStore(path / "alone.sqlite3") as store:
        for seed in range(runs):
            alone = verify(key, seed, store, accumulate=False)
            assert alone.record.claims[0].verdict is before
            assert not alone.record.claims[0].accumulated
    with EvidenceStore(path / "together.sqlite3") as store:
        for seed in range(runs):
            audit = verify(key, seed, store)
            verdict = audit.record.claims[0].verdict
            assert verdict is (before if seed < runs - 1 else Verdict.REFUTED)
    return audit


CASES = [
    ("utility/diameter", 3, Verdict.NOT_REFUTED, AccumulatedMeanEvidence, "low_constant"),
    ("single-step/corrected", 4, Verdict.CERTIFIED, AccumulatedEventEvidence, "weak_noise"),
]


@pytest.mark.parametrize(("key", "runs", "before", "kind", "broken"), CASES)
def test_several_runs_refute_what_none_does(request, tmp_path, key, runs, before, kind, broken):
    request.getfixturevalue(broken)
    audit = refuted_by(key, runs, before, tmp_path)
    finding = audit.record.claims[0]
    assert audit.record.exit_code == 1
    assert f"over {runs} runs" in finding.summary
    assert all(f"run {seed + 1} (seed {seed})" in finding.counterexample for seed in range(runs))
    (rejected,) = (one for one in finding.accumulated if one.rejected)
    assert [(one.run, one.seed) for one in rejected.runs] == [(seed + 1, seed) for seed in range(runs)]
    assert all(one.holds_with is None or one.holds_with > one.claimed for one in finding.sharpness)
    assert audit.record.error_budget.spent <= 1e-6

    # The certificate convinces without the store, and a changed one does not.
    data = audit.certificates[finding.certificate]
    certificate = installed_ledger().kinds.decode(data)
    assert isinstance(certificate.witness, kind)
    assert [run.seed for run in certificate.witness.runs] == [str(seed) for seed in range(runs)]
    right, wrong = tmp_path / "right.json", tmp_path / "wrong.json"
    right.write_bytes(data)
    done = CliRunner().invoke(main, ["replay", str(right)])
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("accepted")
    for change in (drop_a_run, count_a_run_twice, raise_the_level, count_one_more):
        changed = json.loads(data)
        change(changed["witness"])
        wrong.write_text(json.dumps(changed))
        done = CliRunner().invoke(main, ["replay", str(wrong)])
        assert done.exit_code == 1, change
        assert done.stdout.startswith("rejected"), change


def drop_a_run(witness):
    witness["runs"].pop(0)


def count_a_run_twice(witness):
    witness["runs"].append(witness["runs"][-1])


def raise_the_level(witness):
    witness["alpha"] = "1/10"


def count_one_more(witness):
    last = witness["runs"][-1]
    if "counts" in last:
        last["counts"][-1] += 1
    else:
        last["first_only"] += 1


def test_one_seed_again_and_again_refutes_nothing(low_constant, tmp_path):
    """What three seeds refute, one seed does not, however often it is run."""
    with EvidenceStore(tmp_path / "store.sqlite3") as store:
        for _ in range(4):
            audit = verify("utility/diameter", 0, store)
            assert audit.record.claims[0].verdict is Verdict.NOT_REFUTED


def test_a_true_claim_gains_nothing_from_runs(monkeypatch, tmp_path):
    """The theorem as it is: its products fall from run to run, and the proof's verdict stands."""
    work = Work(sizes=(64,), sigmas=(0.1,), runs=60, trials=2, search_runs=5, confirm_runs=20, largest_n=64)
    monkeypatch.setitem(WORK, Profile.QUICK, work)
    before = {}
    with EvidenceStore(tmp_path / "store.sqlite3") as store:
        for seed in range(3):
            finding = verify("utility/diameter", seed, store).record.claims[0]
            assert finding.verdict is Verdict.CERTIFIED
            for one in finding.accumulated:
                assert not one.rejected
                assert one.log10_e_value < before.get(one.null_hypothesis, 0.0)
                before[one.null_hypothesis] = one.log10_e_value
    assert before
