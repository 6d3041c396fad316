"""What a record promises on another kind of processor, and the rule that holds it to it."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import msgspec
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from dpsco_verify.cli import main as program
from dpsco_verify.errors import InputError
from dpsco_verify.evidence import (
    Axis,
    LinePanel,
    MapPanel,
    PanelPlot,
    Quantity,
    Series,
    Sharpness,
    Table,
    Verdict,
)
from dpsco_verify.evidence.agreement import disagreements, main
from dpsco_verify.evidence.comparison import (
    CellRecord,
    CellState,
    ComparisonRecord,
    ExponentRecord,
    ProblemRecord,
)
from dpsco_verify.evidence.records_codec import decode, encode
from dpsco_verify.evidence.values import Column, rounded, rounded_up
from dpsco_verify.ledger.installed import installed_ledger
from dpsco_verify.processor import levels

LONG = 0.1234567890123


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_ten_digits_are_kept_and_rounding_once_is_enough(value):
    short = rounded(value)
    assert rounded(short) == short
    assert math.isfinite(short)
    # Half a unit of the tenth digit, and what a subnormal number has instead.
    assert abs(short - value) <= 0.5000001e-9 * abs(value) + 5e-324
    assert math.copysign(1.0, short) == math.copysign(1.0, value)


@given(st.floats(0.0, 1e300), st.integers(1, 17))
def test_rounding_up_does_not_fall_below_and_adds_less_than_a_unit(value, digits):
    up = rounded_up(value, digits)
    assert up >= value
    # A unit of the last digit, and half an ulp for the double next to the number of so many digits.
    assert up - value <= 1.000001 * 10.0 ** (1 - digits) * value + math.ulp(up)
    assert len(f"{up:.{digits - 1}e}".replace(".", "").partition("e")[0]) == digits
    assert float(f"{up:.{digits - 1}e}") == up


def test_figures_are_rounded_wherever_a_record_holds_them(make_line_plot, make_map_plot):
    assert Quantity(value=LONG).value == 0.123456789
    table = Table(
        id="t", title="t", columns=(Column(name="a"), Column(name="b")), rows=((LONG, "0.1234567890123"),)
    )
    assert table.rows == ((0.123456789, "0.1234567890123"),)
    series = Series(name="s", x=(LONG,), y=(LONG,), low=(LONG,), high=(LONG,))
    assert {*series.x, *series.y, *series.low, *series.high} == {0.123456789}
    panel = MapPanel(title="p", x=(LONG,), y=(LONG,), values=((LONG,),))
    plot = msgspec.structs.replace(make_map_plot(), level=1.0, panels=(panel,))
    assert plot.panels[0] == MapPanel(title="p", x=(0.123456789,), y=(0.123456789,), values=((0.123456789,),))
    beside = MapPanel(title="p", x=(1.0,), y=(1.0,), values=((1.0 + 1e-13,),))
    assert msgspec.structs.replace(plot, panels=(beside,)).panels[0].values == ((1.0 + 1e-13,),)


def test_a_contradiction_in_the_last_digits_is_seen_before_they_go():
    with pytest.raises(InputError, match="one of the two computations is wrong"):
        Sharpness(constant="c", claimed=None, holds_with=1.0 - 1e-13, needed=1.0, how="-")


def test_an_exponent_without_a_finite_interval_is_refused():
    """NaN has no place in JSON: it would be written as null, which says that there is none."""
    with pytest.raises(InputError, match="low of s on p=nan is not finite"):
        ExponentRecord(
            system="s",
            problem="p",
            quantity="risk",
            variable="n",
            exponent=0.0,
            low=math.nan,
            high=1.0,
            sizes=(1.0,),
            stated="",
        )


@pytest.fixture
def record(make_finding, make_record):
    def build(value, *, summary="holds", seconds=0.0, verdict=Verdict.CERTIFIED):
        evidence = {"x": Quantity(value=value)}
        found = make_finding("a", "b", verdict, None, evidence=evidence, summary=summary)
        return make_record([msgspec.structs.replace(found, seconds=seconds)])

    return build


ALIKE = [
    ({"value": 1.0}, {"value": 1.0 + 1e-12}),
    ({"value": 9.9999999995}, {"value": 10.0}),
    ({"value": -1.2345678904e-300}, {"value": -1.2345678906e-300}),
    ({"value": 1.0, "seconds": 1.0}, {"value": 1.0, "seconds": 2.0}),
    ({"value": 1, "summary": "is 75.99 times, at n = 8"}, {"value": 1, "summary": "is 76 times, at n = 8"}),
    ({"value": 1, "summary": "6.08e+10"}, {"value": 1, "summary": "6.07e+10"}),
]
APART = [
    ({"value": 1.0}, {"value": 1.0 + 3e-9}),
    ({"value": 1e-300}, {"value": 0.0}),
    ({"value": 1e-16}, {"value": -1e-16}),
    ({"value": 1}, {"value": 2}),
    ({"value": 1}, {"value": True}),
    ({"value": None}, {"value": 1.0}),
    ({"value": 1.0}, {"value": 1.0, "verdict": Verdict.HOLDS_ON_GRID}),
    ({"value": 1, "summary": "at n = 1000"}, {"value": 1, "summary": "at n = 1001"}),
    ({"value": 1, "summary": "0.5"}, {"value": 1, "summary": "0.502"}),
    ({"value": 1, "summary": "holds 1.5"}, {"value": 1, "summary": "fails 1.5"}),
]


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_records_agree(record, one, other):
    assert disagreements(record(**one), record(**other)) == []


@pytest.mark.parametrize(("one", "other"), APART)
def test_records_disagree(record, one, other):
    assert disagreements(record(**one), record(**other))
    assert disagreements(record(**other), record(**one))


PROBLEM = ProblemRecord(
    id="p", title="p", kind="k", dimension=1, lipschitz=1.0, diameter=1.0, minimum=0.17, gap=7.6e-10
)
CELL = CellRecord(
    system="s",
    problem="p",
    n=100,
    epsilon=1.0,
    state=CellState.MEASURED,
    excess_risk=2.4062e-9,
    gradient_queries=756.25,
)
FIT = ExponentRecord(
    system="s",
    problem="p",
    quantity="queries",
    variable="n",
    exponent=1.0,
    low=0.9,
    high=1.1,
    sizes=(1.0,),
    stated="",
)


@pytest.fixture
def comparison(make_line_plot):
    """A comparison of one system on one problem, with some of its figures changed."""

    def build(*, cell=None, fit=None, problem=None, x=756.25, y=2.4062e-9, plot="p-queries"):
        replace = msgspec.structs.replace
        series = (Series(name="s", x=(x,), y=(y,)),)
        return ComparisonRecord(
            epsilon=1.0,
            delta=1e-6,
            runs=2,
            error_budget=1e-7,
            systems=(),
            problems=(replace(PROBLEM, **(problem or {})),),
            cells=(replace(CELL, **(cell or {})),),
            exponents=(replace(FIT, **(fit or {})),),
            plots=(
                PanelPlot(
                    id=plot,
                    title="t",
                    caption="c",
                    x_axis=Axis(label="x"),
                    y_axis=Axis(label="y"),
                    panels=(LinePanel(title="p", series=series),),
                ),
            ),
        )

    return build


@pytest.mark.parametrize(
    ("slight", "large"),
    [
        ({"cell": {"gradient_queries": 762.5}}, {"cell": {"gradient_queries": 850.0}}),
        ({"x": 762.5}, {"x": 850.0}),
        ({"cell": {"excess_risk": 3.1e-9}}, {"cell": {"excess_risk": 3.2e-9}}),
        ({"y": 3.1e-9}, {"y": 3.2e-9}),
        ({"problem": {"minimum": 0.1700000007}}, {"problem": {"minimum": 0.1700000009}}),
        ({"fit": {"exponent": 1.05, "low": 0.8}}, {"fit": {"exponent": 1.2, "high": 1.3}}),
        ({"fit": {"exponent": 1.05, "low": 0.8}}, {"fit": {"exponent": 1.05, "low": 1.01}}),
        ({}, {"fit": {"low": None, "high": None}}),
        ({}, {"problem": {"gap": 7.7e-10}}),
    ],
)
def test_what_a_comparison_knows_less_well_is_held_to_what_it_knows(comparison, slight, large):
    assert disagreements(comparison(), comparison(**slight)) == []
    assert disagreements(comparison(**slight), comparison()) == []
    assert disagreements(comparison(), comparison(**large))
    assert disagreements(comparison(**large), comparison())


def test_no_other_figure_has_that_slack(comparison):
    here = comparison(plot="other-n")
    assert disagreements(here, comparison(plot="other-n", x=762.5))
    assert disagreements(here, comparison(plot="other-n", y=3.1e-9))
    assert disagreements(here, comparison(plot="other-n", cell={"bound": 1.0}))
    fit = {"exponent": 0.0, "low": 0.0, "high": 0.0}
    assert not disagreements(comparison(fit=fit), comparison(fit=fit))
    assert disagreements(comparison(fit=fit), comparison(fit=fit | {"exponent": 1e-9}))


def test_the_command(record, tmp_path, capsys):
    paths = [tmp_path / name for name in ("a", "b", "c")]
    for path, value in zip(paths, (1.0, 1.0 + 1e-12, 2.0), strict=True):
        path.write_bytes(encode(record(value)))
    first, second, third = map(str, paths)
    assert main([first, second]) == 0
    assert main([first, third]) == 1
    assert capsys.readouterr().out == "/0/claims/a/b/evidence/x/value: 1.0 and 2.0\n"
    for wrong in ([first], [first, str(tmp_path / "none")], [first, __file__]):
        assert main(wrong) == 2


CLAIMS = ["duality", "stopping-tail/text"]
MORE = ["regret-osmd", "minibatch-sgd-privacy", "single-step", "stopping-tail"]
COMPARE = "compare --problem breast-cancer-logistic --n 50 --n 100 --n 200 --runs 4 --format json"
EACH = """
import sys
from click.testing import CliRunner
from dpsco_verify.cli import main
for command in sys.argv[1:]:
    done = CliRunner().invoke(main, command.split(" "))
    assert done.exit_code == 0, done.output
print(done.stdout)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("claims", "compare"), [(CLAIMS, None), pytest.param(CLAIMS + MORE, COMPARE, marks=pytest.mark.long)]
)
def test_the_lowest_and_the_highest_level_of_this_machine_agree(tmp_path, monkeypatch, claims, compare):
    """The claims whose figures differ most in their last digits, and the systems on a problem whose solvers count."""
    monkeypatch.chdir(tmp_path)
    records, comparisons = [], []
    for out in ("lowest", "highest"):
        audit = ["audit", "--profile", "quick", "--no-store", "--format", "json", "--out", out]
        audit += [word for claim in claims for word in ("--select", claim)]
        commands = [" ".join(audit), *([compare] if compare else [])]
        if out == "lowest":
            done = subprocess.run(  # noqa: S603  our own program
                [sys.executable, "-c", EACH, *commands],
                env=os.environ | next(iter(levels().values())),
                capture_output=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr.decode()
            printed = done.stdout
        else:  # which is that of this process
            for command in commands:
                result = CliRunner().invoke(program, command.split(" "))
                assert result.exit_code == 0, result.output
                printed = result.stdout_bytes
        if compare:
            comparisons.append(msgspec.json.decode(printed, type=ComparisonRecord))
        records.append(decode((tmp_path / out / "results.json").read_bytes()))
        certificates = sorted((tmp_path / out / "certificates").iterdir())
        assert certificates
        for certificate in certificates:
            kinds = installed_ledger().kinds
            kinds.check(kinds.decode(certificate.read_bytes()))
    assert disagreements(*records) == []
    assert not compare or disagreements(*comparisons) == []
    assert (records[0].versions != records[1].versions) == (len(levels()) > 1)
