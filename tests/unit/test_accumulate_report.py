"""The table of the evidence over runs that the reports show."""

from __future__ import annotations

import math

import pytest

from dpsco_verify.errors import InputError
from dpsco_verify.evidence import AccumulatedRecord, AccumulatedRun, Finding, Stance, Verdict
from dpsco_verify.reporting import accumulation


def product(name, *logs, seeds=None, alpha=1e-6):
    runs = tuple(
        AccumulatedRun(run=k + 1, seed=seed, log10_e_value=log)
        for k, (seed, log) in enumerate(zip(seeds or range(len(logs)), logs, strict=True))
    )
    total = None if None in logs else math.fsum(logs)
    return AccumulatedRecord(
        null_hypothesis=name,
        runs=runs,
        log10_e_value=total,
        alpha=alpha,
        rejected=total is not None and total >= -math.log10(alpha),
    )


def finding(*products):
    shown = Finding(
        paper="p",
        id="x",
        title="",
        reference="",
        label="",
        reading="r",
        reading_text="",
        stance=Stance.PRINTED,
        statement="",
        verdict=Verdict.CERTIFIED,
        expected=None,
        summary="",
        method="",
        evidence={},
        reproduce="",
        seconds=0.0,
        **({"accumulated": products} if products else {}),
    )
    return accumulation.tables(shown)


def test_without_products_there_is_no_table():
    assert finding() == ()


def test_shared_runs_stand_in_the_title_and_the_strongest_evidence_first():
    (table,) = finding(product("weak", 0.5, -1.0), product("dead", 1.0, None), product("strong", 4.0, 3.0))
    assert "over the runs 1 (seed 0), 2 (seed 1)" in table.title
    assert table.rows == (
        ("strong", 4.0, 7.0, 6.0, True),
        ("weak", 0.5, -0.5, 6.0, False),
        ("dead", 1.0, None, 6.0, False),
    )


def test_runs_that_differ_stand_in_the_rows():
    (table,) = finding(product("a", 1.0), product("b", 1.0, 1.0, seeds=(7, 9)))
    assert [row[1] for row in table.rows] == ["1 (seed 7), 2 (seed 9)", "1 (seed 0)"]
    assert len(table.columns) == len(table.rows[0]) == 6


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_refused(value):
    with pytest.raises(InputError, match="record finite numbers"):
        product("a", value)
