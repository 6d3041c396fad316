"""``dpsco-verify gate --canaries``: scores from a file, verdicts, certificates, bad input; and in pytest."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from dpsco_verify.cli import main

pytest_plugins = ["pytester"]

AT = ("--epsilon", "1", "--delta", "1e-5")


@pytest.fixture
def here(tmp_path, monkeypatch, _judged_here):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def scores(mu, m=800):
    rng = np.random.default_rng(0)
    coins = rng.random(m) < 0.5
    return mu * coins + rng.normal(size=m), coins


def write_csv(path, values, coins):
    lines = [f"{score},{int(coin)}" for score, coin in zip(values, coins, strict=True)]
    path.write_text("\n".join(["score,coin", *lines]))


def gate(*arguments):
    return CliRunner().invoke(main, ["gate", *map(str, arguments)])


@pytest.mark.slow
@pytest.mark.parametrize("method", ["one-run-f-dp", "one-run-dp", "clopper-pearson"])
def test_a_violation_has_a_certificate_that_the_checker_accepts(here, method):
    write_csv(here / "s.csv", *scores(2.5))
    result = gate("--canaries", "s.csv", *AT, "--method", method, "--out", "out", "--format", "json")
    assert result.exit_code == 1, result.output
    assert "AUROC 0.9" in result.output
    assert "no guarantee" in result.output
    record = json.loads((here / "out/results.json").read_text())
    [claim] = record["claims"]
    assert claim["verdict"] == "violated"
    assert claim["evidence"]["epsilon_lower_bound"]["value"] > 1
    assert record["error_budget"]["spent"] == 0.05
    replayed = CliRunner().invoke(main, ["replay", str(here / "out" / claim["certificate"])])
    assert replayed.exit_code == 0, replayed.output
    assert "refutes own:s.csv" in replayed.output
    forged = json.loads((here / "out" / claim["certificate"]).read_text())
    count = "correct" if "correct" in forged["witness"] else "hits"
    forged["witness"][count] = forged["witness"][count] * 6 // 10
    (here / "forged.json").write_text(json.dumps(forged))
    assert CliRunner().invoke(main, ["replay", "forged.json"]).exit_code != 0


@pytest.mark.slow
def test_npz_files_pass_and_are_undecided(here):
    values, coins = scores(0.0)
    np.savez(here / "s.npz", scores=values, coins=coins)
    np.savez(here / "t.npz", scores_in=values[coins][:9], scores_out=values[~coins][:9])
    assert gate("--canaries", "s.npz", *AT, "--out", "out", "--format", "json").exit_code == 0
    assert gate("--canaries", "t.npz", *AT, "--out", "out", "--format", "json").exit_code == 3


@pytest.mark.slow
def test_a_configuration_splits_its_budget_over_canaries_too(here):
    write_csv(here / "s.csv", *scores(2.5))
    (here / "dpsco.toml").write_text(
        '[gate]\nerror_budget = 0.06\n[[gate.canaries]]\nscores = "s.csv"\nmu = 0.5\ndelta = 1e-5\nweight = 2\n'
        '[[gate.canaries]]\nscores = "s.csv"\nname = "mild"\nepsilon = 30.0\ndelta = 1e-5\nfamily = "gaussian"\n'
    )
    result = gate("--config", "dpsco.toml", "--out", "out", "--format", "json")
    assert result.exit_code == 1, result.output
    record = json.loads((here / "out/results.json").read_text())
    assert sorted(record["error_budget"]["by_claim"].values()) == pytest.approx([0.02, 0.04])
    assert gate("--config", "dpsco.toml", "--select", "mild", "--format", "json").exit_code in (0, 3)


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("score,coin\nnan,1\n1,0", AT, "scores[0]=nan"),
        ("score,coin\n1,1", AT, "scores_out=[] holds no score"),
        ("score,coin\n1,0.5\n2,1", AT, "give 1 for in"),
        ("score,coin\n1,\n2,1", AT, "coin='' in line 2"),
        ("score,coin\n" + "1,1\n" * 60 + "1,0", AT, "fair coin"),
        ("a,b\n1,1", AT, "its header is a,b"),
        ("", AT, "its header is empty"),
        ("score,coin\n1,1\n0,0", ("--epsilon", "1", "--delta", "1"), "delta=1.0 is outside (0, 1)"),
        ("score,coin\n1,1\n0,0", (), "nothing is claimed"),
        (None, AT, "cannot be read"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(here, content, options, message):
    if content is not None:
        (here / "s.csv").write_text(content)
    result = gate("--canaries", "s.csv", *options, "--out", "out")
    assert result.exit_code == 2
    assert message in result.output
    assert len(result.output.strip().splitlines()) == 1
    assert not (here / "out").exists()


@pytest.mark.parametrize(
    "options",
    [("--pair", "m:p"), ("--samples", "100"), ("--estimate",), ("--command", "x")],
)
def test_options_of_other_audits_do_not_fit(here, options):
    write_csv(here / "s.csv", *scores(0.0))
    assert gate("--canaries", "s.csv", *AT, *options).exit_code == 2


def test_method_is_for_canaries(here):
    result = gate("m:f", "--pair", "m:p", "--epsilon", "1", "--method", "one-run-dp")
    assert result.exit_code == 2
    assert "--method is for --canaries" in result.output


@pytest.mark.slow
def test_a_test_of_ones_own_asserts_it(pytester):
    pytester.makepyfile(
        """
        import numpy as np

        def scores(mu):
            rng = np.random.default_rng(0)
            return rng.normal(mu, 1, 400), rng.normal(0, 1, 400)

        def test_right(assert_private):
            found = assert_private.canaries(*scores(0.2), epsilon=1.0, delta=1e-5)
            assert found.mdv.epsilon < 3

        def test_wrong(assert_private):
            assert_private.canaries(*scores(3.0), epsilon=1.0, delta=1e-5, name="training")

        def test_level(assert_private):
            assert_private.canaries(*scores(3.0), epsilon=1.0, delta=1e-5, alpha=0.5)
        """
    )
    result = pytester.runpytest_inprocess(
        "-p", "no:cacheprovider", "--dpsco-error-budget=0.3", "--dpsco-report=r"
    )
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(["*training with 400 canaries in and 400 out violates (1, 1e-05)-DP*"])
    result.stdout.fnmatch_lines(["*alpha=0.5 is not for a test to choose*"])
    assert (pytester.path / "r/index.html").exists()
