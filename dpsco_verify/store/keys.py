"""The key of a unit of work: equal for two units that must give the same result, different whenever in doubt."""

from __future__ import annotations

import functools
import hashlib
import sys
import types
from collections.abc import Callable
from typing import Any

from dpsco_verify.errors import InputError
from dpsco_verify.execution import WorkUnit
from dpsco_verify.store.code import code_version
from dpsco_verify.store.tree import NotDataError, Tree, Writer, class_name, to_bytes


def unit_key(unit: WorkUnit) -> tuple[bytes, str]:
    """Return the key of a unit, 32 bytes, and the version of its code.

    The key is the SHA-256 of the name, the function, the arguments, of which the seed is one, and the version of all
    code that the function and the arguments can reach, the kind of processor included
    (:mod:`dpsco_verify.store.code`).

    Raises
    ------
    InputError
        If the unit has an argument whose content cannot be told.
    """
    arguments = _Arguments()
    try:
        content = arguments.tree([unit.name, unit.function, dict(unit.arguments)])
    except NotDataError as error:
        raise InputError(
            f"unit={unit.name!r} cannot be stored ({error}, in its arguments); give it data, records and functions "
            "of a module's top level, or use --no-store"
        ) from error
    modules = arguments.modules | {kind.__module__ for kind in arguments.classes}
    version = code_version(frozenset(modules))
    return hashlib.sha256(to_bytes(["unit", content, version])).digest(), version


class _Arguments(Writer):
    """Makes trees of arguments, which may hold functions, classes and objects too, and notes their modules."""

    def __init__(self) -> None:
        super().__init__(self._other)
        self.modules: set[str] = set()

    def _other(self, value: Any, write: Callable[[Any], Tree]) -> Tree:
        if isinstance(value, types.FunctionType | types.BuiltinFunctionType | type):
            return ["global", self._global(value)]
        if isinstance(value, types.MethodType):
            return ["method", write(value.__self__), write(value.__func__)]
        if isinstance(value, functools.partial):
            return ["partial", write(value.func), write(value.args), write(value.keywords)]
        return self._reduced(value, write)

    def _global(self, value: Any) -> str:
        """Return the name of a function or class of a module's top level, under which it must be found again."""
        module, name = value.__module__, value.__qualname__
        found: Any = sys.modules.get(module)
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is not value:
            raise NotDataError(f"{name!r} of {module} is not found under its name")
        self.modules.add(module)
        return class_name(value)

    def _reduced(self, value: Any, write: Callable[[Any], Tree]) -> Tree:
        """Write what pickle would send: how the object is made, from what, and its state."""
        try:
            reduced: Any = value.__reduce_ex__(4)
        except TypeError as error:
            raise NotDataError(f"a value of type {class_name(type(value))} is not plain data") from error
        if isinstance(reduced, str):
            return ["global", f"{type(value).__module__}:{reduced}"]
        # How it is made, from what; then, as far as there are such: its state, items, and pairs of key and item.
        make, arguments, state, items, pairs = (*reduced, None, None, None)[:5]
        listed = [] if items is None else list(items)
        keyed = [] if pairs is None else [list(pair) for pair in pairs]
        self.modules.add(type(value).__module__)
        return [
            "object",
            write(make),
            write(arguments),
            write(state),
            write(listed),
            write(keyed),
        ]
