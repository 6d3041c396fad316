"""The errors that are the caller's to fix, as opposed to faults of the program.

Every message is one sentence that carries ``name=value``, what is allowed, and what to do. The command line
turns each of these into one line on stderr and exit code 2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Never


class InputError(ValueError):
    """An argument, a data set or a file that cannot be used as it is."""


class RegimeError(InputError):
    """Parameters outside the side conditions of the theorem whose schedule was asked for."""


def no_truth_value(instead: str) -> Callable[[Any], Never]:
    """Return a ``__bool__`` for results: one that says "violated" must not pass where a truth value is asked for.

    Without it every object is true, and so is ``assert audit(…)``, whatever was found.

    Parameters
    ----------
    instead
        What to ask, as an expression.
    """

    def refuse(self: Any) -> Never:
        raise TypeError(
            f"{type(self).__name__} is neither true nor false, whatever was found; ask for `{instead}`"
        )

    return refuse
