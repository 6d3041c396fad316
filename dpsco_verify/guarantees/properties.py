"""Guarantees about a function at every input: identities, monotonicity, Lipschitz constants, convexity."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpsco_verify.errors import InputError
from dpsco_verify.geometry import Box, ConvexSet
from dpsco_verify.geometry.norms import euclidean_norm
from dpsco_verify.guarantees.calls import FunctionError, Guarded
from dpsco_verify.guarantees.everywhere import (
    OF_INTEREST,
    ROUNDING,
    TINY,
    checked,
    compared,
    in_words,
    numbers,
    required_rounding,
    told,
    value,
)
from dpsco_verify.guarantees.points import EXAMPLES, RANDOM, Failed, Told
from dpsco_verify.guarantees.result import GuaranteeResult, guarantee, name_of
from dpsco_verify.validation import require_bool, require_non_negative

_FRACTIONS = (0.25, 0.5, 0.75)


@guarantee
def identity(
    left: Callable[[Any], Any],
    right: Callable[[Any], Any],
    inputs: Any,
    *,
    rounding: float = ROUNDING,
    absolute: float = 0.0,
    seed: int = 0,
    examples: int = EXAMPLES,
    random: int = RANDOM,
    violation_of_interest: float = OF_INTEREST,
    time_limit: float = 60.0,
    name: str | None = None,
) -> GuaranteeResult:
    """Check that two functions agree at every input, to a stated rounding.

    Parameters
    ----------
    left, right
        Functions of one input, with numbers or arrays of one shape as values.
    inputs
        A convex set, whose points are the inputs; an interval ``(low, high)``; or a Hypothesis strategy.
    rounding, absolute
        They agree where ``|l − r| ≤ rounding · max(|l|, |r|) + absolute``, entry by entry.
    seed
        The root seed.
    examples, random
        Inputs that Hypothesis tries; and random ones, drawn from a set or an interval.
    violation_of_interest
        The verdict is ``undecided`` unless a failure on this part of the inputs would have been met.
    time_limit
        Seconds that one call may take.
    name
        How reports name what is judged.

    Raises
    ------
    InputError
        For a bad argument.
    FunctionError
        If a function raises, hangs, or returns something else than finite numbers, or the two return different shapes.

    Notes
    -----
    A violation is exact: the counterexample, shrunk by Hypothesis, refutes the claim. No level is spent. The MDV is a
    part of the inputs: of the random ones, which are independent; or of the strategy's, as if they were.

    Examples
    --------
    >>> left, right = (lambda x: (x + 1) ** 2), (lambda x: x * x + 2 * x + 1)
    >>> print(identity(left, right, (-5, 5)).verdict, identity(left, lambda x: x * x + 1, (-5, 5)).verdict)
    not_violated violated
    """
    shown = name or f"{name_of(left)} and {name_of(right)}"
    first = Guarded(left, name=name_of(left), time_limit=time_limit)
    second = Guarded(right, name=name_of(right), time_limit=time_limit)
    relative, floor = required_rounding(rounding, absolute)

    def fails(point: tuple[Any]) -> Failed:
        [x] = point
        given = told(x)
        at = Told(lambda: f"at x = {given}")
        l_value, r_value = numbers(first, at, x), numbers(second, at, x)
        if l_value.shape != r_value.shape:
            raise FunctionError(
                f"functions {first.name} and {second.name} return shapes {l_value.shape} and {r_value.shape} {at}; "
                "return one shape"
            )
        size = np.maximum(np.abs(l_value), np.abs(r_value))
        excess = np.abs(l_value - r_value) - relative * size - floor
        worst = np.unravel_index(int(np.argmax(excess)), excess.shape) if excess.ndim else ()
        words = Told(lambda: f"{at}: {in_words(l_value)} on the left, {in_words(r_value)} on the right")
        return Failed(excess=float(excess[worst] / (size[worst] + floor + TINY)), words=words)

    return checked(
        fails,
        inputs,
        count=1,
        claim=f"equality to a relative {relative:g}" + (f" and an absolute {floor:g}" if floor else ""),
        name=shown,
        seed=seed,
        examples=examples,
        random=random,
        of_interest=violation_of_interest,
    )


@guarantee
def monotone(
    function: Callable[[Any], Any],
    inputs: Any,
    *,
    increasing: bool = True,
    rounding: float = ROUNDING,
    absolute: float = 0.0,
    seed: int = 0,
    examples: int = EXAMPLES,
    random: int = RANDOM,
    violation_of_interest: float = OF_INTEREST,
    time_limit: float = 60.0,
    name: str | None = None,
) -> GuaranteeResult:
    """Check that a function with numbers as values never falls (or never rises) in any coordinate of its input.

    `inputs` is an interval, a :class:`~dpsco_verify.geometry.Box`, or a strategy of numbers or of vectors of one length
    (two draws, of which the coordinates are sorted). Everything else is as in :func:`identity`.

    Examples
    --------
    >>> print(monotone(lambda x: x**3, (-2, 2)).verdict, monotone(lambda x: x**2, (-2, 2)).verdict)
    not_violated violated
    """
    if isinstance(inputs, ConvexSet) and not isinstance(inputs, Box):
        raise InputError(
            f"inputs={inputs!r} does not hold the smaller and the larger of each two coordinates; give an interval, a "
            "Box or a strategy"
        )
    guarded = Guarded(function, name=name or name_of(function), time_limit=time_limit)
    relative, floor = required_rounding(rounding, absolute)
    sign = 1.0 if require_bool("increasing", increasing) else -1.0

    def fails(point: tuple[Any, Any]) -> Failed:
        low, high = np.minimum(*point), np.maximum(*point)
        low, high = (v if np.ndim(v) else v.item() for v in (low, high))
        first, second = told(low), told(high)
        f_low, f_high = value(guarded, low), value(guarded, high)
        words = Told(lambda: f"at x = {first} and y = {second}: f(x) = {f_low:.17g}, f(y) = {f_high:.17g}")
        return compared(sign * f_low, sign * f_high, relative, floor, words)

    return checked(
        fails,
        inputs,
        count=2,
        claim=f"x ≤ y implies f(x) {'≤' if increasing else '≥'} f(y)",
        name=guarded.name,
        seed=seed,
        examples=examples,
        random=random,
        of_interest=violation_of_interest,
    )


@guarantee
def lipschitz(
    function: Callable[[Any], Any],
    constant: float,
    inputs: Any,
    *,
    rounding: float = ROUNDING,
    absolute: float = 0.0,
    seed: int = 0,
    examples: int = EXAMPLES,
    random: int = RANDOM,
    violation_of_interest: float = OF_INTEREST,
    time_limit: float = 60.0,
    name: str | None = None,
) -> GuaranteeResult:
    """Check ``‖f(x) − f(y)‖₂ ≤ constant · ‖x − y‖₂`` for a function with numbers or vectors as values.

    Everything else is as in :func:`identity`; the rounding is relative to ``‖f(x)‖ + ‖f(y)‖``.

    Examples
    --------
    >>> print(lipschitz(abs, 1.0, (-2, 2)).verdict, lipschitz(lambda x: x**2, 1.0, (-2, 2)).verdict)
    not_violated violated
    """
    bound = require_non_negative("constant", constant)
    guarded = Guarded(function, name=name or name_of(function), time_limit=time_limit)
    relative, floor = required_rounding(rounding, absolute)

    def fails(point: tuple[Any, Any]) -> Failed:
        x, y = point
        first, second = told(x), told(y)
        at = Told(lambda: f"at x = {first} and y = {second}")
        f_x, f_y = (np.atleast_1d(numbers(guarded, at, v)).ravel() for v in (x, y))
        change, distance = float(euclidean_norm(f_x - f_y)), float(euclidean_norm(np.ravel(x) - np.ravel(y)))
        size = float(euclidean_norm(f_x) + euclidean_norm(f_y))
        allowed = bound * distance * (1.0 + relative) + relative * size + floor
        words = Told(
            lambda: (
                f"{at}: ‖f(x) − f(y)‖ = {change:.6g} is more than {bound:g} · ‖x − y‖ = {bound * distance:.6g}"
            )
        )
        return Failed(excess=(change - allowed) / (change + allowed + TINY), words=words)

    return checked(
        fails,
        inputs,
        count=2,
        claim=f"‖f(x) − f(y)‖ ≤ {bound:g} ‖x − y‖",
        name=guarded.name,
        seed=seed,
        examples=examples,
        random=random,
        of_interest=violation_of_interest,
    )


@guarantee
def convex(
    function: Callable[[Any], Any],
    inputs: Any,
    *,
    rounding: float = ROUNDING,
    absolute: float = 0.0,
    seed: int = 0,
    examples: int = EXAMPLES,
    random: int = RANDOM,
    violation_of_interest: float = OF_INTEREST,
    time_limit: float = 60.0,
    name: str | None = None,
) -> GuaranteeResult:
    """Check ``f(λx + (1 − λ)y) ≤ λf(x) + (1 − λ)f(y)`` for a function with numbers as values.

    λ is 1/4, 1/2 and 3/4. Everything else is as in :func:`identity`; the rounding is relative to ``|f(x)| + |f(y)|``.

    Examples
    --------
    >>> print(convex(abs, (-2, 2)).verdict, convex(lambda x: x**3, (-2, 2)).verdict)
    not_violated violated
    """
    guarded = Guarded(function, name=name or name_of(function), time_limit=time_limit)
    relative, floor = required_rounding(rounding, absolute)

    def fails(point: tuple[Any, Any]) -> Failed:
        x, y = point
        first, second = told(x), told(y)
        f_x, f_y = value(guarded, x), value(guarded, y)
        seen = []
        for fraction in _FRACTIONS:
            between = fraction * x + (1.0 - fraction) * y
            middle, chord = value(guarded, between), fraction * f_x + (1.0 - fraction) * f_y
            allowed = chord + relative * (abs(f_x) + abs(f_y)) + floor
            excess = (middle - allowed) / (abs(middle) + abs(f_x) + abs(f_y) + floor + TINY)
            seen.append((excess, -fraction, middle, chord))
        excess, negative, middle, chord = max(seen)
        words = Told(
            lambda: (
                f"at x = {first}, y = {second}, λ = {-negative}: f(λx + (1 − λ)y) = {middle:.17g} is "
                f"more than λf(x) + (1 − λ)f(y) = {chord:.17g}"
            )
        )
        return Failed(excess=excess, words=words)

    return checked(
        fails,
        inputs,
        count=2,
        claim="f(λx + (1 − λ)y) ≤ λf(x) + (1 − λ)f(y)",
        name=guarded.name,
        seed=seed,
        examples=examples,
        random=random,
        of_interest=violation_of_interest,
    )
