"""Whatever is wrong with what a command is given: exit code 2, one sentence that says so, and nothing written."""

from __future__ import annotations

import shlex
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from dpsco_verify.cli import main
from dpsco_verify.errors import InputError
from dpsco_verify.gating.config import load_config
from dpsco_verify.gating.load import make_importable
from dpsco_verify.gating.plan import plan

ENTRY = "entry.toml"
"""Written by the tests of entries, and no part of what a command may not change."""
CORPUS = tomllib.loads((Path(__file__).parent / "data" / "bad_input.toml").read_text())

AUDIT = '[[gate.audit]]\nmechanism = "mech:laplace"\npair = "mech:pair"\nepsilon = 1.0\n'
FILES = {
    "mech.py": """
import numpy as np

def laplace(d, size, rng):
    return sum(d) + rng.laplace(size=size)

def raises(d, size, rng):
    raise KeyError("x")

def one_number(d, size, rng):
    return 1.0

def too_few(d, size, rng):
    return np.zeros(size - 1)

pair, same, number = ([0.0], [1.0]), ([0.0], [0.0]), 3
""",
    "own.py": """
import math
import time

import numpy as np

def fit(data, L, D, epsilon, delta, rng):
    return np.zeros(data.shape[1])

def draw(size, rng):
    return rng.random(size)

def by_case(case, size, rng):
    return rng.random(size)

def too_few(size, rng):
    return rng.random(size - 1)

def not_a_number(size, rng):
    return np.full(size, math.nan)

def words(size, rng):
    return ["x"] * size

def raises(*anything):
    raise KeyError("x")

def hangs(*anything):
    time.sleep(60)

def negative(*anything):
    return -1.0

def infinite(*anything):
    return math.inf

def text(*anything):
    return "much"

def square(x):
    return x * x

def shape(data, L, D, epsilon, delta, rng):
    return np.zeros(7)

number = 3
""",
    "points.csv": "".join(f"{x},{1 - x},{1 if x > 0.5 else -1}\n" for x in (0.1, 0.4, 0.6, 0.9) * 4),
    "ragged.csv": "0.1,0.2,1\n0.1,1\n" * 4,
    "nan.csv": "0.1,0.2,1\nnan,0.2,-1\n" * 4,
    "inf.csv": "0.1,0.2,1\ninf,0.2,-1\n" * 4,
    "one_line.csv": "0.1,0.2,1\n",
    "empty.json": "",
    "empty.sqlite3": "",
    "truncated.json": '{"schema_version": 3, "claims": [',
    "deep.json": "[" * 100_000,
    "bad.toml": "[gate\n",
    "no_gate.toml": "[other]\nx = 1\n",
    "no_audits.toml": "[gate]\nseed = 0\n",
    "unknown_key.toml": AUDIT + "colour = 3\n",
    "wrong_type.toml": AUDIT + 'samples = "many"\n',
    "two_mechanisms.toml": AUDIT + 'command = "./prog"\n',
    "no_pair.toml": '[[gate.audit]]\nmechanism = "mech:laplace"\nepsilon = 1.0\n',
    "no_claim.toml": '[[gate.audit]]\nmechanism = "mech:laplace"\npair = "mech:pair"\n',
    "budget.toml": "[gate]\nerror_budget = 2.0\n" + AUDIT,
    "weight.toml": AUDIT + "weight = -1.0\n",
    "good.toml": AUDIT,
    "foreign/letter.txt": "not a report",
    "a_folder/x": "",
}

CASES = [
    *(
        entry["command"].replace("{}", f"{option}={shlex.quote(value)}")
        for entry in CORPUS["option"]
        for option, values in entry.items()
        if option != "command"
        for value in values
    ),
    *CORPUS["whole"]["commands"],
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("bad-input")
    for name, text in FILES.items():
        (made / name).parent.mkdir(exist_ok=True)
        (made / name).write_text(text)
    (made / "binary.json").write_bytes(bytes(range(256)))
    return made


@pytest.fixture(scope="module")
def before(folder):
    return state(folder)


def state(folder):
    return {
        path.relative_to(folder): path.read_bytes()
        for path in folder.rglob("*")
        if "__pycache__" not in path.parts and path.name != ENTRY and path.is_file()
    }


@pytest.mark.slow
def test_there_are_many():
    assert len(CASES) == len(set(CASES)) >= 200


@pytest.mark.usefixtures("_judged_here")
@pytest.mark.parametrize("command", CASES)
def test_it_is_refused_in_one_sentence(command, folder, before, monkeypatch):
    monkeypatch.chdir(folder)
    result = CliRunner().invoke(main, shlex.split(command))
    said = result.stderr.strip().splitlines()
    assert result.exit_code == 2, (result.exception, result.output)
    # Wrong usage comes with the usage, above the sentence.
    assert len(said) == 1 or said[0].startswith("Usage: "), result.stderr
    assert "Traceback" not in result.stderr
    assert len(said[-1]) < 500
    assert result.stdout == ""
    assert state(folder) == before


ENTRIES = [(kind, text) for kind, texts in CORPUS["entries"].items() for text in texts]


def judged_entry():
    for one in plan(load_config(Path(ENTRY))).guarantees:
        one.check()


@pytest.mark.usefixtures("_judged_here")
@pytest.mark.parametrize(("kind", "text"), ENTRIES)
def test_an_entry_of_a_gate_is_refused_in_one_sentence(kind, text, folder, monkeypatch):
    # In this process: what the command makes of an InputError the cases above have shown.
    monkeypatch.chdir(folder)
    (folder / ENTRY).write_text(f"[gate]\n{kind} = [{text}]\n")
    make_importable(folder)
    with pytest.raises(InputError) as refused:
        judged_entry()
    said = str(refused.value)
    assert "\n" not in said
    assert "=" in said or "must" in said
    assert len(said) < 500
