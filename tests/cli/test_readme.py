"""The README and the pages of the docs tell the truth: their examples run, their commands and links exist."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from dpsco_verify.cli import main
from dpsco_verify.evidence import Verdict
from dpsco_verify.evidence.exit_code import ExitCode

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [
    ROOT / name
    for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "reports/README.md")
]
PAGES += sorted(page for page in (ROOT / "docs").rglob("*.md") if "_build" not in page.parts)
SHOWN = re.compile(r"```python\n(.*?)```\n\n```\n(.*?)```", re.DOTALL)
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_python_examples_run(capsys):
    for page in PAGES:
        if page.parent.name == "tutorials":
            continue  # which have a test of their own
        text = SHOWN.sub("", page.read_text(encoding="utf-8"))
        for example in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
            exec(compile(example, page.name, "exec"), {})  # noqa: S102  our own text
    outputs = capsys.readouterr().out.splitlines()
    calibrated, fitted, ran, compared, affairs, chosen, audited, held, trained, checked = outputs
    verdict, epsilon, event = audited.split(" ", 2)
    assert verdict == "violated"
    assert 1.0 < float(epsilon) <= 1.25
    assert event.startswith("value in")
    assert checked.startswith("fit keeps 5 claims")
    assert held == "not_violated"
    verdict, *bounds = trained.split()
    assert verdict == "violated"
    assert [round(float(bound), 1) for bound in bounds] == [6.7, 1.4, 2.8]
    queries, gap, excess = map(float, compared.strip("[]").split())
    assert queries >= 990
    assert 0 <= gap < 1e-2
    assert excess >= 0
    sigma, delta, epsilon = map(float, calibrated.split())
    assert 2.15 < sigma < 2.17
    assert 0.9e-6 < delta < 1e-6
    assert 0.99 < epsilon <= 1.0
    accuracy, statement = fitted.split(" ", 1)
    assert 0.2 < float(accuracy) < 0.95  # the mean of twenty splits is 0.6, and the deviation 0.06
    assert statement.startswith("(1, 1e-06)-differentially private for replace-one neighbours by")
    accuracy, statement = affairs.split(" ", 1)
    assert 0.3 < float(accuracy) < 0.95
    assert statement.startswith("(1, 1e-06)-differentially private")
    assert 0.4 < float(chosen) < 0.95  # in thirty runs 0.66 with a deviation of 0.04
    iterations, queries, excess = ran.split()
    assert int(iterations) > int(queries) == 1501
    assert float(excess) >= 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [page for page in PAGES if SHOWN.search(page.read_text())], ids=lambda page: page.name
)
def test_examples_print_what_is_shown(page, capsys):
    for example, shown in SHOWN.findall(page.read_text(encoding="utf-8")):
        exec(compile(example, page.name, "exec"), {})  # noqa: S102  our own text
        assert capsys.readouterr().out == shown


@pytest.mark.slow
def test_the_output_is_the_real_one(tmp_path):
    command, shown = re.search(
        r"`make audit PROFILE=(quick ARGS=\"[^\"]*\")`:\n\n```\n(.*?)```", README, re.DOTALL
    ).groups()
    assert command == 'quick ARGS="--select single-step"'
    out = ["--format", "json", "--out", str(tmp_path / "report")]  # what is printed is the same for all
    result = CliRunner().invoke(main, ["audit", "--profile", "quick", "--select", "single-step", *out])
    assert result.exit_code == 0

    def lines(text):
        text = re.sub(r"[0-9.]+ s;", "* s;", text.replace(str(tmp_path / "report"), "reports/latest"))
        # a rule of the table may be longer than its title
        return [re.sub("─+", "─", line.rstrip()) for line in text.strip().splitlines()]

    assert lines(result.stdout) == lines(shown)


@pytest.mark.slow
@pytest.mark.parametrize("points", [3, pytest.param(None, marks=pytest.mark.long)])
def test_the_picture_is_what_its_command_draws(tmp_path, monkeypatch, points):
    """Its words, in a picture of three points a curve; `make test-long` draws it whole and compares all places."""
    if points is not None:
        monkeypatch.setattr("dpsco_verify.algorithm.accounting._DRAWN", points)
    words = re.search(r"^dpsco-verify (account .*) --plot curves.svg$", README, re.MULTILINE)[1].split()
    result = CliRunner().invoke(main, [*words, "--plot", str(tmp_path / "curves.svg")])
    assert result.exit_code == 0, result.output
    kept, drawn = (
        path.read_text(encoding="utf-8")
        for path in (ROOT / "docs" / "figures" / "privacy.svg", tmp_path / "curves.svg")
    )
    if points is not None:
        said, says = (re.findall(r">([^<>]*[a-zδε][^<>]*)<", text) for text in (kept, drawn))
        assert says == said
        assert len(said) >= 6  # title, description, axes and legend
        return
    # Places are in tenths of a point, and computed by functions whose last digits differ by processor.
    number = re.compile(r"(?<![\w#])-?\d+(?:\.\d+)?")
    (before, places), (now, there) = (
        (number.sub("*", text), [float(found) for found in number.findall(text)]) for text in (kept, drawn)
    )
    assert now == before
    assert there == pytest.approx(places, abs=0.2)


def test_every_make_target_exists():
    for target in set(re.findall(r"(?:`|^|run: )make ([a-z-]+)", TEXT, re.MULTILINE)):
        assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), target


def test_every_subcommand_exists():
    for command in set(re.findall(r"dpsco-verify ([a-z]+)", TEXT)):
        assert CliRunner().invoke(main, [command, "--help"]).exit_code == 0


def test_every_extra_is_told():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    table = (
        (ROOT / "docs" / "running.md")
        .read_text(encoding="utf-8")
        .partition("| extra |")[2]
        .partition("\n\n")[0]
    )
    assert set(re.findall(r"`([a-z]+)`(?=[^|]*\|[^|]*\|$)", table, re.MULTILINE)) == set(extras)


def test_every_verdict_and_exit_code_is_explained():
    for verdict in Verdict:
        assert re.search(rf"^\| {verdict.value.replace('_', '[ -]')} \|", README, re.MULTILINE), verdict
    for code in ExitCode:
        assert f"\n| {int(code)} |" in README


def test_every_link_leads_somewhere():
    missing = [
        (page.name, link)
        for page in PAGES
        for link in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
        if "://" not in link and not (page.parent / link).exists()
    ]
    assert missing == []


@pytest.mark.slow
def test_a_project_is_gated_as_the_page_says(tmp_path, monkeypatch):
    section = README[README.index("\n## Gate your own project") :]
    files = {"mymodule.py": "python", "pyproject.toml": "toml"}
    for name, language in files.items():
        text = re.search(rf"```{language}\n(.*?)```", section, re.DOTALL)[1]
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    arguments = ["gate", "--config", "pyproject.toml", "--profile", "quick"]
    assert CliRunner().invoke(main, arguments).exit_code == 0
    config = tmp_path / "pyproject.toml"
    config.write_text(config.read_text().replace("epsilon = 1.0", "epsilon = 0.5"))
    assert CliRunner().invoke(main, arguments).exit_code == 1
