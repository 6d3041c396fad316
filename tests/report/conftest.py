"""Records to report on: a small one in plain words, and one whose texts try to break every format."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from dpsco_verify.evidence import (
    SCHEMA_VERSION,
    AuditRecord,
    Axis,
    BudgetRecord,
    Column,
    Consequence,
    Erratum,
    Finding,
    LinePanel,
    LinePlot,
    MapPanel,
    MapPlot,
    PanelPlot,
    Paper,
    ProofStep,
    Quantity,
    RepairedConstant,
    Scale,
    Series,
    SeriesStyle,
    Sharpness,
    Stance,
    Table,
    Verdict,
)

NASTY = (
    "<script>alert('x')</script> & a|b \"q\" `tick` *s* _u_ $x$ [l](javascript:1) "
    "ε̃ ‖·‖ \\ \x1b[31m\x00 --> ]]> 漢 🙂"
)
NASTY_LINES = f"1. {NASTY}\n\n- second | line\n# third\r\n    fourth <b>"


def _floats(values):
    return tuple(float(v) for v in values)


def line_plot(text="tail"):
    """Zeros on logarithmic axes, an interval that reaches 0, every style."""
    n = np.array([0.0, 16.0, 64.0, 256.0])
    tail = np.array([0.5, 0.1, 0.01, 0.0])
    return LinePlot(
        id=text,
        title=f"Tail: {text}",
        caption=f"The tail against its bound: {text}",
        x_axis=Axis(label=f"n {text}", scale=Scale.LOG),
        y_axis=Axis(label=f"P(τ > 2n) {text}", scale=Scale.LOG),
        series=(
            Series(name=text, x=_floats(n), y=_floats(tail)),
            Series(name="_underscore", x=_floats(n), y=_floats(2 * tail + 0.1), style=SeriesStyle.BOUND),
            Series(
                name="simulated",
                x=_floats(n),
                y=_floats(tail + 0.01),
                low=_floats(tail),
                high=_floats(tail + 0.02),
                style=SeriesStyle.POINTS,
            ),
        ),
    )


def map_plot(text="region", *, panels=2):
    """Values on both sides of the level, at it, at 0, and unknown."""
    x, y = np.geomspace(0.01, 8, 9), np.geomspace(1e-3, 1, 7)
    values = np.outer(y * 10, x)
    rows = [[float(v) for v in row] for row in values]
    rows[0][0], rows[1][1], rows[2][2] = None, 0.0, 1.0
    panel = tuple(
        MapPanel(title=f"δ = 1e-{i} {text}", x=_floats(x), y=_floats(y), values=tuple(map(tuple, rows)))
        for i in range(panels)
    )
    return MapPlot(
        id=text,
        title=f"Region: {text}",
        caption=f"Where it holds: {text}",
        x_axis=Axis(label="ε̃", scale=Scale.LOG),
        y_axis=Axis(label="m/n", scale=Scale.LOG),
        value_label="exact δ / claimed δ",
        level=1.0,
        panels=panel,
    )


def panel_plot(text="neighbours", *, panels=3):
    """Curves with intervals that reach 0, references that leave the axes, a panel with nothing in it."""
    n = np.array([100.0, 1000.0, 10000.0])
    risk = n**-0.5

    def curve(name, y, low=0.5):
        return Series(name=name, x=_floats(n), y=_floats(y), low=_floats(low * y), high=_floats(2 * y))

    return PanelPlot(
        id=text,
        title=f"Risk: {text}",
        caption=f"Risk against n: {text}",
        x_axis=Axis(label=f"n {text}", scale=Scale.LOG),
        y_axis=Axis(label=f"risk {text}", scale=Scale.LOG),
        panels=(
            *(
                LinePanel(
                    title=f"family {k} {text}",
                    series=(curve(f"one {text}", risk), curve("_two", 2 * risk, low=0.0)),
                )
                for k in range(panels)
            ),
            LinePanel(title="nobody", series=()),
        ),
        references=(curve(f"ours {text}", 3 * risk), curve("optimum", 1e-9 * risk)),
    )


def finding(id_, reading, verdict, expected, *, text="plain", **changes):
    """A finding with every part filled in; `text` goes everywhere where text may stand."""
    plain = Finding(
        paper="uthor2020",
        id=id_,
        title=f"Title of {id_}: {text}",
        reference=f"Thm 4.1 {text}",
        label=f"thm:{text}",
        reading=reading,
        reading_text=f"what it means: {text}",
        stance=Stance.PRINTED,
        statement=f"for n ≥ 16, P(τ ≤ 2n) ≥ 1 − 2e^{{−n/16}}: {text}",
        verdict=verdict,
        expected=expected,
        summary=f"In one sentence: {text}.",
        method=f"by dynamic programming: {text}",
        evidence={
            "worst_n": Quantity(value=64),
            "exact_tail": Quantity(value=1.25e-7, unit=f"nats {text}", note=f"note: {text}"),
            f"named {text}": Quantity(value=text),
            "holds": Quantity(value=True),
            "none": Quantity(value=None),
        },
        tables=(
            Table(
                id="slack",
                title=f"Slack: {text}",
                columns=(
                    Column(name=f"n {text}"),
                    Column(name="slack", unit=f"nats {text}"),
                    Column(name="ok"),
                ),
                rows=((16, 0.5, True), (32, None, False), (1_000_000, 0.9999999, text)),
            ),
        ),
        counterexample=f"take n = 64: {text}" if verdict is Verdict.REFUTED else None,
        proof_steps=(
            ProofStep(
                id=f"step {text}",
                statement=f"e^x − 1 ≤ 2x: {text}",
                verdict=Verdict.CERTIFIED,
                evidence={"end": Quantity(value=1.2564312, note=text)},
            ),
        ),
        sharpness=(
            Sharpness(
                constant=f"5/2 {text}", claimed=2.5, holds_with=1.6931, needed=1.25, how=f"by a proof: {text}"
            ),
            Sharpness(
                constant="the end",
                claimed=None,
                holds_with=None,
                needed=None if verdict is Verdict.CERTIFIED else 7.0,
                larger_is_stronger=True,
                how=text,
            ),
        ),
        certificate=f"certificates/{id_}-{reading}.json" if verdict is Verdict.REFUTED else None,
        reproduce=f"dpsco-verify audit --select {id_}/{reading} {text}",
        seconds=1.5,
    )
    return msgspec.structs.replace(plain, **changes)


def erratum(consequence, *, text="plain"):
    """An erratum with every part filled in."""
    sharpness = Sharpness(
        constant=f"2 {text}",
        claimed=2.0,
        holds_with=2.75,
        over=f"n ≥ 16: {text}",
        needed=2.25,
        at=f"n = 16: {text}",
        how=text,
    )
    return Erratum(
        paper="uthor2020",
        id=f"slip-{consequence} {text}",
        title=f"A slip: {text}",
        reference=f"Thm 4.1 {text}",
        lines=(12, 345),
        consequence=consequence,
        text=f"What is wrong is {text}",
        repair=f"Write {text}",
        shown_by=("tail/refuted", "tail/refuted#step", f"tail/loop {text}#step"),
        rests_on=(f"tail/certified {text}",),
        not_verified=("utility/diameter",),
        constants=(RepairedConstant(reading=f"tail/refuted {text}", sharpness=sharpness),),
    )


def papers(text):
    """The papers that a finding may be of."""
    return (
        Paper(
            id="uthor2020",
            title=f"Private Optimization: {text}",
            authors=("A. Uthor", f"B. {text}"),
            identifier="arXiv 1",
        ),
        Paper(id="other1999", title=f"Another: {text}", authors=(f"C. {text}",), identifier=f"doi {text}"),
    )


def record(claims, *, exit_code=0, text="plain"):
    """A run that found `claims`."""
    return AuditRecord(
        schema_version=SCHEMA_VERSION,
        papers=tuple(paper for paper in papers(text) if paper.id in {c.paper for c in claims})
        or papers(text)[:1],
        profile=f"standard {text}",
        seed=7,
        versions={"python": "3.11.7", f"numpy {text}": "2.0"},
        error_budget=BudgetRecord(total=1e-6, spent=2.5e-7, by_claim={"tail": 2e-7, f"other {text}": 5e-8}),
        claims=tuple(claims),
        errata=tuple(erratum(consequence, text=text) for consequence in Consequence),
        exit_code=exit_code,
        seconds=75.0,
    )


@pytest.fixture(scope="session")
def make_finding():
    return finding


@pytest.fixture(scope="session")
def make_record():
    return record


@pytest.fixture(scope="session")
def make_line_plot():
    return line_plot


@pytest.fixture(scope="session")
def make_map_plot():
    return map_plot


@pytest.fixture(scope="session")
def make_panel_plot():
    return panel_plot


@pytest.fixture(scope="session")
def plain():
    """Each verdict once, all as expected."""
    return record([finding("tail", str(verdict), verdict, verdict) for verdict in Verdict])


@pytest.fixture(scope="session")
def nasty():
    """Every outcome, every kind of plot, names that collide, and texts that no format may take as markup."""
    return record(
        [
            finding(
                "tail",
                "loop",
                Verdict.CERTIFIED,
                Verdict.CERTIFIED,
                text=NASTY,
                plots=(line_plot(NASTY), map_plot(NASTY, panels=1), line_plot("same"), line_plot("same")),
            ),
            finding(
                "tail",
                "all-points",
                Verdict.REFUTED,
                Verdict.REFUTED,
                text=NASTY_LINES,
                plots=(map_plot(), panel_plot(NASTY)),
            ),
            # Both pairs below want the same names for their anchors and figures.
            finding("a-b", "c", Verdict.NOT_REFUTED, Verdict.CERTIFIED, text=NASTY, plots=(line_plot(),)),
            finding("a", "b-c", Verdict.INCONCLUSIVE, Verdict.CERTIFIED, text=NASTY, plots=(line_plot(),)),
            finding("a.b", "c", Verdict.ILL_POSED, None, text=NASTY, certificate="javascript:alert(1)"),
            finding(
                "A-B",
                "C",
                Verdict.HOLDS_ON_GRID,
                Verdict.HOLDS_ON_GRID,
                paper="other1999",
                stance=Stance.EXTENSION,
                certificate="../../etc/passwd",
            ),
        ],
        exit_code=1,
        text=NASTY,
    )


@pytest.fixture(scope="session")
def nasty_text():
    return NASTY
