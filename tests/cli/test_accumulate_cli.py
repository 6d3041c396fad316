"""``audit --accumulate``: which runs count together, what the reports say of it, and what is the same without it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

import dpsco_verify
from dpsco_verify.cli import main
from dpsco_verify.evidence.schema import shipped_schema
from dpsco_verify.store import EvidenceStore

pytestmark = pytest.mark.slow  # runs of the quick profile

CHOSEN = ("--profile", "quick", "--select", "stopping-tail/loop", "--select", "exp-linear")


def run(*arguments):
    """Run the program in this process; anything but an orderly exit is raised."""
    result = CliRunner().invoke(main, arguments)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def audit(out, *options, seed=0, formats=("json",)):
    chosen = [word for name in formats for word in ("--format", name)]
    result = run("audit", *CHOSEN, "--seed", str(seed), *chosen, "--out", str(out), *options)
    assert result.exit_code == 0, result.output
    return json.loads((out / "results.json").read_text())


def loop(results):
    (found,) = (claim for claim in results["claims"] if claim["reading"] == "loop")
    return found


def runs_of(results):
    """The (number, seed) of the runs behind each product; all products of a claim have the same here."""
    (found,) = {
        tuple((one["run"], one["seed"]) for one in product["runs"])
        for product in loop(results)["accumulated"]
    }
    return found


def without_seconds(out):
    return re.sub(rb'"seconds": [0-9.e+-]+', b'"seconds": 0', (out / "results.json").read_bytes())


def test_the_reports_name_the_runs_that_count(tmp_path):
    out, store = tmp_path / "report", ("--store", str(tmp_path / "store"))
    first = audit(out, "--accumulate", *store, seed=0)
    assert runs_of(first) == ((1, 0),)
    second = audit(out, "--accumulate", *store, seed=7, formats=("json", "markdown", "html"))
    assert runs_of(second) == ((1, 0), (2, 7))
    jsonschema.Draft202012Validator(json.loads(shipped_schema())).validate(second)
    for product, before in zip(loop(second)["accumulated"], loop(first)["accumulated"], strict=True):
        assert product["null_hypothesis"] == before["null_hypothesis"]
        assert product["runs"][0] == before["runs"][0]
        total = sum(one["log10_e_value"] for one in product["runs"])
        assert product["log10_e_value"] == pytest.approx(total)
        assert product["rejected"] is False
    # Claims that are decided without chance have nothing to multiply.
    assert [claim["id"] for claim in second["claims"] if "accumulated" in claim] == ["stopping-tail"]
    assert loop(second)["reproduce"].endswith("--seed 7 --select stopping-tail/loop --accumulate")
    for file in ("report.md", "index.html"):
        assert "over the runs 1 (seed 0), 2 (seed 7)" in (out / file).read_text()


def test_a_seed_counts_once(tmp_path):
    out, store = tmp_path / "report", ("--store", str(tmp_path / "store"))
    first = audit(out, "--accumulate", *store, seed=3)
    again = audit(out, "--accumulate", *store, seed=3)
    assert runs_of(again) == ((1, 3),)
    assert loop(again)["accumulated"] == loop(first)["accumulated"]
    assert runs_of(audit(out, "--accumulate", *store, seed=4)) == ((1, 3), (3, 4))


def test_runs_without_the_option_count_for_later_ones(tmp_path):
    out, store = tmp_path / "report", ("--store", str(tmp_path / "store"))
    assert "accumulated" not in loop(audit(out, *store, seed=0))
    assert runs_of(audit(out, "--accumulate", *store, seed=1)) == ((1, 0), (2, 1))


def test_without_the_option_nothing_changes(tmp_path):
    """Whatever the store holds of earlier runs, also of such that accumulated, and whether there is one."""
    bare, stored = tmp_path / "bare", tmp_path / "stored"
    audit(bare, "--no-store", seed=0)
    store = ("--store", str(tmp_path / "store"))
    for seed in (1, 0):
        audit(stored, "--accumulate", *store, seed=seed)
    accumulated = without_seconds(stored)
    audit(stored, *store, seed=0)
    assert without_seconds(stored) == without_seconds(bare)
    assert b'"accumulated"' not in without_seconds(bare)
    assert accumulated != without_seconds(bare)


def test_the_error_budget_holds_with_the_products(tmp_path):
    """A run by itself and its products spend together what a run spends without them."""
    store = ("--store", str(tmp_path / "store"))
    plain = audit(tmp_path / "plain", "--no-store")
    together = audit(tmp_path / "together", "--accumulate", *store)
    assert together["error_budget"] == plain["error_budget"]
    assert together["error_budget"]["spent"] <= 1e-6
    share = plain["error_budget"]["by_claim"]["stopping-tail/loop"]
    products = [one["alpha"] for one in loop(together)["accumulated"]]
    assert sum(products) == pytest.approx(share / 2)


def test_without_a_store_it_is_wrong_usage(tmp_path):
    result = run("audit", *CHOSEN, "--accumulate", "--no-store", "--out", str(tmp_path / "report"))
    assert result.exit_code == 2
    assert len(result.stderr.strip().splitlines()) == 1
    assert "accumulate=True cannot be combined with no_store=True" in result.stderr
    assert result.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_a_store_of_the_version_before_is_told_in_one_line(tmp_path):
    store = tmp_path / "store"
    with EvidenceStore(store):
        pass
    content = bytearray(store.read_bytes())
    assert content[60:64] == (2).to_bytes(4)
    content[60:64] = (1).to_bytes(4)
    store.write_bytes(content)
    result = run("audit", *CHOSEN, "--accumulate", "--store", str(store), "--out", str(tmp_path / "report"))
    assert result.exit_code == 2
    assert len(result.stderr.strip().splitlines()) == 1
    assert "has schema_version=1, and this program reads 2" in result.stderr
    assert store.read_bytes() == content


@pytest.mark.long
def test_a_change_of_the_code_starts_anew(tmp_path):
    """On a copy of the package, in processes of their own: other code is another null hypothesis."""
    root = Path(dpsco_verify.__file__).parent
    copy = tmp_path / "copy" / root.name
    shutil.copytree(root, copy)  # with what is compiled, which takes a while
    out = tmp_path / "report"

    def audited(seed):
        done = subprocess.run(  # noqa: S603  our own program
            [
                *(sys.executable, "-m", "dpsco_verify", "audit", *CHOSEN, "--accumulate"),
                *("--format", "json", "--seed", str(seed), "--out", str(out)),
            ],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path / "copy",
            env=os.environ | {"PYTHONPATH": str(tmp_path / "copy")},
        )
        assert done.returncode == 0, done.stderr
        return runs_of(json.loads((out / "results.json").read_text()))

    def change(name):
        path = copy / name
        path.write_text(path.read_text() + "\n# changed\n")
        # As if some time had gone by between the change and the next audit.
        os.utime(path, (time.time() - 60.0,) * 2)

    assert audited(0) == ((1, 0),)
    change("reporting/html.py")  # no part of what is measured
    assert audited(1) == ((1, 0), (2, 1))
    change("inference/bounded_mean.py")
    assert audited(2) == ((3, 2),)
