"""``dpsco-verify gate`` as a process: programs in any language, the working folder, and an end half way."""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
import textwrap
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from dpsco_verify.cli import main
from program import ran, started

PROGRAM = """
    import json, random, sys
    scale = float(sys.argv[1])
    for line in sys.stdin:
        request = json.loads(line)
        rng = random.Random(request["seed"])
        for _ in range(request["size"]):
            print(request["dataset"][0] + rng.expovariate(1 / scale) - rng.expovariate(1 / scale))
        sys.stdout.flush()
"""
SLOW = """
    import os, time
    from pathlib import Path
    import numpy as np

    pair = (np.array([0.0]), np.array([1.0]))

    def slow(d, size, rng):
        Path("pids").write_text(str(os.getpid()))
        time.sleep(600)
"""
SLOW_PROGRAM = """
    import os, subprocess, sys, time
    from pathlib import Path
    sys.stdin.readline()
    child = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"])
    Path("pids.new").write_text(f"{os.getpid()} {child.pid}")
    Path("pids.new").rename("pids")
    time.sleep(600)
"""


@pytest.fixture
def here(tmp_path):
    (tmp_path / "prog.py").write_text(textwrap.dedent(PROGRAM))
    (tmp_path / "slow_program.py").write_text(textwrap.dedent(SLOW_PROGRAM))
    (tmp_path / "slowly.py").write_text(textwrap.dedent(SLOW))
    (tmp_path / "pair.json").write_text('{"d": [0], "d_prime": [1]}')
    return tmp_path


def run_here(here, monkeypatch, *arguments):
    """The same in this process."""
    monkeypatch.chdir(here)
    monkeypatch.setattr(sys, "path", list(sys.path))
    result = CliRunner().invoke(main, ["gate", *map(str, arguments)])
    sys.modules.pop("slowly", None)
    return result.exit_code, result.stdout, result.stderr


def program(*words):
    return shlex.join([sys.executable, "-S", *map(str, words)])


@pytest.mark.slow
@pytest.mark.parametrize(("scale", "code"), [(1.0, 0), (0.4, 1)])
def test_a_program_and_a_pair_in_a_file_need_no_python(here, monkeypatch, scale, code):
    command = program("prog.py", scale)
    arguments = (
        "--command",
        command,
        "--pair",
        "pair.json",
        "--epsilon",
        1,
        "--samples",
        4000,
        "--format",
        "json",
    )
    returned, _, err = ran("gate", *arguments, cwd=here)
    assert returned == code, err
    assert err == ""
    record = json.loads((here / "reports/gate/results.json").read_text())
    (claim,) = record["claims"]
    assert claim["title"] == command
    assert claim["reading_text"].count("pair.json") == 1
    again = shlex.split(claim["reproduce"])[2:]
    assert again[:2] == ["--command", command]
    assert run_here(here, monkeypatch, *again, "--format", "json", "--out", "again")[0] == code
    repeated = json.loads((here / "again/results.json").read_text())["claims"][0]
    assert repeated | {"seconds": 0} == claim | {"seconds": 0}


def running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def wait_for(condition, seconds=300.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.02)


@pytest.mark.slow
@pytest.mark.parametrize(
    "number",
    [signal.SIGTERM, *(pytest.param(n, marks=pytest.mark.long) for n in (signal.SIGINT, signal.SIGHUP))],
)
def test_an_end_half_way_leaves_nothing_and_nobody_behind(here, number):
    before = sorted(path.name for path in here.iterdir())
    command = ("--command", program("slow_program.py"))
    process = started("gate", *command, "--pair", "pair.json", "--epsilon", 1, cwd=here)
    wait_for((here / "pids").exists)
    os.kill(process.pid, number)
    code, out, err = process.ended()
    assert code == 128 + number
    assert out == ""
    assert "Traceback" not in err
    wait_for(lambda: not any(map(running, (here / "pids").read_text().split())))
    assert sorted(path.name for path in here.iterdir()) == sorted([*before, "pids"])


@pytest.mark.slow
def test_a_kill_half_way_leaves_the_earlier_report(here, monkeypatch):
    (here / "reports").mkdir()
    run_here(
        here,
        monkeypatch,
        "--command",
        program("prog.py", 1.0),
        "--pair",
        "pair.json",
        "--epsilon",
        1,
        "--samples",
        500,
        "--format",
        "json",
    )
    earlier = {path: path.read_bytes() for path in (here / "reports").rglob("*") if path.is_file()}
    assert earlier
    process = started("gate", "slowly:slow", "--pair", "slowly:pair", "--epsilon", 1, cwd=here)
    wait_for((here / "pids").exists)
    os.kill(process.pid, signal.SIGKILL)
    assert process.ended()[0] == -signal.SIGKILL
    wait_for(lambda: not running((here / "pids").read_text()))
    assert {path: path.read_bytes() for path in (here / "reports").rglob("*") if path.is_file()} == earlier
    assert [path.name for path in (here / "reports").iterdir()] == ["gate"]


@pytest.mark.slow
def test_a_mechanism_that_hangs(here, monkeypatch):
    code, out, err = run_here(
        here, monkeypatch, "slowly:slow", "--pair", "slowly:pair", "--epsilon", 1, "--time-limit", 0.5
    )
    assert code == 2
    assert out == ""
    assert len(err.strip().splitlines()) == 1
    assert "did not return within --time-limit=0.5 seconds" in err
    code, _, err = run_here(
        here,
        monkeypatch,
        "--command",
        program("slow_program.py"),
        "--pair",
        "pair.json",
        "--epsilon",
        1,
        "--time-limit",
        0.5,
    )
    assert code == 2
    assert "did not answer within --time-limit=0.5 seconds" in err
    assert not (here / "reports").exists()
