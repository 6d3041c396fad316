"""Text that any medium can carry: no control characters, one line where one line is needed."""

from __future__ import annotations

import re

_REPLACEMENT = "\ufffd"

# What XML 1.0 forbids, which takes in the escape sequences of terminals; C1 controls, bidirectional overrides
# and line separators could still disturb a terminal or a table.
_UNPRINTABLE = re.compile(
    "[^\t\n\r\u0020-\u007e\u00a0-\u2027\u202f-\u2065\u206a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9]+")


def printable(text: str) -> str:
    """Return `text` with each character that some medium cannot carry replaced by U+FFFD."""
    return _UNPRINTABLE.sub(_REPLACEMENT, text.replace("\r\n", "\n").replace("\r", "\n"))


def one_line(text: str) -> str:
    """Return :func:`printable` text with every run of white space made one space (thin spaces stay)."""
    return " ".join(re.split(r"[ \t\n]+", printable(text).strip()))


def shorten(text: str, length: int) -> str:
    """Return one line of at most `length` characters, cut at a word where there is one, with an ellipsis."""
    line = one_line(text)
    if len(line) <= length:
        return line
    head = line[: length - 1]
    space = head.rfind(" ")
    return (head[:space] if space > length // 2 else head).rstrip() + "…"


def words(name: str) -> str:
    """Return the name of a figure of the evidence as words: ``minimum_detectable_violation`` has spaces."""
    return one_line(name).replace("_", " ")


def slug(text: str) -> str:
    """Return `text` as a name for files and anchors: ASCII letters, digits and hyphens, never empty."""
    return _NOT_IN_A_NAME.sub("-", text).strip("-") or "x"
