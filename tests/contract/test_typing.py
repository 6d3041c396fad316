"""A user's type checker believes the package: what is right passes, and the type of what is wrong is known."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import numpy as np
from dpsco_verify import audit
from dpsco_verify.auditing import AuditResult, AuditVerdict


def laplace(dataset: list[float], size: int, rng: np.random.Generator) -> object:
    return sum(dataset) + rng.laplace(size=size)


result: AuditResult = audit(laplace, [0.0], [1.0], epsilon=1.0)
good: bool = result.verdict is AuditVerdict.NOT_VIOLATED
bad: int = result.summary
"""

SETTINGS = """
[mypy]
strict = true
# Half of the time, and no type that a user meets is made of theirs.
[mypy-scipy.*,optype.*,flint.*]
follow_imports = skip
follow_imports_for_stubs = true
"""


@pytest.mark.long
def test_a_user_s_program_is_checked_against_the_package(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "mypy.ini").write_text(SETTINGS)
    # In one run, so that there is nothing to keep for another.
    command = [sys.executable, "-m", "mypy", "--cache-dir", os.devnull, "program.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)  # noqa: S603  ours
    assert done.returncode == 1
    (error, count) = done.stdout.splitlines()
    assert error.startswith("program.py:13: error: ")
    assert 'has type "str", variable has type "int"' in error
    assert count.startswith("Found 1 error")
