"""The version of the code that a function runs: a hash of all sources that it can reach, the libraries, the processor.

What a file imports is read from its text (:mod:`dpsco_verify.store.sources`). An import through a package whose
``__init__`` only hands names on leads to the module that defines the name, and to no other, so that changing one
statement's code changes the version of that statement's units alone. In doubt, more is taken in: an ``__init__`` that
does anything else counts whole, with all that it imports; so do all files beside a module that may read them; a module
that imports by names made at run time counts as all of its package. A source that was written after this process began
may not be the one that it has loaded: then the version is one that no other process has.

The kind of processor counts because the libraries choose their instructions by it, and with them the last digits: a
store that was carried to another kind holds nothing that is known there.

What is not seen: a file that changes what another one does when it is imported, without being imported by it.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
import time
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path

from dpsco_verify.execution.environment import library_versions
from dpsco_verify.store.sources import Imported, Source, source_of, top_of

_DOUBT = os.urandom(16).hex()
"""Mixed into versions that cannot be relied on, so that they match no other process's."""


def code_version(modules: frozenset[str]) -> str:
    """Return the version of the code that `modules` run, as 64 hexadecimal digits."""
    return _version(modules)


def code_files(modules: frozenset[str]) -> tuple[Path, ...]:
    """Return the source files that the version of `modules` depends on, sorted."""
    return tuple(sorted({source.path for source in _Closure(modules).sources.values()}))


@functools.cache
def _version(modules: frozenset[str]) -> str:
    closure = _Closure(modules)
    lines = [f"library {name} {number}" for name, number in library_versions().items()]
    lines += [f"source {source.module} {source.digest}" for source in closure.sources.values()]
    lines += [f"binding {binding}" for binding in closure.bindings]
    lines += [f"import {name} {_distributions(name)}" for name in closure.libraries]
    lines += [
        f"data {name} {digest}" for source in closure.sources.values() for name, digest in _beside(source)
    ]
    if closure.doubtful or any(source.modified >= _process_start() for source in closure.sources.values()):
        lines.append(f"doubt {_DOUBT}")
    return hashlib.sha256("\n".join(sorted(set(lines))).encode()).hexdigest()


class _Closure:
    """The sources that some modules reach, the names that were handed on along the way, and the libraries."""

    def __init__(self, modules: frozenset[str]) -> None:
        self.sources: dict[str, Source] = {}
        self.bindings: set[str] = set()
        self.libraries: set[str] = set()
        # What runs here must be seen, or be a library: what is typed at a prompt, say, is neither.
        self.doubtful = any(source_of(module) is None and not _is_installed(module) for module in modules)
        waiting, met = list(modules), set(modules)
        while waiting:
            module = waiting.pop()
            source = source_of(module)
            if source is None:
                self.libraries.add(top_of(module))
                continue
            self.sources[module] = source
            reached = _reached_from(module, source)
            self.bindings |= reached.bindings
            waiting += reached.modules - met
            met |= reached.modules


@functools.cache
def _reached_from(module: str, source: Source) -> _Reached:
    return _Reached(module, source)


class _Reached:
    """What one whole module leads to at once: modules, and the names that were handed on along the way."""

    def __init__(self, module: str, source: Source) -> None:
        self.modules: set[str] = set()
        self.bindings: set[str] = set()
        self._asked: set[tuple[str, str]] = set()
        for parent in _parents(module):
            package = source_of(parent)
            if package is not None and not package.hands_on:
                self.modules.add(parent)
        if source.is_dynamic:
            self.modules.update(_whole_package(source))
        for imported in source.imports:
            self._follow(imported)

    def _follow(self, imported: Imported) -> None:
        if imported.name is None:
            # `import a.b` gives access to everything that hangs on a.
            self.modules.update([imported.module, *_parents(imported.module)])
        elif imported.name == "*":
            self.modules.add(imported.module)
        else:
            self._resolve(imported.module, imported.name)

    def _resolve(self, module: str, name: str) -> None:
        """Take in what `name` of `module` means."""
        if (module, name) in self._asked:
            return
        self._asked.add((module, name))
        source = source_of(module)
        if source is None or not source.is_package or not source.hands_on:
            self.modules.add(module)
            if source is not None and source.is_package and source_of(f"{module}.{name}") is not None:
                self.modules.add(f"{module}.{name}")
            return
        found = source.bindings(name)
        for binding in found:
            self.bindings.add(f"{module}.{name} is {binding.module}.{binding.name}")
            if (binding.module, binding.name) == (module, name):
                # A package that imports a module of its own from itself hands on the module.
                self.modules.add(f"{module}.{name}")
            else:
                self._follow(binding)
        if not found:
            self.modules.add(f"{module}.{name}" if source_of(f"{module}.{name}") is not None else module)


def _parents(module: str) -> list[str]:
    parts = module.split(".")
    return [".".join(parts[:number]) for number in range(1, len(parts))]


def _whole_package(source: Source) -> list[str]:
    """Return the modules of the outermost package that a source is in."""
    top = source_of(top_of(source.module))
    if top is None or not top.is_package:
        return []
    root = top.path.parent
    found = []
    for path in root.rglob("*.py"):
        parts = path.relative_to(root).with_suffix("").parts
        found.append(".".join([top.module, *(parts[:-1] if parts[-1] == "__init__" else parts)]))
    return found


def _beside(source: Source) -> list[tuple[str, str]]:
    """Return the files that a source may read, each with its hash."""
    if not source.reads_files:
        return []
    return [
        (f"{source.module}/{path.name}", hashlib.sha256(path.read_bytes()).hexdigest())
        for path in sorted(source.path.parent.iterdir())
        if path.is_file()
    ]


def _is_installed(module: str) -> bool:
    top = top_of(module)
    return top != "__main__" and (top in sys.stdlib_module_names or _distributions(top) != _ABSENT)


@functools.cache
def _distributions(top: str) -> str:
    """Return the distributions that a library comes from, with their versions."""
    if top in sys.stdlib_module_names:
        return "standard library"
    try:
        # Most have the name of what they hold; reading what all installed ones hold takes half a second.
        name = _OTHER_NAMES.get(top, top)
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return ", ".join(f"{name} {version(name)}" for name in _installed().get(top, ())) or _ABSENT


@functools.cache
def _installed() -> dict[str, list[str]]:
    return {name: sorted(set(distributions)) for name, distributions in packages_distributions().items()}


_ABSENT = "absent"
_OTHER_NAMES = {"flint": "python-flint", "sklearn": "scikit-learn"}


@functools.cache
def _process_start() -> float:
    """Return when this process began, in seconds since the epoch, or an earlier moment."""
    try:
        # Linux: field 22 is the start in clock ticks since boot; the command's name before it may hold anything.
        ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        uptime = float(Path("/proc/uptime").read_text().split()[0])
        # Both come in hundredths of a second.
        return time.time() - uptime + ticks / os.sysconf("SC_CLK_TCK") - 0.05
    except (OSError, ValueError, IndexError):
        return _LOADED


_LOADED = time.time()
"""Elsewhere: when this module was loaded, which is soon after the program began."""
