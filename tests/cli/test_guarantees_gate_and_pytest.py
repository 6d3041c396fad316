"""Guarantees from a configuration and in a test suite: verdicts, exit codes, one error budget, bad input."""

from __future__ import annotations

import inspect
import json
import pickle
import shlex
import sys

import pytest
from click.testing import CliRunner

from dpsco_verify.cli import main
from dpsco_verify.evidence.exit_code import ExitCode
from dpsco_verify.gating.entries import GuaranteeEntry, OptimiserEntry
from dpsco_verify.gating.run import run_gate
from dpsco_verify.guarantees import mean_at_most
from dpsco_verify.guarantees.optimiser import check_optimiser

pytest_plugins = ["pytester"]

MODULE = """
import numpy as np

WHERE = (-5.0, 5.0)


def steps(size, rng):
    return rng.geometric(0.1, size)


def square(x):
    return x * x


def same(x):
    return x**2


def wrong(x):
    return x


def broken(size, rng):
    return rng.random(3)


def mean(data, L, D, epsilon, delta, rng):
    n, d = data.shape
    clipped = data / np.maximum(1.0, np.linalg.norm(data, axis=1, keepdims=True) / L)
    w = clipped.sum(axis=0) / n + rng.normal(0.0, 10.0 * L / n, d)
    return w * min(1.0, D / 2.0 / np.linalg.norm(w))


def risk(n, d, L, D, epsilon, delta):
    return L * D * (n**-0.5 + 10.0 * d**0.5 / n)
"""
PROGRAM = """
import json, random, sys
for line in sys.stdin:
    asked = json.loads(line)
    rng = random.Random(asked["seed"])
    for _ in range(asked["size"]):
        print(rng.random())
    sys.stdout.flush()
"""
TAIL = """
[[gate.guarantee]]
kind = "tail_at_most"
function = "own_guarantees:steps"
arguments = { threshold = 100, probability = 0.01 }
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "own_guarantees.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def gate(folder, text, *options):
    (folder / "dpsco.toml").write_text(text, encoding="utf-8")
    return CliRunner().invoke(main, ["gate", "--config", "dpsco.toml", "--format", "json", *options])


@pytest.mark.slow
@pytest.mark.usefixtures("_judged_here")
def test_a_gate_judges_guarantees_and_an_optimiser_on_one_budget(folder):
    text = f"""
[gate]
error_budget = 1e-6
{TAIL}
weight = 3.0
[[gate.guarantee]]
kind = "identity"
function = "own_guarantees:square"
arguments = {{ right = "own_guarantees:same", inputs = "own_guarantees:WHERE", examples = 50 }}
[[gate.guarantee]]
kind = "mean_at_most"
command = "{sys.executable} program.py"
arguments = {{ bound = 0.5, low = 0, high = 1, samples = 2000 }}
[[gate.optimiser]]
function = "own_guarantees:mean"
risk = "own_guarantees:risk"
losses = ["Linear"]
sizes = [50]
outliers = false
samples = 1000
"""
    result = gate(folder, text)
    assert result.exit_code == 0, result.output
    record = json.loads((folder / "reports/gate/results.json").read_text())
    kinds = [one["reading"] for one in record["claims"]]
    assert kinds[:3] == ["tail-at-most", "identity", "mean-at-most"]
    assert {"check-optimiser-risk", "check-optimiser-privacy", "check-optimiser-in-set"} <= set(kinds)
    levels = record["error_budget"]["by_claim"]
    assert levels["own-guarantees-steps/tail-at-most"] == pytest.approx(6e-7)
    assert levels["own-guarantees-square/identity"] == 0.0
    assert record["error_budget"]["spent"] <= 1e-6
    [risk] = [one for one in record["claims"] if one["reading"] == "check-optimiser-risk"]
    assert [curve["name"] for curve in risk["plots"][0]["series"]][:2] == ["claimed", "drift"]
    assert "--select" in record["claims"][0]["reproduce"]


def test_an_optimiser_is_a_guarantee_with_its_claims_as_arguments():
    entry = OptimiserEntry(function="m:fit", risk="m:risk", privacy=False, sizes=(50,), weight=2.0)
    claims = {"risk": "m:risk", "privacy": False, "sizes": (50,)}
    whole = GuaranteeEntry(kind="check_optimiser", function="m:fit", arguments=claims, weight=2.0)
    assert entry.as_guarantee() == whole
    taken = set(inspect.signature(check_optimiser).parameters) - {"fit", "alpha", "seed", "progress"}
    assert set(OptimiserEntry.__struct_fields__) == taken | {
        "function",
        "command",
        "weight",
        "seeded",
        "expect",
    }


@pytest.mark.slow
@pytest.mark.usefixtures("_judged_here")
def test_the_command_line_gates_an_optimiser_and_says_how_to_repeat_it(folder, monkeypatch):
    asked = []

    def heard(chosen, **options):
        asked.append(chosen)
        return run_gate(chosen, **options) if len(asked) == 1 else sys.exit(ExitCode.UNDECIDED)

    monkeypatch.setattr("dpsco_verify.gating.run.run_gate", heard)
    options = ["--optimiser", "--losses", "Linear", "--risk", "own_guarantees:risk", "--sizes", "50"]
    few = ["--samples", "64", "--name", "the mean"]  # too few to decide
    result = CliRunner().invoke(main, ["gate", "own_guarantees:mean", *options, *few, "--format", "json"])
    assert result.exit_code == 3, result.output
    claims = json.loads((folder / "reports/gate/results.json").read_text())["claims"]
    assert {one["title"] for one in claims} == {"the mean"}
    assert [one["verdict"] for one in claims if one["reading"].endswith("-risk")] == ["not_violated"]
    words = shlex.split(claims[0]["reproduce"])
    assert words[:4] == ["dpsco-verify", "gate", "own_guarantees:mean", "--optimiser"]
    assert {"own_guarantees:risk", "Linear", "50", "64", "the mean"} <= set(words)
    CliRunner().invoke(main, [*words[1:], "--format", "json"])
    assert len(asked) == 2
    assert asked[0] == asked[1]


@pytest.mark.slow
@pytest.mark.usefixtures("_judged_here")
def test_a_violation_is_exit_code_1_and_what_is_undecided_3(folder):
    wrong = """
[[gate.guarantee]]
kind = "identity"
function = "own_guarantees:square"
arguments = { right = "own_guarantees:wrong", inputs = [-5, 5], examples = 50 }
"""
    result = gate(folder, wrong)
    assert result.exit_code == 1
    record = json.loads((folder / "reports/gate/results.json").read_text())
    assert record["claims"][0]["verdict"] == "violated"
    assert "on the left" in record["claims"][0]["counterexample"]
    assert gate(folder, wrong + 'expect = "violated"\n').exit_code == 0
    few = TAIL.replace("probability = 0.01", "probability = 0.01, samples = 10")
    assert gate(folder, few).exit_code == 3


OWN = 'function = "own_guarantees:steps"'
BROKEN = 'function = "own_guarantees:broken"\narguments = {threshold = 1, probability = 0.1}'
BAD = {
    f'kind = "median"\n{OWN}': "kind='median' is unknown",
    'kind = "tail_at_most"': "do not name one function",
    'kind = "rate"\nfunction = "own_guarantees:no"\narguments = {sizes=[1], exponent=0, high=1}': "there is no 'no'",
    f'kind = "tail_at_most"\n{OWN}\narguments = {{alpha = 0.5}}': "arguments.alpha=0.5",
    f'kind = "tail_at_most"\n{OWN}': "lack threshold, probability",
    f'kind = "tail_at_most"\n{BROKEN}': "returned an array of shape (3,)",
    'kind = "convex"\ncommand = "cat"\narguments = {inputs = [0, 1]}': "cannot be asked for convex",
}


@pytest.mark.usefixtures("_judged_here")
@pytest.mark.parametrize(("text", "said"), BAD.items(), ids=BAD.values())
def test_bad_input_is_exit_code_2(folder, text, said):
    result = gate(folder, f"[[gate.guarantee]]\n{text}\n")
    assert result.exit_code == 2
    assert said in result.output
    assert not (folder / "reports").exists()


SUITE = """
from own_guarantees import mean, risk, same, square, steps, wrong
from dpsco_verify.guarantees import identity, tail_at_most
from dpsco_verify.guarantees.optimiser import check_optimiser


def test_tail(assert_guarantee):
    result = assert_guarantee(tail_at_most, steps, 100, 0.01)
    print(f"alpha={result.alpha!r}")


def test_wrong(assert_guarantee):
    assert_guarantee(identity, square, wrong, (-5, 5), examples=50)


def test_undecided(assert_guarantee):
    assert_guarantee(tail_at_most, steps, 100, 0.01, samples=10)


def test_optimiser(assert_guarantee):
    report = assert_guarantee(
        check_optimiser, mean, risk=risk, losses=("Linear",), sizes=(50,), outliers=False, samples=1000
    )
    assert report.reproduce() == report


def test_both(assert_guarantee, assert_private):
    assert_guarantee(identity, square, same, (-5, 5), examples=50)
    assert_private(lambda d, size, rng: d + rng.laplace(size=size), 0.0, 1.0, epsilon=1.0)


def test_not_for_a_test(assert_guarantee):
    assert_guarantee(tail_at_most, steps, 100, 0.01, alpha=0.5)


def test_no_guarantee(assert_guarantee):
    assert_guarantee(len, steps)
"""


@pytest.mark.slow
def test_a_suite_asserts_guarantees_on_the_budget_of_its_session(folder, pytester):
    pytester.makepyfile(own_guarantees=MODULE, test_own=SUITE)
    result = pytester.runpytest_inprocess("-rA", "--dpsco-report=out", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=3, failed=4)
    result.stdout.fnmatch_lines(
        [
            "*AssertionError: square and wrong violates equality*on the left*",
            "*repeat   pytest test_own.py::test_wrong *",
            "*is undecided against P(X > 100) ≤ 0.01*",
            "*alpha=0.5 is not for a test to choose*",
            "*none of dpsco_verify.guarantees*",
            "*audits: 1 violated, 1 undecided, 8 not violated*",
        ]
    )
    # Seven tests share the budget, and the first check of each has half of its share.
    result.stdout.fnmatch_lines([f"*alpha={1e-6 / 7 / 2!r}"[:14] + "*"])
    record = json.loads((pytester.path / "out/results.json").read_text())
    assert len(record["claims"]) == 10
    assert record["error_budget"]["spent"] <= 4 * 1e-6 / 7 / 2 * (1 + 1e-12)


@pytest.mark.slow
def test_a_result_travels_without_the_way_to_repeat_it():
    result = mean_at_most(lambda size, rng: rng.random(size), 0.5, low=0, high=1, samples=500)
    there = pickle.loads(pickle.dumps(result))  # noqa: S301  our own
    assert there == result
    with pytest.raises(ValueError, match="again=None"):
        there.reproduce()
