"""Where a property is looked for, a set, an interval or a Hypothesis strategy; and the search, which shrinks.

A property has an *excess*: by how much it fails beyond what rounding explains, in units of the sizes compared, and at
most 0 where it holds. Hypothesis searches inputs of every kind, with ties, zeros and sizes far apart, climbs on the
excess and shrinks what it finds. On a set or an interval independent random points follow, of which the power speaks.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.execution import stream
from dpsco_verify.geometry import ConvexSet
from dpsco_verify.guarantees.result import POWER
from dpsco_verify.inference.checks import require_range
from dpsco_verify.validation import require_integer

EXAMPLES = 300
"""Inputs that Hypothesis tries, and as many to shrink what it finds."""
RANDOM = 1000
"""Random inputs, where there are any."""
_EXPONENT = 6
_SCALES = (-3.0, 1.0)


class Told:
    """A text that is made when it is read: of the inputs that are tried, few are told of."""

    def __init__(self, make: Callable[[], str]) -> None:
        self._make = make

    def __str__(self) -> str:
        return self._make()


@dataclass(frozen=True, kw_only=True)
class Failed:
    """How a property fails at an input: by `excess`, in words, with the numbers."""

    excess: float
    words: Told | str


Property = Callable[[Any], "Failed"]


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """Where a property is looked for.

    Attributes
    ----------
    strategy
        A Hypothesis strategy of inputs.
    random
        Draws one input; None where only the strategy is known.
    words
        What they are.
    dimension
        Of points in a set; None for other inputs.
    """

    strategy: Any
    random: Callable[[np.random.Generator], Any] | None
    words: str
    dimension: int | None = None


def inputs_of(where: Any, *, count: int) -> Inputs:
    """Return tuples of `count` inputs each from a set, an interval ``(low, high)`` or a Hypothesis strategy.

    Raises
    ------
    InputError
        For anything else.
    """
    from hypothesis import strategies as st  # noqa: PLC0415  only properties need Hypothesis

    from dpsco_verify.strategies.geometry import vectors  # noqa: PLC0415  the same

    if isinstance(where, ConvexSet):
        points = vectors(where.dimension, max_exponent=_EXPONENT).map(where.project)

        def member(rng: np.random.Generator) -> FloatArray:
            reach = where.max_norm if math.isfinite(where.max_norm) else 1.0
            scale = reach * 10.0 ** rng.uniform(*_SCALES) / math.sqrt(where.dimension)
            return where.project(scale * rng.standard_normal(where.dimension))

        return Inputs(
            strategy=st.tuples(*[points] * count),
            random=lambda rng: tuple(member(rng) for _ in range(count)),
            words=f"points of {where!r}",
            dimension=where.dimension,
        )
    if isinstance(where, tuple) and len(where) == 2:
        low, high = require_range(*where)
        return Inputs(
            strategy=st.tuples(*[st.floats(low, high)] * count),
            random=lambda rng: tuple(float(rng.uniform(low, high)) for _ in range(count)),
            words=f"numbers in [{low:g}, {high:g}]",
        )
    if isinstance(where, st.SearchStrategy):
        return Inputs(strategy=st.tuples(*[where] * count), random=None, words="what the strategy draws")
    raise InputError(
        f"inputs={where!r} say not where to look; give a convex set, an interval (low, high) or a Hypothesis strategy"
    )


@dataclass(frozen=True, kw_only=True)
class Search:
    """What a search came to: the failure that was found, if any, how many inputs were tried, and what would be found.

    `part` is the part of the random inputs, or of the strategy's, of which one would have been met with probability
    0.9.
    """

    failed: Failed | None
    tried: int
    part: float
    random: bool


def search(of: Property, inputs: Inputs, *, seed: int, examples: int, random: int) -> Search:
    """Look for an input at which the property fails, and shrink it."""
    from hypothesis import strategies as st  # noqa: PLC0415  only properties need Hypothesis

    from dpsco_verify.auditing.worst_pair import search_worst_pair  # noqa: PLC0415  the same

    def score(point: Any, _: None) -> float:
        # Any failure is as good as any other, so that the simplest one is kept.
        excess = of(point).excess
        return 1.0 if excess > 0.0 else excess

    found = search_worst_pair(
        st.tuples(inputs.strategy, st.none()),
        score,
        seed=seed,
        max_examples=require_integer("examples", examples, minimum=1),
        max_shrinks=4 * examples,
    )
    if found.score > 0.0:
        return Search(failed=of(found.d), tried=found.examples, part=0.0, random=False)
    if inputs.random is None:
        return Search(failed=None, tried=found.examples, part=met(found.examples), random=False)
    rng = stream(seed, "guarantee/points")
    for number in range(require_integer("random", random, minimum=1)):
        at = of(inputs.random(rng))
        if at.excess > 0.0:
            return Search(failed=at, tried=found.examples + number + 1, part=0.0, random=True)
    return Search(failed=None, tried=found.examples + random, part=met(random), random=True)


def met(draws: int) -> float:
    """Return the probability of an event that so many independent draws meet with probability :data:`POWER`."""
    return -math.expm1(math.log1p(-POWER) / draws)
