"""The pytest plugin, in sessions of its own: verdicts, levels, messages, the report, and what goes wrong.

Every audit here has a fixed seed, a mechanism exactly at its claim or one far beyond it, so nothing is left to chance.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsco_verify.errors import InputError
from dpsco_verify.evidence import AuditVerdict
from dpsco_verify.plugin.message import data_in_words
from dpsco_verify.plugin.report import session_record  # noqa: F401  loads the heavy part once, for all sessions here
from dpsco_verify.plugin.session import Origin, ReceivedAudit, SessionAudits, UnfinishedTest, attach
from dpsco_verify.plugin.settings import read_settings
from dpsco_verify.plugin.shares import AuditedTest, Everyone, share_of

pytest_plugins = ["pytester"]

PAGE = (Path(__file__).parents[2] / "docs" / "gate.md").read_text(encoding="utf-8")

HEAD = """
import numpy as np
import pytest

D, E = [1, 2, 3], [1, 2]


def count(epsilon):
    p = 1 - np.exp(-epsilon)

    def noisy_count(dataset, size, rng):
        return len(dataset) + rng.geometric(p, size) - rng.geometric(p, size)

    return noisy_count


@pytest.fixture
def log():
    def show(result):
        print(f"audited alpha={result.alpha!r} log_e={result.log_e_value!r} seed={result.witness.seed}")

    return show
"""

GOOD_AND_BAD = (
    HEAD
    + """

@pytest.mark.xdist_group("g")  # under --dist loadgroup some versions rename such tests
def test_good(assert_private, log):
    log(assert_private(count(1.0), D, E, epsilon=1.0, relation="add-remove"))


def test_bad(assert_private):
    assert_private(count(3.0), D, E, epsilon=1.0, relation="add-remove", name="a count")


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_twice(assert_private, log, epsilon):
    log(assert_private(count(epsilon), D, E, epsilon=epsilon))
    log(assert_private(count(epsilon), E, D, epsilon=epsilon, name="the other way round"))


def test_of_something_else():
    pass
"""
)


class Session:
    """A pytest session that is over."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def audits(self):
        """The lines that tests printed about their audits, in any order."""
        return sorted(re.findall(r"^audited .*", self.out, re.MULTILINE))

    def levels(self):
        return [float(level) for level in re.findall(r"^audited alpha=(\S+)", self.out, re.MULTILINE)]


OPTIONS = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-W", "error")


def run_as_a_user(folder, *arguments):
    """Run pytest as a program."""
    done = subprocess.run(  # noqa: S603  our own program
        [sys.executable, "-m", "pytest", *OPTIONS, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    return Session(done.returncode, done.stdout, done.stderr)


def write(folder, text, conftest=""):
    (folder / "test_it.py").write_text(text)
    (folder / "conftest.py").write_text(conftest)
    (folder / "pytest.ini").write_text("[pytest]\n")


@pytest.fixture
def suite(pytester):
    """Write a test file and return what runs pytest on it, in this process: that saves the heavy imports."""

    def prepare(text, conftest=""):
        write(pytester.path, text, conftest)

        def run(*arguments):
            result = pytester.runpytest_inprocess(*OPTIONS, *arguments)
            return Session(result.ret, result.stdout.str(), result.stderr.str())

        return run

    return prepare


@pytest.fixture(scope="module")
def spread(tmp_path_factory):
    """The session of GOOD_AND_BAD on two workers of pytest-xdist, with its folder."""
    folder = tmp_path_factory.mktemp("spread")
    write(folder, GOOD_AND_BAD)
    arguments = (
        "-rA",
        "-n",
        "2",
        "--dist",
        "loadgroup",
        "--dpsco-error-budget=8e-6",
        "--dpsco-report=out/privacy",
    )
    return run_as_a_user(folder, *arguments), folder


def results(folder):
    """The session's report, times aside."""
    record = json.loads((folder / "results.json").read_text())
    record["seconds"] = 0.0
    for claim in record["claims"]:
        claim["seconds"] = 0.0
    return record


# verdicts and messages


@pytest.mark.slow
def test_a_good_mechanism_passes_and_a_bad_one_fails_with_its_witness(suite):
    session = suite(GOOD_AND_BAD)("-rA")
    assert session.code == 1
    assert "4 passed" in session.out.splitlines()[-1]
    assert "1 failed" in session.out.splitlines()[-1]
    message = re.search(r"^E +AssertionError: (a count violates .*(?:\nE .*)+)", session.out, re.MULTILINE)
    said = re.sub(r"(?m)^E +", "", message[1])
    assert "under add-remove" in said
    assert re.search(r"^D +\[1, 2(, 3)?\]", said, re.MULTILINE)
    assert re.search(r"^D to D' +add-remove: record [02] of 3 (added|removed): [13]", said, re.MULTILINE)
    assert re.search(r"^event +\S", said, re.MULTILINE)
    assert re.search(
        r"^seen +[0-9,]+ of [0-9,]+ outputs on D, [0-9,]+ of [0-9,]+ outputs on D'$", said, re.MULTILINE
    )
    lower = float(re.search(r"ε ≥ ([0-9.]+) at δ = 0", said)[1])
    assert 1.0 < lower <= 3.0
    assert re.search(r"e-value \d\.\d\de\+\d+, p-value [0-9.e-]+, seed \d+$", said, re.MULTILINE)
    # nothing of the plugin's insides is in the traceback
    assert "plugin/assertion.py" not in session.out
    assert "plugin/fixture.py" not in session.out


@pytest.mark.slow
def test_the_command_in_the_message_repeats_the_audit(suite):
    run = suite(GOOD_AND_BAD)
    first = run("--dpsco-seed=5")
    command = shlex.split(re.search(r"repeat +(pytest .*)", first.out)[1])
    assert command[0] == "pytest"
    again = run(*command[1:])
    assert "1 failed in" in again.out

    def said(session):
        return re.findall(
            r"^E +(?:AssertionError|D to|event|seen|hence|evidence|repeat)\b.*", session.out, re.MULTILINE
        )

    assert len(said(first)) >= 7
    assert said(again) == said(first)


@pytest.mark.slow
def test_the_command_is_right_from_another_folder(suite, pytester, monkeypatch):
    run = suite("")
    pytester.path.joinpath("test it.py").write_text(GOOD_AND_BAD)
    monkeypatch.chdir(pytester.mkdir("below"))
    first = run("../test it.py", "-k", "bad")
    command = shlex.split(re.search(r"repeat +(pytest .*)", first.out)[1])
    assert command[1] == "../test it.py::test_bad"
    assert "1 failed in" in run(*command[1:]).out


@pytest.mark.slow
def test_an_audit_that_cannot_decide_fails_and_says_what_to_raise(suite):
    session = suite(
        HEAD
        + """
def test_too_few(assert_private):
    assert_private(count(1.0), D, E, epsilon=1.0, samples=64)

def test_not_enough_for_what_is_of_interest(assert_private):
    assert_private(count(1.0), D, E, epsilon=1.0, epsilon_of_interest=1.01)
"""
    )()
    assert session.code == 1
    assert "2 failed" in session.out
    assert len(re.findall(r"^E +Failed: .*: undecided$", session.out, re.MULTILINE)) == 2
    assert re.search(r"raise +samples= \(now 64\) or --dpsco-error-budget \(now 1e-06\)", session.out)
    assert re.search(r"raise +--dpsco-profile=standard \(100,000 samples\)", session.out)
    assert "2 audits: 0 violated, 2 undecided, 0 not violated" in session.out


@pytest.mark.slow
def test_a_mechanism_that_misbehaves_is_an_error_with_its_own_traceback(suite):
    session = suite(
        HEAD
        + """
def broken(dataset, size, rng):
    raise KeyError("my own fault")

def test_broken(assert_private):
    assert_private(broken, D, E, epsilon=1.0)
"""
    )()
    assert session.code == 1
    assert "MechanismError" in session.out
    assert 'raise KeyError("my own fault")' in session.out
    assert "plugin/assertion.py" not in session.out
    assert "1 audit: 0 violated, 1 undecided, 0 not violated" in session.out


@pytest.mark.slow
def test_bad_arguments_are_one_line_and_cost_nothing(suite):
    session = suite(
        HEAD
        + """
@pytest.mark.parametrize("bad", [
    {"epsilon": float("nan")}, {"epsilon": 1.0, "alpha": 0.5}, {"epsilon": 1.0, "seed": 3},
    {"epsilon": 1.0, "nonsense": 1}, {"epsilon": 1.0, "samples": 0}, {},
])
def test_bad_argument(assert_private, bad):
    from dpsco_verify.errors import InputError
    with pytest.raises(InputError) as caught:
        assert_private(count(1.0), D, E, **bad)
    said = str(caught.value)
    assert len(said.splitlines()) == 1
    print("said", said)
"""
    )("-rA")
    assert session.code == 0, session.out
    assert "said alpha=0.5 is not for a test to choose" in session.out
    assert "said seed=3 is not for a test to choose" in session.out
    assert "said nonsense=1 is not an argument" in session.out
    assert "0 audits" in session.out


# the error budget


@given(
    total=st.floats(1e-280, 1.0, exclude_min=True, exclude_max=True),
    tests=st.integers(1, 10_000),
    audits=st.integers(1, 60),
)
def test_the_levels_never_exceed_the_budget(total, tests, audits):
    test = AuditedTest(
        name="a", position=0, everyone=Everyone(("a",) * tests), share=share_of(total, tests), command=""
    )
    levels = [test.charge() for _ in range(audits)]
    assert levels[0] == test.share / 2
    assert all(later == earlier / 2 for earlier, later in pairwise(levels))
    assert sum(map(Fraction, levels)) * tests <= Fraction(total)
    assert share_of(total, tests) * tests >= total * (1 - 1e-15)


def test_a_share_that_is_used_up_says_so():
    test = AuditedTest(name="a", position=0, everyone=Everyone(("a",)), share=5e-324, command="")
    with pytest.raises(InputError, match=r"audits=1 in the test 'a' are too many"):
        test.charge()


@pytest.mark.slow
def test_levels_and_seeds_depend_on_neither_order_nor_process_nor_selection(suite, pytester, spread):
    backwards = "def pytest_collection_modifyitems(items):\n    items.reverse()\n"
    budget = "--dpsco-error-budget=8e-6"
    run = suite(GOOD_AND_BAD)
    plain = run("-rA", budget, "--dpsco-report=plain")
    some = run("-rA", budget, "-k", "twice")
    reverse = suite(GOOD_AND_BAD, backwards)("-rA", "-p", "no:xdist", budget)
    spread, folder = spread
    # four tests use the fixture; the fifth does not, and the one that fails prints nothing
    assert sorted(plain.levels()) == [5e-7, 5e-7, 1e-6, 1e-6, 1e-6]
    assert len({re.search(r"seed=(\d+)", line)[1] for line in plain.audits()}) == 5
    assert plain.audits() == reverse.audits() == spread.audits()
    assert len(some.audits()) == 4
    assert set(some.audits()) < set(plain.audits())
    record = results(pytester.path / "plain")
    assert record == results(folder / "out" / "privacy")
    for session in (plain, reverse, spread):
        assert session.code == 1
        assert "6 audits: 1 violated, 0 undecided, 5 not violated" in session.out
        assert "error budget: 5e-06 of 8e-06 spent; it was split over 4 tests" in session.out


@pytest.mark.slow
def test_another_seed_gives_other_samples_and_no_other_level(suite):
    run = suite(GOOD_AND_BAD)
    first, second = run("-rA", "-k", "good"), run("-rA", "-k", "good", "--dpsco-seed=1")
    assert first.levels() == second.levels()
    assert first.audits() != second.audits()


@pytest.mark.long
def test_where_every_worker_runs_every_test_the_budget_holds_for_all(tmp_path):
    write(tmp_path, GOOD_AND_BAD)
    session = run_as_a_user(
        tmp_path, "-rA", "--dist", "each", "--tx", "2*popen", "-k", "good", "--dpsco-report=out"
    )
    assert session.levels() == [1e-6 / 4 / 2 / 2] * 2
    assert "2 audits: 0 violated, 0 undecided, 2 not violated" in session.out
    assert len(results(tmp_path / "out")["claims"]) == 2


RERUN = """
from _pytest.runner import runtestprotocol

def pytest_runtest_protocol(item, nextitem):
    for _ in range(2):
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        for report in reports:
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        item._initrequest()
    return True
"""


@pytest.mark.slow
def test_a_rerun_is_charged_and_takes_no_violation_back(suite):
    session = suite(
        GOOD_AND_BAD.replace(
            "count(3.0)", "[count(3.0), count(1.0)][RUNS.append(1) or len(RUNS) - 1]"
        ).replace("D, E =", "RUNS = []\nD, E ="),
        RERUN,
    )("-rA", "-k", "good or bad", "--dpsco-error-budget=4e-6")
    # the good one: share 1e-6, twice run; the bad one is good when it is run again, which does not help it
    assert set(session.levels()) == {5e-7, 2.5e-7}
    assert len(re.findall(r"^E +AssertionError: a count violates", session.out, re.MULTILINE)) == 2
    assert "3 audits: 1 violated, 0 undecided, 2 not violated" in session.out


@pytest.mark.slow
def test_a_fixture_asked_for_too_late_is_refused(suite):
    session = suite("def test_late(request):\n    request.getfixturevalue('assert_private')\n")()
    assert session.code == 1
    assert "InputError: fixture='assert_private' was asked for while the test ran" in session.out


@pytest.mark.slow
def test_the_fixture_may_be_used_by_other_fixtures(suite):
    session = suite(
        HEAD
        + """
@pytest.fixture
def audited(assert_private):
    return assert_private(count(1.0), D, E, epsilon=1.0)

class TestIt:
    def test_indirect(self, audited):
        assert audited.alpha == 5e-7
"""
    )()
    assert session.code == 0, session.out
    assert "1 audit: 0 violated, 0 undecided, 1 not violated" in session.out


# the report


@pytest.mark.slow
def test_the_report_holds_all_audits_and_the_budget(spread):
    session, folder = spread
    out = folder / "out" / "privacy"
    assert "report: out/privacy/index.html" in session.out
    record = results(out)
    assert record["exit_code"] == 1
    assert record["profile"] == "quick"
    assert record["error_budget"]["total"] == 8e-6
    assert record["error_budget"]["spent"] == pytest.approx(5e-6, rel=1e-12)
    assert sorted(record["error_budget"]["by_claim"].values()) == pytest.approx(
        [5e-7, 5e-7, *[1e-6] * 4], rel=1e-12
    )
    verdicts = [claim["verdict"] for claim in record["claims"]]
    assert verdicts == ["not_violated", "violated", *["not_violated"] * 4]
    bad = record["claims"][1]
    assert bad["reproduce"] == (
        "pytest test_it.py::test_bad --dpsco-seed=0 --dpsco-profile=quick --dpsco-error-budget=2e-06"
    )
    replayed = subprocess.run(  # noqa: S603  our own program
        [sys.executable, "-m", "dpsco_verify", "replay", str(out / bad["certificate"])],
        capture_output=True,
        text=True,
        check=False,
    )
    assert replayed.returncode == 0, replayed.stdout + replayed.stderr


@pytest.mark.long
def test_a_crashed_worker_leaves_a_report_that_says_so(tmp_path):
    write(
        tmp_path,
        GOOD_AND_BAD
        + """
def test_crash(assert_private):
    import os
    os._exit(0)
""",
    )
    session = run_as_a_user(tmp_path, "-n", "1", "--dpsco-report=out", "-k", "good or crash")
    assert session.code == 1
    assert re.search(r"unfinished +test_it.py::test_crash", session.out)
    record = results(tmp_path / "out")
    assert [claim["verdict"] for claim in record["claims"]] == ["not_violated", "undecided"]
    assert record["exit_code"] == 3
    # what the crashed test spent is unknown, but no more than its share
    assert record["error_budget"]["spent"] == pytest.approx(1e-6 / 5 * 1.5, rel=1e-12)


@pytest.mark.slow
def test_a_session_that_is_interrupted_leaves_a_whole_report_of_what_ended(tmp_path):
    write(
        tmp_path,
        GOOD_AND_BAD
        + """
def test_interrupt(assert_private):
    raise KeyboardInterrupt
""",
    )
    session = run_as_a_user(tmp_path, "-n", "0", "--dpsco-report=out", "-k", "good or interrupt")
    assert session.code == 2
    record = results(tmp_path / "out")
    assert [claim["verdict"] for claim in record["claims"]] == ["not_violated", "undecided"]
    assert (tmp_path / "out" / "index.html").exists()


@pytest.mark.slow
def test_a_report_that_cannot_be_written_stops_the_session_before_it_starts(suite, pytester):
    run = suite(GOOD_AND_BAD)
    (pytester.path / "thesis.tex").write_text("ten years")
    for out in ("test_it.py", ".", "test_it.py/below"):
        session = run(f"--dpsco-report={out}")
        assert session.code == pytest.ExitCode.USAGE_ERROR
        assert session.out == ""
        assert len(session.err.strip().splitlines()) == 1
        assert session.err.startswith("ERROR: --dpsco-report: out=")
    assert (pytester.path / "thesis.tex").read_text() == "ten years"


@pytest.mark.slow
def test_a_report_that_cannot_be_written_in_the_end_is_an_error(suite, pytester):
    session = suite(
        GOOD_AND_BAD
        + """
def test_spoil(assert_private):
    import pathlib
    pathlib.Path("out").write_text("mine")
"""
    )("--dpsco-report=out", "-k", "good or spoil")
    assert session.code == pytest.ExitCode.USAGE_ERROR
    assert re.search(r"the report was not written: out='.*/out' is a file", session.out)
    assert (pytester.path / "out").read_text() == "mine"


@pytest.mark.slow
def test_no_audit_no_report(suite, pytester):
    session = suite("def test_nothing(): pass\n")("--dpsco-report=out")
    assert session.code == 0
    assert "no audits, so no report" in session.out
    assert not (pytester.path / "out").exists()


# options


BAD_OPTIONS = {
    "--dpsco-error-budget=0": "not a probability",
    "--dpsco-error-budget=1": "not a probability",
    "--dpsco-error-budget=nan": "not a probability",
    "--dpsco-error-budget=x": "not a probability",
    "--dpsco-profile=huge": "one of quick, standard, deep",
    "--dpsco-seed=-1": "an integer of at least 0",
    "--dpsco-seed=1.5": "an integer of at least 0",
    "--dpsco-seed=²": "an integer of at least 0",
    "--dpsco-process=other": "give own or same",
    "--dpsco-report=": "names no folder",
}


@pytest.mark.parametrize("option", BAD_OPTIONS)
def test_bad_options_are_refused(pytester, option):
    with pytest.raises(pytest.UsageError, match=BAD_OPTIONS[option]) as caught:
        read_settings(pytester.parseconfig(option))
    assert str(caught.value).startswith(option.split("=", 1)[0] + "=")
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("line", ["dpsco_error_budget = 2", "dpsco_profile = huge", "dpsco_seed = x"])
def test_bad_ini_values_are_refused(pytester, line):
    pytester.makeini(f"[pytest]\n{line}\n")
    with pytest.raises(pytest.UsageError) as caught:
        read_settings(pytester.parseconfig())
    assert str(caught.value).startswith(line.split(" ")[0] + "=")


def test_a_bad_option_is_one_line(suite):
    session = suite("def test_nothing(): pass\n")("--dpsco-profile=huge")
    assert session.code == pytest.ExitCode.USAGE_ERROR
    assert (
        session.err.strip()
        == "ERROR: --dpsco-profile='huge' is not a valid profile; give one of quick, standard, deep"
    )


def test_options_come_before_ini_values_and_these_before_defaults(pytester):
    assert read_settings(pytester.parseconfig()).samples == 10_000
    pytester.makeini(
        "[pytest]\ndpsco_error_budget = 1e-3\ndpsco_profile = deep\ndpsco_seed = 7\ndpsco_report = reports/privacy\n"
    )
    settings = read_settings(pytester.parseconfig())
    assert (settings.error_budget, settings.samples, settings.seed) == (1e-3, 1_000_000, 7)
    assert settings.report.resolve() == pytester.path / "reports" / "privacy"
    given_too = read_settings(
        pytester.parseconfig(
            "--dpsco-error-budget=1e-4", "--dpsco-profile=standard", "--dpsco-seed=8", "--dpsco-report=x"
        )
    )
    assert (given_too.error_budget, given_too.samples, given_too.seed) == (1e-4, 100_000, 8)
    assert given_too.report.resolve() == pytester.path / "x"


# other suites


CONFTEST = """
import sys

def pytest_unconfigure():
    heavy = {"numpy", "scipy", "hypothesis", "sklearn", "matplotlib", "msgspec", "click", "loky"} & {*sys.modules}
    print("heavy", sorted(heavy))
    print("own", sorted(name for name in sys.modules if name.startswith("dpsco_verify")))
"""


@pytest.mark.parametrize("xdist", [("-n", "0"), ("-p", "no:xdist")], ids=["xdist", "no-xdist"])
def test_a_suite_without_audits_sees_nothing_of_the_plugin(tmp_path, xdist):
    write(tmp_path, "def test_nothing(): pass\n", CONFTEST)
    session = run_as_a_user(tmp_path, *xdist)
    assert session.code == 0
    assert "heavy []" in session.out
    own = re.search(r"own (\[.*\])", session.out)[1]
    assert own == str(
        [
            "dpsco_verify",
            "dpsco_verify.choices",
            "dpsco_verify.errors",
            "dpsco_verify.plugin",
            "dpsco_verify.plugin.fixture",
            "dpsco_verify.plugin.settings",
            "dpsco_verify.pytest_plugin",
        ]
    )
    assert "differential privacy" not in session.out


def test_the_options_and_the_fixture_explain_themselves(suite):
    run = suite("")
    text = run("--help").out
    for option in (
        "--dpsco-error-budget",
        "--dpsco-profile",
        "--dpsco-seed",
        "--dpsco-process",
        "--dpsco-report",
        "dpsco_report",
    ):
        assert option in text
    assert "assert_private" in run("--fixtures").out


# the parts


def test_data_sets_in_words():
    import numpy as np

    assert data_in_words([1, 2]) == "[1, 2]"
    assert data_in_words(np.arange(1000.0)) == "[0. 1. ... 998. 999.], shape (1000,)"
    assert len(data_in_words("x" * 10_000)) <= 200
    assert len(data_in_words([["y" * 50] * 50] * 50)) <= 200


def test_what_a_report_carries_arrives():
    test = AuditedTest(
        name="t.py::a", position=1, everyone=Everyone(("t.py::b", "t.py::a")), share=1e-7, command="again"
    )
    test.finished.append(
        json.dumps(
            {
                "number": 1,
                "verdict": "violated",
                "level": 5e-8,
                "line": "x",
                "finding": None,
                "certificate": None,
            }
        )
    )
    audits = SessionAudits()
    report = pytest.TestReport("t.py::a", ("t.py", 0, "a"), {}, "passed", None, "call")
    attach(report, test)
    assert test.finished == []
    sent = pytest.TestReport._from_json(json.loads(json.dumps(report._to_json())))
    audits.receive(sent)
    origin = Origin(1, "t.py::a")
    assert audits.audits == [
        ReceivedAudit(
            test=origin,
            number=1,
            verdict=AuditVerdict.VIOLATED,
            level=5e-8,
            line="x",
            finding=None,
            certificate=None,
        )
    ]
    # it did not end yet: all of its share counts as spent
    assert audits.unfinished() == [UnfinishedTest(test=origin, command="again", left=5e-8)]
    assert audits.spent() == 1e-7
    report.when = "teardown"
    attach(report, test)
    audits.receive(report)
    assert audits.unfinished() == []
    assert audits.spent() == 5e-8
    assert len(audits.audits) == 1


# the page


def from_readme():
    section = PAGE[PAGE.index("\n## Pin a mechanism's guarantee") :]
    test = re.search(r"```python\n(.*?)```", section, re.DOTALL)[1]
    shown = re.search(r"```\n(E  .*?)```", section, re.DOTALL)[1]
    return test, shown


@pytest.mark.slow
def test_the_example_of_the_readme_passes_and_fails_as_shown(suite, pytester):
    test, shown = from_readme()
    assert len([line for line in test.splitlines() if line]) <= 10
    run, file = suite(""), pytester.path / "test_count.py"
    file.write_text(test)
    passing = run()
    assert passing.code == 0, passing.out
    assert "1 passed" in passing.out
    assert "epsilon=1.0" in test
    file.write_text(test.replace("epsilon=1.0", "epsilon=0.5"))
    failing = run()
    assert failing.code == 1
    assert [line for line in failing.out.splitlines() if line.startswith("E  ")] == shown.splitlines()


def test_the_readme_names_every_option():
    section = PAGE[PAGE.index("\n## Pin a mechanism's guarantee") :]
    for name in ("error-budget", "profile", "seed", "process", "report"):
        assert f"`--dpsco-{name}" in section
        assert f"`dpsco_{name.replace('-', '_')}`" in section


def test_missing_and_equal_data_sets_are_bad_input(suite):
    session = suite(
        HEAD
        + """

def test_missing(assert_private):
    assert_private(count(1.0), D, epsilon=1.0)


def test_equal(assert_private):
    assert_private(count(1.0), D, list(D), epsilon=1.0)


def test_none(assert_private):
    def absent(dataset, size, rng):
        return (dataset is not None) + rng.laplace(scale=1.0, size=size)

    assert_private(absent, None, D, epsilon=1.0, samples=3000)


def test_strangers(assert_private):
    assert_private(lambda d, size, rng: sum(d) + rng.laplace(size=size), [0, 0, 0], [1, 1, 1], epsilon=1.0)
"""
    )()
    assert re.search(r"InputError: d_prime is missing", session.out)
    assert re.search(r"InputError: d and d_prime are the same data set, \[1, 2, 3\]", session.out)
    assert re.search(
        r"relation +no relation was given, and .* or zero-out: all 3 records differ", session.out
    )
    assert "3 failed, 1 passed" in session.out
