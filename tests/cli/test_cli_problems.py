"""The catalogue of problems, and its files for other languages."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from dpsco_verify.cli import main
from dpsco_verify.guarantees.optimiser import BANK
from dpsco_verify.guarantees.optimiser.bank import ProblemKind
from dpsco_verify.guarantees.optimiser.catalogue import arrays, described

SYNTHETIC = [id_ for id_, one in BANK.items() if one.kind is ProblemKind.SYNTHETIC]


def run(*words):
    return CliRunner().invoke(main, ["problems", *words])


def test_the_list_says_what_each_is_and_why_it_is_hard():
    result = run(*SYNTHETIC)
    assert result.exit_code == 0
    for id_ in SYNTHETIC:
        assert BANK[id_].why in " ".join(result.stdout.split())
    assert "min F = -0.05" in result.stdout
    found = json.loads(run("drift", "hinge", "--json").stdout)
    assert [one["id"] for one in found] == ["drift", "hinge"]
    assert found[0]["minimum"]["value"] == -0.5
    assert found[1]["set"] == {"kind": "l2-ball", "center": [0.0] * 10, "radius": 3.0}


@pytest.mark.parametrize("id_", [*SYNTHETIC, "engel-quantile"])
def test_the_arrays_are_enough_to_compute_the_minimum(id_):
    one, found = BANK[id_], arrays(BANK[id_])
    w, value = found["minimiser"], described(one)["minimum"]["value"]
    if "data" in found:
        risk = found["probabilities"] @ one.population.loss.value(w, found["data"])
    else:
        risk = -w @ found["expectation"]
        assert (np.abs(found["expectation"]) <= found["magnitude"]).all()
    assert risk == pytest.approx(value, rel=1e-12, abs=1e-12)


def test_files_hold_the_same_in_both_formats(tmp_path):
    for name in ("p.json", "p.npz"):
        assert run("logistic", "--out", str(tmp_path / name), "--n", "7", "--seed", "3").exit_code == 0
    plain = json.loads((tmp_path / "p.json").read_text())
    with np.load(tmp_path / "p.npz") as archive:
        assert json.loads(str(archive["description"])) == {k: v for k, v in plain.items() if k != "arrays"}
        assert set(archive.files) == {*plain["arrays"], "description"}
        for key, values in plain["arrays"].items():
            assert archive[key].tolist() == values
    assert np.shape(plain["arrays"]["sample"]) == (7, 6)


def test_bad_input_is_exit_code_2_and_writes_nothing(tmp_path):
    for words, said in (
        (("nowhere",), "problem='nowhere' is unknown"),
        (("drift", "still", "--out", str(tmp_path / "a.json")), "name one"),
        (("drift", "--out", str(tmp_path / "a.csv")), "neither JSON nor NPZ"),
        (("drift", "--out", str(tmp_path / "none" / "a.json")), "cannot be written"),
        (("drift", "--n", "3"), "give --out FILE"),
    ):
        result = run(*words)
        assert result.exit_code == 2
        assert said in result.stderr
    assert not list(tmp_path.iterdir())
