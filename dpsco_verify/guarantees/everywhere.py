"""What the guarantees about a function at every input share: rounding, values in words, and the result."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.guarantees.calls import FunctionError, Guarded
from dpsco_verify.guarantees.points import Failed, Property, Told, inputs_of, search
from dpsco_verify.guarantees.result import POWER, GuaranteeResult, exact
from dpsco_verify.validation import require_finite_array, require_half_open_interval, require_non_negative

ROUNDING = 1e-9
"""Relative room for rounding, by default."""

OF_INTEREST = 0.01
"""The part of the inputs that matters, by default."""

TINY = float(np.finfo(np.float64).tiny)


def required_rounding(rounding: float, absolute: float) -> tuple[float, float]:
    """Return the relative and the absolute room for rounding."""
    return require_non_negative("rounding", rounding), require_non_negative("absolute", absolute)


def numbers(guarded: Guarded, at: Told, x: Any) -> FloatArray:
    """Return the numbers that a function has at an input."""
    returned = guarded(call(guarded, x), x)
    try:
        return require_finite_array("value", returned)
    except InputError as error:
        raise FunctionError(f"function={guarded.name} {at}: {error}") from None


def value(guarded: Guarded, x: Any) -> float:
    """Return the number that a function has at an input."""
    return float(guarded.array(call(guarded, x), (), x))


def told(x: Any) -> Told | str:
    """Return an input in a line, as it is now: a function may change an array that it is given."""
    if not isinstance(x, np.ndarray):
        return in_words(x)
    kept = x.copy()
    return Told(lambda: in_words(kept))


def call(guarded: Guarded, x: Any) -> Told:
    """Return a call as messages show it."""
    given = told(x)
    return Told(lambda: f"{guarded.name}({given})")


def compared(left: float, right: float, relative: float, floor: float, words: Told) -> Failed:
    """Return by how much ``left ≤ right`` fails."""
    size = abs(left) + abs(right)
    return Failed(excess=(left - right - relative * size - floor) / (size + floor + TINY), words=words)


def in_words(x: Any) -> str:
    """Return an input or a value in a line."""
    if isinstance(x, np.ndarray) and x.ndim:
        with np.printoptions(threshold=8, edgeitems=3, precision=6):
            return " ".join(np.array2string(x, separator=", ").split())
    return repr(x.item() if isinstance(x, np.ndarray | np.generic) else x)


def checked(
    fails: Property,
    where: Any,
    *,
    count: int,
    claim: str,
    name: str,
    seed: int,
    examples: int,
    random: int,
    of_interest: float,
) -> GuaranteeResult:
    """Search for a failure and return the result; `where` is what :func:`inputs_of` takes."""
    interest = require_half_open_interval("violation_of_interest", of_interest, 0.0, 1.0)
    inputs = inputs_of(where, count=count)
    found = search(fails, inputs, seed=seed, examples=examples, random=random)
    failed = None if found.failed is None else str(found.failed.words)
    whose = "random inputs" if found.random else "the strategy's inputs, were they independent,"
    return exact(
        name=name,
        claim=f"{claim}, for {inputs.words}",
        seen=failed or f"{found.tried:,} inputs were tried",
        counterexample=failed,
        detectable=f"a failure at {found.part:.3g} of {whose} would have been met with probability {POWER:g}",
        mdv=found.part,
        of_interest=interest,
        samples=found.tried,
        seed=seed,
    )
