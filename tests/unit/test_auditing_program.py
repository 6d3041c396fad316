"""Programs as mechanisms: the protocol, and one clear error for everything that a program can do wrong."""

from __future__ import annotations

import gc
import json
import math
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsco_verify.auditing import AuditVerdict, MechanismError, audit, program
from dpsco_verify.auditing.program import Program
from dpsco_verify.auditing.program_lines import UnreadableLineError, output_of, request_line
from dpsco_verify.errors import InputError

pytestmark = pytest.mark.slow  # seconds of processes or exact sums: the whole suite has time for them


RNG = np.random.default_rng

SOURCE = """
    import json, math, os, random, signal, subprocess, sys, time

    def answer(*lines):
        sys.stdout.write("".join(f"{line}\\n" for line in lines))
        sys.stdout.flush()

    def laplace(rng, scale):
        return rng.expovariate(1 / scale) - rng.expovariate(1 / scale)

    mode = sys.argv[1]
    if mode == "deaf":
        time.sleep(600)
    if mode == "stillborn":
        sys.exit("no licence\\x1b[31m file")
    for number, line in enumerate(sys.stdin):
        request = json.loads(line)
        size = request["size"]
        rng = random.Random(request["seed"])
        if mode == "echo":
            answer(*[json.dumps([request["dataset"], request["seed"], os.getpid()])] * size)
        elif mode.startswith("laplace"):
            scale = float(mode.partition("=")[2])
            answer(*[request["dataset"][0] + laplace(rng, scale) for _ in range(size)])
        elif mode == "own-randomness":
            answer(*[request["dataset"][0] + laplace(random, 1.0) for _ in range(size)])
        elif mode == "say":
            answer(*sys.argv[2:])
        elif mode == "loud":
            sys.stderr.write("noise " * 500_000)
            answer(*[len(line)] * size)
        elif mode == "die":
            answer(*[1, 2][: size - 1])
            sys.stderr.write("first\\nlast words\\n")
            sys.exit(3)
        elif mode == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        elif mode == "once":
            answer(*range(size))
            break
        elif mode == "mute":
            os.close(1)
            time.sleep(600)
        elif mode == "hang":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            if number == 0:
                child = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"])
                answer(os.getpid(), child.pid)
            else:
                time.sleep(600)
        elif mode == "parent":
            child = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"])
            answer(*[child.pid] * size)
        elif mode == "late":
            answer(*range(size))
            time.sleep(0.1)
            answer("1")
        elif mode == "flood":
            while True:
                sys.stdout.write("1" * 65536)
        elif mode == "garbage":
            sys.stdout.buffer.write(b"\\xff\\xfe\\n")
            sys.stdout.flush()
"""


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    file = tmp_path_factory.mktemp("program") / "program.py"
    file.write_text(textwrap.dedent(SOURCE))
    return lambda *arguments: [sys.executable, "-S", str(file), *map(str, arguments)]


def running(pid):
    """Whether a process runs; one that has ended but was never reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def gone(*pids, within=60.0):
    end = time.monotonic() + within
    while any(map(running, pids)) and time.monotonic() < end:
        time.sleep(0.01)
    return not any(map(running, pids))


def test_requests_and_answers(command):
    data = [np.arange(3), (1.5, None, "text", True), [[math.nan, -math.inf], np.float64(0.1)]]
    with Program(command("echo")) as mechanism:
        outputs = mechanism(data, 3, RNG(0))
        (again,) = mechanism(data, 1, RNG(0))
        (other,) = mechanism(np.array([[1, 2], [3, 4]], dtype=np.int8), 1, RNG(1))
    assert len(outputs) == 3
    returned, seed, pid = outputs[0]
    assert repr(returned) == repr(((0.0, 1.0, 2.0), (1.5, None, "text", True), ((math.nan, -math.inf), 0.1)))
    assert seed == again[1] == int(RNG(0).integers(2**53))
    assert other == (((1.0, 2.0), (3.0, 4.0)), int(RNG(1).integers(2**53)), pid)
    assert pid == again[2], "one process serves all requests"
    assert gone(int(pid))


@given(seed=st.integers(0, 2**32 - 1))
def test_seeds_are_whole_numbers_that_a_double_holds(seed):
    value = int(RNG(seed).integers(program._SEEDS))
    assert 0 <= value < 2**53
    assert int(float(value)) == value


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("1", 1.0),
        ("-0.0", -0.0),
        (" 1e400\r", math.inf),
        ("9007199254740993", 9007199254740992.0),
        ("1" * 5000, math.inf),
        ("null", None),
        ("true", True),
        ('"text"', "text"),
        ("NaN", math.nan),
        ('"-Infinity"', -math.inf),
        ('[1, ["NaN", []], false]', (1.0, (math.nan, ()), False)),
    ],
)
def test_lines_that_are_outputs(line, expected):
    assert repr(output_of(line)) == repr(expected)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("", "is blank"),
        ("hello", "is not a JSON value: 'hello'"),
        ("1 2", "is not a JSON value"),
        ("nan", "is not a JSON value"),
        ('{"x": 1}', "holds an object"),
        ('[[{"x": 1}]]', "holds an object"),
        ("[" * 100_000, "is not a JSON value"),
        ("[" * 70 + "]" * 70, "nested more than 64 deep"),
    ],
)
def test_lines_that_are_not(line, why):
    with pytest.raises(UnreadableLineError, match=why):
        output_of(line)


_leaves = st.none() | st.booleans() | st.floats() | st.text() | st.integers(-(2**53), 2**53)


def as_read(value):
    if isinstance(value, list):
        return tuple(map(as_read, value))
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


@given(value=st.recursive(_leaves, lambda inner: st.lists(inner, max_size=4), max_leaves=20))
def test_what_goes_out_comes_back(value):
    """A data set that is sent and echoed is the same output, but for numbers, which are doubles, and names of them."""
    line = json.loads(request_line(value, 1, 0))
    returned = output_of(json.dumps(line["dataset"]))
    named = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}

    def expected(part):
        if isinstance(part, tuple):
            return tuple(map(expected, part))
        return named.get(part, part) if isinstance(part, str) else part

    assert repr(returned) == repr(expected(as_read(value)))


def test_a_request_is_one_line_of_strict_json():
    line = request_line(["a\nb\u2028", math.nan, 10**30], 2, 3)
    assert line.count(b"\n") == 1
    assert line.isascii()
    parsed = json.loads(line, parse_constant=pytest.fail)
    assert parsed == {"dataset": ["a\nb\u2028", "NaN", 10**30], "size": 2, "seed": 3}


def test_tables_are_objects():
    table = np.array([(1, 2.5), (3, math.inf)], dtype=[("age", "i4"), ("pay", "f8")])
    assert json.loads(request_line(table, 1, 0))["dataset"] == [
        {"age": 1, "pay": 2.5},
        {"age": 3, "pay": "Infinity"},
    ]


@pytest.mark.parametrize(
    ("data", "where"),
    [
        ({1, 2}, "dataset of type set"),
        ([1, {"x": [object()]}], r"dataset\[1\]\['x'\]\[0\] of type object"),
        (np.array([1j]), "dataset of dtype complex128"),
        ([np.clongdouble(1j)], r"dataset\[0\] of dtype"),
        ({1: 2}, "dataset of type dict"),
        (b"bytes", "dataset of type bytes"),
        (np.array([b"bytes"]), "dataset of dtype"),
        (np.array([1, None, {2}], dtype=object), r"dataset\[2\] of type set"),
        (np.array(["2020"], dtype="datetime64[D]"), "dataset of dtype datetime64"),
    ],
)
def test_data_that_json_has_no_form_for(command, data, where):
    mechanism = Program(command("echo"))
    with pytest.raises(InputError, match=f"^{where}.* has no form in JSON"):
        mechanism(data, 1, RNG(0))
    assert mechanism._running is None


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (np.longdouble(0.5), 0.5),
        (np.float32([0.5, np.inf]), [0.5, "Infinity"]),
        (np.bool_(1), True),
        (np.array(["a", "bc"]), ["a", "bc"]),
        (np.array([[1, -2]], dtype=np.int16), [[1, -2]]),
        (np.zeros((0, 3)), []),
        (np.array([1, None, "x", [np.nan]], dtype=object), [1, None, "x", ["NaN"]]),
    ],
)
def test_arrays_are_lists(data, expected):
    assert json.loads(request_line(data, 1, 0))["dataset"] == expected


def test_data_without_end():
    data = []
    data.append(data)
    with pytest.raises(InputError, match="nested"):
        request_line(data, 1, 0)


def test_large_answers_and_much_on_standard_error(command):
    with Program(command("laplace=1")) as mechanism:
        assert len(mechanism([0.0], 100_000, RNG(0))) == 100_000
    with Program(command("loud")) as mechanism:
        data = np.zeros(500_000)
        assert mechanism(data, 2, RNG(0)) == [pytest.approx(2_000_000, rel=0.01)] * 2


def failing(command, *arguments, size=5, dataset=(0.0,), time_limit=30.0):
    """Return the message of the call that fails; the program is gone afterwards."""
    mechanism = Program(command(*arguments), time_limit=time_limit)
    with pytest.raises(MechanismError) as caught:
        mechanism(dataset, size, RNG(0))
    assert mechanism._running is None
    message = str(caught.value)
    assert message.startswith("command=")
    assert "\n" not in message
    assert "\x1b" not in message
    return message


def test_a_program_that_cannot_be_started(tmp_path):
    text = tmp_path / "text"
    text.write_text("not a program")
    for name in (tmp_path / "missing", tmp_path, text):
        message = failing(lambda name=name: [str(name)])
        assert "cannot be started" in message
    assert "No such file or directory" in failing(lambda: [str(tmp_path / "missing")])


@pytest.mark.parametrize("bad", ["", [], "'open"])
def test_a_command_that_is_none(bad):
    with pytest.raises(InputError, match="command="):
        Program(bad)


def test_a_program_that_ends(command):
    message = failing(command, "die")
    assert "ended with exit status 3, after 2 of 5 lines of its answer to request 1 (size=5)" in message
    assert "its standard error ends with: first / last words" in message
    assert "was ended by SIGKILL" in failing(command, "killed")
    message = failing(command, "stillborn")
    assert "exit status 1" in message
    assert "no licence\ufffd[31m file" in message
    assert "closed its standard output" in failing(command, "mute")


def test_a_program_that_answers_once(command):
    with Program(command("once")) as mechanism:
        assert mechanism([0.0], 2, RNG(0)) == [0.0, 1.0]
        with pytest.raises(MechanismError, match="ended with exit status 0"):
            mechanism([0.0], 2, RNG(0))


def hanging(command):
    """Return a program that will hang, and the processes that it consists of."""
    mechanism = Program(command("hang"))
    return mechanism, list(map(int, mechanism([0.0], 2, RNG(0))))


def test_a_program_that_hangs_is_ended_with_its_children(command):
    mechanism, pids = hanging(command)
    mechanism._time_limit = 0.3
    begun = time.monotonic()
    with pytest.raises(
        MechanismError, match=r"did not answer within time_limit=0.3 seconds, after 0 of 5 lines"
    ):
        mechanism([0.0], 5, RNG(0))
    assert time.monotonic() - begun < 30
    assert gone(*pids)


def test_a_program_that_never_reads(command):
    assert "did not answer within" in failing(command, "deaf", dataset=np.zeros(1_000_000), time_limit=0.3)


def test_children_that_a_program_leaves_behind_are_ended(command):
    with Program(command("parent")) as mechanism:
        (child,) = mechanism([0.0], 1, RNG(0))
        assert running(int(child))
    assert gone(int(child))


def test_wrong_numbers_of_lines(command):
    mechanism = Program(command("say", 1, 2))
    mechanism([0.0], 2, RNG(0))
    mechanism._time_limit = 1.0
    with pytest.raises(MechanismError, match=r"after 2 of 5 lines of its answer to request 2 \(size=5\)"):
        mechanism([0.0], 5, RNG(0))
    assert "answered with more than 1 lines, to request 1 (size=1)" in failing(command, "say", 1, 2, size=1)


def test_a_line_too_many_that_comes_later(command):
    with (
        pytest.raises(MechanismError, match="answered more than it was asked, after request 1"),
        Program(command("late")) as mechanism,
    ):
        mechanism([0.0], 3, RNG(0))
    with Program(command("late")) as mechanism:
        mechanism([0.0], 3, RNG(0))
        while mechanism._running._answers.empty():
            time.sleep(0.01)
        with pytest.raises(MechanismError, match="answered more than it was asked, before request 2"):
            mechanism([0.0], 3, RNG(0))


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("hello", "line 2 of its answer to request 1 (size=2) is not a JSON value: 'hello'"),
        ("", "line 2 of its answer"),
    ],
)
def test_nonsense(command, said, why):
    assert why in failing(command, "say", 1, said, size=2)


def test_bytes_that_are_no_text_and_lines_without_end(command, monkeypatch):
    assert "line 1 of its answer to request 1 (size=5) is not UTF-8" in failing(command, "garbage")
    monkeypatch.setattr(program, "_LONGEST_LINE", 1 << 20)
    assert "is longer than 1048576 bytes" in failing(command, "flood")


def test_an_error_in_the_block_ends_the_program_and_stands(command):
    pids = []

    def use():
        with Program(command("echo")) as mechanism:
            pids.append(int(mechanism([0.0], 1, RNG(0))[0][2]))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        use()
    assert gone(*pids)


def test_it_starts_anew_after_its_end(command):
    mechanism = Program(command("echo"))
    ((_, _, first),) = mechanism([0.0], 1, RNG(0))
    mechanism.close()
    mechanism.close()
    ((_, _, second),) = mechanism([0.0], 1, RNG(0))
    mechanism.close()
    assert first != second
    assert gone(int(first), int(second))


def test_a_program_that_is_forgotten_is_ended(command):
    mechanism = Program(command("echo"))
    ((_, _, pid),) = mechanism([0.0], 1, RNG(0))
    del mechanism
    gc.collect()
    assert gone(int(pid))


@pytest.mark.long
def test_the_end_of_this_process_is_the_end_of_the_program(command):
    script = f"""
import threading, numpy as np
from dpsco_verify.auditing.program import Program
mechanism = Program({command("hang")!r})
print(*map(int, mechanism([0.0], 2, np.random.default_rng(0))))
threading.Thread(target=mechanism, args=([0.0], 1, np.random.default_rng(0)), daemon=True).start()
"""
    arguments = [sys.executable, "-c", script]
    ended = subprocess.run(arguments, check=True, timeout=300, capture_output=True, text=True)  # noqa: S603  our own text
    assert gone(*map(int, ended.stdout.split()))


def test_an_audit_of_a_program(command):
    """At (1, 0) the right scale is not found false; a scale of 0.4, with ε = 2.5, is."""
    with Program(command("laplace=1")) as mechanism:
        good = audit(mechanism, [0.0], [1.0], epsilon=1.0, samples=4000)
    assert good.verdict is AuditVerdict.NOT_VIOLATED
    assert good.reproducible
    with Program(command("laplace=0.4")) as mechanism:
        bad = audit(mechanism, [0.0], [1.0], epsilon=1.0, samples=4000)
        assert bad.reproduce() == bad
    assert bad.verdict is AuditVerdict.VIOLATED
    assert "program.py" in bad.mechanism


def test_an_audit_of_a_program_with_randomness_of_its_own(command):
    with (
        Program(command("own-randomness")) as mechanism,
        pytest.raises(MechanismError, match="ignores the rng"),
    ):
        audit(mechanism, [0.0], [1.0], epsilon=1.0, samples=1000)
    with Program(command("own-randomness"), seeded=False) as mechanism:
        result = audit(mechanism, [0.0], [1.0], epsilon=1.0, samples=1000)
    assert result.verdict is not AuditVerdict.VIOLATED
    assert not result.reproducible


def test_what_a_program_does_wrong_is_what_the_audit_says(command):
    with (
        Program(command("die")) as mechanism,
        pytest.raises(MechanismError, match=r"^command=.*exit status 3"),
    ):
        audit(mechanism, [0.0], [1.0], epsilon=1.0)


def test_an_interrupt_ends_the_program(command):
    mechanism, pids = hanging(command)
    previous = signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(KeyboardInterrupt), mechanism:
            mechanism([0.0], 1, RNG(0))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert gone(*pids)


def test_it_shows_its_command(command):
    assert repr(Program("./prog --scale 2")) == "Program('./prog --scale 2')"
    assert Program(["./my prog", "x"]).__name__ == "'./my prog' x"
    assert os.sep in Program(command("echo")).__name__
