"""Neighbouring relations beyond one record: what they accept, what they refuse, and faults that only they show."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st

from dpsco_verify.auditing import (
    AuditVerdict,
    audit,
    one_user,
    relation_of,
    require_neighbours,
    same_records,
    some_records,
)
from dpsco_verify.auditing.relations import OwnRelation
from dpsco_verify.errors import InputError

VISITS = pd.DataFrame({"user": ["a", "b", "a", "c"], "amount": [1.0, 2.0, 3.0, 4.0]})
ROWS = np.array([(1, 2.0), (2, 3.0), (1, 4.0)], dtype=[("user", int), ("amount", float)])


@pytest.mark.parametrize(
    ("relation", "d", "d_prime"),
    [
        (some_records(2), [1, 2, 3], [1, 7, 8]),
        (some_records(2), [1, 2, 3, 4], [1, 4]),
        (some_records(3), np.arange(5.0), np.arange(5.0)[:2]),
        (same_records(), [1, 2, 2], [2, 1, 2]),
        (same_records(), VISITS, VISITS.iloc[[3, 1, 0, 2]]),
        (one_user("user"), VISITS, VISITS[VISITS.user != "a"]),
        (one_user("user"), ROWS, ROWS[:2]),
        (one_user(0), np.array([[1.0, 5.0], [2.0, 5.0]]), np.array([[1.0, 5.0], [2.0, 9.0], [2.0, 8.0]])),
        (one_user("id"), [{"id": 1, "x": 2}, {"id": 3, "x": 2}], [{"id": 3, "x": 2}]),
        (one_user(lambda row: row.user), VISITS, VISITS[VISITS.user != "c"]),
        (one_user(0), np.array([[np.nan, 1.0], [np.nan, 3.0], [2.0, 1.0]]), np.array([[2.0, 1.0]])),
        (same_records(), np.array([[1.0, np.nan], [2.0, 0.0]]), np.array([[2.0, -0.0], [1.0, np.nan]])),
        (same_records(), [[1, {"a": 2}], [1, {"a": 3}]], [[1, {"a": 3}], [1, {"a": 2}]]),
        (relation_of("within one", lambda d, e: abs(d - e) <= 1), 3.0, 4.0),
    ],
)
def test_neighbours_in_either_order(relation, d, d_prime):
    require_neighbours(d, d_prime, relation)
    require_neighbours(d_prime, d, relation)


@pytest.mark.parametrize(
    ("relation", "d", "d_prime", "why"),
    [
        (some_records(2), [1, 2, 3], [4, 5, 6], "3 records differ"),
        (some_records(2), [1, 2, 3, 4], [4], "they have 4 and 1 record"),
        (some_records(2), [1, 2, 3, 4], [4, 1], "neither is the other without some records"),
        (same_records(), [1, 2, 2], [1, 1, 2], "record 2 of the first is not in the second"),
        (same_records(), [1, 2], [1], "they have 2 and 1 record"),
        (one_user("user"), VISITS, VISITS[VISITS.user == "c"], "no single user"),
        (
            relation_of("within one", lambda d, e: abs(d - e) <= 1),
            3.0,
            5.0,
            "not neighbours under within one",
        ),
        (relation_of("less", lambda d, e: d < e), 3.0, 5.0, "neighbouring is symmetric"),
        (relation_of("no answer", lambda d, e: None), 3.0, 5.0, "holds returned None"),
        (one_user("name"), VISITS, VISITS[:3], "key='name' names no column"),
        (one_user(0), [(1, 1), (2, 2)], [(1, 2), (2, 1)], "no single user"),
        (one_user(lambda row: [row]), [1], [2], "tells a user of type list"),
        (one_user(lambda row: row["id"]), [1], [2], "all rows of one user raised TypeError"),
        (
            relation_of("near", lambda d, e: d.id == e.id),
            [1],
            [2],
            r"near raised AttributeError: .*\[1\] and",
        ),
        (relation_of("near", lambda d: True), [1], [2], "near raised TypeError"),
        (relation_of("grows", lambda d, e: d.append(3) is None), [1], [2], "grows changes the data sets"),
        (OwnRelation("x", lambda d, e: False), [1], [2], "x answered False; its fault returns None"),
        (OwnRelation("x", lambda d, e: ""), [1], [2], "x answered ''; its fault returns None"),
    ],
)
def test_those_that_are_none_are_told_why(relation, d, d_prime, why):
    with pytest.raises(InputError, match=why):
        require_neighbours(d, d_prime, relation)


@pytest.mark.parametrize("name", ["", None, 3, "two\nlines"])
def test_a_relation_has_a_name(name):
    with pytest.raises(InputError, match="is not a line of text"):
        relation_of(name, lambda d, e: True)


@pytest.mark.slow
def test_many_records_in_another_order_are_found_at_once():
    """Record by record it would be some 10⁷ comparisons."""
    rows = np.random.default_rng(0).random((5000, 3))
    require_neighbours(rows, rows[::-1].copy(), same_records())


def noisy_total(data, size, rng):
    return float(np.clip(data.amount, 0.0, 4.0).sum()) + rng.laplace(scale=4.0, size=size)


@pytest.mark.slow
def test_contributions_of_a_user_are_more_than_those_of_a_record():
    """Sensitivity 4 a row: right for one row, at ε = 1, and wrong for a user who has many."""
    many = pd.DataFrame({"user": ["a"] * 6 + ["b"], "amount": [4.0] * 7})
    row = audit(noisy_total, many, many.iloc[1:].reset_index(drop=True), epsilon=1.0, relation="add-remove")
    assert row.verdict is AuditVerdict.NOT_VIOLATED
    user = audit(noisy_total, many, many.iloc[6:], epsilon=1.0, relation=one_user("user"))
    assert user.verdict is AuditVerdict.VIOLATED
    assert user.relation == "all rows of one user"
    assert "all rows of one user" not in str(user.neighbours)


def saturating(data, size, rng):
    total = 0
    for record in data:
        total = min(max(total + record, -2), 2)
    return total + rng.laplace(size=size)


def test_sums_that_saturate_depend_on_the_order():
    """The totals end at −2 and 2: with noise of scale 1 that is ε = 4."""
    result = audit(saturating, [2, 2, -2, -2], [-2, -2, 2, 2], epsilon=1.0, relation=same_records())
    assert result.verdict is AuditVerdict.VIOLATED


@pytest.mark.slow
def test_a_generator_of_ones_own_is_held_to_the_relation():
    close = relation_of("within one", lambda d, e: abs(d - e) <= 1)
    pairs = st.tuples(st.integers(0, 3), st.sampled_from([0, 1])).map(
        lambda p: (float(p[0]), float(p[0] + p[1]))
    )

    def half_the_noise(data, size, rng):
        return data + rng.laplace(scale=0.5, size=size)

    found = audit(half_the_noise, pairs=pairs, epsilon=1.0, relation=close, pair_examples=10)
    assert found.verdict is AuditVerdict.VIOLATED
    with pytest.raises(InputError, match="not neighbours under within one"):
        audit(half_the_noise, pairs=pairs.map(lambda p: (p[0], p[0] + 2.0)), epsilon=1.0, relation=close)


def noise(data, size, rng):
    return data[0] + rng.laplace(scale=1.25, size=size)


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        (lambda rng: {}["x"], "raised KeyError: 'x' for pair 0"),
        (lambda: None, "raised TypeError"),
        (lambda rng: np.array([[0.0], [1.0]]), r"returned \[\[0.\], \[1.\]\], which is no pair"),
        (lambda rng: ([0.0], [np.random.default_rng().random()]), "ignores the rng"),
        (lambda rng: ([0.0], [5.0]), r"drew \[0.0\] and \[5.0\]: d and d_prime are not neighbours"),
    ],
)
def test_a_function_that_draws_no_neighbours_is_told_in_a_sentence(pairs, said):
    near = relation_of("near", lambda d, e: abs(d[0] - e[0]) <= 1)
    with pytest.raises(InputError, match=said) as refused:
        audit(noise, pairs=pairs, epsilon=1.0, relation=near, samples=200)
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.slow
def test_the_pair_that_is_judged_is_the_one_that_was_drawn():
    """The function hands out one list, and changes it for each pair; the last drawn is no neighbour of the first."""
    one = [0.0]

    def pairs(rng):
        one[0] = rng.random()
        return one, [one[0] + 1.0]

    result = audit(noise, pairs=pairs, epsilon=1.0, samples=200, pair_examples=5)
    assert abs(result.witness.d[0] - result.witness.d_prime[0]) == pytest.approx(1.0)
