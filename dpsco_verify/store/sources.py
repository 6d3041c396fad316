"""The imports of a Python source file, and where they come from: read from its text, without running it."""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.machinery
import re
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

_PACKAGE = __name__.partition(".")[0]
_READS_FILES = {"__file__", "__path__", "resources", "pkgutil"}
"""Names in a source that tell that it may read the files beside it."""
_IMPORTS_BY_NAME = {"import_module", "__import__"}
_RUNS_TEXT = {"exec", "eval", "compile"}
_TELLING = re.compile("|".join([*_READS_FILES, *_IMPORTS_BY_NAME, *_RUNS_TEXT]).encode())
"""What has to be in a source for an expression of it to tell anything."""


@dataclass(frozen=True, kw_only=True)
class Imported:
    """A name that a file imports from a module, or the module if `name` is None; `bound` is what it is called."""

    module: str
    name: str | None
    bound: str


@dataclass(frozen=True, kw_only=True)
class Source:
    """A module's file.

    Attributes
    ----------
    module, path
        Its name and its file.
    is_package
        Whether it is the ``__init__`` of a package.
    digest
        The SHA-256 of its content.
    imports
        Everything that it imports, anywhere in it: also in functions, and where only type checkers look.
    hands_on
        Whether it does nothing but import names and list them: then who imports one of them depends on where it comes
        from, and on nothing else that stands here.
    reads_files
        Whether it may read the files beside it.
    is_dynamic
        Whether it imports modules whose names cannot be told from the text.
    modified
        When the file was last written, in seconds since the epoch.
    """

    module: str
    path: Path
    is_package: bool
    digest: str
    imports: tuple[Imported, ...]
    hands_on: bool
    reads_files: bool
    is_dynamic: bool
    modified: float

    def bindings(self, name: str) -> tuple[Imported, ...]:
        """Return the imports that give a name its meaning."""
        return tuple(imported for imported in self.imports if imported.bound == name)


@functools.cache
def source_of(module: str) -> Source | None:
    """Return the source of a module of this package or of the user's; None for libraries and what does not exist.

    It is read once in a process.
    """
    path = _path_of(module)
    if path is None:
        return None
    content = path.read_bytes()
    is_package = path.name == "__init__.py"
    tree = ast.parse(content)
    visitor = _Visitor(
        module if is_package else module.rpartition(".")[0],
        statements_alone=_TELLING.search(content) is None,
    )
    visitor.visit(tree)
    return Source(
        module=module,
        path=path,
        is_package=is_package,
        digest=hashlib.sha256(content).hexdigest(),
        imports=tuple(visitor.imports),
        hands_on=all(map(_only_hands_on, tree.body)),
        reads_files=visitor.reads_files,
        is_dynamic=visitor.is_dynamic,
        modified=path.stat().st_mtime,
    )


def top_of(module: str) -> str:
    """Return the name of the outermost package."""
    return module.partition(".")[0]


@functools.cache
def _path_of(module: str) -> Path | None:
    loaded = sys.modules.get(module)
    origin = getattr(loaded, "__file__", None)
    if origin is None:
        origin = _found(module)
    if origin is None or Path(origin).suffix != ".py":
        return None
    path = Path(origin).resolve()
    return path if top_of(module) == _PACKAGE or not _is_library(module, path) else None


def _found(module: str) -> str | None:
    """Find a module's file without importing it, as importing its parents could run anything."""
    where: list[str] | None = None
    spec = None
    parts = module.split(".")
    for number in range(1, len(parts) + 1):
        name = ".".join(parts[:number])
        spec = importlib.machinery.PathFinder.find_spec(name, where)
        if spec is None:
            return None
        where = list(spec.submodule_search_locations or ())
    return spec.origin if spec is not None else None


def _is_library(module: str, path: Path) -> bool:
    if top_of(module) in sys.stdlib_module_names and top_of(module) != "__main__":
        return True
    folders = {
        Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib")
    }
    return any(folder in path.parents for folder in folders) or "site-packages" in path.parts


def _only_hands_on(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.ImportFrom):
        return all(alias.name != "*" for alias in statement.names)
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    if isinstance(statement, ast.Assign):
        return [ast.unparse(target) for target in statement.targets] == ["__all__"]
    return False


class _Visitor(ast.NodeVisitor):
    """Collects what a file imports; relative names are resolved against `package`.

    Expressions, nine nodes in ten, are passed over with `statements_alone`.
    """

    def __init__(self, package: str, *, statements_alone: bool) -> None:
        self.imports: list[Imported] = []
        self.reads_files = False
        self.is_dynamic = False
        self._package = package
        self._statements_alone = statements_alone

    def visit(self, node: ast.AST) -> None:
        if not (self._statements_alone and isinstance(node, ast.expr)):
            super().visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._add(alias.name, None, alias.asname or top_of(alias.name))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        base = node.module or ""
        if node.level:
            parents = self._package.split(".")
            base = ".".join([*parents[: len(parents) - node.level + 1], *([base] if base else [])])
        for alias in node.names:
            self._add(base, alias.name, alias.asname or alias.name)

    def visit_Call(self, node: ast.Call) -> None:
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)
        if called in _IMPORTS_BY_NAME:
            first = node.args[0] if node.args else None
            if isinstance(first, ast.Constant) and isinstance(first.value, str) and len(node.args) == 1:
                self._add(first.value, None, top_of(first.value))
            else:
                self.is_dynamic = True
        elif called in _RUNS_TEXT and isinstance(node.func, ast.Name):
            self.is_dynamic = True
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        self.reads_files |= node.id in _READS_FILES

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.reads_files |= node.attr in _READS_FILES
        self.generic_visit(node)

    def _add(self, module: str, name: str | None, bound: str) -> None:
        self.reads_files |= name in _READS_FILES or module.rpartition(".")[2] in _READS_FILES
        self.imports.append(Imported(module=module, name=name, bound=bound))
