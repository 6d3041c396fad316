"""The error budget cannot be overspent, whatever the order, the rounding or the worker."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import pytest

from dpsco_verify.errors import InputError
from dpsco_verify.inference import ErrorBudget, Part, Spending
from dpsco_verify.inference.budget import WHOLE


@pytest.fixture
def budget():
    return ErrorBudget.split(1e-6, {"utility": 3.0, "privacy": 1.0, "regret": 1.0})


def test_shares_are_in_proportion_to_the_weights(budget):
    assert budget.share("utility").alpha == pytest.approx(6e-7)
    assert budget.share("privacy").alpha == pytest.approx(2e-7)
    assert sum(Fraction(alpha) for _, alpha in budget.shares) <= Fraction(1e-6)


def test_split_depends_on_content_not_on_order(budget):
    again = ErrorBudget.split(1e-6, {"regret": 1.0, "utility": 3.0, "privacy": 1.0})
    assert again == budget
    assert hash(again) == hash(budget)


def test_records_are_frozen_and_travel_to_workers(budget):
    assert pickle.loads(pickle.dumps(budget)) == budget  # noqa: S301  our own bytes
    with pytest.raises(AttributeError):
        budget.total = 1.0
    part = budget.share("privacy").divide(["a", "b"]).part("a")
    assert pickle.loads(pickle.dumps(part)) == part  # noqa: S301  our own bytes


def test_parts_equal_and_weighted(budget):
    share = budget.share("utility")
    equal = share.divide(["sphere", "simplex", "box"])
    assert {equal.part(name).alpha for name in ("sphere", "simplex", "box")} == {equal.part("box").alpha}
    assert equal.part("box").alpha == pytest.approx(2e-7)
    weighted = share.divide({"hard": 9.0, "easy": 1.0})
    assert weighted.part("hard").alpha == pytest.approx(5.4e-7)
    assert share.whole() == Part(claim_id="utility", name=WHOLE, alpha=share.alpha)


def test_all_parts_can_be_spent_and_nothing_more(budget):
    spending = Spending(budget)
    parts = budget.share("utility").divide([f"pair-{i}" for i in range(7)])
    for name, _ in parts.levels:
        spending.spend(parts.part(name))
    assert spending.spent("utility") == pytest.approx(6e-7)
    with pytest.raises(InputError, match="exceeds the share"):
        spending.spend(Part(claim_id="utility", name="one more", alpha=1e-12))
    assert len(spending.expenses) == 7


def test_a_part_pays_once(budget):
    spending = Spending(budget)
    part = budget.share("privacy").divide(["a", "b"]).part("a")
    assert spending.spend(part, alpha=1e-9) == 1e-9
    with pytest.raises(InputError, match="spent already"):
        spending.spend(part, alpha=1e-9)
    assert spending.spent() == 1e-9


def test_a_part_cannot_be_tested_above_its_level(budget):
    part = budget.share("privacy").divide(["a", "b"]).part("a")
    with pytest.raises(InputError, match="exceeds"):
        Spending(budget).spend(part, alpha=math.nextafter(part.alpha, 1.0))


def test_two_divisions_of_one_share_cannot_both_be_spent(budget):
    spending = Spending(budget)
    share = budget.share("privacy")
    spending.spend(share.divide(["a"]).part("a"))
    with pytest.raises(InputError, match="exceeds the share"):
        spending.spend(share.divide(["b"]).part("b"))
    with pytest.raises(InputError, match="exceeds the share"):
        spending.spend(share.whole())


def test_forged_records_do_not_help(budget):
    spending = Spending(budget)
    with pytest.raises(InputError, match="exceeds the share"):
        spending.spend(Part(claim_id="privacy", name="x", alpha=1e-3))
    with pytest.raises(InputError, match="no share"):
        spending.spend(Part(claim_id="unknown", name="x", alpha=1e-9))
    for level in (math.nan, -1e-9):
        with pytest.raises(InputError, match="alpha"):
            spending.spend(Part(claim_id="privacy", name="x", alpha=level))
    with pytest.raises(InputError, match="exceed total"):
        ErrorBudget(total=1e-6, shares=(("a", 1e-6), ("b", 1e-20)))
    assert spending.expenses == ()


def test_the_account_says_what_was_spent(budget):
    spending = Spending(budget)
    assert spending.budget is budget
    spending.spend(budget.share("utility").divide(["a", "b"]).part("b"), alpha=1e-8)
    all_of_it = spending.spend(budget.share("regret").whole())
    assert [(e.claim_id, e.part, e.alpha) for e in spending.expenses] == [
        ("regret", WHOLE, all_of_it),
        ("utility", "b", 1e-8),
    ]
    assert (spending.spent("privacy"), spending.spent("utility")) == (0.0, 1e-8)
    assert spending.spent() == 1e-8 + budget.share("regret").alpha


@pytest.mark.parametrize(
    "call",
    [
        lambda: ErrorBudget.split(0.0, {"a": 1.0}),
        lambda: ErrorBudget.split(1.0, {"a": 1.0}),
        lambda: ErrorBudget.split(1e-6, {}),
        lambda: ErrorBudget.split(1e-6, {"a": 0.0}),
        lambda: ErrorBudget.split(1e-6, {"a": math.nan}),
        lambda: ErrorBudget.split(1e-6, {"a": math.inf}),
        lambda: ErrorBudget.split(1e-300, {"a": 1e-30, "b": 1.0}),
        lambda: ErrorBudget.split(1e-6, {"a": 1.0}).share("b"),
        lambda: ErrorBudget.split(1e-6, {"a": 1.0}).share("a").divide([]),
        lambda: ErrorBudget.split(1e-6, {"a": 1.0}).share("a").divide(["x", "x"]),
        lambda: ErrorBudget.split(1e-6, {"a": 1.0}).share("a").divide(["x"]).part("y"),
        lambda: Spending(ErrorBudget.split(1e-6, {"a": 1.0})).spent("b"),
    ],
)
def test_unusable_arguments_are_refused(call):
    with pytest.raises(InputError):
        call()
