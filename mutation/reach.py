"""Which test files may notice a change: those that import what is changed, and those that run its statement.

The second are seen once by coverage, in a process for each file, and kept. A process of its own shows what importing
runs, too, so that constants and defaults of arguments have their tests. What compiled functions do is not seen: whoever
imports one of the modules in ``COMPILED`` may run it.

Within a file the tests that run the statement come first, and the quick ones of these. The others of the file follow,
because what the first test to ask for a thing makes may serve them, too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import grimp
import msgspec

from mutation.mutants import Mutant
from mutation.tree import NO_TESTS, PRODUCT, Tree, digest
from mutation.trial import Part

COMPILED = (f"{PRODUCT}/algorithm/kernel/", f"{PRODUCT}/auditing/canaries/recursion.py")

_SETTINGS = """[run]
source = {source}
data_file = {data}
parallel = true
patch = subprocess, _exit
disable_warnings = no-data-collected, module-not-imported, module-not-measured, already-imported, couldnt-parse
"""


class Reached(msgspec.Struct, frozen=True):
    """What a test file did on the unchanged code.

    Parameters
    ----------
    code
        The exit code, without coverage's eyes if it failed under them: 0, or 5 where no test has the markers.
    seconds, tests
        CPU seconds, and those of each test.
    lines
        The lines that ran, by module and test, as bits of a hexadecimal number; "" for what no test ran alone.
    """

    code: int | None
    seconds: float
    last_words: str
    tests: dict[str, float]
    lines: dict[str, dict[str, str]]

    def running(self, module: str, statement: range) -> list[str] | None:
        """Return the tests that run a statement, the quick ones first; None if the file does not run it at all."""
        lines = self.lines.get(module, {})
        wanted = _bits(statement)
        running = [name for name, seen in lines.items() if int(seen, 16) & wanted]
        if not running:
            return None
        if running == [""]:  # a constant, say: whoever runs anything of the module may use it
            running = list(lines)
        return sorted(self.tests.keys() & running, key=lambda name: self.tests[name])


class Reach:
    """The test files and what they reach, kept in ``folder``; what is kept holds for the same product and test file."""

    def __init__(self, folder: Path, tree: Tree, tests: list[str], *, product: str, markers: str) -> None:
        self._folder, self._tree, self.markers = folder, tree, markers
        shared = [
            name for name in tree.names if re.fullmatch(r"tests/(.*/)?conftest\.py|pyproject\.toml", name)
        ]
        kind = f"{product}-{markers.replace(' ', '_')}"
        self._kept = {
            name: folder / f"{name.replace('/', '.')}-{digest(tree.path, [*shared, name])}-{kind}.json"
            for name in tests
        }
        self.found: dict[str, Reached] = {
            name: msgspec.json.decode(kept.read_bytes(), type=Reached)
            for name, kept in self._kept.items()
            if kept.exists()
        }

    def missing(self) -> list[str]:
        """Return the test files that are still to be looked at."""
        return [name for name in self._kept if name not in self.found]

    def look(self, name: str) -> Reached:
        """Run a test file under coverage, and keep what it reached."""
        from coverage import CoverageData  # noqa: PLC0415  there for `make mutate` alone
        from coverage.exceptions import DataError  # noqa: PLC0415  the same

        self._folder.mkdir(parents=True, exist_ok=True)
        data, settings = self._folder / "data", self._folder / "coverage.ini"
        for old in self._folder.glob("data*"):
            old.unlink()
        settings.write_text(_SETTINGS.format(source=self._tree.path / PRODUCT, data=data), encoding="utf-8")
        ran = self._tree.pytest([name], markers=self.markers, coverage=settings)
        lines: dict[str, dict[str, set[int]]] = {}
        for part in sorted(self._folder.glob("data.*")):
            seen = CoverageData(str(part))
            try:
                seen.read()
            except DataError:  # a process that was killed while it wrote
                part.unlink()
                continue
            for file in seen.measured_files():
                module = lines.setdefault(Path(file).relative_to(self._tree.path).as_posix(), {})
                for line, tests in seen.contexts_by_lineno(file).items():
                    for test in tests:
                        module.setdefault(test, set()).add(line)
            part.unlink()
        if ran.code not in {0, NO_TESTS}:
            ran = self._tree.pytest([name], markers=self.markers)
        packed = {
            module: {test: f"{_bits(numbers):x}" for test, numbers in tests.items()}
            for module, tests in lines.items()
            if tests
        }
        reached = Reached(ran.code, ran.seconds, ran.last_words, ran.tests, packed)
        self._kept[name].write_bytes(msgspec.json.encode(reached))
        self.found[name] = reached
        return reached

    def failing(self) -> dict[str, Reached]:
        """Return the test files that fail on the unchanged code, which say nothing of a changed one."""
        return {name: reached for name, reached in self.found.items() if reached.code not in {0, NO_TESTS}}

    def of(self, mutant: Mutant) -> list[Part]:
        """Return the tests that may notice a mutant: those that run its statement, then what else their files hold."""
        text = (self._tree.path / mutant.path).read_text(encoding="utf-8")
        statement = statement_of(text, mutant.line)
        if mutant.path.startswith(COMPILED):
            statement = range(1, text.count("\n") + 2)
        near = nearest(mutant.path, self._tree.path, list(self.found))
        parts: list[tuple[tuple[int, int], Part]] = []
        for name, reached in self.found.items():
            running = reached.running(mutant.path, statement)
            if running is None or reached.code != 0:
                continue
            position = near.index(name) if name in near else len(near)
            others = sorted(reached.tests.keys() - running, key=lambda test: reached.tests[test])
            for rank, tests in enumerate((running, others)):
                if tests:
                    seconds = sum(reached.tests[test] for test in tests)
                    part = Part(name, tests, seconds, 10.0 + 5.0 * reached.seconds, self.markers)
                    parts.append(((rank, position), part))
        parts.sort(key=lambda each: each[0])
        return [part for _, part in parts]


EVERYTHING = "walk_packages(dpsco_verify.__path__"  # what a test of all modules has
_LEVELS = ("unit", "property", "report", "contract", "cli", "statistical")  # from what is usually quick


def nearest(path: str, root: Path, tests: list[str]) -> list[str]:
    """Return the test files that import a module, by how many imports lie between, and those named like it first."""
    graph = _graph()
    module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    distances: dict[str, int] = {}
    front = {module}
    while front:
        distances |= dict.fromkeys(front, len(distances))  # not in steps, but the further the more
        front = set().union(*map(graph.find_modules_that_directly_import, front)) - distances.keys()
    words = set(module.replace(".", "_").split("_"))
    found: list[tuple[int, int, int, str]] = []
    for name in tests:
        text = (root / name).read_text(encoding="utf-8")
        imported = {module} if EVERYTHING in text else _imported(text) & distances.keys()
        if imported:
            like = len(words & set(Path(name).stem.split("_")))
            level = _LEVELS.index(name.split("/")[1])
            found.append((min(distances[each] for each in imported), -like, level, name))
    return [name for *_, name in sorted(found)]


@cache
def _graph() -> grimp.ImportGraph:
    graph = grimp.build_graph(PRODUCT, cache_dir=None)
    for paper in graph.find_children(f"{PRODUCT}.papers"):  # entry points, which no import shows
        graph.add_import(importer=f"{PRODUCT}.ledger.installed", imported=f"{paper}.paper")
    return graph


@cache
def _imported(text: str) -> frozenset[str]:
    """Return the names of modules that a text imports, and of what it imports from them, which may be modules, too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(found)


def _bits(lines: Iterable[int]) -> int:
    return sum(1 << line for line in lines)


def statement_of(text: str, line: int) -> range:
    """Return the lines of the innermost statement around a line; of one with a body, those of its head."""
    found = range(line, line + 1)
    size: float = float("inf")
    for statement in _statements(ast.parse(text)):
        if statement.start <= line < statement.stop and len(statement) <= size:
            found, size = statement, len(statement)
    return found


def _statements(tree: ast.Module) -> Iterator[range]:
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            start = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
            body = getattr(node, "body", None) or getattr(node, "cases", None)
            first = body[0] if body else None
            if first is None:
                yield range(start, (node.end_lineno or start) + 1)
            else:
                head = first.pattern.lineno if isinstance(first, ast.match_case) else first.lineno
                yield range(start, max(head, start + 1))
