"""Plain-text mathematics on a page: ``2e^{−n/16}`` with the exponent raised, ``w_j`` with the index lowered."""

from __future__ import annotations

import unicodedata

from markupsafe import Markup, escape

from dpsco_verify.reporting.text import printable

_TAGS = {"^": "sup", "_": "sub"}


def typeset(text: str) -> Markup:
    """Return `text` escaped, with scripts as ``<sup>`` and ``<sub>``.

    A script is what follows ``^`` or ``_`` behind a character that is not a space: a group in braces, a run of
    letters, a run of digits, or one other character. What fits none of these stays as it stands.
    """
    return _typeset(printable(text))


def _typeset(text: str) -> Markup:
    pieces, start, position = [], 0, 1
    while position < len(text):
        end = (
            _script_end(text, position) if text[position] in _TAGS and not text[position - 1].isspace() else 0
        )
        if not end:
            position += 1
            continue
        script = text[position + 1 : end]
        inner = _typeset(script[1:-1]) if script.startswith("{") else escape(script)
        tag = Markup(_TAGS[text[position]])  # noqa: S704  one of two constants
        pieces += [escape(text[start:position]), Markup("<{0}>{1}</{0}>").format(tag, inner)]
        start, position = end, max(end, position + 1)
    return Markup("").join([*pieces, escape(text[start:])])


def _script_end(text: str, position: int) -> int:
    """Return the end of the script that starts behind `position`, or 0 if there is none."""
    first = position + 1
    if first >= len(text) or text[first].isspace() or text[first] in "^_},;)":
        return 0
    if text[first] == "{":
        depth = 0
        for end in range(first, len(text)):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            if depth == 0:
                return end + 1 if end > first + 1 else 0
        return 0
    end = first + 1
    for belongs in (str.isalpha, str.isdecimal):
        if belongs(text[first]):
            while end < len(text) and (belongs(text[end]) or unicodedata.combining(text[end])):
                end += 1
            break
    return end
