"""What a record promises on another kind of processor, and whether two records keep it.

The same seed gives the same bytes on one kind of processor, times and versions aside. On another kind exp, log, power
and matrix products have other last digits (:mod:`dpsco_verify.processor`), and every figure that was computed from them
may. A record therefore shows each figure to ten significant digits (:class:`~dpsco_verify.evidence.values.Figures`);
certificates are not rounded. A figure with fewer digits that mean something is rounded where it comes from: an upper
bound upwards, a rounding error to the room that it has. Across kinds

- every verdict and every whole number is the same;
- figures differ by at most one unit of the tenth digit: two numbers that are equal but for rounding errors may lie on
  either side of a boundary between two roundings, whatever the number of digits;
- numbers in a text differ by at most one unit of the last digit that is shown.

In the comparison of systems, on which no verdict about the paper rests, some figures are known less well than that:

- a risk over the minimum, and the minimum, differ by at most the gap to which the minimum is known;
- the gradient queries of systems that solve a problem to a tolerance are measured, like times, and differ by at most
  a tenth (:data:`WORK`);
- an exponent that is fitted to these lies in the other one's interval, whose ends are not compared.

``python -m dpsco_verify.evidence.agreement A B`` compares two files ``results.json``; the status is 0 if they agree, 1
if not.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from dpsco_verify.errors import InputError
from dpsco_verify.evidence.records_codec import decode
from dpsco_verify.evidence.values import DIGITS, rounded

WORK = 0.1
"""How far measured gradient queries may differ, relative: of ten iterations or more a solver needs the last or not."""

_ASIDE = frozenset({"seconds", "versions"})
_NAMES = ("id", "reading", "system", "problem", "quantity", "variable", "n", "epsilon")
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")

_QUERIES = re.compile(r"/gradient_queries$|-queries/.*\bx/\d+$")
_RISK_OF_A_CELL = re.compile(r"/cells/[^/]+/([^/]+)/.*/(?:excess_risk|low|high)$")
_RISK_IN_A_PLOT = re.compile(r"/plots/([^/]+)-[a-z]+/.*\b(?:y|low|high)/\d+$")
_MINIMUM = re.compile(r"/problems/([^/]+)/minimum$")


class _Slack(NamedTuple):
    """How far two figures may be apart beyond the last digit."""

    absolute: float = 0.0
    relative: float = 0.0


class _Comparison:
    """Compares two records as plain data; `gaps` says how well each problem's minimum is known."""

    def __init__(self, gaps: Mapping[str, float]) -> None:
        self._gaps = gaps

    def compared(self, path: str, a: Any, b: Any) -> Iterator[str]:
        if isinstance(a, dict) and isinstance(b, dict):
            aside = _ASIDE | ({"exponent", "low", "high"} if _same_exponent(a, b) else frozenset())
            for key in sorted((a.keys() | b.keys()) - aside):
                if key in a and key in b:
                    yield from self.compared(f"{path}/{key}", a[key], b[key])
                else:
                    yield f"{path}/{key}: only one record has it"
        elif isinstance(a, list | tuple) and isinstance(b, list | tuple):
            if len(a) != len(b):
                yield f"{path}: {len(a)} and {len(b)} items"
            for number, (x, y) in enumerate(zip(a, b, strict=False)):
                yield from self.compared(f"{path}/{_name(x, number)}", x, y)
        elif not _agree(a, b, self._slack(path)):
            yield f"{path}: {a!r} and {b!r}"

    def _slack(self, path: str) -> _Slack:
        if _QUERIES.search(path):
            return _Slack(relative=WORK)
        for places in (_RISK_OF_A_CELL, _RISK_IN_A_PLOT, _MINIMUM):
            if found := places.search(path):
                return _Slack(absolute=self._gaps.get(found[1], 0.0))
        return _Slack()


def disagreements(first: msgspec.Struct, second: msgspec.Struct) -> list[str]:
    """Return where two records of one run on two kinds of processor break the promise, a line each.

    They are two :class:`~dpsco_verify.evidence.records.AuditRecord` or two parts of such.
    """
    a, b = msgspec.to_builtins(first), msgspec.to_builtins(second)
    problems = (a.get("comparison") or a).get("problems", ())
    comparison = _Comparison({problem["id"]: problem["gap"] for problem in problems})
    return list(comparison.compared(f"/{_name(a, 0)}", a, b))


def _name(item: Any, number: int) -> str:
    """Return what an item of a list is called: by itself, by what it speaks of, or by its place."""
    named = [str(item[key]) for key in _NAMES if key in item] if isinstance(item, dict) else []
    return "/".join(named) or str(number)


def _same_exponent(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    """Return whether each of two fits lies in the other's interval, up to the last digit at its ends."""
    if "exponent" not in a or "exponent" not in b or None in (a["low"], a["high"], b["low"], b["high"]):
        return False
    return all(
        x["low"] <= y["exponent"] <= x["high"]
        or any(_within_a_unit(y["exponent"], x[end]) for end in ("low", "high"))
        for x, y in ((a, b), (b, a))
    )


def _agree(a: Any, b: Any, slack: _Slack) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        if abs(a - b) <= slack.absolute + slack.relative * max(abs(a), abs(b)):
            return True
        return _within_a_unit(rounded(a), rounded(b))
    if isinstance(a, str) and isinstance(b, str):
        same_words = _NUMBER.split(a) == _NUMBER.split(b)
        return same_words and all(map(_shown_alike, _NUMBER.findall(a), _NUMBER.findall(b)))
    return type(a) is type(b) and bool(a == b)


def _within_a_unit(a: float, b: float) -> bool:
    """Return whether two rounded figures are neighbours at most: one unit of the larger one's last digit apart."""
    larger = max(abs(a), abs(b))
    if a == b or larger == 0.0:
        return True
    unit = 10.0 ** (math.floor(math.log10(larger)) - DIGITS + 1)
    return abs(a - b) <= 1.001 * unit  # the neighbours, and the unit, are rounded themselves


def _shown_alike(a: str, b: str) -> bool:
    """Return whether two numbers in a text differ by no more than the last digit of the one that shows more."""
    if a == b:
        return True
    if a.isdigit() and b.isdigit():
        return False
    x, y = float(a), float(b)
    return abs(x - y) <= 1.001 * min(_last_place(a), _last_place(b))


def _last_place(number: str) -> float:
    mantissa, _, exponent = number.partition("e")
    return 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


def main(arguments: list[str]) -> int:
    """Compare two files; print to stdout where they disagree, to stderr what is wrong with the input."""
    if len(arguments) != 2:
        sys.stderr.write(f"Error: arguments={arguments!r} are not two files; give two results.json\n")
        return 2
    try:
        found = disagreements(*(decode(Path(name).read_bytes()) for name in arguments))
    except (InputError, OSError) as error:
        sys.stderr.write(f"Error: {error}\n")
        return 2
    sys.stdout.writelines(f"{line}\n" for line in found)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
