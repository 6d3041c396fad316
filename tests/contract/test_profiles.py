"""What every table by profile owes: a slower profile looks at no less than a quicker one does."""

from __future__ import annotations

import dataclasses
import importlib
import itertools
import pkgutil
from fractions import Fraction

import dpsco_verify
from dpsco_verify.choices import Profile


def tables():
    """Yield each table by profile in the modules of the product, with its name, once."""
    seen = set()
    for found in pkgutil.walk_packages(dpsco_verify.__path__, "dpsco_verify."):
        if found.name.endswith("__main__"):
            continue
        for name, value in vars(importlib.import_module(found.name)).items():
            if isinstance(value, dict) and value.keys() == set(Profile) and id(value) not in seen:
                seen.add(id(value))
                yield f"{found.name.removeprefix('dpsco_verify.')}.{name}", value


TABLES = dict(tables())

# Grids that are laid out anew for a profile: more places, and not all the same ones.
LAID_OUT_ANEW = {
    "comparison.plan._PLANS.epsilons: standard",
    "comparison.plan._PLANS.sizes: standard",
    "papers.arora2020.certified_noise.statement._GRID: deep",
    "papers.arora2020.privacy.claim._SIZES: deep",
    "papers.arora2020.single_step.statement.WORK.deltas: deep",
    "papers.arora2020.single_step.statement.WORK.deltas: standard",
    "papers.arora2020.single_step.statement.WORK.epsilons: deep",
    "papers.arora2020.single_step.statement.WORK.epsilons: standard",
    "papers.arora2020.tail_integral.statement.SIZES: standard",
    "papers.arora2020.translation.statement._SIZES: deep",
    "papers.bassily2019.minibatch.bounds.MANY: deep",
    "papers.bassily2019.minibatch.bounds.TEN: deep",
}


def shrinking(name, quicker, slower):
    """Yield what of the quicker profile's effort the slower one has less of: a number, or the places of a grid."""
    if dataclasses.is_dataclass(quicker):
        for field in dataclasses.fields(quicker):
            yield from shrinking(
                f"{name}.{field.name}", getattr(quicker, field.name), getattr(slower, field.name)
            )
    elif not isinstance(quicker, tuple):
        if quicker > slower:
            yield name
    elif not set(quicker) <= set(slower):
        yield name
        if len(set(quicker)) >= len(set(slower)):
            yield f"{name}, and in number"


def test_the_net_is_wide():
    assert len(TABLES) >= 30
    assert "papers.arora2020.gradient_queries.statement._SIZES" in TABLES


def test_a_slower_profile_looks_at_no_less():
    found = {
        f"{less}: {slower}"
        for name, table in TABLES.items()
        for quicker, slower in itertools.pairwise(Profile)
        for less in shrinking(name, table[quicker], table[slower])
    }
    assert found == LAID_OUT_ANEW


def numbers(name, effort):
    """Yield each grid of numbers among a profile's effort."""
    if dataclasses.is_dataclass(effort):
        for field in dataclasses.fields(effort):
            yield from numbers(f"{name}.{field.name}", getattr(effort, field.name))
    elif isinstance(effort, tuple) and all(isinstance(each, (int, float, Fraction)) for each in effort):
        yield name, effort


def test_grids_of_numbers_are_in_order_and_name_none_twice():
    grids = [
        grid
        for name, table in TABLES.items()
        for profile, effort in table.items()
        for grid in numbers(f"{name}, {profile}", effort)
    ]
    assert len(grids) >= 50
    ordered = (sorted(set(grid)) for _, grid in grids)
    assert [
        name for (name, grid), up in zip(grids, ordered, strict=True) if list(grid) not in (up, up[::-1])
    ] == []
