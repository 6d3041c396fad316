"""``dpsco-verify gate``: a claim against a mechanism in one line; what it prints, writes, and exits with."""

from __future__ import annotations

import json
import re
import shlex
import sys
import textwrap

import pytest
from click.testing import CliRunner

from dpsco_verify.choices import Relation
from dpsco_verify.cli import main
from dpsco_verify.cli.gate_optimiser import OF_AN_OPTIMISER
from dpsco_verify.gating.entries import AuditEntry, CanaryEntry

MODULE = """
    import numpy as np
    from hypothesis import strategies as st

    def laplace(d, size, rng):
        return d[0] + rng.laplace(0.0, 1.0, size)

    def half_the_noise(d, size, rng):
        return d[0] + rng.laplace(0.0, 0.5, size)

    def gaussian(d, size, rng):
        return d[0] + rng.normal(0.0, 4.0, size)

    def one(d, rng):
        return float(d[0] + rng.laplace(0.0, 1.0))

    class Vault:
        @staticmethod
        def mechanism(d, size, rng):
            return laplace(d, size, rng)

    pair = (np.array([0.0]), np.array([1.0]))
    same = (np.array([0.0, np.nan]), np.array([0.0, np.nan]))
    one_same = [pair, same]
    all_same = st.integers(0, 3).map(lambda n: ([n], [n]))
    strangers = (np.zeros(4), np.full(4, 0.25))
    far = (np.array([0.0, 0.0]), np.array([1.0, 1.0]))
    pairs = [pair, (np.array([5.0]), np.array([4.0]))]
    of_tuples = ((0.0, 0.0), (1.0, 0.0))

    def make_pairs():
        return pairs

    def raises(d, size, rng):
        raise KeyError("no such\\ncolumn")

    def misshapen(d, size, rng):
        return np.zeros(size + 1)

    def bad_pairs():
        raise RuntimeError("no data")

    number, empty, triple, of_lists = 3, [], (1, 2, 3), [[1, 2], [3, 4]]
"""


@pytest.fixture
def here(tmp_path, monkeypatch, _judged_here):
    """A working folder with the module ``mech``."""
    (tmp_path / "mech.py").write_text(textwrap.dedent(MODULE))
    (tmp_path / "broken.py").write_text("1 / 0")
    (tmp_path / "leaves.py").write_text("import sys; sys.exit('bye')")
    (tmp_path / "needs.py").write_text("import a_module_that_nobody_has")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def gate(*arguments):
    result = CliRunner().invoke(main, ["gate", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


QUICK = ("--samples", 3000, "--format", "json")


def record_in(folder):
    return json.loads((folder / "results.json").read_text())


def one_line(text):
    return len(text.strip().splitlines()) == 1 and "Traceback" not in text


@pytest.mark.slow
def test_a_violation(here):
    result = gate("mech:half_the_noise", "--pair", "mech:pair", "--epsilon", 1, "--samples", 5000)
    assert result.exit_code == 1
    assert result.stderr == ""
    out = here / "reports" / "gate"
    assert {path.name for path in out.iterdir()} == {
        "results.json",
        "index.html",
        "report.md",
        "junit.xml",
        "results.sarif",
        "badge.svg",
        "badge.json",
        "brief.json",
        "certificates",
        "figures",
    }
    record = record_in(out)
    assert record["exit_code"] == 1
    assert record["papers"] == []
    (claim,) = record["claims"]
    assert claim["verdict"] == "violated"
    assert claim["evidence"]["epsilon_lower_bound"]["value"] > 1
    lines = (here / "mech.py").read_text().splitlines()
    assert claim["source"] == {
        "file": "mech.py",
        "line": lines.index("def half_the_noise(d, size, rng):") + 1,
    }
    printed = " ".join(result.stdout.split())
    assert "Claimed privacy guarantees" in printed
    assert "mech:half_the_noise violates" in printed
    assert "Reports: reports/gate" in printed
    # The witness and the command that repeats it are on the screen, not only in the reports.
    assert " ".join(claim["counterexample"].split()) in printed
    assert claim["reproduce"] in result.stdout
    accepted = CliRunner().invoke(main, ["replay", str(out / claim["certificate"])])
    assert accepted.exit_code == 0, accepted.output
    again = gate(*shlex.split(claim["reproduce"])[2:], "--out", "again", "--format", "json")
    assert again.exit_code == 1
    assert without_times(here / "again") == without_times(out)


def without_times(folder):
    return re.sub(r'"seconds": [0-9.e+-]+', '"seconds": 0', (folder / "results.json").read_text())


@pytest.mark.slow
def test_a_claim_that_is_kept(here):
    result = gate("mech:laplace", "--pair", "mech:pair", "--epsilon", 1, *QUICK)
    assert result.exit_code == 0
    printed = " ".join(result.stdout.split())
    assert re.search(r"would have found ε ≥ [0-9.]+", printed)
    assert "Exit code 0: every audit is as expected." in printed
    assert not (here / "reports/gate/certificates").exists()
    # The textbook sampler leaks in the last bits of its doubles; that is told, and judged where it is asked for.
    assert "Note: " in printed
    asked = ("--pair", "mech:pair", "--epsilon", 1, "--floating-point", *QUICK)
    assert gate("mech:laplace", *asked).exit_code == 1
    assert "--floating-point" in record_in(here / "reports/gate")["claims"][0]["reproduce"]


@pytest.mark.slow
def test_the_relation_that_a_pair_seems_to_have_is_said(here):
    seems = "no relation was given; the pair seems to be replace-one and zero-out"
    result = gate("mech:laplace", "--pair", "mech:pair", "--epsilon", 1, *QUICK)
    (claim,) = record_in(here / "reports/gate")["claims"]
    assert seems in claim["summary"]
    assert claim["evidence"]["relation"] == {"value": None, "unit": None, "note": seems}
    none = "not neighbours under replace-one, add-remove or zero-out: all 4 records differ"
    result = gate("mech:laplace", "--pair", "mech:strangers", "--epsilon", 1, "--samples", 3000)
    assert result.exit_code == 0  # the verdict stays what it is
    assert none in " ".join(result.stdout.split())
    for report in ("report.md", "index.html"):
        assert none in " ".join((here / "reports/gate" / report).read_text().split())


@pytest.mark.slow
def test_undecided(here):
    result = gate(
        "mech:laplace", "--pair", "mech:pair", "--epsilon", 1, "--epsilon-of-interest", 1.01, *QUICK
    )
    assert result.exit_code == 3
    assert record_in(here / "reports/gate")["claims"][0]["verdict"] == "undecided"


@pytest.mark.slow
@pytest.mark.parametrize(
    "claim",
    [
        ["--epsilon", 1.0, "--delta", 1e-6],
        ["--rho", 0.5],
        ["--mu", 1.0],
        ["--renyi-alpha", 4.0, "--renyi-epsilon", 0.5],
    ],
    ids=lambda claim: claim[0],
)
def test_every_kind_of_claim(here, claim):
    """N(0, 16) at distance 1 is 1/32-zCDP and 1/4-GDP, far within each claim."""
    result = gate("mech:gaussian", "--pair", "mech:pair", *claim, *QUICK)
    assert result.exit_code == 0, result.output


@pytest.mark.slow
@pytest.mark.parametrize("relation", list(Relation))
def test_relations_are_checked(here, relation):
    result = gate("mech:laplace", "--pair", "mech:pair", "--epsilon", 1, "--relation", relation, *QUICK)
    assert result.exit_code == (2 if relation == "add-remove" else 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "pairs"),
    [
        (["mech:pairs"], 2),
        (["mech:make_pairs"], 2),
        (["mech:pair", "mech:pairs"], 3),
        (["mech:of_tuples"], 1),
        (["pair.json"], 1),
        (["pairs.json", "mech:pair"], 3),
    ],
)
def test_pairs_by_name(here, names, pairs):
    (here / "pair.json").write_text('{"d": [0], "d_prime": [1]}')
    (here / "pairs.json").write_text('[{"d": [0], "d_prime": [1]}, {"d": [3], "d_prime": [2]}]')
    options = [part for name in names for part in ("--pair", name)]
    result = gate("mech:laplace", *options, "--epsilon", 1, *QUICK)
    assert result.exit_code == 0, result.output
    claim = record_in(here / "reports/gate")["claims"][0]
    assert claim["evidence"]["neighbouring_pairs"]["value"] == pairs
    assert all(name in claim["reading_text"] for name in names)


@pytest.mark.slow
def test_a_strategy_is_searched(here):
    (here / "strategies_here.py").write_text(
        "from hypothesis import strategies as st\n"
        "numbers = st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=3)\n"
        "pairs = numbers.map(lambda d: (d, [1.0 - d[0], *d[1:]]))\n"
    )
    arguments = ("--pair", "strategies_here:pairs", "--epsilon", 1, "--relation", "replace-one")
    assert gate("mech:half_the_noise", *arguments, "--samples", 5000, "--format", "json").exit_code == 1
    result = gate("mech:laplace", *arguments, "--pair", "mech:pair")
    assert result.exit_code == 2
    assert "is a strategy" in result.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments", [["mech:one", "--per-call"], ["mech:Vault.mechanism"], ["mech:laplace", "--name", "my own"]]
)
def test_mechanisms_by_name(here, arguments):
    result = gate(*arguments, "--pair", "mech:pair", "--epsilon", 1, *QUICK)
    assert result.exit_code == 0, result.output
    claim = record_in(here / "reports/gate")["claims"][0]
    assert claim["title"] == (arguments[2] if "--name" in arguments else arguments[0])
    again = gate(*shlex.split(claim["reproduce"])[2:], "--out", "again", "--format", "json")
    assert again.exit_code == 0
    assert without_times(here / "again") == without_times(here / "reports/gate")


@pytest.mark.slow
def test_a_program_with_randomness_of_its_own(here):
    (here / "own.py").write_text(
        textwrap.dedent(
            """
            import json, random, sys
            for line in sys.stdin:
                request = json.loads(line)
                for _ in range(request["size"]):
                    print(request["dataset"][0] + random.expovariate(1) - random.expovariate(1))
                sys.stdout.flush()
            """
        )
    )
    arguments = ("--command", f"{sys.executable} -S own.py", "--pair", "mech:pair", "--epsilon", 1, *QUICK)
    result = gate(*arguments)
    assert result.exit_code == 2
    assert one_line(result.stderr)
    assert "--unseeded" in result.stderr
    result = gate(*arguments, "--unseeded")
    assert result.exit_code in (0, 3), result.output
    claim = record_in(here / "reports/gate")["claims"][0]
    assert claim["evidence"]["reproducible"]["value"] is False
    assert "--unseeded" in claim["reproduce"]


BAD = {
    "no such module": (["absent:laplace"], "no module 'absent'"),
    "no such submodule": (["mech.absent:laplace"], "no module 'mech.absent'"),
    "a module that needs another": (
        ["needs:x"],
        "ModuleNotFoundError: No module named 'a_module_that_nobody_has'",
    ),
    "a module that raises": (["broken:x"], "importing 'broken' raised ZeroDivisionError"),
    "a module that exits": (["leaves:x"], "importing 'leaves' raised SystemExit: bye"),
    "no such name": (["mech:absent"], "there is no 'absent' in 'mech'"),
    "no such inner name": (["mech:Vault.absent"], "there is no 'absent'"),
    "no name": (["mech"], "is not of the form module:name"),
    "not callable": (["mech:number"], "cannot be called"),
    "no such pair": (["mech:laplace", "--pair", "mech:absent"], "pair='mech:absent'"),
    "no pair": (["mech:laplace", "--pair", "mech:number"], "pair='mech:number' is of type int"),
    "no pairs": (["mech:laplace", "--pair", "mech:empty"], "empty list"),
    "three": (["mech:laplace", "--pair", "mech:triple"], "tuple of 3"),
    "lists in a list": (["mech:laplace", "--pair", "mech:of_lists"], "item 0 is of type list"),
    "a function that raises": (["mech:laplace", "--pair", "mech:bad_pairs"], "raised RuntimeError: no data"),
    "no file": (["mech:laplace", "--pair", "absent.json"], "cannot be read"),
    "bad file": (["mech:laplace", "--pair", "bad.json"], "holds no pairs"),
    "no neighbours": (["mech:laplace", "--pair", "mech:far", "--relation", "replace-one"], "replace-one"),
    "equal data sets": (
        ["mech:laplace", "--pair", "mech:same"],
        "pair='mech:same': d and d_prime are the same",
    ),
    "equal data sets in a list": (
        ["mech:laplace", "--pair", "mech:one_same"],
        "pair='mech:one_same', number 2 of 2: d and d_prime are the same",
    ),
    "equal data sets in a file": (
        ["mech:laplace", "--pair", "same.json"],
        "pair='same.json': d and d_prime are the same",
    ),
    "equal data sets of a strategy": (
        ["mech:laplace", "--pair", "mech:all_same"],
        "drew 4 pairs, all of equal data sets",
    ),
    "no claim": (["mech:laplace", "--no-epsilon"], "nothing is claimed"),
    "two claims": (["mech:laplace", "--rho", "1"], "make more than one claim"),
    "half a claim": (["mech:laplace", "--no-epsilon", "--renyi-epsilon", "1"], "is half a claim"),
    "delta alone": (
        ["mech:laplace", "--no-epsilon", "--mu", "1", "--delta", "0.1"],
        "make more than one claim",
    ),
    "epsilon below 0": (["mech:laplace", "--no-epsilon", "--epsilon", "-1"], "epsilon=-1.0"),
    "epsilon is nan": (["mech:laplace", "--no-epsilon", "--epsilon", "nan"], "epsilon=nan"),
    "a mechanism that raises": (["mech:raises"], "raised KeyError"),
    "a wrong shape": (["mech:misshapen"], "shape"),
    "per call of a program": (["--command", "./prog", "--per-call"], "--per-call does not fit"),
    "unseeded function": (["mech:laplace", "--unseeded"], "--unseeded does not fit"),
    "no program": (["--command", "./prog"], "cannot be started"),
    "no config": (["--config", "absent.toml"], "cannot be read"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line_and_exit_code_2(here, name):
    arguments, message = BAD[name]
    (here / "bad.json").write_text('{"d": 1}')
    (here / "same.json").write_text('{"d": [1, [2.5, null]], "d_prime": [1, [2.5, null]]}')
    before = sorted(path.name for path in here.iterdir())
    if "--config" not in arguments:
        arguments = [*arguments, *([] if "--pair" in arguments else ["--pair", "mech:pair"])]
        arguments += [] if "--no-epsilon" in arguments else ["--epsilon", "1"]
    result = gate(*(part for part in arguments if part != "--no-epsilon"))
    assert result.exit_code == 2
    assert one_line(result.stderr), result.stderr
    assert message in result.stderr
    assert result.stdout == ""
    assert sorted(path.name for path in here.iterdir() if path.name != "__pycache__") == before


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["mech:laplace"],
        ["mech:laplace", "--command", "./prog"],
        ["mech:laplace", "--config", "x.toml"],
        ["mech:laplace", "--pair", "mech:pair", "--select", "x"],
        ["mech:laplace", "--pair", "mech:pair", "--relation", "friends"],
        ["mech:laplace", "--pair", "mech:pair", "--samples", "63"],
        ["mech:laplace", "--pair", "mech:pair", "--error-budget", "0"],
        ["mech:laplace", "--pair", "mech:pair", "--error-budget", "1"],
        ["mech:laplace", "--pair", "mech:pair", "--seed", "-1"],
        ["mech:laplace", "--pair", "mech:pair", "--format", "pdf"],
        ["mech:laplace", "--pair", "mech:pair", "--time-limit", "0"],
    ],
)
def test_wrong_usage_is_exit_code_2(here, arguments):
    result = gate(*arguments)
    assert result.exit_code == 2
    assert "Traceback" not in result.stderr


@pytest.mark.slow
def test_a_failure_leaves_the_earlier_report(here):
    arguments = ("--pair", "mech:pair", "--epsilon", 1, *QUICK)
    assert gate("mech:laplace", *arguments).exit_code == 0
    before = (here / "reports/gate/results.json").read_bytes()
    assert gate("mech:raises", *arguments).exit_code == 2
    assert (here / "reports/gate/results.json").read_bytes() == before
    assert [path.name for path in (here / "reports").iterdir()] == ["gate"]


def test_a_folder_of_somebody_else_is_left_alone(here):
    result = gate("mech:laplace", "--pair", "mech:pair", "--epsilon", 1, "--out", here / "..")
    assert result.exit_code == 2
    assert one_line(result.stderr)


@pytest.mark.slow
def test_the_command_that_repeats_an_audit_has_all_that_was_given(here):
    given = ["--epsilon", 1, "--relation", "replace-one", "--name", "x y", "--time-limit", 7, *QUICK]
    gate("mech:laplace", "--pair", "mech:pair", *given)
    words = shlex.split(record_in(here / "reports/gate")["claims"][0]["reproduce"])
    assert words[:3] == ["dpsco-verify", "gate", "mech:laplace"]
    assert {"replace-one", "x y", "--time-limit", "7.0", "3000"} <= set(words)


def test_the_options_of_an_audit_are_those_of_a_configuration():
    options = {option.name for option in main.commands["gate"].params}
    entry = set(AuditEntry.__struct_fields__) - {"weight", "seeded"}
    entry |= (set(CanaryEntry.__struct_fields__) - {"weight", "scores"}) | {"canaries", "quiet"}
    entry |= {"optimiser", *OF_AN_OPTIMISER}
    run = {"config", "select", "profile", "error_budget", "seed", "out", "formats", "unseeded", "estimate"}
    assert options == entry | run


def test_help_tells_the_protocol_and_the_configuration():
    text = gate("--help").stdout
    for part in ('"dataset"', "[[gate.audit]]", "Exit codes", "--epsilon-of-interest", "MODULE:MECHANISM"):
        assert part in text
    assert max(map(len, text.splitlines())) <= 80
    for key in AuditEntry.__struct_fields__:
        assert key in text or key.replace("_", "-") in text, key


@pytest.mark.slow
def test_an_estimate_asks_for_no_claim_and_prints_a_bound_a_pair(here):
    result = gate("mech:laplace", "--pair", "mech:pair", "--estimate", "--error-budget", 0.05, *QUICK)
    assert result.exit_code == 0, result.stderr
    [line] = result.stdout.splitlines()
    bound = float(re.search(r"ε ≥ ([0-9.]+) at δ = 0 with confidence 1 − 0.05", line)[1])
    assert 0.5 < bound <= 1.0
    assert not (here / "reports").exists()
    larger = gate("mech:half_the_noise", "--pair", "mech:pair", "--estimate", "--delta", 0.01, *QUICK)
    assert float(re.search(r"ε ≥ ([0-9.]+) at δ = 0.01", larger.stdout)[1]) > 1.0


@pytest.mark.parametrize("extra", [("--epsilon", 1), ("--mu", 1), ("--multiple-of-interest", 5)])
def test_an_estimate_gates_nothing(here, extra):
    result = gate("mech:laplace", "--pair", "mech:pair", "--estimate", *extra)
    assert result.exit_code == 2
    assert extra[0] in result.stderr


@pytest.mark.slow
def test_a_pass_that_says_little_is_undecided_unless_the_bar_is_lowered(here):
    given = ["mech:laplace", "--pair", "mech:pair", "--epsilon", 1, *QUICK]
    assert gate(*given, "--multiple-of-interest", 1.1).exit_code == 3
    claim = record_in(here / "reports/gate")["claims"][0]
    assert claim["evidence"]["samples_needed"]["value"] > 3000
    assert "give more samples, about" in claim["summary"]
    assert "--multiple-of-interest 1.1" in claim["reproduce"]
    assert gate(*given).exit_code == 0
