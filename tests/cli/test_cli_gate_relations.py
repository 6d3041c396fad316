"""Relations of one's own at the gate, what makes one, a predicate; and functions that draw pairs."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from dpsco_verify.auditing import AuditVerdict, audit
from dpsco_verify.auditing.relations import relation_of
from dpsco_verify.cli import main
from dpsco_verify.errors import InputError

MODULE = """
import numpy as np

from dpsco_verify.auditing.relations import one_user, same_records

TWO_ROWS = (np.array([[1.0, 0.5], [1.0, 0.5], [2.0, 0.5]]), np.array([[2.0, 0.5]]))
by_user = one_user(0)


def reordered():
    return same_records()


def as_long(d, d_prime):
    return len(d) == len(d_prime)


def not_two(d, d_prime, further):
    return True


def drawn(rng):
    d = rng.integers(0, 3, size=4).astype(float)
    return d, np.flip(d)


def count(data, size, rng):
    return len(data) + rng.laplace(size=size)


def first(data, size, rng):
    return data[0] + 0.05 * rng.laplace(size=size)


nothing = 3
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, _judged_here):
    (tmp_path / "own_relations.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def gate(*arguments):
    quick = ("--epsilon", "1", "--samples", "1500", "--format", "json", "--out", "out")
    return CliRunner().invoke(main, ["gate", *arguments, *quick])


@pytest.mark.parametrize(
    ("relation", "code", "said"),
    [
        ("own_relations:by_user", 1, ""),
        ("own_relations:reordered", 2, "same records in another order"),
        ("own_relations:as_long", 2, "as long"),
        ("own_relations:nothing", 2, "of type int; give one of dpsco_verify.auditing.relations"),
        ("own_relations:not_two", 2, "of type function; give one of dpsco_verify.auditing.relations"),
        ("own_relations:missing", 2, "there is no 'missing'"),
    ],
)
def test_a_relation_of_ones_own_is_taken_and_held_against_the_pair(folder, relation, code, said):
    result = gate("own_relations:count", "--pair", "own_relations:TWO_ROWS", "--relation", relation)
    assert result.exit_code == code, result.output
    assert said in result.output
    if code == 1:
        claim = json.loads((folder / "out" / "results.json").read_text())["claims"][0]
        assert claim["evidence"]["relation"]["value"] == "all rows of one user"
        assert "--relation own_relations:by_user" in claim["reproduce"]


@pytest.mark.slow
def test_a_configuration_takes_a_predicate_and_what_draws_pairs(folder):
    (folder / "dpsco.toml").write_text(
        '[[gate.audit]]\nmechanism = "own_relations:first"\npair = "own_relations:drawn"\nepsilon = 1.0\n'
        'samples = 1500\nrelation = "own_relations:reordered"\npair_examples = 8\nexpect = "violated"\n'
    )
    result = CliRunner().invoke(main, ["gate", "--config", "dpsco.toml", "--out", "out", "--format", "json"])
    assert result.exit_code == 0, result.output
    claim = json.loads((folder / "out" / "results.json").read_text())["claims"][0]
    assert "tried, " in claim["summary"]


@pytest.mark.slow
def test_pairs_that_a_function_draws_are_searched_and_held_against_the_relation():
    def drawn(rng):
        d = rng.integers(0, 3, size=4).astype(float)
        return d, np.flip(d)

    def first(data, size, rng):
        return data[0] + 0.05 * rng.laplace(size=size)

    def noisy(data, size, rng):
        return data.sum() + rng.laplace(size=size)

    mirrored = relation_of("mirrored", lambda d, d_prime: np.array_equal(d, d_prime[::-1]))
    result = audit(first, pairs=drawn, epsilon=1.0, relation=mirrored, samples=1500, pair_examples=8)
    assert result.verdict is AuditVerdict.VIOLATED
    assert 1 <= result.pairs_tried < 8  # the first one that is plain enough ends the search
    right = audit(noisy, pairs=drawn, epsilon=1.0, relation=mirrored, samples=1500, pair_examples=8)
    assert (right.verdict, right.pairs_tried) == (AuditVerdict.NOT_VIOLATED, 8)
    never = relation_of("never", lambda d, d_prime: False)
    with pytest.raises(InputError, match="its predicate says that they are not"):
        audit(first, pairs=drawn, epsilon=1.0, relation=never, samples=1500, pair_examples=8)
    with pytest.raises(InputError, match=r"pairs\(rng\) returned 3, which is no pair"):
        audit(first, pairs=lambda rng: 3, epsilon=1.0)
    with pytest.raises(InputError, match="all of equal data sets"):
        audit(first, pairs=lambda rng: ([1.0], [1.0]), epsilon=1.0, pair_examples=3)
