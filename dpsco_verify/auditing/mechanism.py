"""Mechanisms, and the guard through which an audit calls them.

A mechanism is ``mechanism(dataset, size, rng)`` and returns `size` independent outputs. The guard hands it a copy of
the data set, a stream of its own for each call and a time limit. That a run raises is an outcome of it
(:mod:`dpsco_verify.auditing.raising`); what else goes wrong becomes one sentence that names the call. What would make
the samples worthless is an error too: a data set that was changed, numbers that do not come from the generator, runs
of one call that repeat each other.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from dpsco_verify.auditing.outputs import Outputs, encode
from dpsco_verify.auditing.plain import Raised
from dpsco_verify.auditing.raising import MOST_SINGLE_RUNS, encoded, runs_given_an_exception
from dpsco_verify.auditing.records import same_data, snapshot
from dpsco_verify.errors import InputError
from dpsco_verify.execution import stream
from dpsco_verify.execution.time_limit import Deadline, TimeIsUp, Worker
from dpsco_verify.validation import require_integer, require_positive

Mechanism = Callable[[Any, int, np.random.Generator], Any]
"""``mechanism(dataset, size, rng)`` returns `size` independent outputs: an array of shape (size, …), or a list."""

_TRIAL = 64
_TRIAL_PER_CALL = 8
_FEWEST_DISTINCT = 5
_EQUAL_NEIGHBOURS = 24


class MechanismError(InputError):
    """The mechanism under audit always raised, hung, or returned what cannot be judged.

    Attributes
    ----------
    outcome
        Where it is an outcome of a run, as an exception is: which.

    Examples
    --------
    >>> audit(lambda data, size, rng: [0.0], [0], [1], epsilon=1.0)
    Traceback (most recent call last):
        ...
    dpsco_verify.auditing.mechanism.MechanismError: mechanism=<lambda> returned 1 outputs; return ...
    """

    def __init__(self, message: str, *, outcome: str | None = None) -> None:
        super().__init__(message)
        self.outcome = outcome


class PerCall:
    """A mechanism made of a function that returns one output a call; see :func:`per_call`.

    Examples
    --------
    >>> one = PerCall(lambda data, rng: data[0] + rng.integers(2), takes_rng=True)
    >>> one([5], 3, np.random.default_rng(0))
    [np.int64(6), np.int64(6), np.int64(6)]
    """

    def __init__(self, function: Callable[..., Any], *, takes_rng: bool) -> None:
        self.function = function
        self.takes_rng = takes_rng
        functools.update_wrapper(self, function, updated=())

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> list[Any]:
        """Return the outputs of `size` calls, as a list."""
        return [self._once(dataset, rng) for _ in range(size)]

    def outcomes(self, dataset: Any, size: int, rng: np.random.Generator) -> list[Any]:
        """Return the outputs of `size` calls, a :class:`Raised` for each that raised."""
        found: list[Any] = []
        for _ in range(size):
            try:
                found.append(self._once(dataset, rng))
            except Exception as error:
                if _is_no_outcome(error):
                    raise
                found.append(_outcome(error))
        return found

    def _once(self, dataset: Any, rng: np.random.Generator) -> Any:
        return self.function(dataset, rng) if self.takes_rng else self.function(dataset)


def per_call(function: Callable[..., Any], *, rng: bool | None = None) -> PerCall:
    """Return a mechanism that calls `function` once for each output.

    Parameters
    ----------
    function
        ``function(dataset)`` or ``function(dataset, rng)``, returning a number, a truth value, a string, bytes, None,
        what :func:`dpsco_verify.auditing.plain.plain` makes of these, or a tuple, list or array, of any length. That it
        raises is an outcome too.
    rng
        Whether it takes a generator; None finds out from its signature. One that takes none draws its randomness
        elsewhere, so its audit cannot be repeated number by number, and its result says so.

    Examples
    --------
    >>> one = per_call(lambda data, rng: (data[0] + rng.geometric(0.7), "count"))
    >>> print(audit(one, [0], [1], epsilon=1.0, samples=2000).verdict)  # a 1 comes from [0] alone
    violated
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
    deadline
        When the whole has to end; a call that would go on beyond it raises TimeIsUp.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        pair: tuple[Any, Any],
        *,
        name: str,
        seed: int,
        time_limit: float,
        deadline: Deadline | None = None,
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
        self._deadline = Deadline(None) if deadline is None else deadline
        self._calls = 0
        self.width = 1
        """Entries of the widest output that was drawn."""
        self._worker = Worker()
        self._raised: Exception | None = None  # the last, for its traceback
        self._outcomes = mechanism.outcomes if isinstance(mechanism, PerCall) else mechanism
        self.reproducible = bool(getattr(mechanism, "takes_rng", True))

    def draw(self, side: int, size: int, purpose: str, chunk: int = 0) -> Outputs:
        """Return `size` outputs on data set number `side` from the stream of this purpose and chunk.

        Raises
        ------
        MechanismError
            If the mechanism takes longer than the time limit, returns something else than `size` outputs, changes the
            data set that it was given, or raises in calls of many runs and never in single ones.
        """
        self._calls += 1
        label = ("d", "d_prime")[side]
        call = f"call {self._calls}, {self._name}({label}, {size}, rng)"
        rng = stream(self._seed, f"{purpose}/{label}", chunk=chunk)
        returned = self._guarded(call, self._copies[side], size, rng)
        runs: list[Any] | None = None
        if isinstance(returned, Raised):
            # A call of one run that raises is that run.
            runs = (
                [returned]
                if size == 1
                else self._singly(call, side, size, returned, f"{purpose}/{label}", chunk)
            )
        if not same_data(self._copies[side], self._pair[side]):
            raise MechanismError(
                f"mechanism={self._name} changed the data set that it was given, in {call}; work on a copy"
            )
        try:
            outputs = encode(returned, size) if runs is None else encoded(runs)
        except InputError as error:
            raise MechanismError(f"mechanism={self._name} {error} (in {call})") from None
        self.width = max(self.width, outputs.width)
        return outputs

    def trial(self) -> None:
        """Call the mechanism a few times and refuse what would make samples worthless.

        Raises
        ------
        MechanismError
            As :meth:`draw`; if all runs raise alike on both data sets; if two calls with generators in the same state
            differ; if calls with different ones return the same varied numbers; or if all runs of a call are equal
            while those of another call differ from them, or many runs are equal to the next one.
        """
        size = _TRIAL_PER_CALL if isinstance(self._mechanism, PerCall) else _TRIAL
        first = self.draw(0, size, "trial")
        self._require_some_output(first, size)
        if not self.reproducible:
            self.draw(1, 1, "trial")
            return
        if not np.array_equal(self.draw(0, size, "trial").fingerprints, first.fingerprints):
            raise MechanismError(
                f"mechanism={self._name} ignores the rng: call 2 returned other outputs than call 1 with a generator "
                "in the same state; draw from rng alone, or wrap a function that has its own randomness in "
                "per_call(f, rng=False)"
            )
        self._require_independent_runs(first)
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

    def _require_independent_runs(self, first: Outputs) -> None:
        """Refuse a call whose neighbouring runs are equal far more often than others: they share their noise.

        Of e equal pairs among n independent runs ``2e/n`` are expected to be neighbours. Six times as many, and 24 at
        least, have a chance below 1e-10.
        """
        prints, n = first.fingerprints, first.size
        counts = np.unique(prints, return_counts=True)[1]
        equal = float((counts * (counts - 1.0)).sum()) / 2.0
        neighbours = int((prints[1:] == prints[:-1]).sum())
        if neighbours >= _EQUAL_NEIGHBOURS and neighbours > 6.0 * 2.0 * equal / n:
            raise MechanismError(
                f"mechanism={self._name} returned {n} outputs in call 1, of which {neighbours} are equal to the next "
                "one, and few to others: the runs of one call must be independent; draw noise for each of them"
            )

    def _require_some_output(self, first: Outputs, size: int) -> None:
        """Refuse a mechanism that does nothing but raise, on either data set and in one way: it is broken."""
        said = (
            [one.said for one in first.raw if isinstance(one, Raised)] if isinstance(first.raw, list) else []
        )
        if len(said) < first.size:
            return
        second = self.draw(1, size, "trial")
        if np.array_equal(np.unique(first.fingerprints), np.unique(second.fingerprints)):
            once = isinstance(self._mechanism, PerCall)
            first_words = f"mechanism={self._name} raised {said[0]} in call 1" if once else said[0]
            raise MechanismError(
                f"{first_words}, and in every run on either data set; fix it"
            ) from self._raised

    def _singly(self, call: str, side: int, size: int, raised: Raised, purpose: str, chunk: int) -> list[Any]:
        """Return `size` single runs in place of a call that raised; in the trial fewer, as they may be slow."""
        size = min(size, _TRIAL_PER_CALL) if purpose.startswith("trial") else size
        rng = stream(self._seed, f"{purpose}/singly", chunk=chunk)
        runs = runs_given_an_exception(lambda: self._guarded(call, self._copies[side], 1, rng), size)
        if runs is None:
            raise MechanismError(
                f"{raised.said}, but in none of {MOST_SINGLE_RUNS:,} calls of one run, so that nobody can tell how "
                "often a run raises; fix it, or give a function that returns one output, as per_call(f)"
            )
        return runs

    def _guarded(self, call: str, dataset: Any, size: int, rng: np.random.Generator) -> Any:
        left = self._deadline.left
        if left <= 0.0:
            raise TimeIsUp
        try:
            returned, error = self._worker.run(
                lambda: self._outcomes(dataset, size, rng), seconds=min(self._time_limit, left)
            )
        except TimeoutError:
            if left < self._time_limit:
                raise TimeIsUp from None
            raise MechanismError(
                f"mechanism={self._name} did not return within time_limit={self._time_limit:g} seconds in {call}; "
                "give a larger time_limit, or fix it"
            ) from None
        if error is None:
            return returned
        if isinstance(error, MechanismError):
            if error.outcome is None:
                raise error
            return Raised(error.outcome, str(error))
        said = f"{type(error).__name__}: {error}".rstrip(": ")
        if not isinstance(error, Exception) or _is_no_outcome(error):
            raise MechanismError(f"mechanism={self._name} raised {said} in {call}; fix it") from error
        self._raised = error
        return Raised(type(error).__qualname__, f"mechanism={self._name} raised {said} in {call}")


def _is_no_outcome(error: Exception) -> bool:
    """Whether an exception tells of this machine or of this package, and not of the data."""
    return isinstance(error, MemoryError) or (isinstance(error, MechanismError) and error.outcome is None)


def _outcome(error: Exception) -> Raised:
    return Raised(type(error).__qualname__, f"{type(error).__name__}: {error}".rstrip(": "))
