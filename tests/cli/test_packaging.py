"""What is built is whole, installs into an empty environment, runs there, and is typed for whoever uses it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder
from packaging.metadata import Metadata
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[2]
PROGRAM = """
from fractions import Fraction

import numpy as np
from dpsco_verify import audit
from dpsco_verify.estimators import PrivateSGDClassifier
from dpsco_verify.guarantees import GuaranteeResult, tail_at_most
from dpsco_verify.privacy.whole_run import calibrate


def flip(dataset: list[int], size: int, rng: np.random.Generator) -> object:
    return np.where(rng.random(size) < 0.7, dataset[0], 1 - dataset[0])


def roll(size: int, rng: np.random.Generator) -> object:
    return rng.integers(1, 7, size)


found: GuaranteeResult = tail_at_most(roll, 5, 0.2)
epsilon: float = audit(flip, [0], [1], epsilon=1.0).epsilon_lower
sigma: float = calibrate(n=100, epsilon=1.0, delta=1e-3, certify=False).sigma
model = PrivateSGDClassifier(epsilon=1.0)
print(found.verdict, epsilon < 1.0, sigma > 1.0)
"""

pytestmark = pytest.mark.slow


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)  # noqa: S603  ours
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The source distribution of the repository, and the wheel that is built from it, without a network."""
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT)
    (source,), (wheel,) = out.glob("*.tar.gz"), out.glob("*.whl")
    return source, wheel


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory):
    """An environment that holds the wheel, and this one's other packages by their path."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder / "venv", with_pip=False)
    python = folder / "venv" / "bin" / "python"
    site = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
    (Path(site) / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    run(sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", "--no-index", built[1])
    return python


@pytest.fixture(scope="module")
def own():
    """What the package holds, by path."""
    package = ROOT / "dpsco_verify"
    files = {f"dpsco_verify/{path.relative_to(package)}" for path in package.rglob("*") if path.is_file()}
    return {name for name in files if "__pycache__" not in name}


def test_a_wheel_takes_the_package_and_nothing_else(own):
    """By the builder's own choice of files; what it builds is looked at in a night."""
    chosen = WheelBuilder(str(ROOT)).recurse_included_files()
    assert {file.distribution_path for file in chosen} == own


@pytest.mark.long
def test_the_package_is_whole_and_nothing_else_is_in_it(built, own):
    source, wheel = built
    assert {"dpsco_verify/py.typed", "dpsco_verify/papers/arora2020/expectations.toml"} <= own
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name for name in names if ".dist-info/" not in name} == own
    with tarfile.open(source) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    beside = {
        "CHANGELOG.md",
        "CITATION.cff",
        "LICENSE",
        "PKG-INFO",
        "README.md",
        "SECURITY.md",
        "pyproject.toml",
    }
    assert held - own == {*beside, ".gitignore"}  # which hatchling adds
    assert max(source.stat().st_size, wheel.stat().st_size) < 4_000_000


@pytest.mark.long
def test_the_metadata_are_valid(built):
    with zipfile.ZipFile(built[1]) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("/METADATA")]
        found = Metadata.from_email(archive.read(name), validate=True)
    assert (found.name, found.description_content_type) == ("dpsco-verify", "text/markdown")
    assert found.requires_python == SpecifierSet(">=3.11")
    assert found.license_expression == "MIT"
    versions = {
        c.rpartition(" ")[2]
        for c in found.classifiers
        if c.startswith("Programming Language :: Python :: 3.")
    }
    assert all(found.requires_python.contains(version) for version in versions)


# The second has the kernel compiled in the new environment, which takes three times as long as all else.
@pytest.mark.long
@pytest.mark.parametrize("claim", ["exp-linear", "stopping-tail/text"])
def test_the_program_audits_where_it_is_installed(installed, tmp_path, claim):
    where = run(installed, "-c", "import dpsco_verify; print(dpsco_verify.__file__)", cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(installed.parents[1])
    program = installed.with_name("dpsco-verify")
    chosen = ("--profile", "quick", "--select", claim, "--no-store", "--out", "out")
    assert "Exit code 0" in run(program, "audit", *chosen, cwd=tmp_path)
    assert json.loads((tmp_path / "out" / "results.json").read_text())["exit_code"] == 0
    assert (tmp_path / "out" / "index.html").stat().st_size > 10_000


@pytest.mark.long
def test_a_user_s_program_runs(installed, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    assert run(installed, "program.py", cwd=tmp_path) == "not_violated True True\n"


# That the package has types `make lint` sees, and that these are installed the list of what is in the wheel.
@pytest.mark.long
def test_a_user_s_program_is_typed(installed, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "wrong.py").write_text(PROGRAM + "wrong: int = found.summary\n")
    options = ("--strict", "--python-executable", installed, "--cache-dir", "cache")
    command = [sys.executable, "-m", "mypy", *options, "program.py", "wrong.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)  # noqa: S603  mypy, on programs of ours
    error, summary = done.stdout.splitlines()
    assert error.startswith("wrong.py:")
    assert 'has type "str", variable has type "int"' in error
    assert summary.startswith("Found 1 error in 1 file (checked 2 source files)")


@pytest.mark.long
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_every_supported_python_takes_the_sources(version, tmp_path):
    """Compile with warnings as errors, by each interpreter that this machine has; hosted CI runs the suite on each."""
    named = [shutil.which(f"python{version}"), *Path.home().glob(f".pyenv/versions/{version}.*/bin/python")]
    working = [
        python
        for python in named
        if python and subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0  # noqa: S603  asks whether it starts
    ]
    if not working:
        pytest.skip(f"this machine has no Python {version}")
    shutil.copytree(ROOT / "dpsco_verify", tmp_path / "sources", ignore=shutil.ignore_patterns("__pycache__"))
    run(working[0], "-W", "error", "-m", "compileall", "-q", "-f", tmp_path / "sources")
