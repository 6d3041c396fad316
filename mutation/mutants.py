"""Single changes of the product's code, drawn at random, as cosmic-ray makes them.

A *place* is a node of the code at which at least one operator of cosmic-ray can change something: an operator, a
comparison, a number, a condition, a loop, a decorator. A place is drawn uniformly among all of the product, then one of
its changes uniformly; the many ways to replace one ``+`` weigh no more than the one way to negate a condition. A change
that does not compile, or that touches nothing but a function's annotations or cache, is no change of what the code
does, and is left out. So is one between families (a product becomes a shift, an order becomes ``is not``): with floats
it is a type error wherever it runs, and says nothing of the tests but that they get there.
"""

from __future__ import annotations

import ast
import difflib
import itertools
import random
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

_Positions = Callable[..., Iterator[tuple[tuple[int, int], tuple[int, int]]]]

_FAMILIES = (
    "Add Sub Mul Div FloorDiv Mod Pow",
    "RShift LShift BitOr BitAnd BitXor",
    "Eq NotEq Lt LtE Gt GtE",
    "Is IsNot",
    "In NotIn",
)
_CACHE = re.compile(r"\b(cache|lru_cache)\b")
_WITHIN_FAMILIES = {
    frozenset(pair) for family in _FAMILIES for pair in itertools.combinations(family.split(), 2)
}


class Mutant(msgspec.Struct, frozen=True):
    """One change: the lines ``before`` of a definition in a file become the lines ``after``, without their indents."""

    path: str
    definition: str
    operator: str
    line: int
    column: int
    before: str
    after: str

    @property
    def name(self) -> str:
        """The file, the place and the operator, by which a result is found again."""
        return f"{self.path}:{self.line}:{self.column} {self.operator} {self.after}"


class Equivalent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A change that no test can notice, with the reason."""

    path: str
    definition: str
    before: str
    after: str
    reason: str


def equivalents() -> list[Equivalent]:
    """Return the changes that are listed as ones that no test can notice."""
    listed = tomllib.loads(Path(__file__).with_name("equivalent.toml").read_text(encoding="utf-8"))
    return msgspec.convert(listed.get("equivalent", []), list[Equivalent])


def sample(root: Path, paths: list[str], *, seed: int, size: int) -> list[tuple[Mutant, str]]:
    """Draw changes without replacement; return each with the changed text of its file.

    Parameters
    ----------
    root
        The tree.
    paths
        The files to draw from, relative to it.
    seed, size
        The same seed gives the same sequence, of which a smaller sample is the beginning.
    """
    texts = {path: (root / path).read_text(encoding="utf-8") for path in paths}
    places = [(path, place, changes) for path, text in texts.items() for place, changes in _places(text)]
    drawn = random.Random(seed)  # noqa: S311  a sample, not a secret
    drawn.shuffle(places)
    found: list[tuple[Mutant, str]] = []
    for path, (line, column, definition), changes in places:
        if len(found) == size:
            break
        operator, occurrence = drawn.choice(changes)
        changed = _changed(texts[path], operator, occurrence)
        if changed is not None:
            before, after = difference(texts[path], changed)
            found.append((Mutant(path, definition, operator, line, column, before, after), changed))
    return found


def difference(text: str, changed: str) -> tuple[str, str]:
    """Return the lines that differ, as they were and as they are, without indents."""
    lines = list(difflib.unified_diff(text.splitlines(), changed.splitlines(), n=0, lineterm=""))[2:]
    before, after = (
        "\n".join(line[1:].strip() for line in lines if line.startswith(sign)) for sign in ("-", "+")
    )
    return before, after


def behaviour(text: str) -> str:
    """Return what of a module's code can be seen when it runs: its tree without functions' annotations and caches."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            node.returns = None
            node.decorator_list = [
                each for each in node.decorator_list if not _CACHE.search(ast.unparse(each))
            ]
        elif isinstance(node, ast.arg):
            node.annotation = None
    return ast.dump(tree)


def _changed(text: str, operator: str, occurrence: int) -> str | None:
    from cosmic_ray.mutating import mutate_code  # noqa: PLC0415  the tool is there for `make mutate` alone
    from cosmic_ray.plugins import get_operator  # noqa: PLC0415  the same

    changed: str | None = mutate_code(text, get_operator(operator)(), occurrence)
    try:
        return changed if changed is not None and behaviour(changed) != behaviour(text) else None
    except SyntaxError:
        return None


def _places(text: str) -> Iterator[tuple[tuple[int, int, str], list[tuple[str, int]]]]:
    """Yield each place of a file with its definition, and its changes: an operator, and which occurrence of it."""
    from cosmic_ray.ast import ast_nodes, get_ast  # noqa: PLC0415  the same
    from cosmic_ray.ast.ast_query import ASTQuery  # noqa: PLC0415  the same
    from parso.python.tree import Operator  # noqa: PLC0415  the same

    seen: dict[str, int] = {}
    binary, others = _operators()
    for node in ast_nodes(get_ast(text)):
        changes: list[tuple[str, int]] = []
        start: tuple[int, int] | None = None
        for name, positions in (binary | others if isinstance(node, Operator) else others).items():
            for begin, _ in positions(node):
                start = start or begin
                changes.append((name, seen.get(name, 0)))
                seen[name] = seen.get(name, 0) + 1
        if start is not None:
            yield (*start, ASTQuery(node).get_definition_name() or ""), changes


def _operators() -> tuple[dict[str, _Positions], dict[str, _Positions]]:
    """Return where each operator of cosmic-ray applies: those that replace a binary operator, and the others.

    The first apply to operators' nodes alone, and are most of all; looking at the other nodes with them takes minutes.
    """
    from cosmic_ray.plugins import get_operator, operator_names  # noqa: PLC0415  the same

    binary: dict[str, _Positions] = {}
    others: dict[str, _Positions] = {}
    for name in sorted(operator_names()):
        operator = get_operator(name)
        replaced = re.fullmatch(r"core/Replace(Binary|Comparison)Operator_(\w+)_(\w+)", name)
        if replaced and frozenset(replaced.groups()[1:]) not in _WITHIN_FAMILIES:
            continue
        if not operator.arguments():  # the others change variables that a configuration names
            (binary if replaced and replaced[1] == "Binary" else others)[name] = operator().mutation_positions
    return binary, others
