"""Discrete parts of structured outputs: found beside continuous noise, and left alone where they are private."""

import enum
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import pytest

from dpsco_verify.auditing import AuditVerdict, audit, per_call
from dpsco_verify.auditing.outputs import encode
from dpsco_verify.auditing.parts import parts_of

PAIR = (["a", "b", "b", "a"], ["b", "b", "b", "a"])


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@dataclass
class Release:
    first: str
    count: float


def in_order_of_data(data, rng):
    return [(key, n + rng.laplace(scale=2.0)) for key, n in Counter(data).items()]


def in_fixed_order(data, rng):
    return [(key, data.count(key) + rng.laplace(scale=2.0)) for key in ("a", "b", "c")]


WRONG = {
    "list": in_order_of_data,
    "dictionary": lambda data, rng: dict(in_order_of_data(data, rng)),
    "nested": lambda data, rng: (rng.normal(), {"groups": in_order_of_data(data, rng)}),
    "string": lambda data, rng: (data[0], rng.normal()),
    "enumeration": lambda data, rng: (Colour.RED if data[0] == "a" else Colour.BLUE, rng.normal()),
    "dataclass": lambda data, rng: Release(data[0], rng.normal()),
    "set": lambda data, rng: ({data[0], "z"}, rng.normal()),
    "one key of a shuffled many": lambda data, rng: [
        (f"k{key}", rng.normal()) for key in rng.permutation([*range(12), 12 if data[0] == "a" else 13])
    ],
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        one if number % 2 == 0 else pytest.param(one, marks=pytest.mark.long)
        for number, one in enumerate(WRONG)
    ],
)
def test_a_discrete_part_is_seen_beside_noise(name):
    result = audit(per_call(WRONG[name]), *PAIR, epsilon=1.0, relation="replace-one", samples=500, alpha=1e-3)
    assert result.verdict is AuditVerdict.VIOLATED, result.summary


@pytest.mark.slow
@pytest.mark.parametrize("rich", [False, True])
def test_groups_in_a_fixed_order_are_left_alone(rich):
    """The level of both audits together is 2e-9."""
    mechanism = (lambda data, rng: dict(in_fixed_order(data, rng))) if rich else in_fixed_order
    result = audit(per_call(mechanism), *PAIR, epsilon=1.0, relation="replace-one", samples=1000, alpha=1e-9)
    assert result.verdict is not AuditVerdict.VIOLATED, result.summary


def test_the_order_of_a_set_is_none_of_its_parts():
    assert parts_of({"x", "y", "z"}) == parts_of({"z", "y", "x"})
    first, second = encode([{"x", "y"}, {"y", "x"}], 2).fingerprints
    assert first == second


@pytest.mark.slow
def test_numbers_beyond_the_doubles_and_signalling_nans_are_outputs():
    leaks = per_call(
        lambda data, rng: (10**400 if data[0] == "a" else -(10**400), Decimal("sNaN"), rng.normal())
    )
    pairs = per_call(lambda data, rng: [("a", 10**400), ("b", Fraction(10**400, 3))])
    asked = {"epsilon": 1.0, "relation": "replace-one", "samples": 500}
    assert audit(leaks, *PAIR, **asked).verdict is AuditVerdict.VIOLATED
    assert audit(pairs, *PAIR, **asked).verdict is not AuditVerdict.VIOLATED


def test_bare_whole_numbers_are_no_keys():
    assert parts_of([3, 1, 2]) == ({}, {})


def test_the_numbers_beside_a_key_are_its_own():
    """Of a record by its key among the others', and of each record by itself, where a key has its place, too."""
    numbers = {"number 1 beside 'b'": 1.5, "number 2 beside 'b'": 3.0, "number 1 beside 'a'": 7.0}
    among = {f"{name} in the output": value for name, value in numbers.items()}
    by_itself = {f"{name} in a member of the output": value for name, value in numbers.items()}
    places = {"place of 'b' in the output": 1.0, "place of 'a' in the output": 2.0}
    own_places = dict.fromkeys(
        ("place of 'b' in a member of the output", "place of 'a' in a member of the output"), 1.0
    )
    assert parts_of([("b", 1.5, 3), ("a", 7)])[1] == among | by_itself | places | own_places


def test_a_whole_number_of_any_length_is_a_key():
    labels, amounts = parts_of([(10**5000, 1.5), (7, 2.5)])
    assert labels["7 in the output"] == "present"
    assert 1.5 in amounts.values()
