from __future__ import annotations

import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from dpsco_verify.evidence import Column, Table, Verdict
from dpsco_verify.reporting import markdown, markdown_errata
from dpsco_verify.reporting.figures import FiguresReport
from dpsco_verify.reporting.markdown import MarkdownReport
from dpsco_verify.reporting.markup import code, escape, paragraph, quotation, table
from dpsco_verify.reporting.text import one_line, printable

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def render(record, beside=frozenset()):
    return MarkdownReport().render(record, beside=frozenset(beside))["report.md"].decode()


def flat(text):
    for token in PARSER.parse(text):
        yield token
        yield from token.children or ()


def shown(text):
    return "".join(
        t.content if t.type in {"text", "code_inline"} else "\n" for t in flat(text) if t.type != "inline"
    )


@pytest.mark.slow
@given(st.text())
def test_escaped_text_is_shown_as_it_is(text):
    tokens = list(flat("x " + escape(text) + " x"))
    assert {t.type for t in tokens} <= {"paragraph_open", "inline", "text", "paragraph_close", "text_special"}
    assert "".join(t.content for t in tokens if t.type.startswith("text")) == f"x {one_line(text)} x"


@given(st.text(alphabet="a1.)-+*=#>|`~<&\\ \n\t[](){}!$_", max_size=40))
def test_a_paragraph_is_a_paragraph_and_a_quotation_a_quotation(text):
    lines = [one_line(line) for line in printable(text).split("\n") if line.strip()]
    for make, wrapper in ((paragraph, set()), (quotation, {"blockquote_open", "blockquote_close"})):
        tokens = list(flat(make(text)))
        inside = {"paragraph_open", "inline", "text", "text_special", "hardbreak", "paragraph_close"}
        assert {t.type for t in tokens} <= inside | wrapper
        parts = ["\n" if t.type == "hardbreak" else t.content for t in tokens if t.type != "inline"]
        assert "".join(parts) == "\n".join(lines)


@pytest.mark.slow
@given(st.text())
def test_code_is_shown_as_it_is(text):
    spans = [t.content for t in flat(f"x {code(text)} x") if t.type == "code_inline"]
    assert [s.strip() for s in spans] == [one_line(text).strip()]


@pytest.mark.slow
@given(st.lists(st.tuples(st.text(), st.text(), st.text()), min_size=1, max_size=4))
def test_a_table_keeps_its_cells(rows):
    made = table(("a|b", "c", "d"), [(escape(x), code(y), escape(z)) for x, y, z in rows], right=(True,))
    cells = [t for t in PARSER.parse(made) if t.type in {"td_open", "th_open"}]
    assert len(cells) == 3 * (len(rows) + 1)
    assert made.count("\n") == len(rows) + 1


def test_what_is_not_escaped_is_seen():
    assert any(t.type == "html_inline" for t in flat("x <b> x"))
    assert any(t.type == "em_open" for t in flat("x *b* x"))
    assert len([t for t in PARSER.parse("| a | b |\n| --- | --- |\n| x|y | z |") if t.type == "td_open"]) == 2


@pytest.mark.slow
def test_no_text_becomes_markup(nasty):
    text = render(nasty, FiguresReport().filenames(nasty))
    tokens = list(flat(text))
    anchors = [t.content for t in tokens if t.type.startswith("html")]
    assert all(re.fullmatch(r'<a id="[a-z0-9A-Z-]+">|</a>|<br>', a) for a in anchors)
    assert not any(t.type in {"fence", "code_block", "hr", "em_open_x"} for t in tokens)
    targets = {t.attrs["href"] for t in tokens if t.type == "link_open"}
    ids = set(re.findall(r'<a id="([^"]+)">', text))
    assert {t[1:] for t in targets} <= ids
    assert all(t.startswith("#") for t in targets)
    assert {t.attrs["src"] for t in tokens if t.type == "image"} == set(FiguresReport().filenames(nasty))


def test_every_table_is_whole(nasty):
    rows = {}
    for token in PARSER.parse(render(nasty)):
        if token.type == "table_open":
            widths = rows.setdefault(token.map[0], [])
        elif token.type == "tr_open":
            widths.append(0)
        elif token.type in {"td_open", "th_open"}:
            widths[-1] += 1
    assert len(rows) > 3 * len(nasty.claims)
    assert all(len(set(widths)) == 1 for widths in rows.values())


@pytest.mark.slow
def test_the_content_is_that_of_the_page(plain, nasty):
    words = shown(render(plain))
    for part in (
        "Of 6 readings of 1 claim",
        "Exit code 0: every verdict is as expected.",
        "holds on grid",
        "ill-posed",
        "take n = 64: plain",
        "worst n",
        "1.25×10⁻⁷ nats plain",
        "2.5×10⁻⁷ spent of 1×10⁻⁶",
        "dpsco-verify audit --select tail/refuted plain",
        "3 discrepancies were found: 1 changes a guarantee, 1 changes a constant, 1 changes nothing.",
        "Thm 4.1 plain, lines 12, 345 of the LaTeX source",
        "claimed 2, holds with 2.75 over n ≥ 16: plain, needed at least 2.25 at n = 16: plain",
        "tail#step (in 2 readings)",
        "not verified in this run: utility/diameter",
        "no value is proven to hold, needed at most 7 at the worst case or its limit",
    ):
        assert part in words
    assert "left out" not in words
    words = shown(render(nasty))
    assert words.index("Not as expected") < words.index("Refuted or ill-posed") < words.index("All readings")
    assert "expected certified, found not refuted" in words


def test_mechanisms_of_a_persons_own_have_their_heading(plain):
    own = msgspec.structs.replace(plain, papers=())
    assert "\n## The mechanisms\n" in render(own)
    assert "\n## The " not in render(plain).replace("\n## The run\n", "")


def test_figures_and_certificates_are_linked_only_if_written(nasty):
    paths = FiguresReport().filenames(nasty)
    assert "![" not in render(nasty)
    assert render(nasty, paths[:1]).count("![") == 1
    assert "](certificates/" not in render(nasty)
    assert "](certificates/tail-all-points.json)" in render(nasty, ["certificates/tail-all-points.json"])


def test_long_tables_are_cut_with_a_note(make_finding, make_record):
    rows = tuple((i, "x") for i in range(100))
    long = Table(id="t", title="t", columns=(Column(name="i"), Column(name="x")), rows=rows)
    text = render(make_record([make_finding("a", "b", Verdict.CERTIFIED, None, tables=(long,))]))
    assert "| 39 | x |" in text
    assert "| 40 | x |" not in text
    assert "*60 more rows are left out; the whole record is `results.json`.*" in text


def test_long_lists_are_cut_with_a_note(plain, monkeypatch):
    before = render(plain)
    monkeypatch.setattr(markdown, "_MOST_LISTED", len(plain.claims) - 2)
    text = render(plain)
    assert text.count("*2 more readings left out for size.*") == 1
    assert before.count("\n| ") - text.count("\n| ") >= 2
    monkeypatch.setattr(markdown_errata, "_MOST_ERRATA", 1)  # of three, in groups of one
    text = render(plain)
    assert text.count("*1 more left out for size.*") == 2


@pytest.mark.slow
@pytest.mark.parametrize("size", ["tables", "claims", "texts", "names"])
def test_the_report_stays_below_the_limit_and_says_what_is_missing(
    make_finding, make_record, monkeypatch, size
):
    assert markdown.LIMIT < 2**20
    monkeypatch.setattr(markdown, "LIMIT", markdown.LIMIT // 5)  # with a fifth of everything
    if size == "tables":
        table_ = Table(id="t", title="t", columns=(Column(name="x"),), rows=(("|" * 500,),) * 40)
        findings = [make_finding("a", str(i), Verdict.CERTIFIED, None, tables=(table_,)) for i in range(6)]
    elif size == "claims":
        findings = [make_finding(str(i), "b", Verdict.REFUTED, None, method="ε" * 5000) for i in range(30)]
    elif size == "texts":
        findings = [make_finding(str(i), "b", Verdict.REFUTED, None, summary="&" * 6_000) for i in range(12)]
    else:
        findings = [make_finding(f"{i}" * 10_000, "b", Verdict.REFUTED, None) for i in range(9)]
    text = render(make_record(findings))
    assert 1000 < len(text.encode()) <= markdown.LIMIT
    assert "left out" in text.lower()
    assert text.endswith("\n")
    # The same record would not have fitted.
    whole = markdown._Writer(make_record(findings), frozenset(), 40)
    assert len("".join([whole.overview(), *whole.sections()]).encode()) > markdown.LIMIT
