"""The comparison of systems in every format."""

import io

import msgspec
import pytest
from rich.console import Console

from dpsco_verify.errors import InputError
from dpsco_verify.evidence import (
    AuditVerdict,
    Axis,
    CellRecord,
    CellState,
    Column,
    ComparisonRecord,
    CrossoverRecord,
    ExponentRecord,
    LinePlot,
    ProblemRecord,
    Series,
    SystemAuditRecord,
    SystemRecord,
    Table,
)
from dpsco_verify.evidence.records_codec import decode, encode, encode_comparison
from dpsco_verify.reporting import comparison as words
from dpsco_verify.reporting import print_report, write_reports
from dpsco_verify.reporting.brief import brief
from dpsco_verify.reporting.terminal import print_comparison
from dpsco_verify.reporting.write import render_all

NASTY = "<script>alert(1)</script> | `x`"
PROBLEM = ProblemRecord(
    id="signs",
    title="Linear | signs",
    kind="synthetic",
    dimension=5,
    lipschitz=1.0,
    diameter=2.0,
    minimum=-0.5,
    gap=0.0,
)
AUDIT = SystemAuditRecord(
    verdict=AuditVerdict.NOT_VIOLATED,
    pair="z = 1 against −1",
    claim="1-DP",
    samples=2000,
    detectable_epsilon=1.75,
    event="w ≤ 0",
)
OURS = SystemRecord(
    id="ours",
    title="Ours",
    source=f"A source {NASTY}",
    section="4",
    is_private=True,
    rate="1/√n",
    query_rate="n/2",
    audits=(AUDIT,),
)
THEIRS = msgspec.structs.replace(OURS, id="theirs", title="Theirs", audits=())
PUBLIC = msgspec.structs.replace(THEIRS, id="public", title="Public", is_private=False)


def cell(system, n, risk, **more):
    given = {
        "system": system,
        "problem": "signs",
        "n": n,
        "epsilon": 1.0,
        "state": CellState.MEASURED,
        "runs": 8,
        "excess_risk": risk,
        "low": 0.5 * risk,
        "high": 1.5 * risk,
        "gradient_queries": n / 2,
        "seconds": 1e-3 * n,
    }
    return CellRecord(**(given | more))


def not_run(system, n, state, reason):
    return CellRecord(system=system, problem="signs", n=n, epsilon=1.0, state=state, reason=reason)


CELLS = (
    *(cell("ours", n, n**-0.5) for n in (100, 400, 1600)),
    cell("ours", 400, 0.2, epsilon=4.0),
    cell("theirs", 100, 0.3125),
    not_run("theirs", 400, CellState.CONDITIONS, f"theirs: n=400 must be at most 300; {NASTY}"),
    not_run("theirs", 1600, CellState.TOO_SLOW, "2.56e+06 gradient queries a run"),
    *(cell("public", n, 0.1) for n in (100, 400, 1600)),
)
PLOT = LinePlot(
    id="signs-n",
    title="Risk",
    caption="At ε = 1",
    x_axis=Axis(label="n"),
    y_axis=Axis(label="risk"),
    series=(Series(name="Ours", x=(1.0, 2.0), y=(1.0, 0.5)),),
)
RECORD = ComparisonRecord(
    epsilon=1.0,
    delta=1e-6,
    runs=8,
    error_budget=1e-7,
    systems=(OURS, THEIRS, PUBLIC),
    problems=(PROBLEM,),
    cells=CELLS,
    exponents=(
        ExponentRecord(
            system="ours",
            problem="signs",
            quantity="risk",
            variable="n",
            exponent=-0.5,
            low=-0.6,
            high=-0.4,
            sizes=(100.0, 400.0, 1600.0),
            stated="1/√n",
        ),
    ),
    crossovers=(
        CrossoverRecord(
            problem="signs", variable="n", before="theirs", after="ours", above=100.0, at_most=400.0
        ),
    ),
    tables=(
        Table(
            id="section-6",
            title="Section 6: the noise",
            columns=(Column(name="n"), Column(name="subsampling", unit="L")),
            rows=((1000, 4.026), (10, None)),
        ),
    ),
    plots=(PLOT,),
)


@pytest.fixture
def shown(plain):
    return msgspec.structs.replace(plain, comparison=RECORD)


def printed(show, record, width=200):
    stream = io.StringIO()
    show(record, Console(file=stream, width=width, color_system=None))
    return " ".join(stream.getvalue().split())


def test_a_record_with_a_comparison_is_read_back(shown):
    assert decode(encode(shown)) == shown


def test_a_comparison_by_itself_is_the_same_json():
    assert msgspec.json.decode(encode_comparison(RECORD), type=ComparisonRecord) == RECORD


@pytest.mark.parametrize(
    "wrong",
    [
        {"excess_risk": None, "low": None, "high": None},
        {"state": CellState.TOO_SLOW},
        {"excess_risk": float("nan")},
        {"high": float("inf")},
        {"gradient_queries": float("nan")},
    ],
)
def test_a_cell_that_contradicts_itself_is_refused(wrong):
    with pytest.raises(InputError):
        cell("ours", 100, 0.5, **wrong)


def test_a_row_holds_risks_exponents_and_costs():
    table, _ = words.problem_tables(RECORD)
    ours, theirs, public = table.rows
    assert ours == (
        "Ours",
        "0.1 [0.05, 0.15]",
        "0.05 [0.025, 0.075]",
        "0.025 [0.013, 0.037]",
        "-0.50",
        "800",
        "1.00",
        "1.60 s",
        "1.00",
    )
    assert theirs[1:5] == ("0.312 [0.16, 0.47]", "–", "–", "")
    assert public[4] == "0.00"


def test_what_was_not_run_says_why():
    table, _ = words.problem_tables(RECORD)
    assert table.notes == (
        "Theirs: too slow at n = 1600 (2.56e+06 gradient queries a run)",
        f"theirs: n=400 must be at most 300; {NASTY} (at n = 400)",
    )


def test_the_sweep_over_epsilon_has_a_table_of_its_own():
    _, table = words.problem_tables(RECORD)
    assert table.header == ("System", "ε = 1", "ε = 4", "risk ~ ε^")
    # What is not private has no ε.
    assert [row[0] for row in table.rows] == ["Ours", "Theirs"]


def test_audits_are_told():
    rows = {row[0]: row[-1] for row in words.systems_table(RECORD).rows}
    assert rows == {
        "Ours": "no violation; ε ≥ 1.75 would have shown (1-DP; z = 1 against −1)",
        "Theirs": "not audited",
        "Public": "not private",
    }
    assert words.headline(RECORD).endswith("no audit found a violation")


def test_a_violation_is_in_the_headline():
    guilty = msgspec.structs.replace(
        OURS, audits=(msgspec.structs.replace(AUDIT, verdict=AuditVerdict.VIOLATED),)
    )
    record = msgspec.structs.replace(RECORD, systems=(guilty, THEIRS, PUBLIC))
    assert words.headline(record).endswith("violated: Ours")


@pytest.mark.slow
def test_every_format_shows_it(shown):
    files = render_all(shown, ["html", "markdown", "figures", "json"])
    page, report = files["index.html"].decode(), files["report.md"].decode()
    for text in (page, report):
        assert "The neighbours" in text
        assert "0.05 [0.025, 0.075]" in text.replace("\\", "")
        assert "Theirs has the smaller risk up to n = 100, Ours from n = 400 on" in text
        assert text.count("<script>") == (text is page)
        assert "Two open questions" in text
        assert "Section 6: the noise" in text
    assert 'href="#neighbours"' in page
    assert "figures/comparison-risk-signs-n.svg" in files
    assert "Comparison: 3 systems on 1 problem at" in printed(print_report, shown)


def test_its_figures_are_known_as_a_report_s_own(shown, plain, tmp_path):
    """The record tells them, so that a report which was moved or committed without its marker can be renewed."""
    out = tmp_path / "out"
    write_reports(shown, out, ["json", "figures"])
    assert sorted(path.name for path in (out / "figures").iterdir()) == ["comparison-risk-signs-n.svg"]
    assert not (out / ".dpsco-verify").exists()
    write_reports(plain, out, ["json"])
    assert [path.name for path in out.iterdir()] == ["results.json"]


def test_without_a_comparison_nothing_is_said_of_one(plain):
    files = render_all(plain, ["html", "markdown"])
    assert not any(b"neighbours" in content.split(b"</style>")[-1] for content in files.values())
    assert "Comparison" not in printed(print_report, plain)


def test_the_terminal_shows_all_tables():
    found = printed(print_comparison, RECORD)
    assert "0.05 [0.025, 0.075]" in found
    assert "Crossovers" in found


def test_a_narrow_terminal_has_tables_in_pieces_and_whole_words():
    ours = msgspec.structs.replace(
        OURS, title="Mini-batch SGD, the least proven noise for privacy by subsampling"
    )
    record = msgspec.structs.replace(RECORD, systems=(ours, THEIRS, PUBLIC))
    stream = io.StringIO()
    print_comparison(record, Console(file=stream, width=60, color_system=None))
    lines = stream.getvalue().splitlines()
    assert max(map(len, lines)) <= 60
    for word in (*ours.title.split(), "0.05", "[0.025, 0.075]", "queries", "subsampling"):
        assert any(word in line for line in lines), word
    along_n, *_ = words.problem_tables(record)
    headers = [line.split() for line in lines if line.startswith(" System  ")]
    told = [word for header in headers[1:] for word in header]
    assert [word for word in told if word.isdigit()] == ["100", "400", "1600", "1", "4"]
    assert sum(line.startswith(" Theirs ") for line in lines) == len(headers)
    assert len(headers) > 1 + len(words.problem_tables(record))
    assert all(cell in " ".join(lines) for row in along_n.rows for cell in row[1:] if "[" not in cell)


def test_pieces_of_a_table_share_all_that_tells_its_rows_apart():
    wide = words.WordTable(
        title="",
        header=("d", "n", *(f"figure {i}" for i in range(6))),
        rows=tuple((d, n, *["0.12345678"] * 6) for d in ("1", "2") for n in ("10", "20")),
    )
    record = msgspec.structs.replace(RECORD, tables=())
    stream = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(words, "question_tables", lambda _: (wide,))
        print_comparison(record, Console(file=stream, width=50, color_system=None))
    heads = [line.split() for line in stream.getvalue().splitlines() if line.startswith(" d ")]
    assert [head[:2] for head in heads] == [["d", "n"]] * 2
    assert [word for head in heads for word in head if word.isdigit()] == list("012345")


def test_the_open_questions_have_tables():
    (table,) = words.question_tables(RECORD)
    assert table.header == ("n", "subsampling (L)")
    assert table.rows == (("1000", "4.026"), ("10", "–"))


def test_without_crossovers_that_is_said():
    blocks = words.markdown_blocks(msgspec.structs.replace(RECORD, crossovers=(), tables=()))
    assert "No two systems change places" in blocks[-1]


def test_the_brief_record_keeps_systems_and_crossovers_and_no_cells(shown):
    kept = brief(shown).comparison
    assert kept is not None
    assert RECORD.cells
    assert kept == msgspec.structs.replace(RECORD, cells=(), exponents=(), tables=(), plots=())
