"""``dpsco-verify account`` and ``calibrate``: what they print and write, and one line for everything that is wrong."""

from __future__ import annotations

import json
import math

import pytest
from click.testing import CliRunner

from dpsco_verify.algorithm import main_schedule
from dpsco_verify.algorithm.accounting import account, theorem_delta, theorem_epsilon
from dpsco_verify.cli import main
from dpsco_verify.evidence import checker
from dpsco_verify.privacy.whole_run import WholeRun, calibrate, delta_lower, delta_upper, epsilon_upper


def run(*arguments):
    result = CliRunner().invoke(main, [str(part) for part in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


CALIBRATE = ("calibrate", "--n", 1000, "--epsilon", 0.5, "--delta", 1e-6)


@pytest.mark.slow
def test_calibrate_prints_json_and_its_certificate_replays(tmp_path):
    file = tmp_path / "certificate.json"
    result = run(*CALIBRATE, "--lipschitz", 2, "--batch-size", 10, "--certificate", file)
    assert result.exit_code == 0
    assert result.stderr == ""
    found = json.loads(result.stdout)
    assert list(found) == ["sigma", "sigma_over_lipschitz", "delta_upper", "delta_lower", "certificate"]
    same = calibrate(n=1000, epsilon=0.5, delta=1e-6, lipschitz=2.0, batch_size=10)
    assert (found["sigma"], found["delta_upper"]) == (same.sigma, same.delta_upper)
    assert found["certificate"] == json.loads(file.read_bytes())
    assert checker.Kinds().check(checker.Kinds().decode(file.read_bytes()))
    replayed = run("replay", file)
    assert replayed.exit_code == 0
    assert "K = 510, f = 10" in replayed.stdout
    tree = found["certificate"]
    tree["witness"]["points"] = 520
    file.write_text(json.dumps(tree), encoding="utf-8")
    assert run("replay", file).exit_code == 1


def test_a_certificate_that_there_is_none_of(tmp_path):
    file = tmp_path / "certificate.json"
    result = run(*CALIBRATE[:3], *CALIBRATE[3:], "--points", 1000, "--certificate", file)
    assert result.exit_code == 2
    assert "there is none" in result.stderr
    assert not file.exists()
    full = run(*CALIBRATE, "--points", 1000)
    assert json.loads(full.stdout)["certificate"] is None
    assert full.stderr == "no certificate: every point is used, and the bound is that of one Gaussian step\n"


def test_several_epochs_say_that_they_have_no_certificate():
    result = run("calibrate", "--n", 20, "--points", 20, "--epsilon", 1, "--delta", 1e-3, "--epochs", 2)
    assert result.exit_code == 0
    assert json.loads(result.stdout)["certificate"] is None
    assert result.stderr == (
        "no certificate: several epochs are composed in doubles, with a bound on their rounding\n"
    )


@pytest.mark.slow
def test_account_in_words_and_as_json():
    text = run("account", "--n", 1000, "--sigma", 100)
    assert text.exit_code == 0
    assert "sigma/L = 100" in text.stdout
    header, *rows = text.stdout.splitlines()[2:]
    assert header.strip().split("  ") == ["delta at epsilon = 1", "epsilon at delta = 1e-06"]
    assert [line.split("  ")[0] for line in rows] == [
        "lower (output alone)",
        "lower (pattern shown)",
        "upper (every view)",
        "Theorem 5.3",
    ]
    assert max(map(len, [header, *rows])) <= 80
    record = json.loads(
        run("account", "--n", 1000, "--sigma", 200, "--lipschitz", 2, "--delta", 1e-6, "--json").stdout
    )
    assert record["delta_at_epsilon"] is None
    found = record["epsilon_at_delta"]
    assert found["upper"] == epsilon_upper(WholeRun(n=1000, sigma=100.0), 1e-6)
    assert 0.0 < found["lower_output_alone"] < found["lower"] < found["upper"] < found["theorem_5_3"]
    assert (record["points"], record["relation"], record["lower_holds_for"]) == (
        501,
        "replace-one",
        ["pattern"],
    )
    record = json.loads(
        run("account", "--n", 100, "--sigma", 2, "--epsilon", 0.3, "--epochs", 2, "--json").stdout
    )
    once = WholeRun(n=100, sigma=2.0)
    assert record["delta_at_epsilon"]["upper"] > delta_upper(once, 0.3)
    assert record["delta_at_epsilon"]["lower"] >= delta_lower(once, 0.3)
    assert record["delta_at_epsilon"]["theorem_5_3"] is None
    assert record["delta_at_epsilon"]["lower_output_alone"] is None  # of one epoch alone


@pytest.mark.slow
def test_the_theorems_promise(monkeypatch):
    """Its own schedule's σ has its own promise; outside its range there is none."""
    for bound in ("upper", "lower"):  # which are not asked here
        monkeypatch.setattr(f"dpsco_verify.algorithm.accounting.epsilon_{bound}", lambda *_, **__: 0.0)
    n, epsilon = 10_000, 0.004
    part = 0.5 * (1e-6 - 2 * math.exp(-n / 16))
    schedule = main_schedule(
        n=n, dimension=1, diameter=1.0, lipschitz=1.0, epsilon=epsilon, delta=part, delta_prime=part
    )
    found = theorem_epsilon(n=n, sigma_over_lipschitz=schedule.sigma, delta=1e-6)
    assert found == pytest.approx(schedule.privacy.epsilon, rel=1e-12)
    assert theorem_delta(n=n, sigma_over_lipschitz=schedule.sigma, epsilon=found) == pytest.approx(
        1e-6, rel=1e-6
    )
    assert theorem_epsilon(n=n, sigma_over_lipschitz=59.0, delta=1e-6) is None
    assert theorem_epsilon(n=15, sigma_over_lipschitz=1e6, delta=0.9) is None
    assert theorem_epsilon(n=16, sigma_over_lipschitz=1e6, delta=0.5) is None  # 2e^{−1} is more
    assert theorem_delta(n=n, sigma_over_lipschitz=1.0, epsilon=1.0) is None
    assert account(WholeRun(n=1000, sigma=300.0), delta=0.5).epsilon_theorem is not None
    for options in ({"batch_size": 2}, {"epochs": 2}, {"points": 400}):
        assert account(WholeRun(n=1000, sigma=300.0, **options), delta=0.5).epsilon_theorem is None


@pytest.mark.slow
def test_the_picture(tmp_path):
    first, second = tmp_path / "a.svg", tmp_path / "b.svg"
    # Where all points are used each bound is that of one Gaussian step, and takes no time; docs/figures has another.
    all_points = ("account", "--n", 200, "--points", 200, "--sigma", 2, "--delta", 1e-3)
    for file in (first, second):
        assert run(*all_points, "--plot", file).exit_code == 0
    assert first.read_bytes() == second.read_bytes()
    assert b"<svg" in first.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.svg", "b.svg"]
    refused = run("account", "--n", 200, "--sigma", 2, "--plot", tmp_path / "none" / "c.svg")
    assert refused.exit_code == 2
    assert "cannot be written" in refused.stderr
    assert refused.stdout == ""


def test_a_file_that_has_nowhere_to_go_is_refused_before_anything_is_computed(tmp_path, monkeypatch):
    def computed(*_, **__):
        raise ZeroDivisionError

    # What imports the others first: it would keep what stands in their place.
    monkeypatch.setattr("dpsco_verify.algorithm.on_file.run_on_file", computed)
    monkeypatch.setattr("dpsco_verify.algorithm.accounting.account", computed)
    monkeypatch.setattr("dpsco_verify.privacy.whole_run.calibrate", computed)
    nowhere, taken = tmp_path / "none", tmp_path / "a_folder.svg"
    taken.mkdir()
    problem = ("--loss", "linear", "--radius", 1, "--lipschitz", 1, "--sigma", 1)
    for words in (
        ("account", "--n", 10, "--sigma", 2, "--plot", nowhere / "x.svg"),
        (*CALIBRATE, "--certificate", nowhere / "x.json"),
        ("run", tmp_path / "data.csv", *problem, "--output", nowhere / "x.json"),
        ("run", tmp_path / "data.csv", *problem, "--certificate", nowhere / "x.json"),
    ):
        refused = run(*words)
        assert refused.exit_code == 2, words
        assert "cannot be written (no such folder)" in refused.stderr
        assert len(refused.stderr.splitlines()) == 1
        refused = run(*words[:-1], taken)
        assert refused.exit_code == 2, words
        assert "cannot be written (it is a folder)" in refused.stderr


@pytest.mark.parametrize(
    ("command", "options", "message"),
    [
        ("account", {"--n": 1}, "n=1 is too small"),
        ("account", {"--n": 10**9}, "n=1000000000 is above"),
        ("account", {"--sigma": 0}, "sigma=0.0 is not positive"),
        ("account", {"--sigma": "nan"}, "sigma=nan"),
        ("account", {"--sigma": "inf"}, "sigma=inf"),
        ("account", {"--lipschitz": -1}, "lipschitz=-1.0"),
        ("account", {"--epsilon": -0.1}, "epsilon=-0.1"),
        ("account", {"--epsilon": "nan"}, "epsilon=nan"),
        ("account", {"--delta": 0}, "delta=0.0"),
        ("account", {"--delta": 1}, "delta=1.0"),
        ("account", {"--points": 101}, "points=101 is above n=100"),
        ("account", {"--batch-size": 3}, "batch_size=3 does not divide n=100"),
        ("account", {"--epochs": 0}, "epochs=0"),
        ("calibrate", {"--n": 0}, "n=0"),
        ("calibrate", {"--epsilon": 0}, "epsilon=0.0"),
        ("calibrate", {"--epsilon": "nan"}, "epsilon=nan"),
        ("calibrate", {"--delta": 0}, "delta=0.0"),
        ("calibrate", {"--delta": 2}, "delta=2.0"),
        ("calibrate", {"--delta": "nan"}, "delta=nan"),
        ("calibrate", {"--delta": 0.6}, "needs no noise"),
        ("calibrate", {"--lipschitz": 0}, "lipschitz=0.0"),
        ("calibrate", {"--points": 101}, "points=101 is above n=100"),
        ("calibrate", {"--batch-size": 7}, "batch_size=7 does not divide n=100"),
        ("calibrate", {"--batch-size": 7, "--points": 50}, "batch_size=7 does not divide points=50"),
        ("calibrate", {"--epochs": 0}, "epochs=0"),
    ],
)
def test_bad_input(command, options, message):
    good = {"account": {"--n": 100, "--sigma": 1}, "calibrate": {"--n": 100, "--epsilon": 1, "--delta": 1e-6}}
    arguments = [part for pair in (good[command] | options).items() for part in pair]
    result = run(command, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert result.stdout == ""
