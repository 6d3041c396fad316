"""Executing units of work: the order, the memory, failures, and the choice of an executor."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from dpsco_verify.errors import InputError
from dpsco_verify.execution import (
    ExecutorChoice,
    ExecutorKind,
    Outcome,
    SerialExecutor,
    WorkUnit,
    execute,
    executing,
    make_executor,
)


def double(x):
    return 2 * x


def fail():
    raise ValueError("no")


def units(*numbers, cost=None):
    return [
        WorkUnit(name=str(x), function=double, arguments={"x": x}, cost=1.0 if cost is None else cost(x))
        for x in numbers
    ]


class Remembering:
    """A memory in this process that writes down what it is asked."""

    def __init__(self, known=()):
        self.known = dict(known)
        self.events = []

    def recall(self, unit):
        self.events.append(("recall", unit.name))
        return self.known.get(unit.name)

    def begin(self, unit):
        self.events.append(("begin", unit.name))

    def keep(self, unit, performance):
        self.events.append(("keep", unit.name))
        assert performance.finished >= performance.started
        assert performance.pid > 0
        assert performance.host
        self.known[unit.name] = performance.outcome
        return performance.outcome


def test_costly_units_start_first_and_ties_go_by_name():
    order = []
    execute(
        units(3, 1, 2, cost=lambda x: {1: 1.0, 2: 5.0, 3: 1.0}[x]),
        SerialExecutor(),
        lambda *args: order.append(args),
    )
    assert order == [(1, 3, "2"), (2, 3, "1"), (3, 3, "3")]


def test_what_is_remembered_is_not_executed():
    memory = Remembering({"2": Outcome(value="remembered", seconds=1.0)})
    found = execute(units(1, 2), SerialExecutor(), memory=memory)
    assert {name: outcome.value for name, outcome in found.items()} == {"1": 2, "2": "remembered"}
    assert memory.events == [("recall", "1"), ("begin", "1"), ("keep", "1"), ("recall", "2")]


def test_the_memory_is_asked_just_before_a_unit_begins():
    """What another run has finished while this one was at something else is not executed again."""
    memory = Remembering()
    meanwhile = Outcome(value="another's", seconds=0.0)
    found = execute(
        units(1, 2), SerialExecutor(), lambda *_: memory.known.setdefault("2", meanwhile), memory=memory
    )
    assert found["2"].value == "another's"


def test_no_more_units_are_begun_than_the_executor_has_room_for():
    """So an unfinished unit is one that was being executed."""
    memory = Remembering()
    execute(units(*range(5)), SerialExecutor(), memory=memory)
    begun = 0
    for event, _ in memory.events:
        begun += {"begin": 1, "keep": -1, "recall": 0}[event]
        assert begun <= 1


def test_any_executor_of_the_standard_library_will_do():
    memory = Remembering()
    with ThreadPoolExecutor(2) as threads:
        found = execute(units(*range(20)), threads, memory=memory)
    assert {int(name): outcome.value for name, outcome in found.items()} == {x: 2 * x for x in range(20)}
    assert len(memory.known) == 20


def test_a_failure_loses_nothing_that_was_finished():
    memory = Remembering()
    bad = WorkUnit(name="bad", function=fail, cost=0.1)
    with pytest.raises(ValueError, match="no") as caught:
        execute([*units(1, 2), bad], SerialExecutor(), memory=memory)
    assert caught.value.__notes__ == ["in unit bad"]
    assert set(memory.known) == {"1", "2"}


def test_what_finishes_beside_a_failure_is_kept():
    memory = Remembering()
    with ThreadPoolExecutor(1) as threads, pytest.raises(ValueError, match="no"):
        # One thread: when the second's failure is looked at, the first is finished, and so is what came after it.
        execute([*units(1), WorkUnit(name="bad", function=fail)], threads, memory=memory)
    assert set(memory.known) == {"1"}


def test_two_units_of_one_name_are_refused():
    with pytest.raises(InputError, match=r"units=\['1'\] stand twice"):
        execute(units(1, 1, 2), SerialExecutor())


def test_nothing_is_executed_for_no_units():
    assert execute([], SerialExecutor(), memory=Remembering()) == {}


@pytest.mark.parametrize(
    ("choice", "kind"),
    [
        ({}, "serial"),
        ({"jobs": 2}, "loky"),
        ({"jobs": 1, "kind": ExecutorKind.LOKY}, "loky"),
        ({"scheduler": "tcp://a:1"}, "dask"),
        ({"scheduler": "tcp://a:1", "kind": ExecutorKind.DASK}, "dask"),
        ({"jobs": 2, "kind": ExecutorKind.DASK}, "dask"),
    ],
)
def test_the_executor_follows_from_what_is_given(choice, kind):
    assert ExecutorChoice(**choice).resolved == kind


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ({"jobs": 0}, "jobs=0 is too small"),
        ({"jobs": 2, "kind": ExecutorKind.SERIAL}, "jobs=2 cannot be combined with executor='serial'"),
        (
            {"scheduler": "tcp://a:1", "kind": ExecutorKind.LOKY},
            "scheduler='tcp://a:1' cannot be combined with executor='loky'",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(choice, words):
    with pytest.raises(InputError, match=words):
        ExecutorChoice(**choice)


def test_a_number_of_jobs_is_a_choice():
    with make_executor(1) as executor:
        assert isinstance(executor, SerialExecutor)


@pytest.mark.parametrize(
    ("kind", "ours", "is_compared"),
    [("cluster", False, True), ("cluster", True, False), ("pool", False, False)],
)
def test_only_workers_that_others_started_are_asked_which_files_they_have_loaded(
    monkeypatch, kind, ours, is_compared
):
    asked = []

    class Cluster(executing.ClusterExecutor):
        def __init__(self):
            self.ours = ours

        def submit(self, *call):
            asked.append(call)

    class Pool(ThreadPoolExecutor):
        submit = Cluster.submit

    monkeypatch.setattr(executing, "environment", lambda: "what is loaded here")
    executing._submit(Cluster() if kind == "cluster" else Pool(1), "a unit")
    assert asked == [(executing.perform_in_worker, "a unit", "what is loaded here" if is_compared else None)]
