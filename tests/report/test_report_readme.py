from __future__ import annotations

from pathlib import Path

import pytest

from dpsco_verify.evidence import VERDICT_MEANING
from dpsco_verify.reporting import FORMAT_NAMES, format_named
from dpsco_verify.reporting.earlier_report import MARKER
from dpsco_verify.reporting.summary import VERDICT_SYMBOLS, Outcome
from dpsco_verify.reporting.vocabulary import PAPER

README = (Path(__file__).parents[2] / "reports" / "README.md").read_text(encoding="utf-8")


def test_every_verdict_is_explained_as_the_reports_explain_it():
    for verdict, meaning in VERDICT_MEANING.items():
        row = f"| {VERDICT_SYMBOLS[verdict]} | {PAPER.words[verdict]} | `{verdict}` | {meaning} |"
        assert row in README


def test_every_outcome_and_exit_code_is_explained():
    for outcome in Outcome:
        assert f"**{outcome}**" in README
    for code, meaning in PAPER.exit_meaning.items():
        assert f"| {code} | {meaning}" in README


@pytest.mark.parametrize("name", FORMAT_NAMES)
def test_every_format_is_listed(name, plain):
    assert f"| `{name}` |" in README
    for path in format_named(name).filenames(plain):
        assert f"`{path}`" in README
    assert f"`{MARKER}`" in README
