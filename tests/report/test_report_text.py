from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsco_verify.reporting.maths import typeset
from dpsco_verify.reporting.naming import Names, figure_paths, is_inside, link
from dpsco_verify.reporting.text import one_line, printable, shorten, slug, words


def parsed(text):
    return ET.fromstring(text)  # noqa: S314  we wrote it


@given(st.text())
def test_printable_text_fits_into_xml_and_changes_nothing_else(text):
    shown = printable(text)
    element = ET.Element("a")
    element.text = shown
    assert parsed(ET.tostring(element, encoding="utf-8")).text == (shown or None)
    assert printable(shown) == shown


@pytest.mark.parametrize("bad", ["\x00", "\x1b", "\x85", "\u2028", "\u202e", "\ufffe", "\ud800"])
def test_what_a_medium_cannot_carry_is_replaced(bad):
    assert printable(f"a{bad}b") == "a\ufffdb"


@given(st.text())
def test_one_line_is_one_line(text):
    assert len(one_line(text).splitlines()) <= 1


@given(st.text(), st.integers(2, 50))
def test_shortened_text_is_short_and_says_so(text, length):
    short = shorten(text, length)
    assert len(short) <= length
    assert (short == one_line(text)) != short.endswith("…") or one_line(text).endswith("…")


@given(st.text())
def test_a_slug_is_a_safe_name(text):
    assert slug(text).replace("-", "").isascii()
    assert is_inside(slug(text))


def test_words():
    assert words("minimum_detectable_violation") == "minimum detectable violation"
    assert shorten("one two three", 9) == "one two…"


@pytest.mark.parametrize(
    ("text", "markup"),
    [
        ("2e^{−n/16}", "2e<sup>−n/16</sup>"),
        ("w_j is", "w<sub>j</sub> is"),
        ("‖h‖_* = min_{‖w‖≤1} h(w)", "‖h‖<sub>*</sub> = min<sub>‖w‖≤1</sub> h(w)"),
        ("e^ε̃ − 1", "e<sup>ε̃</sup> − 1"),
        ("x_{i_j}^2", "x<sub>i<sub>j</sub></sub><sup>2</sup>"),
        ("M_i¹(w)", "M<sub>i</sub>¹(w)"),
        ("x_max < 3 & y", "x<sub>max</sub> &lt; 3 &amp; y"),
        ("e^{<b>}", "e<sup>&lt;b&gt;</sup>"),
        ("(_x, ^ y, a^, b_", "(<sub>x</sub>, ^ y, a^, b_"),
        ("open x^{1 and x^{}", "open x^{1 and x^{}"),
        ("_leading", "_leading"),
        ("", ""),
    ],
)
def test_scripts_are_raised_and_lowered(text, markup):
    assert str(typeset(text)) == markup


@given(st.text(alphabet="ab^_{}<&> *1", max_size=30))
def test_typeset_text_is_well_formed_and_loses_nothing_but_the_marks(text):
    markup = typeset(text)
    tree = parsed(f"<p>{markup}</p>")
    assert {e.tag for e in tree.iter()} <= {"p", "sub", "sup"}
    kept = "".join(tree.itertext())
    assert kept.replace("{", "").replace("}", "").replace("^", "").replace("_", "") == text.replace(
        "{", ""
    ).replace("}", "").replace("^", "").replace("_", "")


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "../x",
        "a/../x",
        "a//b",
        "./a",
        "a/.",
        "c:\\x",
        "javascript:alert(1)",
        "a\nb",
        "a\0",
    ],
)
def test_paths_that_leave_the_report_are_no_links(path):
    assert not is_inside(path)
    assert link(path, {path}) is None


def test_links_lead_only_to_what_is_there():
    assert link("certificates/a b.json", {"certificates/a b.json"}) == "certificates/a%20b.json"
    assert link("certificates/a.json", {"b"}) is None
    assert link(None, {"b"}) is None


def test_names_that_would_collide_are_numbered():
    paths = figure_paths(
        [("a", "b-c", ["p", "p"]), ("a-b", "c", ["p"]), ("A.B", "C", ["P"]), ("../x", "y", ["z"])]
    )
    assert paths == [
        ("figures/a-b-c-p.svg", "figures/a-b-c-p-2.svg"),
        ("figures/a-b-c-p-3.svg",),
        ("figures/A-B-C-P-4.svg",),
        ("figures/x-y-z.svg",),
    ]


def test_all_names_of_a_record_differ(nasty):
    names = Names(nasty)
    anchors = [names.reading(f) for f in nasty.claims] + [
        names.claim(i) for i in {f.id for f in nasty.claims}
    ]
    assert len({a.lower() for a in anchors}) == len(anchors)
    assert names.claim("no such claim") is None
