"""Mechanisms and pairs by name: ``module:name``, and pairs from JSON files."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from dpsco_verify.auditing import per_call
from dpsco_verify.auditing.relations import OwnRelation, relation_of
from dpsco_verify.auditing.request import checked_relation
from dpsco_verify.choices import Relation
from dpsco_verify.errors import InputError
from dpsco_verify.evidence import Source

_PAIR = "give a tuple (d, d_prime), a list of such tuples, a Hypothesis strategy of them, or a function that gives one"
_RELATION = (
    "give one of dpsco_verify.auditing.relations, a function without arguments that gives one, or a predicate of two "
    "data sets"
)


class _Pair(msgspec.Struct, forbid_unknown_fields=True):
    d: Any
    d_prime: Any


def make_importable(folder: Path) -> None:
    """Let modules in `folder` be imported, before any others."""
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    importlib.invalidate_caches()


def load_mechanism(name: str, *, once: bool) -> Any:
    """Return the mechanism that ``module:name`` names; with `once`, one that calls it once for each output.

    Raises
    ------
    InputError
        If there is none.
    """
    found = load_object("mechanism", name)
    if not callable(found):
        raise InputError(f"mechanism={name!r} is {_kind(found)} and cannot be called; name a function")
    return per_call(found) if once else found


def source_of(name: str, folder: Path) -> Source | None:
    """Return where ``module:name`` is written, if that is Python in `folder`."""
    found = inspect.unwrap(load_object("mechanism", name))
    try:
        file = Path(inspect.getsourcefile(found) or "").resolve().relative_to(folder.resolve())
        line = inspect.getsourcelines(found)[1]
    except (TypeError, OSError, ValueError):  # an object of a class, C code, or elsewhere
        return None
    return Source(file=file.as_posix(), line=max(line, 1))


def load_relation(name: str | None) -> Relation | OwnRelation | None:
    """Return the relation of this name, or the one that ``module:name`` names: itself, its maker, or a predicate.

    Raises
    ------
    InputError
        If there is none.
    """
    if name is None:
        return None
    if ":" not in name:
        return checked_relation(name)
    found = load_object("relation", name)
    takes = _positional(found)
    if takes == 0:
        found = _called("relation", name, found, _RELATION)
    if takes == 2:
        found = relation_of(name.rpartition(":")[2].replace("_", " "), found)
    if not isinstance(found, OwnRelation):
        raise InputError(f"relation={name!r} is {_kind(found)}; {_RELATION}")
    return found


def _positional(value: Any) -> int | None:
    """Return how many arguments a function needs, None of what is none."""
    if isinstance(value, OwnRelation) or not callable(value):
        return None
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return None
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(one.default is one.empty and one.kind in kinds for one in parameters)


def load_pairs(names: Sequence[str]) -> Any:
    """Return the pairs that `names` name, as one list, or the one Hypothesis strategy or generator that they name.

    Raises
    ------
    InputError
        If a name names no pair, or a strategy is combined with other pairs.
    """
    pairs: list[tuple[Any, Any]] = []
    for name in names:
        found = _pairs_of(name)
        if isinstance(found, list):
            pairs += found
        elif len(names) == 1:
            return found
        else:
            raise InputError(
                f"pair={name!r} is a strategy, or draws pairs, which an audit searches by itself; name it alone"
            )
    return pairs


def _pairs_of(name: str) -> Any:
    if name.endswith(".json"):
        return _from_file(Path(name))
    found = load_object("pair", name)
    if callable(found) and not _is_strategy(found) and _positional(found) != 1:
        found = _called("pair", name, found, _PAIR)
    if _is_strategy(found) or callable(found):
        return found  # what draws pairs
    if isinstance(found, tuple):
        # A tuple is a pair even where each of its two data sets is a tuple of two.
        if len(found) != 2:
            raise InputError(f"pair={name!r} is a tuple of {len(found)}; {_PAIR}")
        return [found]
    if isinstance(found, list):
        return _checked_list(name, found)
    raise InputError(f"pair={name!r} is {_kind(found)}; {_PAIR}")


def _checked_list(name: str, found: list[Any]) -> list[tuple[Any, Any]]:
    for i, item in enumerate(found):
        if not isinstance(item, tuple) or len(item) != 2:
            raise InputError(f"pair={name!r} is a list whose item {i} is {_kind(item)}; {_PAIR}")
    if not found:
        raise InputError(f"pair={name!r} is an empty list; {_PAIR}")
    return list(found)


def _called(what: str, name: str, function: Callable[[], Any], wanted: str) -> Any:
    """Return what a function gives."""
    try:
        return function()
    except (Exception, SystemExit) as error:  # noqa: BLE001  the user's own function may raise anything
        raise InputError(
            f"{what}={name!r} was called without arguments and raised {_said(error)}; {wanted}"
        ) from None


def _from_file(path: Path) -> list[tuple[Any, Any]]:
    """Return the pairs in a JSON file: an object with ``d`` and ``d_prime``, or a list of such objects."""
    try:
        content = msgspec.json.decode(path.read_bytes())
        items = content if isinstance(content, list) else [content]
        pairs = msgspec.convert(items, type=list[_Pair], strict=True)
    except OSError as error:
        raise InputError(f"pair={str(path)!r} cannot be read ({error.strerror}); give a JSON file") from None
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(
            f'pair={str(path)!r} holds no pairs ({_line(error)}); give {{"d": …, "d_prime": …}} or a list of these'
        ) from None
    if not pairs:
        raise InputError(
            f'pair={str(path)!r} holds no pairs; give {{"d": …, "d_prime": …}} or a list of these'
        )
    return [(pair.d, pair.d_prime) for pair in pairs]


def load_object(what: str, name: str) -> Any:
    """Return the object that ``module:name`` names; `what` says in messages which of the names it is.

    Raises
    ------
    InputError
        If there is none.
    """
    module_name, colon, path = name.partition(":")
    if not (module_name and colon and path):
        raise InputError(
            f"{what}={name!r} is not of the form module:name; give for example mypackage.mechanisms:laplace"
        )
    try:
        found: Any = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:  # noqa: BLE001  importing runs code that may raise anything
        if isinstance(error, ModuleNotFoundError) and error.name in _parents(module_name):
            raise InputError(
                f"{what}={name!r}: there is no module {error.name!r} here or among what is installed; name one that "
                "can be imported from the working folder"
            ) from None
        raise InputError(
            f"{what}={name!r}: importing {module_name!r} raised {_said(error)}; fix the module"
        ) from None
    for part in path.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise InputError(
                f"{what}={name!r}: there is no {part!r} in {module_name!r}; name what it has"
            ) from None
    return found


def _parents(module_name: str) -> set[str]:
    parts = module_name.split(".")
    return {".".join(parts[: i + 1]) for i in range(len(parts))}


def _is_strategy(value: Any) -> bool:
    # What was made with Hypothesis has imported it; whoever does not use it need not have it.
    strategies = sys.modules.get("hypothesis.strategies")
    return strategies is not None and isinstance(value, strategies.SearchStrategy)


def _kind(value: Any) -> str:
    return f"of type {type(value).__name__}"


def _said(error: BaseException) -> str:
    return _line(f"{type(error).__name__}: {error}").rstrip(": ")


def _line(error: BaseException | str) -> str:
    return " ".join(str(error).split())
