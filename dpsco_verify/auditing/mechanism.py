"""Mechanisms, and the guard through which an audit calls them.

A mechanism is ``mechanism(dataset, size, rng)`` and returns `size` independent outputs. The guard hands it a copy of
the data set, a stream of its own for each call and a time limit, and turns what goes wrong into one sentence that names
the call. What would make the samples worthless is an error too: a data set that was changed, numbers that do not come
from the generator, runs of one call that repeat each other.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from dpsco_verify.auditing.outputs import Outputs, encode
from dpsco_verify.auditing.records import same_data, snapshot
from dpsco_verify.errors import InputError
from dpsco_verify.execution import stream
from dpsco_verify.execution.time_limit import Worker
from dpsco_verify.validation import require_integer, require_positive

Mechanism = Callable[[Any, int, np.random.Generator], Any]
"""``mechanism(dataset, size, rng)`` returns `size` independent outputs: an array of shape (size, …), or a list."""

_TRIAL = 64
_TRIAL_PER_CALL = 8
_FEWEST_DISTINCT = 5


class MechanismError(InputError):
    """The mechanism under audit raised, hung, or returned what cannot be judged."""


class PerCall:
    """A mechanism made of a function that returns one output a call; see :func:`per_call`."""

    def __init__(self, function: Callable[..., Any], *, takes_rng: bool) -> None:
        self.function = function
        self.takes_rng = takes_rng
        functools.update_wrapper(self, function, updated=())

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> list[Any]:
        """Return the outputs of `size` calls, as a list."""
        if self.takes_rng:
            return [self.function(dataset, rng) for _ in range(size)]
        return [self.function(dataset) for _ in range(size)]


def per_call(function: Callable[..., Any], *, rng: bool | None = None) -> PerCall:
    """Return a mechanism that calls `function` once for each output.

    Parameters
    ----------
    function
        ``function(dataset)`` or ``function(dataset, rng)``, returning a number, a truth value, a string, bytes, None,
        or a tuple, list or array of these, of any length.
    rng
        Whether it takes a generator; None finds out from its signature. One that takes none draws its randomness
        elsewhere, so its audit cannot be repeated number by number, and its result says so.
    """
    if not callable(function):
        raise InputError(f"function={function!r} is not callable; give a function of a data set")
    return PerCall(function, takes_rng=_takes_two(function) if rng is None else rng)


def _takes_two(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    needed = [
        p
        for p in parameters
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        and (p.default is p.empty or p.name == "rng")
    ]
    return len(needed) >= 2


def mechanism_name(mechanism: Any) -> str:
    """Return the name by which reports speak of a mechanism."""
    for source in (mechanism, type(mechanism)):
        name = getattr(source, "__name__", None)
        if isinstance(name, str) and name:
            return name
    return "mechanism"


class Caller:
    """Calls one mechanism on the two data sets of a pair, guarded.

    Parameters
    ----------
    mechanism, name
        What is called, and how messages name it.
    pair
        The two data sets; they are never handed out, only copies are.
    seed
        The root seed; each call's stream depends on it, on the purpose and on the number of the chunk.
    time_limit
        Seconds that one call may take.
    """

    def __init__(
        self, mechanism: Mechanism, pair: tuple[Any, Any], *, name: str, seed: int, time_limit: float
    ) -> None:
        if not callable(mechanism):
            raise InputError(
                f"mechanism={mechanism!r} is not callable; give mechanism(dataset, size, rng), or per_call(f)"
            )
        self._mechanism = mechanism
        self._pair = pair
        self._copies = (snapshot(pair[0]), snapshot(pair[1]))
        self._name = name
        self._seed = require_integer("seed", seed, minimum=0)
        self._time_limit = require_positive("time_limit", time_limit)
        self._calls = 0
        self.width = 1
        """Entries of the widest output that was drawn."""
        self._worker = Worker()
        self.reproducible = bool(getattr(mechanism, "takes_rng", True))

    def draw(self, side: int, size: int, purpose: str, chunk: int = 0) -> Outputs:
        """Return `size` outputs on data set number `side` from the stream of this purpose and chunk.

        Raises
        ------
        MechanismError
            If the mechanism raises, takes longer than the time limit, returns something else than `size` outputs, or
            changes the data set that it was given.
        """
        self._calls += 1
        label = ("d", "d_prime")[side]
        call = f"call {self._calls}, {self._name}({label}, {size}, rng)"
        rng = stream(self._seed, f"{purpose}/{label}", chunk=chunk)
        returned = self._guarded(call, self._copies[side], size, rng)
        if not same_data(self._copies[side], self._pair[side]):
            raise MechanismError(
                f"mechanism={self._name} changed the data set that it was given, in {call}; work on a copy"
            )
        try:
            outputs = encode(returned, size)
        except InputError as error:
            raise MechanismError(f"mechanism={self._name} {error} (in {call})") from None
        self.width = max(self.width, outputs.width)
        return outputs

    def trial(self) -> None:
        """Call the mechanism a few times and refuse what would make samples worthless.

        Raises
        ------
        MechanismError
            As :meth:`draw`; if two calls with generators in the same state differ; if calls with different ones return
            the same varied numbers; or if all runs of a call are equal while those of another call differ from them.
        """
        size = _TRIAL_PER_CALL if isinstance(self._mechanism, PerCall) else _TRIAL
        first = self.draw(0, size, "trial")
        if not self.reproducible:
            self.draw(1, 1, "trial")
            return
        if not np.array_equal(self.draw(0, size, "trial").fingerprints, first.fingerprints):
            raise MechanismError(
                f"mechanism={self._name} ignores the rng: call 2 returned other outputs than call 1 with a generator "
                "in the same state; draw from rng alone, or wrap a function that has its own randomness in "
                "per_call(f, rng=False)"
            )
        other = self.draw(0, size, "trial", 1)
        distinct = len(np.unique(first.fingerprints))
        if np.array_equal(other.fingerprints, first.fingerprints):
            if distinct >= _FEWEST_DISTINCT:
                raise MechanismError(
                    f"mechanism={self._name} ignores the rng: calls 1 and 3 returned the same {distinct} different "
                    "outputs with different generators, so its noise repeats; draw from rng"
                )
        elif size > 1 and distinct == 1 and len(np.unique(other.fingerprints)) == 1 and size >= _TRIAL:
            again = self.draw(0, size, "trial", 2)
            if len(np.unique(again.fingerprints)) == 1 and again.fingerprints[0] not in (
                first.fingerprints[0],
                other.fingerprints[0],
            ):
                raise MechanismError(
                    f"mechanism={self._name} returned {size} equal outputs in each of the calls 1, 3 and 4, but "
                    "others in each: the runs of one call must be independent; draw noise for each of them"
                )
        self.draw(1, size, "trial")

    def _guarded(self, call: str, dataset: Any, size: int, rng: np.random.Generator) -> Any:
        try:
            returned, error = self._worker.run(
                lambda: self._mechanism(dataset, size, rng), seconds=self._time_limit
            )
        except TimeoutError:
            raise MechanismError(
                f"mechanism={self._name} did not return within time_limit={self._time_limit:g} seconds in {call}; "
                "give a larger time_limit, or fix it"
            ) from None
        if isinstance(error, MechanismError):
            raise error
        if error is not None:
            said = f"{type(error).__name__}: {error}".rstrip(": ")
            raise MechanismError(f"mechanism={self._name} raised {said} in {call}; fix it") from error
        return returned
