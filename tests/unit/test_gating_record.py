"""Audits as a record: names, verdicts that need a certificate, figures, and reports in every format."""

from __future__ import annotations

import io
import math
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from dpsco_verify.auditing import AuditVerdict, audit
from dpsco_verify.errors import InputError
from dpsco_verify.evidence import Verdict
from dpsco_verify.evidence.checker import Kinds, OwnMechanismEvidence
from dpsco_verify.evidence.records_codec import decode, encode
from dpsco_verify.evidence.values import rounded
from dpsco_verify.gating import FindingNames, audit_finding, gate_record, record_of
from dpsco_verify.inference import CellCounts
from dpsco_verify.reporting import FORMAT_NAMES, print_report, render_all

PAIR = (np.array([0.0]), np.array([1.0]))


def laplace(scale):
    def mechanism(d, size, rng):
        return d[0] + rng.laplace(0.0, scale, size)

    return mechanism


def audited(scale, *, name="laplace", **arguments):
    return audit(laplace(scale), *PAIR, **({"epsilon": 1.0, "samples": 4000, "name": name} | arguments))


@pytest.fixture(scope="module")
def good():
    return audited(1.0, alpha=1e-7)


@pytest.fixture(scope="module")
def bad():
    return audited(0.4, alpha=1e-7, name="half the noise")


@pytest.fixture(scope="module")
def undecided():
    return audited(1.0, alpha=1e-7, epsilon_of_interest=1.01)


def recorded(results, **arguments):
    usual = {"error_budget": 1e-6, "seed": 0, "profile": "quick", "seconds": 1.0}
    return gate_record(results, **(usual | arguments))


@pytest.mark.slow
def test_the_verdicts_and_the_exit_code(good, bad, undecided):
    assert [r.verdict for r in (good, bad, undecided)] == list(
        map(AuditVerdict, ("not_violated", "violated", "undecided"))
    )
    for results, code in (
        ([good], 0),
        ([good, undecided], 3),
        ([undecided, bad], 1),
        ([bad], 1),
        ([], 0),
    ):
        record, certificates = recorded(results)
        assert record.exit_code == code
        assert len(certificates) == results.count(bad)
    record, _ = recorded([good, bad, undecided])
    assert [finding.verdict for finding in record.claims] == [
        Verdict.NOT_REFUTED,
        Verdict.REFUTED,
        Verdict.INCONCLUSIVE,
    ]
    assert {finding.expected for finding in record.claims} == {Verdict.NOT_REFUTED}
    assert record.papers == ()
    assert {finding.paper for finding in record.claims} == {""}
    assert decode(encode(record)) == record


def test_a_refutation_comes_with_a_certificate_that_speaks_of_it(bad):
    record, certificates = recorded([bad])
    (finding,) = record.claims
    certificate = Kinds().decode(certificates[finding.certificate])
    assert "no paper's claim" in str(Kinds().check(certificate))
    assert (certificate.claim, certificate.reading) == (f"own:{finding.id}", finding.reading)
    witness = certificate.witness
    assert isinstance(witness, OwnMechanismEvidence)
    counts = bad.witness.decision_counts
    assert (witness.both, witness.first_only, witness.second_only, witness.neither) == (
        counts.n11,
        counts.n10,
        counts.n01,
        counts.n00,
    )
    # The test's own wealth, which the audit's level belongs to, is what the checker finds.
    assert float(certificate.left) >= 1 / bad.witness.alpha > float(certificate.right) * (1 - 1e-6)
    for part in ("D and D'", bad.witness.event, "seed 0", str(bad.witness.occurrences)):
        assert part in finding.counterexample


def test_a_violation_without_evidence_does_not_stand(bad):
    empty = replace(bad, witness=replace(bad.witness, decision_counts=CellCounts(5, 5, 5, 5)))
    finding, certificate = audit_finding(empty, id_="a", reading="b")
    assert finding.verdict is Verdict.INCONCLUSIVE
    assert finding.certificate is certificate is finding.counterexample is None
    assert "no certificate could be issued" in finding.summary
    record, certificates = recorded([empty])
    assert (record.exit_code, certificates) == (3, {})


def test_a_large_epsilon_can_be_refuted():
    """At ε = 40 the largest bet is about 4e-18."""

    def leak(d, size, rng):
        return np.full(size, d[0])

    result = audit(leak, *PAIR, epsilon=40.0, samples=2000)
    finding, certificate = audit_finding(result, id_="leak", reading="e40")
    assert (result.verdict is AuditVerdict.VIOLATED) == (finding.verdict is Verdict.REFUTED)
    assert (finding.verdict is Verdict.REFUTED) == (certificate is not None)


def test_the_figures_of_an_audit(good, bad):
    (finding,) = recorded([good])[0].claims
    evidence = {name: quantity.value for name, quantity in finding.evidence.items()}
    assert evidence["mdv_epsilon"] == rounded(good.mdv.epsilon) > 1.0
    assert evidence["samples"] == good.samples
    assert evidence["level"] == 1e-7
    assert evidence["claim"] == str(good.claim)
    assert not any("second" in name for name in evidence if name != "pairs_second_in_event")
    (finding,) = recorded([bad])[0].claims
    assert finding.evidence["mdv_epsilon"].value is None
    assert finding.evidence["epsilon_lower_bound"].value > 1.0
    plot, growth = finding.plots
    by_name = {series.name: series for series in plot.series}
    claimed = dict(zip(by_name["claimed"].x, by_name["claimed"].y, strict=True))
    assert claimed[1.0] == 0.0
    assert claimed[0.0] == pytest.approx(math.tanh(0.5))
    shown = by_name["at least (lower confidence bounds)"]
    evidence, refuted = growth.series
    assert evidence.y[-1] >= refuted.y[0] > 0
    assert shown.y[0] == rounded(bad.delta_lower) > claimed[shown.x[0]]


def test_what_is_not_finite_is_a_gap_with_a_note(bad):
    finding, _ = audit_finding(replace(bad, epsilon_lower=math.inf), id_="a", reading="b")
    assert finding.evidence["epsilon_lower_bound"].value is None
    assert "not finite" in finding.evidence["epsilon_lower_bound"].note


def test_notes_are_told(good):
    finding, _ = audit_finding(replace(good, notes=("mind the grid",)), id_="a", reading="b")
    assert finding.summary.endswith("Note: mind the grid")


def test_the_levels_are_what_the_budget_was_spent_on(good, bad):
    record, _ = recorded([good, bad, good])
    assert record.error_budget.total == 1e-6
    assert record.error_budget.spent == pytest.approx(3e-7)
    assert set(record.error_budget.by_claim) == {finding.key for finding in record.claims}
    with pytest.raises(InputError, match="overdrawn"):
        recorded([good] * 11)


def test_findings_that_were_made_one_by_one(good):
    finding, _ = audit_finding(good, id_="a", reading="b", label="my pair", reproduce="again")
    assert finding.reproduce == "again"
    assert "my pair" in finding.reading_text
    travelled = msgspec.json.decode(msgspec.json.encode(finding), type=type(finding))
    usual = {"error_budget": 1e-6, "seed": 1, "profile": "quick", "seconds": 0.0}
    record = record_of([travelled], {"a/b": 1e-7}, **usual)
    assert decode(encode(record)).claims == (finding,)
    with pytest.raises(InputError, match="names two findings"):
        record_of([finding, finding], {}, **usual)


def test_names_are_stable_and_each_is_given_once(good):
    names = FindingNames()
    assert names.of("mymod:laplace", "(1, 1e-06)-DP pair") == ("mymod-laplace", "1-1e-06-DP-pair")
    assert names.of("mymod:laplace", "(1, 1e-06)-DP pair") == ("mymod-laplace", "1-1e-06-DP-pair-2")
    assert names.of("mymod.laplace", "0.5-zCDP") == ("mymod.laplace", "0.5-zCDP")
    assert names.of("mymod/laplace", "0.5-zCDP") == ("mymod-laplace-2", "0.5-zCDP")
    assert names.of("../..", "ε") == ("x", "x")
    record, _ = recorded([good, good])
    assert len({finding.key for finding in record.claims}) == 2


@pytest.mark.slow
@given(asked=st.lists(st.tuples(st.text(), st.text()), max_size=8))
def test_any_names_make_a_report(asked):
    names = FindingNames()
    given_names = [names.of(*one) for one in asked]
    assert len({f"{a}/{b}".lower() for a, b in given_names}) == len(asked)
    files = {f"{a}--{b}".lower() for a, b in given_names}
    assert len(files) == len(asked)
    for name in files:
        assert len(name) <= 180
        assert not set(name) - set("abcdefghijklmnopqrstuvwxyz0123456789.+-")
        assert not name.startswith((".", "-"))


@pytest.mark.slow
def test_the_reports(good, bad, undecided):
    record, certificates = recorded([good, bad, undecided])
    files = render_all(record, FORMAT_NAMES, extra_files=certificates)
    assert {path.partition("/")[0] for path in files} == {
        "results.json",
        "index.html",
        "report.md",
        "junit.xml",
        "results.sarif",
        "badge.svg",
        "badge.json",
        "brief.json",
        "figures",
        "certificates",
    }
    for name in ("index.html", "report.md"):
        text = files[name].decode()
        assert "Claimed privacy guarantees" in text
        assert "3 audits of 2 mechanisms" in text
        body = text.partition("</style>")[2] or text
        for word in (
            "Errata",
            "Constants",
            "expectation",
            "Expectation",
            "What stands",
            "Reading",
            "> certified",
        ):
            assert word not in body, word
    assert b'<failure message="expected not violated, found violated' in files["junit.xml"]
    stream = io.StringIO()
    print_report(record, Console(file=stream, width=80))
    printed = " ".join(stream.getvalue().split())
    for finding in record.claims:
        assert " ".join(finding.summary.split()) in printed
    assert " ".join(record.claims[1].counterexample.split()) in printed
    assert "Exit code 1: at least one audit is not as expected." in printed
