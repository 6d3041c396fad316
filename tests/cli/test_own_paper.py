"""A paper of a user's own, as it is found when it is installed: verified, and seen to fail once its theorem is false.

How it is installed, and that it stands, the tutorial of such a paper has.
"""

from __future__ import annotations

import importlib
import shutil
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from dpsco_verify.cli import main
from dpsco_verify.evidence.exit_code import ExitCode
from dpsco_verify.ledger.installed import installed_ledger

pytestmark = pytest.mark.slow

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_paper"


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A copy of the example's package on the path, with what an installer writes beside it."""
    shutil.copytree(EXAMPLE / "own_mean", tmp_path / "own_mean", ignore=shutil.ignore_patterns("__pycache__"))
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    beside = tmp_path / "own_mean-0.1.0.dist-info"
    beside.mkdir()
    (beside / "METADATA").write_text(
        f"Metadata-Version: 2.4\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    ((group, points),) = project["entry-points"].items()
    (beside / "entry_points.txt").write_text(
        "\n".join([f"[{group}]", *(f"{name} = {value}" for name, value in points.items())])
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield tmp_path / "own_mean"
    anew()


def anew():
    """Forget what was loaded, as another process would find nothing."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "own_mean"]:
        del sys.modules[name]
    importlib.invalidate_caches()
    installed_ledger.cache_clear()


def audit(out):
    anew()
    words = ("audit", "--paper", "own-mean", "--profile", "quick", "--no-store", "--format", "json", "--out")
    return CliRunner().invoke(main, [*words, str(out)])


def test_the_theorem_stands_until_the_mechanism_has_half_its_noise(package, tmp_path):
    out = tmp_path / "out"
    found = audit(out)
    assert found.exit_code == ExitCode.AS_EXPECTED, found.output
    mechanism = package / "__init__.py"
    private = mechanism.read_text()
    assert private.count("scale=1.0 /") == 1
    mechanism.write_text(private.replace("scale=1.0 /", "scale=0.5 /"))
    found = audit(out)
    assert found.exit_code == ExitCode.NOT_AS_EXPECTED, found.output
    assert "✘ refuted by samples  own-mean-privacy/printed" in found.stdout, found.stdout
    certificates = sorted((out / "certificates").glob("*.json"))
    assert [file.name for file in certificates] == ["own-mean-privacy-printed.json"]


def test_a_paper_that_cannot_be_loaded_is_bad_input_and_nothing_is_written(package, tmp_path):
    paper = package / "paper.py"
    right = paper.read_text()
    broken = {
        "raise RuntimeError('no')\n": "cannot be loaded (RuntimeError: no)",
        "PAPER = 3\n": "gives a int",
        right.replace('id="own-mean"', 'id="another"'): "gives paper='another'",
        right.replace('"own-mean-privacy"', '"single-step"'): "statement='single-step'",
        right.replace("readings = (", "readings = () and ("): "expectations='own-mean'",
    }  # fmt: skip
    for text, words in broken.items():
        paper.write_text(text)
        result = audit(tmp_path / "nowhere")
        assert result.exit_code == ExitCode.BAD_INPUT, words
        assert words in result.stderr
        assert result.stderr.count("\n") == 1
    assert not (tmp_path / "nowhere").exists()
