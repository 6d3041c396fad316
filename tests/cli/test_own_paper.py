"""A paper of a user's own, in an environment of its own: found, verified, seen to fail once its theorem is false."""

from __future__ import annotations

import json
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
    texts = environment / "texts.json"
    texts.write_text(json.dumps(list(broken)))
    done = subprocess.run(  # noqa: S603  ours
        [environment / "venv" / "bin" / "python", "-c", EACH, paper, texts, out],
        capture_output=True,
        text=True,
        check=True,
        cwd=environment,
    )
    paper.write_text(right)
    for (code, said), words in zip(json.loads(done.stdout), broken.values(), strict=True):
        assert code == ExitCode.BAD_INPUT, words
        assert words in said
        assert said.count("\n") == 1
    assert not out.exists()


EACH = """
import json, pathlib, sys
from click.testing import CliRunner
from dpsco_verify.cli import main
from dpsco_verify.ledger.installed import installed_ledger

sys.dont_write_bytecode = True
paper, texts, out = map(pathlib.Path, sys.argv[1:])
found = []
for text in json.loads(texts.read_text()):
    paper.write_text(text)
    for name in [name for name in sys.modules if name.startswith("own_mean")]:
        del sys.modules[name]
    installed_ledger.cache_clear()
    result = CliRunner().invoke(main, ["audit", "--paper", "own-mean", "--no-store", "--out", str(out)])
    found.append([result.exit_code, result.stderr])
print(json.dumps(found))
"""
