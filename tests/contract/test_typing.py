"""The package says that it is typed, and its users' type checkers believe it."""

from __future__ import annotations

import importlib.resources
import subprocess
import sys
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).parents[2]

PROGRAM = """
import numpy as np
from dpsco_verify import audit
from dpsco_verify.auditing import AuditResult, AuditVerdict


def laplace(dataset: list[float], size: int, rng: np.random.Generator) -> object:
    return sum(dataset) + rng.laplace(size=size)


result: AuditResult = audit(laplace, [0.0], [1.0], epsilon=1.0)
good: bool = result.verdict is AuditVerdict.NOT_VIOLATED
"""


def test_the_marker_is_in_the_package_and_in_the_wheel():
    assert importlib.resources.files("dpsco_verify").joinpath("py.typed").is_file()
    files = {file.distribution_path for file in WheelBuilder(str(ROOT)).recurse_included_files()}
    assert {"dpsco_verify/py.typed", "dpsco_verify/__init__.py", "dpsco_verify/__init__.pyi"} <= files


@pytest.mark.slow
def test_a_user_s_program_is_checked_against_the_package(tmp_path):
    program = tmp_path / "program.py"

    def mypy(text):
        program.write_text(text)
        command = [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--cache-dir",
            str(tmp_path / "cache"),
            program.name,
        ]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)  # noqa: S603  ours

    fine = mypy(PROGRAM)
    assert fine.returncode == 0, fine.stdout
    wrong = mypy(f"{PROGRAM}bad: int = result.summary\n")
    assert wrong.returncode == 1
    assert 'has type "str", variable has type "int"' in wrong.stdout
