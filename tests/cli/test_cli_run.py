"""``dpsco-verify run``: the algorithm on a user's own file, and one line for everything that is wrong with it."""

from __future__ import annotations

import json
from fractions import Fraction

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner

from dpsco_verify.choices import LOSS_NAMES
from dpsco_verify.cli import main
from dpsco_verify.evidence.checker import Kinds
from dpsco_verify.geometry import L2Ball
from dpsco_verify.privacy.whole_run import calibrate
from dpsco_verify.problems import Linear
from dpsco_verify.related import PrivacyBudget, Task
from dpsco_verify.related.catalogue import SYSTEMS

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
    assert result.stderr == ""
    assert record["calibrated_from"] == "sigma=0.1, as given"
    claimed = record["claimed_by_the_paper"]
    assert claimed["epsilon"] is claimed["delta"] is None
    assert claimed["excess_risk_at_most"] > 0
    assert claimed["reason"] == "sigma was given, not epsilon and delta"


def test_noise_is_secret_unless_a_seed_is_asked_for(table):
    first, second = (json.loads(run(table, GOOD).stdout) for _ in range(2))
    assert first["output"] != second["output"]
    assert (first["reproducible"], first["private"], first["seed"]) == (False, True, None)


@pytest.mark.parametrize("seed", ["0", "1"])
def test_a_seed_is_for_tests_and_says_so(table, seed):
    seeded = run(table, GOOD | {"--seed": seed})
    assert seeded.exit_code == 0
    assert len(seeded.stderr.splitlines()) == 1
    assert f"seed={seed}" in seeded.stderr
    assert "not private" in seeded.stderr
    record = json.loads(seeded.stdout)
    assert (record["reproducible"], record["private"], record["seed"]) == (True, False, int(seed))
    assert run(table, GOOD | {"--seed": seed}).stdout == seeded.stdout
    assert run(table, GOOD | {"--seed": "2"}).stdout != seeded.stdout


def test_without_noise_nothing_is_private(table):
    result = run(table, GOOD | {"--sigma": "0"})
    record = json.loads(result.stdout)
    assert (record["reproducible"], record["private"]) == (False, False)
    assert result.stderr == "sigma=0.0 adds no noise: the output is not private\n"


# --- the guarantee of the whole run ---------------------------------------------------------------------------------

TOTAL = {k: v for k, v in GOOD.items() if k != "--sigma"} | {"--epsilon": "0.3", "--delta": "1e-6"}
THEOREM = TOTAL | {"--noise-from": "theorem"}


@pytest.fixture
def large(tmp_path):
    file = tmp_path / "large.csv"
    np.savetxt(file, np.full((1000, 2), 0.5), delimiter=",")
    return file


@pytest.fixture(scope="module")
def three_thousand(tmp_path_factory):
    file = tmp_path_factory.mktemp("data") / "three_thousand.csv"
    np.savetxt(file, np.full((3000, 2), 0.5), delimiter=",")
    return file


def test_the_noise_is_calibrated_for_the_whole_run_and_says_by_what(three_thousand):
    record = json.loads(run(three_thousand, TOTAL | {"--epsilon": "1", "--lipschitz": "2"}).stdout)
    assert 1.20 < record["sigma"] / 2 < 1.21  # where Theorem 5.3 promises nothing below 61
    assert "the total epsilon=1.0 and delta=1e-06, by the bound on a whole run" in record["calibrated_from"]
    guarantee = record["guarantee"]
    assert (guarantee["epsilon"], guarantee["delta"], guarantee["relation"]) == (1.0, 1e-6, "replace-one")
    assert 0.9e-6 < guarantee["delta_lower"] < guarantee["delta_upper"] <= 1e-6
    certificate = Kinds().decode(msgspec.json.encode(guarantee["certificate"]))
    Kinds().check(certificate)
    assert certificate.witness.points == record["distinct_points"] == 1501
    assert certificate.witness.mu == str(4 / Fraction(record["sigma"]))
    claimed = record["claimed_by_the_paper"]
    assert claimed["epsilon"] is claimed["delta"] is None
    # Theorem 4.4 holds for any noise; the step size is its own
    scale = 2.0 * (2.0 + record["sigma"] * np.sqrt(2.0)) / np.sqrt(3000)
    assert claimed["excess_risk_at_most"] == pytest.approx(2.5 * scale)
    assert record["step_size"] == pytest.approx(2.0**2 / 3000 / scale)


@pytest.mark.parametrize(
    ("changes", "points", "certified"),
    [
        ({"--stopping": "text"}, 500, True),
        ({"--stopping": "all-points"}, 1000, False),
        ({"--batch-size": "5"}, 505, True),
    ],
)
def test_the_points_of_the_calibration_are_the_most_that_the_run_can_use(large, changes, points, certified):
    record = json.loads(run(large, TOTAL | changes).stdout)
    assert record["distinct_points"] <= points
    assert record["sigma"] == calibrate(n=1000, epsilon=0.3, delta=1e-6, points=points).sigma
    assert (record["guarantee"]["certificate"] is not None) is certified
    assert ("without a certificate" in record["calibrated_from"]) is not certified


def test_the_noise_has_the_calibrated_deviation_whatever_sigma_means(large):
    variance, deviation = (
        json.loads(run(large, TOTAL | {"--noise": noise}).stdout)
        for noise in ("covariance-sigma", "covariance-sigma-squared")
    )
    assert variance["sigma"] == deviation["sigma"] ** 2
    assert variance["step_size"] == deviation["step_size"]


def test_by_the_theorem_epsilon_and_delta_are_those_of_the_whole_run(large):
    record = json.loads(run(large, THEOREM).stdout)
    claimed = record["claimed_by_the_paper"]
    assert (claimed["epsilon"], claimed["delta"], claimed["reason"]) == (0.3, 1e-6, None)
    assert "the total epsilon=0.3 and delta=1e-06, by the remark after" in record["calibrated_from"]
    assert record["guarantee"] is None
    # the theorem's own ε, and what it promises in total
    log = np.log(3e6)
    inner = 8 * np.sqrt(log) / (np.sqrt(1000) * record["sigma"])
    assert inner == pytest.approx(0.3 / (8 * np.sqrt(log)))
    assert 4 * inner * (np.sqrt(log) + 2) <= 0.3
    assert 2e-6 / 3 + 2 * np.exp(-1000 / 16) <= 1e-6


@pytest.mark.parametrize(
    ("options", "system"), [({}, "algorithm-1"), ({"--noise-from": "theorem"}, "algorithm-1-printed")]
)
def test_the_same_noise_as_in_compare(large, options, system):
    task = Task(Linear(), L2Ball(np.zeros(2), 1.0), 1.0)
    sigma = SYSTEMS[system].calibrate(task, 1000, PrivacyBudget(0.3, 1e-6)).figures["σ"]
    assert task.lipschitz == 1.0
    assert json.loads(run(large, TOTAL | options).stdout)["sigma"] == pytest.approx(sigma)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"--epsilon": "0.5"}, "epsilon=0.5 exceeds 4√(log(3/δ)/n)=0.48"),
        ({"--delta": "1e-30"}, "n=1000 is below 16 log(6/δ)=1133"),
        ({"--delta": "0.1"}, "delta=0.1 exceeds"),
    ],
)
def test_outside_the_theorem_the_paper_claims_nothing(large, changes, says):
    refused = run(large, THEOREM | changes)
    assert refused.exit_code == 2
    assert says in refused.stderr
    assert len(refused.stderr.strip().splitlines()) == 1
    assert refused.stdout == ""
    allowed = json.loads(run(large, THEOREM | changes | {"--outside-regime": "allow"}).stdout)
    claimed = allowed["claimed_by_the_paper"]
    assert claimed["epsilon"] is claimed["delta"] is claimed["excess_risk_at_most"] is None
    assert says in claimed["reason"]


@pytest.mark.parametrize(
    "changes", [{"--batch-size": "5"}, {"--stopping": "all-points"}, {"--noise": "covariance-sigma"}]
)
@pytest.mark.parametrize("source", [{}, {"--noise-from": "theorem"}])
def test_of_another_algorithm_the_paper_claims_nothing(large, changes, source):
    claimed = json.loads(run(large, TOTAL | source | changes).stdout)["claimed_by_the_paper"]
    assert claimed["epsilon"] is claimed["delta"] is claimed["excess_risk_at_most"] is None
    (option,) = changes
    assert f"{option.removeprefix('--').replace('-', '_')}=" in claimed["reason"]


@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_every_loss_runs(tmp_path, loss):
    file = tmp_path / "data.csv"
    rng = np.random.default_rng(0)
    rows = rng.uniform(-0.5, 0.5, (20, 3))
    rows[:, 2] = np.sign(rows[:, 2])
    np.savetxt(file, rows, delimiter=",")
    assert run(file, GOOD | {"--loss": loss, "--lipschitz": "2"}).exit_code == 0


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
    ({"--sigma": None, "--epsilon": "1", "--delta": "0.6"}, "needs no noise"),
    (
        {"--sigma": None, "--epsilon": "1", "--delta": "1e-6", "--outside-regime": "allow"},
        "outside_regime='allow'",
    ),
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
