"""Units of work, and what comes of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Progress = Callable[[int, int, str], None]
"""Called as ``progress(done, total, name)`` after each unit."""


@dataclass(frozen=True, kw_only=True)
class WorkUnit:
    """A function of a module's top level and its arguments, to be executed somewhere.

    Attributes
    ----------
    name
        Unique in the run; the unit's random stream is derived from it.
    function, arguments
        What to call, with keyword arguments that can be pickled. The result depends on them alone.
    cost
        Expected seconds, roughly: costly units start first.
    """

    name: str
    function: Callable[..., Any]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    cost: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a unit returned, and how long it took."""

    value: Any
    seconds: float
