"""The outputs of a mechanism, in columns that features can be computed from.

An output is a number, a truth value, a string, bytes, None, that a run raised, a tuple, list or array of outputs, of
any length, or what :func:`plain` makes one of these. Its **entries** are its numbers in order, those that are written
in a string too (a string without any, None or an empty place is an entry without a number, NaN); its **kind** is its
type with those of its parts, of a string with numbers also what stands around them; its **fingerprint**
is a 64-bit hash of exactly what it is, bits included: equal outputs have equal fingerprints, -0.0 and 0.0 have
different ones, and every NaN has one of its own pattern.
It depends on no other output of the call: else what a whole call returns would be judged as if it were one output.
"""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsco_verify.arrays import FloatArray, IntArray
from dpsco_verify.auditing.plain import Raised, as_float, foreign_array, numeric, plain
from dpsco_verify.errors import InputError

Fingerprints = NDArray[np.uint64]

_MAX_DEPTH = 8
_EXACT = 2**53
_SHOWN = 60
_WIDE = 256
_BLOCK = 1 << 18
_NUMBER = re.compile(
    r"(?:(?<=\dT)|(?<![^\W_])(?<!\.))"
    r"[-+−]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+−]?\d+)?"
    r"(?=T\d|[^\W\d_]{0,3}(?![^\W_]|\.\w))"
)
"""A decimal number in a text, of JSON, of a sentence, of a date, also with a unit of up to three letters behind it; and
not a part of a word, of another number or of a version."""
_MOST_WRITTEN = 256
_LONGEST_FORM = 1000


@dataclass(frozen=True, kw_only=True, eq=False)
class Outputs:
    """`size` outputs of one mechanism on one data set.

    Attributes
    ----------
    numbers
        The entries, shape (size, width); NaN where an output has no number there.
    lengths
        How many entries each output has, shape (size,).
    kinds
        The kind of each output as an index into `kind_names`, shape (size,).
    kind_names
        The kinds in words, sorted, so that the same kinds have the same indices.
    prints
        The fingerprints, shape (size,), where the entries do not determine them; None where they do.
    raw
        What was returned, for a log-density, a user's own features, and to show an output in words.
    """

    numbers: FloatArray
    lengths: IntArray
    kinds: IntArray
    kind_names: tuple[str, ...]
    prints: Fingerprints | None
    raw: Any

    @cached_property
    def fingerprints(self) -> Fingerprints:
        """The fingerprints, shape (size,); most outputs are judged without them."""
        return _row_fingerprints(self.numbers) if self.prints is None else self.prints

    @property
    def size(self) -> int:
        """The number of outputs."""
        return len(self.lengths)

    @property
    def width(self) -> int:
        """The largest number of entries."""
        return int(self.numbers.shape[1])

    def shown(self, index: int) -> str:
        """Return output number `index` in words, shortened."""
        item = self.raw[index]
        try:
            text = repr(item.tolist() if isinstance(item, np.ndarray | np.generic) else item)
        except ValueError:  # of a whole number of thousands of digits
            return f"<{type(item).__name__}, too long to be shown>"
        return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"

    def take(self, rows: slice) -> Outputs:
        """Return the outputs in `rows`."""
        return Outputs(
            numbers=self.numbers[rows],
            lengths=self.lengths[rows],
            kinds=self.kinds[rows],
            kind_names=self.kind_names,
            prints=self.prints_at(rows),
            raw=self.raw[rows],
        )

    def prints_at(self, rows: Any) -> Fingerprints | None:
        """Return `prints` of some outputs, which are kept once they were computed."""
        known = self.__dict__.get("fingerprints", self.prints)
        return None if known is None else known[rows]


def join(first: Outputs, second: Outputs) -> Outputs:
    """Return the outputs of `first` followed by those of `second`."""
    width = max(first.width, second.width)
    names = tuple(sorted({*first.kind_names, *second.kind_names}))
    parts = (first, second)
    # What fills a shorter output up is no part of it.
    determined = first.width == second.width and first.prints is None and second.prints is None
    raw: Any
    arrays = isinstance(first.raw, np.ndarray) and isinstance(second.raw, np.ndarray)
    if arrays and first.raw.shape[1:] == second.raw.shape[1:]:
        raw = np.concatenate([first.raw, second.raw])
    else:
        raw = [*first.raw, *second.raw]
    return Outputs(
        numbers=np.concatenate([_padded(p.numbers, width) for p in parts]),
        lengths=np.concatenate([p.lengths for p in parts]),
        kinds=np.concatenate(
            [np.array([names.index(n) for n in p.kind_names], dtype=np.int64)[p.kinds] for p in parts]
        ),
        kind_names=names,
        prints=None if determined else np.concatenate([p.fingerprints for p in parts]),
        raw=raw,
    )


def in_order(outputs: Outputs, order: NDArray[np.intp]) -> Outputs:
    """Return the outputs in another order: the first is the one that stood at ``order[0]``."""
    raw = outputs.raw
    return Outputs(
        numbers=outputs.numbers[order],
        lengths=outputs.lengths[order],
        kinds=outputs.kinds[order],
        kind_names=outputs.kind_names,
        prints=outputs.prints_at(order),
        raw=raw[order] if isinstance(raw, np.ndarray) else [raw[i] for i in order],
    )


def encode(returned: Any, size: int) -> Outputs:
    """Return what a mechanism returned for `size` runs as :class:`Outputs`.

    Raises
    ------
    InputError
        If it is not `size` outputs of a kind that can be coded. The message begins with what was returned.
    """
    returned = foreign_array(returned)
    if isinstance(returned, np.ndarray):
        if returned.ndim == 0 or len(returned) != size:
            raise InputError(
                f"returned an array of shape {returned.shape}; return one of shape ({size}, …), one row a run"
            )
        if isinstance(returned, np.ma.MaskedArray) or returned.dtype.names is not None:
            # Each item as it is alone: what is hidden is None, and a record is a tuple.
            return _from_items(returned.tolist())
        returned = numeric(returned)
        if returned.dtype.kind in "biuf":
            return _from_array(returned)
        return _from_items(
            list(returned) if returned.ndim == 1 else [tuple(row) for row in returned.tolist()]
        )
    if isinstance(returned, list | tuple):
        if len(returned) != size:
            raise InputError(f"returned {len(returned)} outputs; return {size}, one a run")
        return _from_sequence(returned)
    if hasattr(returned, "to_pylist"):  # of arrow, whose arrays with missing values give none of numpy
        return encode(returned.to_pylist(), size)
    if hasattr(returned, "to_numpy"):
        return encode(returned.to_numpy(), size)
    raise InputError(
        f"returned a value of type {type(returned).__name__}; return an array of shape ({size}, …) or a list of {size}"
    )


def _from_sequence(items: Sequence[Any]) -> Outputs:
    if items and all(type(item) is float for item in items):
        return _from_array(np.array(items, dtype=np.float64))
    return _from_items(items)


def _from_array(array: NDArray[Any]) -> Outputs:
    size = len(array)
    flat = np.ascontiguousarray(array.reshape(size, -1))
    kind = "number" if array.ndim == 1 else f"array of shape {array.shape[1:]}"
    return Outputs(
        numbers=flat.astype(np.float64),
        lengths=np.full(size, flat.shape[1], dtype=np.int64),
        kinds=np.zeros(size, dtype=np.int64),
        kind_names=(kind,),
        # Later, and of the copy: a mechanism may use its array again.
        prints=_row_fingerprints(flat) if flat.dtype.kind in "iu" and _beyond(flat).any() else None,
        raw=array,
    )


def _row_fingerprints(flat: NDArray[Any]) -> Fingerprints:
    """Hash the bits of each row, entry after entry, or where there are many the sum of a hash of each in its place."""
    # Each entry by the bits of the double that it is. The type of an array is that of its least simple entry, and what
    # stands beside an output must not change it; whole numbers that no double is are hashed by their own bits.
    words = np.ascontiguousarray(flat, dtype=np.float64).view(np.uint64)
    if flat.dtype.kind in "iu":
        beyond = _beyond(flat)
        words[beyond] = flat[beyond].astype(np.int64, casting="unsafe").view(np.uint64)
    if words.shape[1] > _WIDE:
        keys = _mixed(np.arange(words.shape[1], dtype=np.uint64))
        rows = max(_BLOCK // words.shape[1], 1)
        blocks = (words[at : at + rows] for at in range(0, len(words), rows))
        return _mixed(np.concatenate([_mixed(block ^ keys).sum(axis=1, dtype=np.uint64) for block in blocks]))
    result = np.full(len(flat), 0x9E3779B97F4A7C15, dtype=np.uint64)
    rows = max(_BLOCK // 8 // max(words.shape[1], 1), 1)  # in cache, where each entry is read by itself
    for at in range(0, len(words), rows):
        for j in range(words.shape[1]):
            result[at : at + rows] = _mixed(result[at : at + rows] ^ words[at : at + rows, j])
    return result


def _beyond(flat: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray((flat < -_EXACT) | (flat > _EXACT))


def _mixed(x: Fingerprints) -> Fingerprints:
    """Return the splitmix64 finaliser of each word (Steele, Lea, Flood 2014): a bijection."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _from_items(items: Sequence[Any]) -> Outputs:
    entries: list[list[float]] = []
    names: list[str] = []
    prints = np.empty(len(items), dtype=np.uint64)
    for i, item in enumerate(items):
        numbers: list[float] = []
        identity = hashlib.blake2b(digest_size=8)
        names.append(_walk(item, numbers, identity, 0))
        prints[i] = int.from_bytes(identity.digest(), "big")
        entries.append(numbers)
    # A number has one fingerprint, also where no other output of the call is a string or None.
    bare = [i for i, name in enumerate(names) if name == "number"]
    prints[bare] = _row_fingerprints(np.array([entries[i] for i in bare], dtype=np.float64).reshape(-1, 1))
    lengths = np.array([len(numbers) for numbers in entries], dtype=np.int64)
    table = np.full((len(items), int(lengths.max(initial=0))), np.nan)
    for i, numbers in enumerate(entries):
        table[i, : len(numbers)] = numbers
    kind_names = tuple(sorted(set(names)))
    index = {name: k for k, name in enumerate(kind_names)}
    return Outputs(
        numbers=table,
        lengths=lengths,
        kinds=np.array([index[name] for name in names], dtype=np.int64),
        kind_names=kind_names,
        prints=prints,
        raw=list(items),
    )


def _walk(item: Any, numbers: list[float], identity: Any, depth: int) -> str:  # noqa: PLR0911  one line a type
    """Add the entries of `item` to `numbers` and its bytes to `identity`; return its kind."""
    if depth > _MAX_DEPTH:
        raise InputError(f"returned an output nested more than {_MAX_DEPTH} deep; return a flatter one")
    item = plain(item)
    if item is None:
        numbers.append(np.nan)
        identity.update(b"N")
        return "None"
    if isinstance(item, Raised):
        numbers.append(np.nan)
        identity.update(f"X{item.kind};".encode())
        return f"an exception ({item.kind})"
    if isinstance(item, str | bytes):
        data = item.encode("utf-8", "surrogatepass") if isinstance(item, str) else item
        identity.update(b"%b%d:" % (b"S" if isinstance(item, str) else b"Y", len(data)) + data)
        word, text = ("string", item) if isinstance(item, str) else ("bytes", item.decode("latin-1"))
        written, around = numbers_in(text)
        numbers.extend([float(number) for number in written[:_MOST_WRITTEN]] or [np.nan])
        if len(around) > _LONGEST_FORM:
            told_apart = hashlib.blake2b(around.encode("utf-8", "surrogatepass"), digest_size=8)
            around = f"{around[:_SHOWN]}… {told_apart.hexdigest()}"
        return f"{word} {around!r}" if written else word
    if isinstance(item, bool | np.bool_):
        numbers.append(float(item))
        identity.update(b"B1" if item else b"B0")
        return "truth value"
    if isinstance(item, int | np.integer):
        numbers.append(as_float(int(item)))
        identity.update(f"I{int(item):x};".encode())
        return "whole number"
    if isinstance(item, float | np.floating):
        numbers.append(float(item))
        identity.update(b"F" + struct.pack("<d", float(item)))
        return "number"
    if isinstance(item, list | tuple | np.ndarray):
        identity.update(b"(")
        parts = [_walk(part, numbers, identity, depth + 1) for part in item]
        identity.update(b")")
        inner = parts[0] if len(set(parts)) == 1 else ", ".join(parts[:6]) + (", …" if len(parts) > 6 else "")
        word = "array" if isinstance(item, np.ndarray) else type(item).__name__
        return f"{word} of {len(parts)} ({inner})" if parts else f"empty {word}"
    as_list = " (a list of what it yields, for one)" if hasattr(item, "__next__") else ""
    raise InputError(
        f"returned an output of type {type(item).__name__}; return numbers, strings, None, tuples or arrays of "
        f"them{as_list}"
    )


def numbers_in(text: str) -> tuple[list[str], str]:
    """Return the numbers that are written in a text, as :class:`float` reads them, and what stands around them."""
    written = [number.replace("−", "-") for number in _NUMBER.findall(text)]
    return written, _NUMBER.sub("#", text) if written else ""


def untold(item: Any, depth: int = 0) -> Iterator[Hashable]:
    """Yield, for each text and each whole number of an output in turn, what its entries do not tell of it.

    That is the text, or what stands around its numbers, with those of them that are too many, or beyond doubles.
    """
    item = plain(item)
    if isinstance(item, bytes):
        item = item.decode("latin-1")
    if isinstance(item, str):
        written, around = numbers_in(item)
        lost = [number for number in written[:_MOST_WRITTEN] if _is_lost(number)]
        yield (around, *lost, *written[_MOST_WRITTEN:]) if written else item
    elif isinstance(item, list | tuple) and depth <= _MAX_DEPTH:
        for part in item:
            yield from untold(part, depth + 1)
    elif isinstance(item, int):
        yield hash(item) if np.isinf(as_float(item)) else None


def _is_lost(number: str) -> bool:
    value = float(number)
    return np.isinf(value) or (
        value == 0.0 and any(digit in "123456789" for digit in re.split("[eE]", number)[0])
    )


def _padded(numbers: FloatArray, width: int) -> FloatArray:
    if numbers.shape[1] == width:
        return numbers
    padded = np.full((len(numbers), width), np.nan)
    padded[:, : numbers.shape[1]] = numbers
    return padded
