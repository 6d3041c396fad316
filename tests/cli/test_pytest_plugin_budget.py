"""The error budget of a session of the pytest plugin: levels and seeds, whatever the order and the processes.

Every audit here has a fixed seed, a mechanism exactly at its claim or one far beyond it, so nothing is left to chance.
"""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsco_verify.errors import InputError
from dpsco_verify.plugin.shares import AuditedTest, Everyone, share_of
from plugin_sessions import GOOD_AND_BAD, results, run_as_a_user, write

pytest_plugins = ["pytester"]


@pytest.mark.slow
@given(
    total=st.floats(1e-280, 1.0, exclude_min=True, exclude_max=True),
    tests=st.integers(1, 10_000),
    audits=st.integers(1, 60),
)
def test_the_levels_never_exceed_the_budget(total, tests, audits):
    test = AuditedTest(
        name="a", position=0, everyone=Everyone(("a",) * tests), share=share_of(total, tests), command=""
    )
    levels = [test.charge() for _ in range(audits)]
    assert levels[0] == test.share / 2
    assert all(later == earlier / 2 for earlier, later in pairwise(levels))
    assert sum(map(Fraction, levels)) * tests <= Fraction(total)
    assert share_of(total, tests) * tests >= total * (1 - 1e-15)


def test_a_share_that_is_used_up_says_so():
    test = AuditedTest(name="a", position=0, everyone=Everyone(("a",)), share=5e-324, command="")
    with pytest.raises(InputError, match=r"audits=1 in the test 'a' are too many"):
        test.charge()


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", pytest.param("2", marks=pytest.mark.long)])
def test_levels_and_seeds_depend_on_neither_order_nor_process_nor_selection(
    suite, pytester, monkeypatch, workers
):
    monkeypatch.setattr("dpsco_verify.plugin.report.FORMAT_NAMES", ("json",))  # which is what is read here
    backwards = "def pytest_collection_modifyitems(items):\n    items.reverse()\n"
    budget = "--dpsco-error-budget=8e-6"
    run = suite(GOOD_AND_BAD, backwards, process="same")
    reverse, some = run("-rA", "-p", "no:xdist", budget), run("-rA", budget, "-k", "twice")
    run = suite(GOOD_AND_BAD)
    plain = run("-rA", budget, "--dpsco-report=plain")
    spread = run("-rA", "-n", workers, "--dist", "loadgroup", budget, "--dpsco-report=out/privacy")
    # four tests use the fixture; the fifth does not, and the one that fails prints nothing
    assert sorted(plain.levels()) == [5e-7, 5e-7, 1e-6, 1e-6, 1e-6]
    assert len({re.search(r"seed=(\d+)", line)[1] for line in plain.audits()}) == 5
    assert plain.audits() == reverse.audits() == spread.audits()
    assert len(some.audits()) == 4
    assert set(some.audits()) < set(plain.audits())
    record = results(pytester.path / "plain")
    assert record == results(pytester.path / "out" / "privacy")
    for session in (plain, reverse, spread):
        assert session.code == 1
        assert "6 audits: 1 violated, 0 undecided, 5 not violated" in session.out
        assert "error budget: 5e-06 of 8e-06 spent; it was split over 4 tests" in session.out


@pytest.mark.slow
def test_another_seed_gives_other_samples_and_no_other_level(suite):
    run = suite(GOOD_AND_BAD)
    first, second = run("-rA", "-k", "good"), run("-rA", "-k", "good", "--dpsco-seed=1")
    assert first.levels() == second.levels()
    assert first.audits() != second.audits()


@pytest.mark.long
def test_where_every_worker_runs_every_test_the_budget_holds_for_all(tmp_path):
    write(tmp_path, GOOD_AND_BAD)
    session = run_as_a_user(
        tmp_path, "-rA", "--dist", "each", "--tx", "2*popen", "-k", "good", "--dpsco-report=out"
    )
    assert session.levels() == [1e-6 / 4 / 2 / 2] * 2
    assert "2 audits: 0 violated, 0 undecided, 2 not violated" in session.out
    assert len(results(tmp_path / "out")["claims"]) == 2


RERUN = """
from _pytest.runner import runtestprotocol

def pytest_runtest_protocol(item, nextitem):
    for _ in range(2):
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        for report in reports:
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        item._initrequest()
    return True
"""


@pytest.mark.slow
def test_a_rerun_is_charged_and_takes_no_violation_back(suite):
    session = suite(
        GOOD_AND_BAD.replace(
            "count(3.0)", "[count(3.0), count(1.0)][RUNS.append(1) or len(RUNS) - 1]"
        ).replace("D, E =", "RUNS = []\nD, E ="),
        RERUN,
    )("-rA", "-k", "good or bad", "--dpsco-error-budget=4e-6")
    # the good one: share 1e-6, twice run; the bad one is good when it is run again, which does not help it
    assert set(session.levels()) == {5e-7, 2.5e-7}
    assert len(re.findall(r"^E +AssertionError: a count violates", session.out, re.MULTILINE)) == 2
    assert "3 audits: 1 violated, 0 undecided, 2 not violated" in session.out
