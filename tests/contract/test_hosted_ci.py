"""The files of hosted CI cannot run here: they are held to their public schemas, and their steps are run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from check_jsonschema import main as check_jsonschema
from click.testing import CliRunner

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FILES = [
    *(("vendor.github-workflows", path) for path in WORKFLOWS),
    *(
        ("vendor.github-issue-forms", path)
        for path in sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"))
    ),
    ("vendor.github-actions", ROOT / "action.yml"),
    ("vendor.gitlab-ci", ROOT / ".gitlab-ci.yml"),
    ("vendor.citation-file-format", ROOT / "CITATION.cff"),
]


def checked(schema, path):
    return CliRunner().invoke(check_jsonschema, ["--builtin-schema", schema, str(path)])


@pytest.mark.slow
@pytest.mark.parametrize(("schema", "path"), FILES, ids=lambda x: getattr(x, "name", x))
def test_files_keep_their_public_schemas(schema, path):
    result = checked(schema, path)
    assert result.exit_code == 0, result.output


def test_a_fault_is_seen(tmp_path):
    wrong = tmp_path / "ci.yml"
    wrong.write_text(WORKFLOWS[0].read_text().replace("runs-on:", "run-on:"))
    result = checked("vendor.github-workflows", wrong)
    assert result.exit_code == 1
    assert "'runs-on' is a required property" in result.output


def test_both_hosts_ask_the_same_of_a_change_and_have_the_same_templates():
    theirs = ROOT / ".gitlab" / "merge_request_templates" / "Default.md"
    assert theirs.read_text() == (ROOT / ".github" / "pull_request_template.md").read_text()
    forms = {path.stem for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")}
    assert {path.stem for path in (ROOT / ".gitlab" / "issue_templates").glob("*.md")} == forms != set()


def make_commands(text):
    return re.findall(r"^(?: *- (?:run: )?)?(make .*)", text, re.MULTILINE)


def test_every_host_runs_what_ci_runs():
    here = make_commands((ROOT / ".ci" / "run").read_text())
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
    assert [step["run"] for step in workflow["jobs"]["ci"]["steps"] if "make " in step.get("run", "")] == here
    assert yaml.safe_load((ROOT / ".gitlab-ci.yml").read_text())["ci"]["script"] == here
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {command.split()[1] for path in WORKFLOWS for command in make_commands(path.read_text())}
    assert named <= targets


@pytest.mark.long
def test_the_action_s_gate_runs_and_marks_the_line(tmp_path):
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    (gate,) = [step for step in action["runs"]["steps"] if step.get("id") == "gate"]
    (tmp_path / "mech.py").write_text(
        "def laplace(d, size, rng):\n    return sum(d) + rng.laplace(scale=0.2, size=size)\n\n\npair = ([0.0], [1.0])\n"
    )
    (tmp_path / "pyproject.toml").write_text(
        '[[tool.dpsco-verify.gate.audit]]\nmechanism = "mech:laplace"\npair = "mech:pair"\nepsilon = 1.0\n'
    )
    defaults = {name: value["default"] for name, value in action["inputs"].items()}
    given = defaults | {"arguments": "--profile quick"}
    environment = {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
    }
    for name, value in gate["env"].items():
        (asked,) = re.fullmatch(r"\$\{\{ inputs\.([a-z-]+) \}\}", value).groups()
        environment[name] = given[asked]
    # As the host starts a step whose shell is bash.
    command = ["/bin/bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", gate["run"]]
    result = subprocess.run(  # noqa: S603  the action's own step
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert result.returncode == 1, result.stderr
    assert (tmp_path / "output").read_text() == "exit-code=1\n"
    assert "1 found a violation" in (tmp_path / "summary.md").read_text()
    assert "::error title=dpsco-verify mech-laplace,file=mech.py,line=1::" in result.stdout
    (sarif,) = re.fullmatch(
        r"\$\{\{ inputs\.working-directory \}\}/\$\{\{ inputs\.out \}\}/(.*)",
        action["outputs"]["sarif"]["value"],
    ).groups()
    assert (tmp_path / defaults["out"] / sarif).exists()


@pytest.mark.slow
def test_the_hook_names_a_command_that_is_there():
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    script, command = hook["entry"].split()
    found = subprocess.run(  # noqa: S603  our own command
        [Path(sys.executable).parent / script, command, "--help"], capture_output=True, text=True, check=True
    )
    assert all(option in found.stdout for option in hook["args"] if option.startswith("--"))
