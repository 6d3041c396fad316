"""``dpsco-verify gate --config``: many audits on one error budget, read strictly."""

from __future__ import annotations

import inspect
import json
import re
import shlex
import sys
import textwrap
from fractions import Fraction

import msgspec
import pytest
from click.testing import CliRunner

from dpsco_verify.auditing import audit
from dpsco_verify.choices import DEFAULT_PROFILE, SAMPLES, Profile
from dpsco_verify.cli import main
from dpsco_verify.errors import InputError
from dpsco_verify.gating.config import GateConfig, load_config
from dpsco_verify.gating.plan import plan
from dpsco_verify.plugin import settings

MODULE = """
    import numpy as np

    def laplace(d, size, rng):
        return d[0] + rng.laplace(0.0, 1.0, size)

    def half_the_noise(d, size, rng):
        return d[0] + rng.laplace(0.0, 0.5, size)

    pair = (np.array([0.0]), np.array([1.0]))
    other = (np.array([2.0]), np.array([1.0]))
"""
GATE = """
    [gate]
    error_budget = 1e-5
    seed = 3
    profile = "quick"

    [[gate.audit]]
    mechanism = "confmech:laplace"
    pair = "confmech:pair"
    epsilon = 1
    samples = 3000

    [[gate.audit]]
    mechanism = "confmech:half_the_noise"
    pair = ["confmech:pair", "confmech:other"]
    epsilon = 1.0
    samples = 5000
    weight = 3

    [[gate.audit]]
    name = "within its claim"
    mechanism = "confmech:half_the_noise"
    pair = "confmech:pair"
    epsilon = 2
    samples = 5000
"""
ONE = '[[gate.audit]]\nmechanism = "confmech:laplace"\npair = "confmech:pair"\n'


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "confmech.py").write_text(textwrap.dedent(MODULE))
    (tmp_path / "dpsco.toml").write_text(textwrap.dedent(GATE))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    yield tmp_path
    sys.modules.pop("confmech", None)


def gate(*arguments):
    result = CliRunner().invoke(main, ["gate", "--format", "json", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def claims_in(folder):
    text = re.sub(r'"seconds": [0-9.e+-]+', '"seconds": 0', (folder / "results.json").read_text())
    return {f"{claim['id']}/{claim['reading']}": claim for claim in json.loads(text)["claims"]}


@pytest.mark.slow
def test_many_audits_in_one_report(here):
    result = gate("--config", "dpsco.toml")
    assert result.exit_code == 1, result.output
    claims = claims_in(here / "reports/gate")
    assert [claim["verdict"] for claim in claims.values()] == ["not_violated", "violated", "not_violated"]
    assert [claim["title"] for claim in claims.values()][2] == "within its claim"
    record = json.loads((here / "reports/gate/results.json").read_text())
    assert (record["seed"], record["profile"], record["error_budget"]["total"]) == (3, "quick", 1e-5)
    levels = list(record["error_budget"]["by_claim"].values())
    assert sorted(levels) == pytest.approx([2e-6, 2e-6, 6e-6])
    assert sum(map(Fraction, levels)) <= Fraction(1e-5)
    # One of them alone has the same numbers, whatever else is in the file.
    key = next(key for key, claim in claims.items() if claim["verdict"] == "violated")
    command = shlex.split(claims[key]["reproduce"])
    assert command[:4] == ["dpsco-verify", "gate", "--config", "dpsco.toml"]
    alone = gate(*command[2:], "--out", "alone")
    assert alone.exit_code == 1
    assert claims_in(here / "alone") == {key: claims[key]}


def test_the_budget_is_split_before_anything_is_loaded_or_drawn(here):
    config = load_config(here / "dpsco.toml")
    everything, one = plan(config).audits, plan(config, ["confmech-laplace"]).audits
    assert [planned.key for planned in one] == [everything[0].key]
    assert one[0].alpha == everything[0].alpha == pytest.approx(2e-6)
    assert [planned.samples for planned in everything] == [3000, 5000, 5000]
    with pytest.raises(InputError, match="select='absent' names no audit"):
        plan(config, ["absent"])


@pytest.mark.slow
def test_the_command_line_may_set_what_the_whole_run_has(here):
    (here / "dpsco.toml").write_text("[gate]\n" + ONE + "epsilon = 1\nsamples = 200\n")
    result = gate("--config", "dpsco.toml", "--seed", 9, "--profile", "deep", "--error-budget", 0.5)
    assert result.exit_code in (0, 3)
    record = json.loads((here / "reports/gate/results.json").read_text())
    assert (record["seed"], record["profile"], record["error_budget"]["total"]) == (9, "deep", 0.5)
    assert load_config(here / "dpsco.toml").profile is Profile.QUICK


@pytest.mark.slow
def test_a_violation_may_be_expected(here):
    text = (here / "dpsco.toml").read_text()
    (here / "dpsco.toml").write_text(text.replace("weight = 3", 'expect = "violated"'))
    result = gate("--config", "dpsco.toml", "--format", "markdown")
    assert result.exit_code == 0, result.output
    words = " ".join(result.stdout.split())
    assert "2 found no violation and 1 found a violation" in words
    assert "Violated, as expected" in words
    assert "✘ violated" in words
    report = (here / "reports/gate/report.md").read_text()
    assert "refuted" not in report.replace("is refuted or", "")
    # One that is not violated any more is a surprise too.
    (here / "dpsco.toml").write_text("[gate]\n" + ONE + 'epsilon = 1\nexpect = "violated"\n')
    result = gate("--config", "dpsco.toml")
    assert result.exit_code == 1
    assert "expected violated, found not violated" in " ".join(result.stdout.split())


def test_python_tests_and_the_gate_draw_equally_many():
    usual = SAMPLES[DEFAULT_PROFILE]
    assert inspect.signature(audit).parameters["samples"].default == usual
    [profile] = (f.default for f in msgspec.structs.fields(GateConfig) if f.name == "profile")
    assert SAMPLES[profile] == usual
    assert settings._DEFAULTS["profile"] == DEFAULT_PROFILE


def test_profiles_say_how_much(here):
    (here / "dpsco.toml").write_text('[gate]\nprofile = "quick"\n' + ONE + "epsilon = 1\n")
    assert plan(load_config(here / "dpsco.toml")).audits[0].samples == SAMPLES[Profile.QUICK]


def test_pyproject_has_the_same_table(here):
    table = textwrap.dedent(GATE).replace("[gate", "[tool.dpsco-verify.gate")
    (here / "pyproject.toml").write_text('[project]\nname = "mine"\n' + table)
    assert load_config(here / "pyproject.toml") == load_config(here / "dpsco.toml")
    (here / "pyproject.toml").write_text("[tool.black]\n")
    with pytest.raises(InputError, match=r"under \[tool.dpsco-verify\]"):
        load_config(here / "pyproject.toml")


BAD = {
    "no TOML": ("[gate", "is not valid TOML"),
    "nothing": ("", "missing required field `gate`"),
    "no audit": ("[gate]\nseed = 1\n", "the gate has no audits"),
    "no audits": ("[gate]\naudit = []\n", "the gate has no audits"),
    "another table": ("[gates]\n" + ONE, "unknown field `gates`"),
    "unknown setting": ("[gate]\nbudget = 1e-6\n" + ONE, "unknown field `budget`"),
    "unknown key": (ONE + "epsilon = 1\nepsilonn = 2\n", "unknown field `epsilonn` - at `$.gate.audit[0]`"),
    "no pair": ('[[gate.audit]]\nmechanism = "confmech:laplace"\n', "missing required field `pair`"),
    "no pairs": ('[[gate.audit]]\nmechanism = "confmech:laplace"\npair = []\n', "length >= 1"),
    "text for a number": (ONE + 'epsilon = "1"\n', "Expected `float | null`, got `str`"),
    "a budget of 1": ("[gate]\nerror_budget = 1.0\n" + ONE, "< 1.0"),
    "a seed that is none": ("[gate]\nseed = 1.5\n" + ONE, "Expected `int`"),
    "another profile": ('[gate]\nprofile = "huge"\n' + ONE, "Invalid enum value 'huge'"),
    "too few samples": (ONE + "epsilon = 1\nsamples = 10\n", ">= 64"),
    "no weight": (ONE + "epsilon = 1\nweight = 0\n", "> 0"),
    "endless weight": (ONE + "epsilon = 1\nweight = inf\n", "weights["),
    "no claim": (ONE, "nothing is claimed"),
    "two claims": (ONE + "epsilon = 1\nrho = 1\n", "make more than one claim"),
    "another relation": (
        ONE + 'epsilon = 1\nrelation = "friends"\n',
        "relation='friends' is unknown; give one of replace-one",
    ),
    "no mechanism": ('[[gate.audit]]\npair = "confmech:pair"\nepsilon = 1\n', "do not name one mechanism"),
    "a slip in the last of many": (
        ONE + "mu = 1\n" + ONE.replace("laplace", "laplac") + "mu = 1\n",
        "'laplac'",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_configurations_are_one_line_and_exit_code_2(here, name):
    text, message = BAD[name]
    (here / "dpsco.toml").write_text(text)
    result = gate("--config", "dpsco.toml")
    assert result.exit_code == 2
    assert message in result.stderr, result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert result.stdout == ""
    assert not (here / "reports").exists()


@pytest.mark.parametrize(
    "option", [["--epsilon", 1], ["--pair", "confmech:pair"], ["--per-call"], ["--samples", 100]]
)
def test_what_belongs_to_one_audit_is_said_in_the_file(here, option):
    result = gate("--config", "dpsco.toml", *option)
    assert result.exit_code == 2
    assert "cannot be combined with --config='dpsco.toml'" in result.stderr
