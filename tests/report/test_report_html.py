from __future__ import annotations

import base64
import gzip
import hashlib
import re
from collections import Counter
from html.parser import HTMLParser
from itertools import pairwise

import msgspec
import pytest

from dpsco_verify.evidence import VERDICT_MEANING, Quantity, Verdict
from dpsco_verify.reporting.drawing import inline
from dpsco_verify.reporting.html import HtmlReport
from dpsco_verify.reporting.vocabulary import PAPER

VOID = {"meta", "link", "br", "hr", "img", "input"}
BESIDE = frozenset({"index.html", "results.json", "certificates/tail-all-points.json", "javascript:alert(1)"})


def unpacked(drawing):
    return gzip.decompress(base64.b64decode(drawing)).decode()


class Page(HTMLParser):
    """What the tests ask of a page: its text, its tags, and what is wrong with it."""

    def __init__(self, page):
        super().__init__()
        self.faults, self.open, self.tags, self.links, self.ids, self.references = (
            [],
            [],
            [],
            [],
            Counter(),
            set(),
        )
        self.text, self._style, self.scripts = [], [], []
        # As a browser shows it: the figures are compressed.
        self.feed(re.sub(r' data-drawing="([^"]*)">', lambda m: f">{unpacked(m[1])}", page))
        self.close()
        if self.open:
            self.faults.append(f"never closed: {self.open}")
        self.faults += [f"id {i} stands {n} times" for i, n in self.ids.items() if n > 1]
        self.faults += [f"nothing has the id {i}" for i in self.references - set(self.ids)]
        style = "".join(self._style)
        if len(self.scripts) != 1:
            self.faults.append(f"{len(self.scripts)} scripts")
        if "@import" in style or re.search(r"url\((?!#)", style):
            self.faults.append("the styles load something")

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag in {"td", "th", "tr", "p", "li", "dt", "dd", "div"}:
            self.text.append(" ")
        if len(dict(attrs)) != len(attrs):
            self.faults.append(f"attribute twice in {tag}")
        if tag in {"iframe", "object", "embed", "base"} or (tag == "script" and attrs):
            self.faults.append(f"a {tag}")
        for name, value in attrs:
            self._attribute(name, value or "")

    def _attribute(self, name, value):
        if name == "id":
            self.ids[value] += 1
        if name.startswith("on"):
            self.faults.append(f"a handler: {name}")
        if name in {"href", "src", "srcset", "action", "xlink:href", "data", "poster"}:
            self.links.append(value)
            if value.startswith("#"):
                self.references.add(value[1:])
            elif re.match(r"[a-z][a-z0-9+.-]*:|//", value, re.IGNORECASE) and value != "data:,":
                self.faults.append(f"loads {value}")
        if name in {"aria-labelledby", "aria-describedby"}:
            self.references |= set(value.split())
        self.references |= set(re.findall(r"url\(#([^)]*)\)", value))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> closes nothing")

    def handle_data(self, data):
        if self.open[-1:] == ["script"]:
            self.scripts.append(data)
            return
        (self._style if self.open[-1:] == ["style"] else self.text).append(data)

    @property
    def words(self):
        return " ".join("".join(self.text).split())


def render(record, beside=BESIDE):
    return HtmlReport().render(record, beside=beside)["index.html"].decode()


@pytest.fixture(scope="module")
def nasty_html(nasty):
    return render(nasty)


@pytest.fixture(scope="module")
def nasty_page(nasty_html):
    return Page(nasty_html)


@pytest.fixture(scope="module")
def plain_page(plain):
    return Page(render(plain))


@pytest.mark.slow
def test_the_page_is_sound_whatever_the_texts(nasty_page, plain_page):
    assert nasty_page.faults == []
    assert plain_page.faults == []


@pytest.mark.slow  # it shows figures
@pytest.mark.parametrize(
    "spoil",
    [
        lambda p, _: p.replace("</main>", "", 1),
        lambda p, _: p.replace("&lt;script&gt;", "<script>", 1),
        lambda p, _: p.replace('href="results.json"', 'href="https://example.org/x"', 1),
        lambda p, _: p.replace("<body>", '<body onload="x()">', 1),
        lambda p, _: p.replace("</style>", "p{background:url(//x)}</style>", 1),
        lambda p, _: p.replace('id="run"', 'id="runs"', 1),
        lambda p, _: p.replace('id="legend"', 'id="run"', 1),
        # The same figure twice, as if two figures had one prefix.
        lambda p, f: p.replace("</figure>", f + "</figure>", 1),
    ],
)
def test_each_fault_would_be_seen(nasty_html, make_line_plot, spoil):
    spoiled = spoil(nasty_html, inline(make_line_plot(), prefix="f0-"))
    assert spoiled != nasty_html
    assert Page(spoiled).faults


@pytest.mark.slow  # it shows figures
def test_texts_arrive_unchanged(nasty_page, nasty_text):
    shown = " ".join(nasty_text.replace("\x1b", "\ufffd").replace("\x00", "\ufffd").split())
    assert nasty_page.words.count(shown) > 20
    assert "\x1b" not in "".join(nasty_page.text)


def test_verdicts_are_words_and_shapes(plain_page):
    assert set(PAPER.words.values()) <= set(re.findall("|".join(PAPER.words.values()), plain_page.words))
    badges = [
        attrs for tag, attrs in plain_page.tags if tag == "span" and "verdict " in attrs.get("class", "")
    ]
    icons = [
        attrs["href"] for tag, attrs in plain_page.tags if tag == "use" and attrs["href"].startswith("#icon-")
    ]
    assert len(icons) >= len(badges) > 2 * len(Verdict)
    assert {f"#icon-{v}" for v in Verdict} <= set(icons)
    for meaning in VERDICT_MEANING.values():
        assert meaning[1:] in plain_page.words


@pytest.mark.slow  # it shows figures
def test_the_page_opens_with_the_count_the_gate_and_what_fails(nasty_page):
    words = nasty_page.words[nasty_page.words.index("Verification report 2 papers") :]
    places = [
        words.index(part)
        for part in (
            "Of 6 readings of 5 claims, 1 is certified",
            "Exit code 1: at least one verdict is not as expected.",
            "What stands",
            "Not as expected",
            "Unexpected: expected certified, found not refuted.",
            "Undecided: expected certified, but the check could not decide",
            "Refuted or ill-posed, as expected",
            "All readings",
            "What the verdicts mean",
            "Error budget by claim",
            "A. Uthor, B.",  # each paper has its chapter
            "· doi",
        )
    ]
    assert places == sorted(places)


@pytest.mark.parametrize(("code", "word"), [(0, "Passed"), (1, "Failed"), (2, "Failed"), (3, "Undecided")])
def test_the_gate_is_said_in_a_word(make_record, code, word):
    page = Page(render(make_record([], exit_code=code)))
    assert page.faults == []
    assert f"{word}Exit code {code}" in page.words
    assert "No verdict departs from what is expected." in page.words
    assert "No reading is refuted or ill-posed." in page.words


def test_a_reading_has_all_its_parts(plain, plain_page):
    for finding in plain.claims:
        for part in (finding.reading_text, finding.summary, finding.method, finding.reproduce):
            assert part in plain_page.words
    for part in (
        "3 discrepancies were found: 1 changes a guarantee, 1 changes a constant, 1 changes nothing.",
        "What is wrong is plain",
        "Thm 4.1 plain, lines 12, 345 of the LaTeX source",
        "claimed 2, holds with 2.75 over n ≥ 16: plain, needed at least 2.25 at n = 16: plain",
        "no value is proven to hold, needed at most 7 at the worst case or its limit",
    ):
        assert part in plain_page.words
    for part in ("take n = 64", "worst n 64", "1.25×10⁻⁷ nats plain note: plain", "holds yes", "none —"):
        assert part in plain_page.words
    for part in (
        "P(τ ≤ 2n) ≥ 1 − 2e−n/16",
        "1 000 000 1.0000 plain",
        "32 — no",
        "ex − 1 ≤ 2x",
        "end: 1.2564",
    ):
        assert part in plain_page.words


def test_all_digits_of_a_number_that_the_record_has_are_in_the_page(make_record, make_finding):
    found = make_finding("a", "b", Verdict.CERTIFIED, None, evidence={"x": Quantity(value=0.1234567890123)})
    page = render(make_record([found]))
    assert '<span title="0.123456789">0.12346</span>' in page


@pytest.mark.slow
def test_links_lead_to_files_that_are_there_and_nowhere_else(nasty, nasty_page):
    outside = {link for link in nasty_page.links if not link.startswith("#")}
    assert outside == {"data:,", "results.json", "certificates/tail-all-points.json"}
    alone = Page(render(nasty, frozenset({"index.html"})))
    assert {link for link in alone.links if not link.startswith("#")} == {"data:,"}
    assert "certificates/tail-all-points.json" in alone.words


@pytest.mark.slow  # it shows figures
def test_tables_and_landmarks_are_accessible(nasty_page):
    tags = Counter(tag for tag, _ in nasty_page.tags)
    assert tags["main"] == tags["h1"] == tags["header"] == tags["footer"] == tags["nav"] == 1
    assert all(attrs.get("scope") for tag, attrs in nasty_page.tags if tag == "th")
    # The overview and what stands of each paper are named by their headings.
    named = [
        attrs["aria-labelledby"]
        for tag, attrs in nasty_page.tags
        if tag == "table" and "aria-labelledby" in attrs
    ]
    assert tags["table"] == tags["caption"] + len(named)
    assert set(named) <= {attrs.get("id") for tag, attrs in nasty_page.tags if re.fullmatch("h[1-6]", tag)}
    headings = [int(tag[1]) for tag, _ in nasty_page.tags if re.fullmatch("h[1-6]", tag)]
    after = headings[headings.index(1) :]
    assert all(b <= a + 1 for a, b in pairwise(after))
    figures = [attrs for tag, attrs in nasty_page.tags if tag == "svg" and attrs.get("role") == "img"]
    assert len(figures) == tags["figure"] == tags["figcaption"] == 8
    assert ("html", {"lang": "en"}) in nasty_page.tags


@pytest.mark.slow  # it shows figures
def test_nothing_may_load_or_run(nasty_page):
    policy = next(a["content"] for t, a in nasty_page.tags if t == "meta" and "http-equiv" in a)
    (script,) = nasty_page.scripts
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert (
        policy
        == f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'"
    )


def _luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.slow  # it shows figures
def test_contrast_is_enough_in_both_schemes(nasty_html):
    blocks = re.findall(r":root \{(.*?)\n\s*\}", nasty_html, re.DOTALL)
    light, dark = (dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6})", block)) for block in blocks)
    assert set(dark) == set(light)
    for scheme in (light, dark):
        for ink in ("ink", "muted", "link"):
            for paper in ("page", "surface", "raised"):
                assert contrast(scheme[ink], scheme[paper]) >= 4.5, (ink, paper)
        for verdict in Verdict:
            name = verdict.value.replace("_", "-")
            assert contrast(scheme[name], scheme[f"{name}-bg"]) >= 4.5, name
        for number in range(1, 8):
            assert contrast(scheme[f"fig-{number}"], scheme["page"]) >= 2.9, number
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


def test_the_order_of_keys_does_not_matter(plain):
    turned = msgspec.structs.replace(plain, versions=dict(reversed(plain.versions.items())))
    assert render(turned) == render(plain)
