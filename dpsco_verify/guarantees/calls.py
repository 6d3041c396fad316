"""Calls of a user's own functions, and observations drawn from them: what goes wrong is one sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.execution import stream
from dpsco_verify.execution.time_limit import Worker
from dpsco_verify.validation import require_integer, require_positive

_TRIAL = 16
_FEWEST_DISTINCT = 5

Draw = Callable[[int, np.random.Generator], Any]
"""``draw(size, rng)`` returns `size` independent observations, shape (size,)."""


class FunctionError(InputError):
    """A function under test raised, hung, or returned what cannot be judged.

    Examples
    --------
    >>> mean_at_most(lambda size, rng: ["one"] * size, 0.5, low=0, high=1)
    Traceback (most recent call last):
        ...
    dpsco_verify.guarantees.calls.FunctionError: function=<lambda> returned a value of type list in ...
    """


class Guarded:
    """A function of the user's own, called with a time limit.

    Parameters
    ----------
    function, name
        What is called, and how messages name it.
    time_limit
        Seconds that one call may take.
    """

    def __init__(self, function: Callable[..., Any], *, name: str, time_limit: float) -> None:
        if not callable(function):
            raise InputError(f"{name}={function!r} is not callable; give a function")
        self._function = function
        self.name = name
        self._time_limit = require_positive("time_limit", time_limit)
        self._worker = Worker()

    def __call__(self, shown: object, *arguments: Any, **options: Any) -> Any:
        """Return what the function returns; `shown` is the call as messages show it, by its `str`.

        Raises
        ------
        FunctionError
            If it raises, or takes longer than the time limit.
        """
        try:
            returned, error = self._worker.run(
                lambda: self._function(*arguments, **options), seconds=self._time_limit
            )
        except TimeoutError:
            raise FunctionError(
                f"function={self.name} did not return within time_limit={self._time_limit:g} seconds in {shown}; give "
                "a larger time_limit, or fix it"
            ) from None
        if isinstance(error, InputError):
            raise error
        if error is not None:
            said = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(": ")
            raise FunctionError(f"function={self.name} raised {said} in {shown}; fix it") from error
        return returned

    def array(
        self, shown: object, shape: tuple[int, ...], *arguments: Any, finite: bool = True, **options: Any
    ) -> FloatArray:
        """Return what the function returns as numbers of a shape, without NaN, and finite where that is asked for."""
        returned = self(shown, *arguments, **options)
        try:
            values = np.array(returned, dtype=np.float64)
        except (TypeError, ValueError):
            kind = type(returned).__name__
            raise FunctionError(
                f"function={self.name} returned a value of type {kind} in {shown}; return real numbers"
            ) from None
        if values.shape != shape:
            raise FunctionError(
                f"function={self.name} returned an array of shape {values.shape} in {shown}; return the shape {shape}"
            )
        bad = ~np.isfinite(values) if finite else np.isnan(values)
        if bad.any():
            raise FunctionError(
                f"function={self.name} returned {float(values[bad].flat[0])!r} in {shown}; return finite numbers"
            )
        return values


class Sampler:
    """Observations of a user's own function, each call with a stream of its own.

    Parameters
    ----------
    draw
        ``draw(*arguments, size, rng)``, shape (size,).
    name
        How messages name it.
    seed
        The root seed.
    time_limit
        Seconds that one call may take.
    arguments
        What comes before the size.
    finite
        Whether infinite observations are refused.
    """

    def __init__(
        self,
        draw: Callable[..., Any],
        *,
        name: str,
        seed: int,
        time_limit: float,
        arguments: tuple[Any, ...] = (),
        finite: bool = True,
    ) -> None:
        self._guarded = Guarded(draw, name=name, time_limit=time_limit)
        self._seed = require_integer("seed", seed, minimum=0)
        self._arguments = arguments
        self._finite = finite
        self._trial()

    def draw(self, size: int, purpose: str = "sample", chunk: int = 0) -> FloatArray:
        """Return `size` observations from the stream of this purpose and chunk, shape (size,).

        Raises
        ------
        FunctionError
            If the function raises, hangs, or returns something else than `size` numbers.
        """
        given = "".join(f"{argument!r}, " for argument in self._arguments)
        rng = stream(self._seed, f"guarantee/{given}{purpose}", chunk=chunk)
        shown = f"{self._guarded.name}({given}{size}, rng)"
        return self._guarded.array(shown, (size,), *self._arguments, size, rng, finite=self._finite)

    def _trial(self) -> None:
        first, again = self.draw(_TRIAL, "trial"), self.draw(_TRIAL, "trial")
        if not np.array_equal(first, again):
            raise FunctionError(
                f"function={self._guarded.name} ignores the rng: two calls with generators in the same state returned "
                "different observations; draw from rng alone"
            )
        if np.unique(first).size >= _FEWEST_DISTINCT and np.array_equal(first, self.draw(_TRIAL, "trial", 1)):
            raise FunctionError(
                f"function={self._guarded.name} ignores the rng: two calls with different generators returned the same "
                "varied observations; draw from rng"
            )
