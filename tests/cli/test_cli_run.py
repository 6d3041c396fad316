"""``dpsco-verify run``: the algorithm on a user's own file, and one line for everything that is wrong with it."""

from __future__ import annotations

import json
import re
import shlex
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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
        ("\n \n", "is empty"),
        ("a,b\n", "holds names of columns and no points"),
        ("0.5,0.5\n", "n=1"),
        ("0.5,nan\n0.5,0.5\n", "has 'nan' in line 1, column 2; give finite numbers"),
        ("0.5,inf\n0.5,0.5\n", "has 'inf' in line 1, column 2; give finite numbers"),
        ("0.5,0.5\n\n0.5\n", "has 1 values in line 3 where the first line has 2"),
        (
            "age,city\n1,Rome\n",
            "has 'Rome' in line 2, column 2 (city); give a number; make a category columns of 0",
        ),
        ("age,size\n1,2\n,3\n", "has '' in line 3, column 1 (age); fill empty values in"),
        ('a,b\n1,"2\n', "is no table of numbers (unexpected end of data)"),
        ("\x00\x01", "holds names of columns and no points"),
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
    for path, reason in ((tmp_path / "none.csv", "No such file or directory"), (tmp_path, "Is a directory")):
        result = run(path, GOOD)
        assert result.exit_code == 2
        assert f"data='{path}' cannot be read ({reason})" in result.stderr
        assert len(result.stderr.splitlines()) == 1


# --- what a person with a CSV expects --------------------------------------------------------------------------------

HINGE = {"--loss": "hinge", "--radius": "1", "--lipschitz": "1", "--sigma": "0.1", "--seed": "3"}
PLAIN = [(0.5, -0.25, 1), (-0.5, 0.25, -1), (0.25, 0.5, 1), (-0.25, -0.5, -1)]


def written(separator=",", header="", labels=("-1", "1"), decimal="."):
    lines = [
        separator.join([f"{a}".replace(".", decimal), f"{b}".replace(".", decimal), labels[y > 0]])
        for a, b, y in PLAIN
    ]
    return "\n".join(([header] if header else []) + lines) + "\n"


@pytest.mark.parametrize(
    ("text", "columns", "classes"),
    [
        (written(), None, ["-1", "1"]),
        (written(header="a,b,label"), ["a", "b", "label"], ["-1", "1"]),
        (written(labels=("0", "1")), None, ["0", "1"]),
        (written(labels=("0.0", "1")), None, ["0.0", "1"]),
        (written(labels=("ham", "spam")), None, ["ham", "spam"]),
        (written(header='"a","b","label"', labels=("ham", "spam")), ["a", "b", "label"], ["ham", "spam"]),
        (written(separator=";"), None, ["-1", "1"]),
        (written(separator=";", decimal=",", header="a;b;label"), ["a", "b", "label"], ["-1", "1"]),
        (written(separator="\t"), None, ["-1", "1"]),
        (written(separator=" "), None, ["-1", "1"]),
        (written(separator=" , "), None, ["-1", "1"]),
        ("\ufeff" + written(header="a,b,label"), ["a", "b", "label"], ["-1", "1"]),
        (written().replace("\n", "\r\n") + "\r\n\r\n", None, ["-1", "1"]),
    ],
)
def test_the_same_data_however_they_are_written(tmp_path, text, columns, classes):
    reference, file = tmp_path / "reference.csv", tmp_path / "data.csv"
    np.savetxt(reference, PLAIN, delimiter=",")
    file.write_bytes(text.encode())
    expected, result = run(reference, HINGE), run(file, HINGE)
    record = json.loads(result.stdout)
    assert record["output"] == json.loads(expected.stdout)["output"]
    assert (record["columns"], record["classes"]) == (columns, classes)
    assert record["classes_from_data"] is (classes != ["-1", "1"])
    assert ("were read from the data, which no guarantee covers" in result.stderr) is record[
        "classes_from_data"
    ]


def test_classes_can_be_named_and_turned_round(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text(written(labels=("ham", "spam")))
    given, turned = (run(file, HINGE | {"--classes": names}) for names in ("ham,spam", "spam, ham"))
    assert "read from the data" not in given.stderr
    assert json.loads(given.stdout)["classes"] == ["ham", "spam"]
    assert json.loads(turned.stdout)["classes"] == ["spam", "ham"]
    assert json.loads(given.stdout)["output"] != json.loads(turned.stdout)["output"]


@pytest.mark.parametrize(
    ("options", "labels", "message"),
    [
        ({"--classes": "ham,eggs"}, ("ham", "spam"), "label='spam' is not one of classes='ham,eggs'"),
        ({"--classes": "ham"}, ("ham", "spam"), "classes='ham' are not two labels"),
        ({}, ("ham", "ham"), "has 1 class in the last column"),
        ({"--loss": "absolute"}, ("ham", "spam"), "has 'spam' in line 2, column 3 (label)"),
        ({"--loss": "absolute", "--classes": "0,1"}, ("0", "1"), "cannot be combined with loss='absolute'"),
    ],
)
def test_labels_that_do_not_fit(tmp_path, options, labels, message):
    file = tmp_path / "data.csv"
    file.write_text(written(header="a,b,label", labels=labels))
    result = run(file, HINGE | options)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(("loss", "norm"), [("linear", 0.1), ("hinge", 0.1), ("quantile", 0.1 / 0.75)])
def test_long_points_are_clipped_to_the_stated_bound(tmp_path, loss, norm):
    """Whether L had to be raised would tell of the data; a point far beyond it has the gradient of one at it."""
    options = {
        "--loss": loss,
        "--level": "0.25",
        "--radius": "1",
        "--lipschitz": "0.1",
        "--sigma": "0.1",
        "--seed": "1",
    }
    files = [tmp_path / "long.csv", tmp_path / "clipped.csv"]
    for file, scale in zip(files, (1e200, norm / 5.0), strict=True):
        rows = [[3.0 * scale, 4.0 * scale, 1.0], [-3.0 * scale, 4.0 * scale, -1.0]] * 5
        np.savetxt(file, np.array(rows)[:, : 2 if loss == "linear" else 3], delimiter=",")
    long, clipped = (json.loads(run(file, options).stdout)["output"] for file in files)
    np.testing.assert_allclose(long, clipped, rtol=1e-9)


@pytest.mark.slow
def test_the_certificate_goes_to_a_file_that_replays(large, tmp_path):
    out = tmp_path / "noise.json"
    result = run(large, TOTAL | {"--certificate": str(out)})
    assert json.loads(result.stdout)["guarantee"]["certificate"] == json.loads(out.read_text())
    replayed = CliRunner().invoke(main, ["replay", str(out)])
    assert replayed.exit_code == 0
    assert replayed.stdout.startswith("accepted  ")
    for options in (GOOD, THEOREM, TOTAL | {"--stopping": "all-points"}):
        none = tmp_path / "none.json"
        result = run(large, options | {"--certificate": str(none)})
        assert (result.exit_code, result.stdout, none.exists()) == (2, "", False)
        assert "cannot be written, as there is none for such noise; leave it out" in result.stderr


@pytest.mark.slow
def test_noise_that_hides_everything_is_told_with_what_would_do(large):
    hidden = run(large, TOTAL | {"--epsilon": "1e-5"})
    assert hidden.exit_code == 0
    (line,) = hidden.stderr.splitlines()
    told = re.fullmatch(
        r"n=(\d+) is too few for epsilon=1e-05 and 2 parameters: the noise on the average of all steps is \S+ "
        r"times the largest gradient; epsilon=(\S+) or more points would do",
        line,
    )
    assert json.loads(hidden.stdout)["remark"] == line
    enough = run(large, TOTAL | {"--epsilon": str(1.05 * float(told[2]))})
    assert enough.stderr == ""
    assert json.loads(enough.stdout)["remark"] is None
    assert run(large, TOTAL | {"--epsilon": str(0.9 * float(told[2]))}).stderr.startswith("n=")


def test_a_label_with_a_comma_is_advised_as_it_can_be_given(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text("\n".join(f'0.{i},"{"yes, sure" if i % 2 else "no"}"' for i in range(1, 10)))
    read = run(file, HINGE)
    advice = shlex.split(read.stderr.partition("give ")[2])
    assert advice == ["--classes", 'no,"yes, sure"']
    given = run(file, HINGE | dict([advice]))
    assert "were read from the data" not in given.stderr
    assert json.loads(given.stdout)["classes"] == json.loads(read.stdout)["classes"] == ["no", "yes, sure"]


@pytest.mark.slow
def test_the_record_goes_to_a_file_and_words_to_the_terminal(large, tmp_path):
    out = tmp_path / "model.json"
    result = run(large, TOTAL | {"--output": str(out)})
    assert result.exit_code == 0
    spent, where = result.stdout.splitlines()
    assert spent.startswith(
        "spent: epsilon=0.3 and delta=1e-06, replace-one neighbours, calibrated from the total"
    )
    assert spent.endswith("by the bound on a whole run (docs/whole-run.md), with a certificate")
    assert where == f"written to {out}"
    assert len(json.loads(out.read_text())["output"]) == 2
    by_theorem = run(large, THEOREM | {"--output": str(out)}).stdout
    assert by_theorem.startswith("spent: epsilon=0.3 and delta=1e-06, by the total")
    assert run(large, GOOD | {"--output": str(out)}).stdout.startswith(
        "spent: not known for sigma=0.1, as given"
    )
    assert run(large, GOOD | {"--output": str(out), "--seed": "1"}).stdout.startswith("spent: everything")
