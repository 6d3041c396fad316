from __future__ import annotations

import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from dpsco_verify.evidence import Verdict
from dpsco_verify.evidence.exit_code import ExitCode
from dpsco_verify.reporting import print_report
from dpsco_verify.reporting.summary import VERDICT_SYMBOLS
from dpsco_verify.reporting.vocabulary import GATE, PAPER


def printed(record, *, width=80, encoding="utf-8", color=False):
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    print_report(record, Console(file=stream, width=width, force_terminal=color, no_color=not color))
    stream.flush()
    return raw.getvalue().decode(encoding)


def test_eighty_columns_without_colour_say_everything(plain):
    text = printed(plain)
    assert "\x1b" not in text
    for verdict in Verdict:
        assert f"{VERDICT_SYMBOLS[verdict]} {PAPER.words[verdict]}" in text
    assert text.count("as expected") >= len(plain.claims)
    assert " ".join(text.split()).endswith("Against the expectations: 6 as expected.")
    for part in (
        "Refuted or ill-posed, as expected",
        "tail/refuted",
        "In one sentence: plain.",
        "2.5×10⁻⁷ spent",
    ):
        assert part in text


@pytest.mark.parametrize("width", [40, 80, 109, 110, 200])
def test_no_line_is_wider_than_the_console(nasty, width):
    text = printed(nasty, width=width)
    commands = [line for line in text.splitlines() if line.startswith("    reproduce: ")]
    # Commands alone may be longer, so that they can be copied.
    assert commands
    assert all(cell_len(line) <= width for line in text.splitlines() if line not in commands)


def test_what_departs_comes_with_reasons_and_commands(nasty):
    text = printed(nasty, width=1000)
    assert "unexpected: expected certified" in text
    assert "undecided: expected certified" in text
    assert "unexpected: no expectation" in text
    assert "expected certified, found not refuted." in text
    assert "reproduce: dpsco-verify audit --select a-b/c" in text
    assert text.index("Not as expected") < text.index("Refuted or ill-posed") < text.index("Exit code 1")


def test_texts_are_neither_markup_nor_escape_sequences(nasty, make_finding, make_record):
    text = printed(nasty)
    assert "\x1b" not in text
    assert "\x00" not in text
    assert "[l](javascript:1)" in printed(nasty, width=1000)
    marked = make_record([make_finding("a", "[bold red]x[/]", Verdict.CERTIFIED, None, summary="[/nothing]")])
    assert "[bold red]x[/]" in printed(marked)
    assert "\x1b[" in printed(nasty, color=True)


def test_a_console_without_unicode_gets_another_shape_and_no_error(plain, nasty):
    text = printed(plain, encoding="ascii")
    assert text.isascii()
    for shape, verdict in zip("+#ox!?", Verdict, strict=True):
        assert f"{shape} {PAPER.words[verdict]}" in text
    assert printed(nasty, encoding="ascii").isascii()


def test_a_wide_console_has_the_sentence_in_the_table(plain):
    head = "Claim / reading"
    for width, wide in ((109, False), (110, True)):
        line = next(line for line in printed(plain, width=width).splitlines() if head in line)
        assert ("Finding" in line) == wide


def test_an_empty_run_is_printed(make_record):
    assert "No reading was checked." in printed(make_record([]))


@pytest.mark.parametrize("words", [PAPER, GATE], ids=["paper", "gate"])
def test_every_verdict_of_a_run_has_its_words(words):
    """But for what broke off, which leaves no report."""
    assert set(words.exit_meaning) == set(ExitCode) - {ExitCode.BROKE_OFF}
    assert set(words.words) == set(words.predicates) == set(Verdict) >= set(words.verdicts)
