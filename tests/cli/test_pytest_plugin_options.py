"""The options of the pytest plugin: what they may be, and which of them holds.

Every audit here has a fixed seed, a mechanism exactly at its claim or one far beyond it, so nothing is left to chance.
"""

from __future__ import annotations

import pytest

from dpsco_verify.plugin.settings import read_settings

pytest_plugins = ["pytester"]


BAD_OPTIONS = {
    "--dpsco-error-budget=0": "not a probability",
    "--dpsco-error-budget=1": "not a probability",
    "--dpsco-error-budget=nan": "not a probability",
    "--dpsco-error-budget=x": "not a probability",
    "--dpsco-profile=huge": "one of quick, standard, deep",
    "--dpsco-seed=-1": "an integer of at least 0",
    "--dpsco-seed=1.5": "an integer of at least 0",
    "--dpsco-seed=²": "an integer of at least 0",
    "--dpsco-process=other": "give own or same",
    "--dpsco-report=": "names no folder",
}


@pytest.mark.parametrize("option", BAD_OPTIONS)
def test_bad_options_are_refused(pytester, option):
    with pytest.raises(pytest.UsageError, match=BAD_OPTIONS[option]) as caught:
        read_settings(pytester.parseconfig(option))
    assert str(caught.value).startswith(option.split("=", 1)[0] + "=")
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("line", ["dpsco_error_budget = 2", "dpsco_profile = huge", "dpsco_seed = x"])
def test_bad_ini_values_are_refused(pytester, line):
    pytester.makeini(f"[pytest]\n{line}\n")
    with pytest.raises(pytest.UsageError) as caught:
        read_settings(pytester.parseconfig())
    assert str(caught.value).startswith(line.split(" ")[0] + "=")


def test_a_bad_option_is_one_line(suite):
    session = suite("def test_nothing(): pass\n")("--dpsco-profile=huge")
    assert session.code == pytest.ExitCode.USAGE_ERROR
    assert (
        session.err.strip()
        == "ERROR: --dpsco-profile='huge' is not a valid profile; give one of quick, standard, deep"
    )


@pytest.mark.slow
def test_options_come_before_ini_values_and_these_before_defaults(pytester):
    assert read_settings(pytester.parseconfig()).samples == 10_000
    pytester.makeini(
        "[pytest]\ndpsco_error_budget = 1e-3\ndpsco_profile = deep\ndpsco_seed = 7\ndpsco_report = reports/privacy\n"
    )
    settings = read_settings(pytester.parseconfig())
    assert (settings.error_budget, settings.samples, settings.seed) == (1e-3, 1_000_000, 7)
    assert settings.report.resolve() == pytester.path / "reports" / "privacy"
    given_too = read_settings(
        pytester.parseconfig(
            "--dpsco-error-budget=1e-4", "--dpsco-profile=standard", "--dpsco-seed=8", "--dpsco-report=x"
        )
    )
    assert (given_too.error_budget, given_too.samples, given_too.seed) == (1e-4, 100_000, 8)
    assert given_too.report.resolve() == pytester.path / "x"
