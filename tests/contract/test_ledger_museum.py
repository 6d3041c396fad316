"""A run of the ledger with the fault museum: its share of the budget, its record, and its say in the exit code."""

import msgspec
import pytest

from dpsco_verify.choices import ERROR_BUDGET, Profile
from dpsco_verify.faults import EXHIBITS, ExhibitKind
from dpsco_verify.ledger.installed import installed_ledger
from dpsco_verify.ledger.run import run_audit
from dpsco_verify.ledger.sections import MuseumSection

SOME = tuple(
    exhibit for exhibit in EXHIBITS if exhibit.id in {"laplace-2", "control-laplace", "sum-of-squares"}
)


def run(*sections, jobs=1):
    ledger = installed_ledger()
    return run_audit(
        ledger, ledger.find(["dual-norm"]), profile=Profile.QUICK, seed=0, jobs=jobs, sections=sections
    ).record


@pytest.mark.slow
def test_the_museum_stands_in_the_record_and_in_the_budget():
    record = run(MuseumSection(exhibits=SOME))
    assert record.exit_code == 0
    assert [exhibit.id for exhibit in record.museum.exhibits] == [exhibit.id for exhibit in SOME]
    assert record.museum.as_expected
    share = record.error_budget.by_claim["fault-museum"]
    assert 0 < share == record.museum.error_budget < ERROR_BUDGET
    assert record.error_budget.spent <= record.error_budget.total
    without = run()
    assert without.museum is None
    assert "fault-museum" not in without.error_budget.by_claim
    # What else is run does not change a claim.
    timeless = [msgspec.structs.replace(f, seconds=0.0) for f in without.claims]
    assert [msgspec.structs.replace(f, seconds=0.0) for f in record.claims] == timeless


@pytest.mark.long  # by day ``tests/unit`` holds it of the museum alone
def test_the_number_of_workers_does_not_show():
    one, two = (
        [
            msgspec.structs.replace(e, seconds=0.0)
            for e in run(MuseumSection(exhibits=SOME), jobs=jobs).museum.exhibits
        ]
        for jobs in (1, 2)
    )
    assert one == two


def test_a_fault_that_is_not_caught_fails_the_run(monkeypatch):
    class Missed:
        """A right mechanism that is taken for a fault."""

        def __init__(self, exhibit):
            self._exhibit = exhibit
            self.id, self.kind = "missed", ExhibitKind.FAULT

        def __getattr__(self, name):
            return getattr(self.__dict__["_exhibit"], name)

    control = next(exhibit for exhibit in SOME if exhibit.kind is ExhibitKind.CONTROL)
    record = run(MuseumSection(exhibits=(Missed(control),)))
    assert record.exit_code == 1
    assert not record.museum.as_expected
