"""Units of work as a statement or a section plans them: handles when they are planned, values when they are done."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from dpsco_verify.errors import InputError
from dpsco_verify.execution import Outcome, WorkUnit

T = TypeVar("T")


@dataclass(frozen=True)
class Handle(Generic[T]):
    """What a planned unit will return: a value of type T, to be had from :class:`Outcomes`."""

    name: str


class Units:
    """The units of work of one claim or section, in the order in which they are planned.

    Attributes
    ----------
    owner
        The key of the claim or section; the names of its units begin with it.
    subjects
        Handles of units that others may want to know of, by what they are about.
    """

    def __init__(self, owner: str, *, seed: int) -> None:
        self.owner = owner
        self.subjects: dict[Hashable, Handle[Any]] = {}
        self._seed = seed
        self._units: dict[str, WorkUnit] = {}

    def __iter__(self) -> Iterator[WorkUnit]:
        return iter(self._units.values())

    def add(
        self,
        name: str,
        function: Callable[..., T],
        arguments: Mapping[str, Any] | None = None,
        *,
        cost: float = 1.0,
        random: bool = False,
        subject: Hashable = None,
    ) -> Handle[T]:
        """Plan ``function(**arguments)`` and return the handle of its value.

        Parameters
        ----------
        name
            Unique among the owner's units; the whole name is ``owner/name``.
        function, arguments
            A function of a module's top level, and what it is called with.
        cost
            Expected seconds, roughly.
        random
            Whether the function draws: it is then also given ``seed``, the root seed, and ``name``, from which
            :func:`dpsco_verify.execution.stream` makes the stream of this unit.
        subject
            What the unit is about, for sections that look for it.

        Raises
        ------
        InputError
            For a name that is taken.
        """
        whole = f"{self.owner}/{name}"
        given = dict(arguments or {})
        if random:
            given |= {"seed": self._seed, "name": whole}
        return self.adopt(
            WorkUnit(name=whole, function=function, arguments=given, cost=cost), subject=subject
        )

    def adopt(self, unit: WorkUnit, *, subject: Hashable = None) -> Handle[Any]:
        """Plan a unit that was made elsewhere, under the name that it has."""
        if unit.name in self._units:
            raise InputError(f"name={unit.name!r} names two units of work of {self.owner}; give each its own")
        self._units[unit.name] = unit
        handle: Handle[Any] = Handle(unit.name)
        if subject is not None:
            self.subjects[subject] = handle
        return handle


class Outcomes:
    """What the units of a run returned, by their handles."""

    def __init__(self, by_name: Mapping[str, Outcome]) -> None:
        self._by_name = by_name

    def __getitem__(self, handle: Handle[T]) -> T:
        return cast("T", self._by_name[handle.name].value)

    def named(self, handles: Iterable[Handle[Any]]) -> dict[str, Outcome]:
        """Return outcomes, times included, by the names of their units."""
        return {handle.name: self._by_name[handle.name] for handle in handles}
