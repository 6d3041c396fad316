"""``dpsco-verify run``: the algorithm on a user's own file, and one line for everything that is wrong with it."""

from __future__ import annotations

import json
import typing

import numpy as np
import pytest
from click.testing import CliRunner

from dpsco_verify.algorithm.on_file import LOSS_NAMES, LossName
from dpsco_verify.algorithm.options import Averaging, NoiseConvention, StoppingRule
from dpsco_verify.cli import main
from dpsco_verify.cli.run import _AVERAGING, _LOSSES, _NOISE, _STOPPING

GOOD = {"--loss": "linear", "--radius": "1", "--lipschitz": "1", "--sigma": "0.1"}


@pytest.fixture
def table(tmp_path):
    file = tmp_path / "data.csv"
    np.savetxt(file, np.full((20, 2), 0.5), delimiter=",")
    return file


def run(file, options):
    arguments = [part for pair in options.items() for part in pair if part is not None]
    result = CliRunner().invoke(main, ["run", str(file), *arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_a_run(table):
    result = run(table, GOOD)
    assert result.exit_code == 0
    record = json.loads(result.stdout)
    assert record["gradient_queries"] == record["distinct_points"] == 11
    assert record["n"] == 20
    assert record["dimension"] == 2
    assert np.linalg.norm(record["output"]) <= 1
    assert run(table, GOOD).stdout == result.stdout
    assert run(table, GOOD | {"--seed": "1"}).stdout != result.stdout


def test_the_schedule_of_the_main_theorem(table):
    options = {k: v for k, v in GOOD.items() if k != "--sigma"} | {"--epsilon": "0.1", "--delta": "1e-5"}
    record = json.loads(run(table, options).stdout)
    assert record["sigma"] == pytest.approx(8 * np.sqrt(np.log(1e5)) / (np.sqrt(20) * 0.1))
    assert set(record["claimed_by_the_paper"]) == {"epsilon", "delta", "excess_risk_at_most"}
    refused = run(table, options | {"--epsilon": "0.2"})
    assert refused.exit_code == 2
    assert "Theorem 5.3" in refused.stderr
    assert run(table, options | {"--epsilon": "0.2", "--outside-regime": "allow"}).exit_code == 0


@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_every_loss_runs(tmp_path, loss):
    file = tmp_path / "data.csv"
    rng = np.random.default_rng(0)
    rows = rng.uniform(-0.5, 0.5, (20, 3))
    rows[:, 2] = np.sign(rows[:, 2])
    np.savetxt(file, rows, delimiter=",")
    assert run(file, GOOD | {"--loss": loss, "--lipschitz": "2"}).exit_code == 0


def test_the_choices_are_those_of_the_library():
    assert _LOSSES == LOSS_NAMES == typing.get_args(LossName)
    assert tuple(StoppingRule) == _STOPPING
    assert tuple(Averaging) == _AVERAGING
    assert tuple(NoiseConvention) == _NOISE


BAD_OPTIONS = [
    ({"--lipschitz": "0"}, "lipschitz=0.0"),
    ({"--lipschitz": "nan"}, "lipschitz=nan"),
    ({"--lipschitz": "inf"}, "lipschitz=inf"),
    ({"--lipschitz": "0.1"}, "subgradient norm=0.7"),
    ({"--radius": "0"}, "radius=0.0"),
    ({"--radius": "inf"}, "radius=inf"),
    ({"--sigma": "-1"}, "sigma=-1.0"),
    ({"--sigma": "nan"}, "sigma=nan"),
    ({"--sigma": None}, "sigma=None"),
    ({"--epsilon": "0.1"}, "are both given"),
    ({"--sigma": None, "--epsilon": "0", "--delta": "0.1"}, "epsilon=0.0"),
    ({"--sigma": None, "--epsilon": "nan", "--delta": "0.1"}, "epsilon=nan"),
    ({"--sigma": None, "--epsilon": "0.1", "--delta": "1"}, "delta=1.0"),
    ({"--sigma": None, "--epsilon": "0.1", "--delta": "0"}, "delta=0.0"),
    ({"--initial-point": "3,4"}, "initial_point="),
    ({"--initial-point": "1"}, "initial_point.shape"),
    ({"--initial-point": "a,b"}, "initial_point='a,b'"),
    ({"--initial-point": "nan,0"}, "initial_point[0]"),
    ({"--batch-size": "0"}, "batch_size=0"),
    ({"--batch-size": "21"}, "batch_size=21"),
    ({"--seed": "-1"}, "seed=-1"),
    ({"--loss": "quantile", "--level": "1"}, "level=1.0"),
    ({"--loss": "hinge"}, "label"),
]


@pytest.mark.parametrize(("changes", "message"), BAD_OPTIONS)
def test_bad_options(table, changes, message):
    options = {k: v for k, v in (GOOD | changes).items() if v is not None}
    result = run(table, options)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("0.5,0.5\n", "n=1"),
        ("0.5,nan\n0.5,0.5\n", "data[0, 1]=nan"),
        ("0.5,inf\n0.5,0.5\n", "data[0, 1]=inf"),
        ("0.5,0.5\n0.5\n", "is no table of numbers"),
        ("a,b\nc,d\n", "is no table of numbers"),
        ("\x00\x01", "is no table of numbers"),
    ],
)
def test_bad_data(tmp_path, content, message):
    file = tmp_path / "data.csv"
    file.write_text(content)
    result = run(file, GOOD)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_a_file_that_is_not_there(tmp_path):
    for path in (tmp_path / "none.csv", tmp_path):
        result = run(path, GOOD)
        assert result.exit_code == 2
        assert "cannot be read" in result.stderr
