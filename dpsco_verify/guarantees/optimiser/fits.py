"""An optimiser of a user's own, as it is called: a Python function, or a program."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.auditing.mechanism import MechanismError
from dpsco_verify.auditing.program import Program
from dpsco_verify.errors import InputError
from dpsco_verify.geometry import Box, ConvexSet, L1Ball, L2Ball, Simplex
from dpsco_verify.guarantees.calls import FunctionError, Guarded
from dpsco_verify.guarantees.result import name_of
from dpsco_verify.problems import Loss
from dpsco_verify.related import Task
from dpsco_verify.validation import require_bool

_PROGRAM_LOSSES = ("linear", "absolute", "hinge", "logistic", "quantile", "huber")


TOGETHER = 128
"""Runs that share a time limit."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where an optimiser is run: the task, and the privacy that it has to spend.

    `lipschitz` is the L that it is told, that of the task unless a claim is about another one.
    """

    task: Task
    epsilon: float
    delta: float
    lipschitz: float | None = None
    loss: Loss | None = None

    @property
    def told(self) -> tuple[float, float, float, float]:
        """``(L, D, ε, δ)``."""
        L = self.task.lipschitz if self.lipschitz is None else self.lipschitz
        return L, self.task.diameter, self.epsilon, self.delta


class Claim:
    """What an optimiser claims, a function of ``(n, d, L, D, ε, δ)``, and of `problem` where it takes that.

    Parameters
    ----------
    kind, function, time_limit
        What is claimed; the function, and the seconds that one call may take.

    Raises
    ------
    InputError
        If it is not callable.
    """

    def __init__(self, kind: str, function: Any, *, time_limit: float) -> None:
        if not callable(function):
            raise InputError(
                f"{kind}={function!r} is not callable; give a function of (n, d, L, D, epsilon, delta)"
            )
        self._guarded = Guarded(function, name=name_of(function), time_limit=time_limit)
        self._takes_problem = "problem" in _keywords(function, {"problem"})

    def at(self, place: Place, n: int, *, problem: str = "") -> Any:
        """Return what is claimed of n points.

        Raises
        ------
        FunctionError
            If the function raises or hangs.
        """
        arguments = (n, place.task.dimension, *place.told)
        shown = f"{self._guarded.name}({', '.join(f'{one:g}' for one in arguments)})"
        return self._guarded(shown, *arguments, **({"problem": problem} if self._takes_problem else {}))


class RefusedError(InputError):
    """The optimiser raised ValueError: these data, or this privacy, are none of its own."""


class Optimiser:
    """A user's optimiser, called on many data sets at once.

    Parameters
    ----------
    fit
        ``fit(data, L, D, epsilon, delta, rng)``, with keywords `loss` and `convex_set` where its signature has them; or
        a :class:`~dpsco_verify.auditing.program.Program`.
    name
        How reports name it.
    batched
        Whether it takes data sets of shape (R, n, k) and returns points of shape (R, d).
    time_limit
        Seconds that :data:`TOGETHER` runs may take, or one call if it is batched.
    """

    def __init__(self, fit: Any, *, name: str, batched: bool, time_limit: float) -> None:
        self.name = name
        self.program = fit if isinstance(fit, Program) else None
        self.takes_rng = self.program is None or self.program.takes_rng
        self._batched = require_bool("batched", batched)
        self._fit = fit
        if not callable(fit):
            raise InputError(f"fit={fit!r} is not callable; give fit(data, L, D, epsilon, delta, rng)")
        accepted = set() if self.program is not None else _keywords(fit, {"loss", "convex_set"})
        self.takes_loss = self.program is not None or "loss" in accepted
        self.takes_set = self.program is not None or "convex_set" in accepted
        self._guarded = Guarded(self._rows, name=name, time_limit=time_limit)

    def run(self, data: FloatArray, place: Place, rng: np.random.Generator) -> FloatArray:
        """Return the points that it finds, shapes (R, n, k) to (R, d).

        Raises
        ------
        RefusedError
            If it raises ValueError.
        FunctionError
            If it raises anything else, hangs, changes its data, or returns something else than d finite numbers.
        """
        step = data.shape[0] if self._batched else TOGETHER
        shown = _shown(self.name, data.shape, place)
        parts = [
            self._guarded(shown, data[start : start + step], place, rng)
            for start in range(0, data.shape[0], step)
        ]
        return np.concatenate(parts)

    def accepts(self, data: FloatArray, place: Place, rng: np.random.Generator) -> str | None:
        """Return why it refuses a data set, shape (n, k), or None."""
        try:
            self.run(data[np.newaxis], place, rng)
        except RefusedError as refusal:
            return str(refusal)
        return None

    def _rows(self, data: FloatArray, place: Place, rng: np.random.Generator) -> FloatArray:
        if self.program is not None:
            return self._from_program(data, place, rng)
        arguments: dict[str, Any] = {}
        if self.takes_loss:
            arguments["loss"] = place.task.loss if place.loss is None else place.loss
        if self.takes_set:
            arguments["convex_set"] = place.task.convex_set
        given = data.copy()
        shape = (place.task.dimension,)
        if self._batched:
            found = self._called(given, place, rng, arguments, (data.shape[0], *shape))
        else:
            found = np.stack(
                [self._called(given[i], place, rng, arguments, shape) for i in range(data.shape[0])]
            )
        if not np.array_equal(given, data):
            raise FunctionError(f"function={self.name} changed the data that it was given; work on a copy")
        return found

    def _called(
        self,
        data: FloatArray,
        place: Place,
        rng: np.random.Generator,
        arguments: Mapping[str, Any],
        shape: tuple[int, ...],
    ) -> FloatArray:
        try:
            returned = self._fit(data, *place.told, rng, **arguments)
        except FunctionError:  # of an adapter, about what it adapts
            raise
        except ValueError as refusal:
            raise RefusedError(" ".join(str(refusal).split()) or "ValueError") from None
        return self._checked(returned, shape, place)

    def _checked(self, returned: Any, shape: tuple[int, ...], place: Place) -> FloatArray:
        on = f"on a problem with L = {place.told[0]:g}, D = {place.told[1]:g}, d = {place.task.dimension}"
        try:
            found = np.asarray(returned, dtype=np.float64)
        except (TypeError, ValueError):
            raise FunctionError(
                f"function={self.name} returned a value of type {type(returned).__name__} {on}; return the point w"
            ) from None
        if found.shape != shape:
            raise FunctionError(
                f"function={self.name} returned an array of shape {found.shape} {on}; return the shape {shape}"
            )
        if not np.isfinite(found).all():
            bad = float(found[~np.isfinite(found)].flat[0])
            raise FunctionError(f"function={self.name} returned {bad!r} {on}; return finite numbers")
        return found

    def _from_program(self, data: FloatArray, place: Place, rng: np.random.Generator) -> FloatArray:
        assert self.program is not None  # noqa: S101  the caller has asked
        L, D, epsilon, delta = place.told
        common = {
            "L": L,
            "D": D,
            "epsilon": epsilon,
            "delta": delta,
            "loss": place.task.loss.name,
            "set": set_in_words(place.task.convex_set),
        }
        rows: list[Any] = []
        start = 0
        while start < data.shape[0]:
            stop = start + 1
            while stop < data.shape[0] and np.array_equal(data[stop], data[start]):
                stop += 1
            try:
                rows += self.program({"data": data[start], **common}, stop - start, rng)
            except MechanismError as error:
                raise FunctionError(str(error)) from None
            start = stop
        return np.stack([self._checked(np.atleast_1d(row), (place.task.dimension,), place) for row in rows])


def set_in_words(convex_set: ConvexSet) -> dict[str, Any]:
    """Return a set as a program is told it."""
    if isinstance(convex_set, L2Ball):
        return {"kind": "l2-ball", "center": convex_set.center.tolist(), "radius": convex_set.radius}
    if isinstance(convex_set, Simplex):
        return {"kind": "simplex", "dimension": convex_set.dimension}
    if isinstance(convex_set, L1Ball | Box):
        return {"kind": repr(convex_set)}
    raise InputError(f"convex_set={convex_set!r} has no form that a program is told; choose other problems")


def _keywords(function: Callable[..., Any], wanted: set[str]) -> set[str]:
    """Return which of the keywords a function takes."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return set()
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return wanted
    return set(parameters) & wanted


def _shown(name: str, shape: tuple[int, ...], place: Place) -> str:
    L, D, epsilon, delta = place.told
    return f"{name}(data of shape {shape[1:]}, L={L:g}, D={D:g}, epsilon={epsilon:g}, delta={delta:g}, rng)"
