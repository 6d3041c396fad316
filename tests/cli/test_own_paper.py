"""A paper of a user's own, in an environment of its own: found, verified, seen to fail once its theorem is false."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from dpsco_verify.evidence.exit_code import ExitCode

pytestmark = pytest.mark.slow

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_paper"


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """An environment that holds the example, and this one's packages by their path, so that nothing is downloaded."""
    folder = tmp_path_factory.mktemp("own")
    shutil.copytree(EXAMPLE, folder / "example")
    venv.create(folder / "venv", with_pip=False)
    python = folder / "venv" / "bin" / "python"
    site = subprocess.run(  # noqa: S603  the environment that was just made
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    here = Path(__file__).parents[2]
    (Path(site) / "packages.pth").write_text(f"{sysconfig.get_path('purelib')}\n{here}\n")
    install = ("install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--editable")
    subprocess.run(  # noqa: S603  ours
        [sys.executable, "-m", "pip", "--python", python, *install, folder / "example"],
        check=True,
        capture_output=True,
    )
    return folder


def gate(environment, *more):
    command = [
        environment / "venv" / "bin" / "python",
        "-m",
        "dpsco_verify",
        *("audit", "--paper", "own-mean", "--profile", "quick", "--no-store", "--out", environment / "out"),
        *more,
    ]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=environment)  # noqa: S603  ours


def test_the_theorem_stands_until_it_is_made_false(environment):
    found = gate(environment)
    assert found.returncode == ExitCode.AS_EXPECTED, found.stderr
    assert "own-mean-privacy" in found.stdout
    assert "own-mean-risk" in found.stdout
    paper = environment / "example" / "own_mean" / "paper.py"
    mechanism = environment / "example" / "own_mean" / "__init__.py"
    right, private = paper.read_text(), mechanism.read_text()

    paper.write_text(right.replace("CONSTANT = 1.0", "CONSTANT = 0.5"))
    risk = gate(environment)
    paper.write_text(right)
    assert risk.returncode == ExitCode.NOT_AS_EXPECTED, risk.stderr
    assert "✘ refuted by samples  own-mean-risk/printed" in risk.stdout, risk.stdout

    mechanism.write_text(private.replace("scale=1.0 /", "scale=0.5 /"))
    privacy = gate(environment)
    mechanism.write_text(private)
    assert privacy.returncode == ExitCode.NOT_AS_EXPECTED, privacy.stderr
    assert "✘ refuted by samples  own-mean-privacy/printed" in privacy.stdout
    certificates = sorted((environment / "out" / "certificates").glob("*.json"))
    assert [file.name for file in certificates] == ["own-mean-privacy-printed.json"]


def test_a_paper_that_cannot_be_loaded_is_bad_input_and_nothing_is_written(environment):
    paper = environment / "example" / "own_mean" / "paper.py"
    right = paper.read_text()
    out = environment / "nowhere"
    broken = {
        "raise RuntimeError('no')\n": "cannot be loaded (RuntimeError: no)",
        "PAPER = 3\n": "gives a int",
        right.replace('id="own-mean"', 'id="another"'): "gives paper='another'",
        right.replace('"own-mean-privacy"', '"single-step"'): "statement='single-step'",
        right.replace("readings = (", "readings = () and ("): "expectations='own-mean'",
    }  # fmt: skip
    for text, words in broken.items():
        paper.write_text(text)
        found = gate(environment, "--out", out)
        assert found.returncode == ExitCode.BAD_INPUT, words
        assert words in found.stderr
        assert found.stderr.count("\n") == 1
        assert not out.exists()
    paper.write_text(right)
