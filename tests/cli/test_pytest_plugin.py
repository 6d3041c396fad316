"""The pytest plugin: verdicts, messages, what goes wrong, and what other suites see of it.

Every audit here has a fixed seed, a mechanism exactly at its claim or one far beyond it, so nothing is left to chance.
"""

from __future__ import annotations

import math
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from dpsco_verify.plugin.message import _power_of_ten, data_in_words
from plugin_sessions import GOOD_AND_BAD, HEAD, run_as_a_user, write

pytest_plugins = ["pytester"]

PAGE = (Path(__file__).parents[2] / "docs" / "gate.md").read_text(encoding="utf-8")


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
    run = suite(GOOD_AND_BAD, process="same")
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
    run = suite("", process="same")
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


CONFTEST = """
import sys

def pytest_unconfigure():
    heavy = {"numpy", "scipy", "hypothesis", "sklearn", "matplotlib", "msgspec", "click", "loky"} & {*sys.modules}
    print("heavy", sorted(heavy))
    print("own", sorted(name for name in sys.modules if name.startswith("dpsco_verify")))
"""


@pytest.mark.slow
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


@pytest.mark.slow
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


def test_a_suite_without_audits_does_not_pay_for_them():
    program = (
        "import sys, dpsco_verify.pytest_plugin as plugin\n"
        "print(*({'numpy', 'scipy', 'dpsco_verify.auditing', 'dpsco_verify.plugin.session'} & set(sys.modules)))\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)  # noqa: S603  our own program
    assert ran.stdout.split() == []


def test_data_sets_in_words():
    import numpy as np

    assert data_in_words([1, 2]) == "[1, 2]"
    assert data_in_words(np.arange(1000.0)) == "[0. 1. ... 998. 999.], shape (1000,)"
    assert len(data_in_words("x" * 10_000)) <= 200
    assert len(data_in_words([["y" * 50] * 50] * 50)) <= 200


@pytest.mark.parametrize(
    ("log_value", "words"),
    [
        (0.0, "1.00e+00"),
        (math.log(2.5e-30), "2.50e-30"),
        (math.log(3.25e7), "3.25e+07"),
        (-2000.0, "2.58e-869"),  # beyond the doubles: −2000/ln 10 = −868.589 and 10^0.411 = 2.58
        (-math.inf, "-inf"),
    ],
)
def test_powers_of_ten_in_words(log_value, words):
    assert _power_of_ten(log_value) == words


def from_readme():
    section = PAGE[PAGE.index("\n## Pin a mechanism's guarantee") :]
    test = re.search(r"```python\n(.*?)```", section, re.DOTALL)[1]
    shown = re.search(r"```\n(E  .*?)```", section, re.DOTALL)[1]
    return test, shown


@pytest.mark.slow
def test_the_example_of_the_readme_passes_and_fails_as_shown(suite, pytester):
    test, shown = from_readme()
    assert len([line for line in test.splitlines() if line]) <= 10
    run, file = suite("", process="same"), pytester.path / "test_count.py"
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


@pytest.mark.slow
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
