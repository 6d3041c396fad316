"""Sessions of pytest on suites with audits: in this process, or as a program of a user's."""

from __future__ import annotations

import json
import re
import subprocess
import sys

HEAD = """
import numpy as np
import pytest

D, E = [1, 2, 3], [1, 2]


def count(epsilon):
    p = 1 - np.exp(-epsilon)

    def noisy_count(dataset, size, rng):
        return len(dataset) + rng.geometric(p, size) - rng.geometric(p, size)

    return noisy_count


@pytest.fixture
def log():
    def show(result):
        print(f"audited alpha={result.alpha!r} log_e={result.log_e_value!r} seed={result.witness.seed}")

    return show
"""

GOOD_AND_BAD = (
    HEAD
    + """

@pytest.mark.xdist_group("g")  # under --dist loadgroup some versions rename such tests
def test_good(assert_private, log):
    log(assert_private(count(1.0), D, E, epsilon=1.0, relation="add-remove"))


def test_bad(assert_private):
    assert_private(count(3.0), D, E, epsilon=1.0, relation="add-remove", name="a count")


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_twice(assert_private, log, epsilon):
    log(assert_private(count(epsilon), D, E, epsilon=epsilon))
    log(assert_private(count(epsilon), E, D, epsilon=epsilon, name="the other way round"))


def test_of_something_else():
    pass
"""
)


class Session:
    """A pytest session that is over."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def audits(self):
        """The lines that tests printed about their audits, in any order."""
        return sorted(re.findall(r"^audited .*", self.out, re.MULTILINE))

    def levels(self):
        return [float(level) for level in re.findall(r"^audited alpha=(\S+)", self.out, re.MULTILINE)]


OPTIONS = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-W", "error")


def run_as_a_user(folder, *arguments):
    """Run pytest as a program."""
    done = subprocess.run(  # noqa: S603  our own program
        [sys.executable, "-m", "pytest", *OPTIONS, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    return Session(done.returncode, done.stdout, done.stderr)


def write(folder, text, conftest="", process="own"):
    (folder / "test_it.py").write_text(text)
    (folder / "conftest.py").write_text(conftest)
    (folder / "pytest.ini").write_text(f"[pytest]\ndpsco_process = {process}\n")


def results(folder):
    """The session's report, times aside."""
    record = json.loads((folder / "results.json").read_text())
    record["seconds"] = 0.0
    for claim in record["claims"]:
        claim["seconds"] = 0.0
    return record
