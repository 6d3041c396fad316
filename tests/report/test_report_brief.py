from __future__ import annotations

import msgspec
import pytest

from dpsco_verify.evidence.agreement import disagreements
from dpsco_verify.evidence.records_codec import decode
from dpsco_verify.reporting import render_all
from dpsco_verify.reporting.brief import brief

LEFT_OUT = {"plots", "tables", "cells", "exponents", "seconds"}


def kept(value):
    """What of a record, as plain data, the brief one has to hold."""
    if isinstance(value, dict):
        return {key: kept(part) for key, part in value.items() if key not in LEFT_OUT}
    return [kept(part) for part in value] if isinstance(value, list | tuple) else value


@pytest.fixture
def read_back(nasty):
    return decode(render_all(nasty, ["brief"])["brief.json"])


def test_it_is_a_record_that_holds_all_but_what_is_drawn_tabulated_or_timed(nasty, read_back):
    whole = kept(msgspec.to_builtins(decode(render_all(nasty, ["json"])["results.json"])))
    assert kept(msgspec.to_builtins(read_back)) == whole
    assert whole["claims"]


def test_nothing_that_is_drawn_tabulated_or_timed_is_left(nasty, read_back):
    assert any(finding.plots for finding in nasty.claims)
    assert any(finding.tables for finding in nasty.claims)

    def left(value, path=""):
        if isinstance(value, dict):
            for key, part in value.items():
                if key in LEFT_OUT and part:
                    yield f"{path}/{key}"
                yield from left(part, f"{path}/{key}")
        elif isinstance(value, list | tuple):
            for part in value:
                yield from left(part, path)

    assert list(left(msgspec.to_builtins(nasty))) != []
    assert list(left(msgspec.to_builtins(read_back))) == []


def test_two_runs_are_compared_by_what_they_found(nasty):
    later = msgspec.structs.replace(nasty, seconds=nasty.seconds + 1)
    assert brief(later) == brief(nasty)
    claims = (msgspec.structs.replace(nasty.claims[0], summary="another"), *nasty.claims[1:])
    (found,) = disagreements(brief(nasty), brief(msgspec.structs.replace(nasty, claims=claims)))
    assert "/summary: " in found
