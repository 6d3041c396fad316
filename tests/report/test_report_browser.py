"""The page in a real browser: headless Chromium, where it is found; the skip says where it is not."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess

import pytest

from dpsco_verify.evidence import Verdict
from dpsco_verify.reporting.html import HtmlReport

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PHONE = 360
"""CSS pixels across: the narrowest phones that are sold."""
LEAST_CONTRAST = 4.5
"""WCAG 2.2, success criterion 1.4.3 (AA), for text of any size."""

MEASURE = """
function luminance(colour) {
  const [r, g, b] = colour.map((x) => x / 255).map((x) => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
const numbers = (text) => text.match(/[0-9.]+/g).map(Number);
function behind(element) {
  for (; element; element = element.parentElement) {
    const [r, g, b, opacity = 1] = numbers(getComputedStyle(element).backgroundColor);
    if (opacity === 1) return [r, g, b];
  }
  return [255, 255, 255];
}
addEventListener("load", () => {
  const texts = [...document.body.querySelectorAll("*")].filter((one) => !one.closest("svg, script, style")
    && one.checkVisibility() && [...one.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.textContent.trim()));
  const contrasts = texts.map((one) => {
    const pair = [numbers(getComputedStyle(one).color).slice(0, 3), behind(one)].map(luminance);
    return [(Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05), one.outerHTML.slice(0, 200)];
  });
  frameElement.dataset.seen = JSON.stringify({
    texts: texts.length, least: contrasts.sort((a, b) => a[0] - b[0])[0],
    across: innerWidth, needed: document.documentElement.scrollWidth,
    dark: matchMedia("(prefers-color-scheme: dark)").matches,
  });
});
"""


def render(record):
    return HtmlReport().render(record, beside=frozenset())["index.html"].decode()


def opened(page):
    """Return the page without its policy, so that a test's script runs in it."""
    return re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)


def with_script(page, script):
    return opened(page).replace("</body>", f"<script>{script}</script></body>")


@pytest.fixture(scope="module")
def browse(tmp_path_factory):
    if BROWSER is None:
        pytest.skip("no chromium on PATH: the page was not opened in a browser")

    def run(page, *options):
        folder = tmp_path_factory.mktemp("page")
        (folder / "index.html").write_text(page)
        command = [
            BROWSER,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            f"--user-data-dir={folder}",
            *options,
        ]
        command += ["--virtual-time-budget=5000", f"file://{folder}/index.html"]
        return subprocess.run(  # noqa: S603  a page of ours
            command, capture_output=True, text=True, timeout=60, check=True, cwd=folder
        ).stdout, folder

    return run


@pytest.fixture(scope="module")
def in_browser(browse):
    return lambda page, *options: browse(page, "--dump-dom", *options)[0]


@pytest.fixture(
    scope="module", params=[False, pytest.param(True, marks=pytest.mark.long)], ids=["light", "dark"]
)
def measured(request, in_browser, plain):
    """What is seen of a page, by its name and width, each in a frame: a window is never narrower than 500."""
    page = render(plain)
    spoiled = page.replace("<h1", '<p style="width: 50rem; color: #777">too much</p><h1', 1)
    frames = {("page", PHONE): page, ("page", 1300): page, ("spoiled", PHONE): spoiled}
    around = "".join(
        f'<iframe width="{width}" height="800" style="border: 0" srcdoc="{html.escape(with_script(shown, MEASURE))}">'
        "</iframe>"
        for (_, width), shown in frames.items()
    )
    scheme = f"--blink-settings=preferredColorScheme={0 if request.param else 1}"
    shown = in_browser(f"<!doctype html><body>{around}", "--window-size=1400,900", scheme)
    found = [json.loads(html.unescape(seen)) for seen in re.findall(r'data-seen="([^"]*)"', shown)]
    for (_, width), seen in zip(frames, found, strict=True):
        assert (seen["across"], seen["dark"]) == (width, request.param)
        assert seen["texts"] > 100
    return dict(zip(frames, found, strict=True))


@pytest.fixture(scope="module")
def pages(browse):
    """Return on how many sheets of paper a page is printed."""

    def printed(page):
        _, folder = browse(page, "--print-to-pdf=page.pdf")
        return len(re.findall(rb"/Type\s*/Page\b", (folder / "page.pdf").read_bytes()))

    return printed


@pytest.mark.slow
def test_a_browser_draws_the_figures_under_the_page_s_own_policy(in_browser, nasty):
    page = render(nasty)
    drawings = re.findall(r'data-drawing="([^"]*)"', page)
    assert in_browser(page).count('role="img"') == len(drawings) > 0


@pytest.mark.long
def test_a_script_that_was_changed_does_not_run(in_browser, nasty):
    page = render(nasty)
    spoiled = page.replace('"use strict";', '"use strict"; ', 1)
    assert spoiled != page
    assert 'role="img"' not in in_browser(spoiled)


@pytest.mark.slow
def test_a_browser_filters_the_readings(in_browser, plain):
    wanted = next(f for f in plain.claims if f.verdict is Verdict.REFUTED)
    ask = (
        f'bar.querySelector("input").value = "{wanted.reading.upper()}"; '
        'bar.elements["verdict"].value = "refuted"; bar.dispatchEvent(new Event("input"));'
    )
    shown = in_browser(with_script(render(plain), ask))
    sections = re.findall(
        r'<section class="reading([^"]*)" data-claim="([^"]*)" data-verdict="([^"]*)"', shown
    )
    left = {claim for state, claim, _ in sections if "away" not in state}
    assert wanted.key in left
    assert left == {f.key for f in plain.claims if f.verdict is Verdict.REFUTED and wanted.reading in _all(f)}
    assert f"{len(left)} of {len(plain.claims)}</output>" in shown


@pytest.mark.slow
@pytest.mark.parametrize("width", [PHONE, 1300])
def test_text_is_legible_and_fits_the_screen(measured, width):
    seen = measured["page", width]
    assert seen["needed"] <= width
    assert seen["least"][0] >= LEAST_CONTRAST, seen["least"]


@pytest.mark.slow
def test_a_page_that_is_too_wide_or_too_pale_is_noticed(measured):
    seen = measured["spoiled", PHONE]
    assert seen["needed"] > PHONE
    assert seen["least"][0] < LEAST_CONTRAST
    assert "too much" in seen["least"][1]


@pytest.mark.slow
def test_all_readings_are_printed_whatever_the_filter_hides(pages, plain):
    hidden = with_script(render(plain), 'bar.querySelector("input").value = "no such words"; filter();')
    whole = pages(opened(render(plain)))
    assert pages(hidden) == whole


@pytest.mark.long
def test_readings_that_the_filter_hid_on_paper_too_would_be_missed(pages, plain):
    hidden = with_script(render(plain), 'bar.querySelector("input").value = "no such words"; filter();')
    everywhere = hidden.replace("@media screen { .away", "@media all { .away")
    assert everywhere != hidden
    assert pages(everywhere) < pages(hidden)


def _all(finding):
    return repr(finding)
