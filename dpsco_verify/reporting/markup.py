"""Text inside GitHub-flavoured Markdown: whatever a record says, it stays text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from dpsco_verify.reporting.text import one_line, printable

_SPECIAL = re.compile(r"([\\`*_{}\[\]|~])")
_STARTS_A_BLOCK = re.compile(r"^([-+=#]|\d+(?=[.)]))")


def escape(text: str) -> str:
    """Return one line of `text` that Markdown shows as it stands, in a paragraph or in the cell of a table."""
    escaped = _SPECIAL.sub(r"\\\1", one_line(text))
    # Entities, because these would start HTML, an entity, a quotation or (on GitHub) a formula.
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("$", "&#36;")):
        escaped = escaped.replace(character, entity)
    return escaped


def paragraph(text: str) -> str:
    """Return `text` as one paragraph, with its line breaks."""
    return "\\\n".join(_block_start(line) for line in _lines(text))


def quotation(text: str) -> str:
    """Return `text` as a quotation."""
    return "> " + "\\\n> ".join(_block_start(line) for line in _lines(text))


def code(text: str) -> str:
    """Return one line of `text` as code; in a cell of a table too, a bar is part of it."""
    content = one_line(text)
    longest = max((len(run) for run in re.findall("`+", content)), default=0)
    fence = "`" * (longest + 1)
    space = " " if content[:1] == "`" or content[-1:] == "`" or not content else ""
    return f"{fence}{space}{content}{space}{fence}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[bool] = ()) -> str:
    """Return a table of cells that are Markdown already; `right` says which columns are set flush right."""
    flush = [*right, *([False] * (len(header) - len(right)))]
    lines = [header, ["---:" if r else "---" for r in flush], *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(cell: str) -> str:
    # A bar that is not escaped yet (inside code) would end the cell; a row of a table undoes this escape first.
    return re.sub(r"(?<!\\)((?:\\\\)*)\|", r"\1\\|", cell)


def _lines(text: str) -> list[str]:
    return [line for line in printable(text).split("\n") if line.strip()] or [""]


def _block_start(line: str) -> str:
    escaped = escape(line)
    return _STARTS_A_BLOCK.sub(lambda m: f"\\{m[0]}" if not m[0].isdigit() else f"{m[0]}\\", escaped)
