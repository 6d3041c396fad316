"""Functions within results: those that travel with a pickled result where they can, and those that show it."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import EntryPoint
from typing import Any

import cloudpickle

from dpsco_verify.errors import InputError


class Portable:
    """A function whose pickle always succeeds, and which says so when it is called and was left behind.

    It is packed by cloudpickle, which takes functions of functions too, and unpacked when it is first called: whoever
    only reads what was found needs none of its modules.

    Raises
    ------
    InputError
        When called, if it or what it holds could not be pickled.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function: Callable[..., Any] | None = function
        self._packed: bytes | None = None
        self._why = ""

    def __call__(self, *arguments: Any) -> Any:
        """Call the function."""
        if self._function is None:
            if self._packed is None:
                raise InputError(
                    f"this result was pickled without its mechanism and event ({self._why}); run the audit anew"
                )
            self._function = cloudpickle.loads(self._packed)
        return self._function(*arguments)

    def __getstate__(self) -> tuple[bytes | None, str]:
        """Return the function packed, or why it cannot be."""
        if self._packed is not None or self._function is None:
            return self._packed, self._why
        try:
            return cloudpickle.dumps(self._function), ""
        except Exception as error:  # noqa: BLE001  what a user's function holds may raise anything
            return None, " ".join(f"{type(error).__name__}: {error}".split())

    def __setstate__(self, state: tuple[bytes | None, str]) -> None:
        self._function = None
        self._packed, self._why = state


def presentation(name: str) -> Any:
    """Return a function that presents results, by its name: what is judged does not depend on how it is shown."""
    return EntryPoint(name, f"dpsco_verify.auditing.presentation:{name}", "").load()
