"""Keys of units of work: equal for equal content in whatever process, different for everything that may matter."""

from __future__ import annotations

import functools
import threading

import numpy as np
import pytest

from dpsco_verify.errors import InputError
from dpsco_verify.execution import WorkUnit
from dpsco_verify.faults import EXHIBITS, museum_units
from dpsco_verify.papers.arora2020.kl_bound.statement import ratios
from dpsco_verify.papers.arora2020.risk.instances import search_drift
from dpsco_verify.store import code, keys, unit_key


class Thing:
    """An object that is no record."""

    def __init__(self, x, y=None):
        self.x, self.y = x, y

    def method(self):
        return self.x


def key(name="unit", function=ratios, cost=1.0, **arguments):
    return unit_key(WorkUnit(name=name, function=function, arguments=arguments, cost=cost))[0]


def test_equal_units_have_equal_keys():
    one = key(
        x=[1, 2.0], y=np.arange(3.0), z=Thing(1, {"a": 2}), f=functools.partial(search_drift, first=1.0)
    )
    two = key(
        x=[1, 2.0], y=np.arange(3.0), z=Thing(1, {"a": 2}), f=functools.partial(search_drift, first=1.0)
    )
    assert one == two
    assert len(one) == 32


def test_the_expected_cost_does_not_count():
    assert key(cost=1.0) == key(cost=5.0)


OTHERS = {
    "name": {"name": "other"},
    "function": {"function": search_drift},
    "argument": {"x": 1},
    "another argument": {"y": 1},
    "type": {"x": 1.0},
    "sign of zero": {"x": -0.0},
    "zero": {"x": 0.0},
    "order": {"x": [2, 1]},
    "list": {"x": [1, 2]},
    "tuple": {"x": (1, 2)},
    "array": {"x": np.array([1, 2])},
    "array of doubles": {"x": np.array([1.0, 2.0])},
    "array of another shape": {"x": np.array([[1, 2]])},
    "function as an argument": {"x": ratios},
    "another function": {"x": search_drift},
    "class": {"x": Thing},
    "object": {"x": Thing(1)},
    "object in another state": {"x": Thing(2)},
    "method": {"x": Thing(1).method},
    "partial": {"x": functools.partial(ratios)},
    "partial with an argument": {"x": functools.partial(ratios, points=1)},
    "generator": {"x": np.random.default_rng(0)},
    "generator of another seed": {"x": np.random.default_rng(1)},
}


def test_everything_that_may_matter_counts():
    found = {what: key(**one) for what, one in OTHERS.items()}
    found["plain"] = key()
    assert len(set(found.values())) == len(found)


def test_the_version_of_the_code_counts(monkeypatch):
    before = key(x=1)
    monkeypatch.setattr(keys, "code_version", lambda modules: "0" * 64)
    assert key(x=1) != before


def test_the_code_of_what_is_in_the_arguments_counts(monkeypatch):
    """An exhibit carries its mechanism: whose code it is decides its result."""
    asked = []
    monkeypatch.setattr(keys, "code_version", lambda modules: asked.append(modules) or "0" * 64)
    key(x=[{"a": functools.partial(search_drift, first=Thing(1))}])
    assert {ratios.__module__, search_drift.__module__, Thing.__module__} <= asked[0]


def test_an_exhibit_depends_on_its_own_mechanism():
    found = {unit.name: unit_key(unit) for unit in museum_units()}
    assert len({one for one, _ in found.values()}) == len(EXHIBITS)
    assert len({version for _, version in found.values()}) > 1
    museum = next(unit for unit in museum_units())
    modules = frozenset([museum.function.__module__])
    assert not any("mechanisms" in path.parts for path in code.code_files(modules))


UNFIT = {"a lambda": lambda: 1, "a lock": threading.Lock(), "a local class": type("Local", (), {})}


@pytest.mark.parametrize("what", UNFIT)
def test_what_cannot_be_told_is_refused_and_the_unit_named(what):
    with pytest.raises(InputError, match="unit='my unit' cannot be stored") as caught:
        key(name="my unit", x=UNFIT[what])
    assert "\n" not in str(caught.value)


def test_a_function_that_is_not_found_under_its_name_is_refused():
    def local():
        return 1

    with pytest.raises(InputError, match="is not found under its name"):
        key(function=local)
