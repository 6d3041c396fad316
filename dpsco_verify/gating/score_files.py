"""Scores of canaries from files: CSV with a score and a coin a line, or NPZ."""

from __future__ import annotations

import csv
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.auditing.canaries import split_by_coins
from dpsco_verify.auditing.canaries.scores import checked_scores
from dpsco_verify.errors import InputError

_CSV = "give a header with the columns score and coin, and a line for each canary"
_NPZ = "give the arrays scores and coins, or scores_in and scores_out"


def load_scores(path: Path) -> tuple[FloatArray, FloatArray]:
    """Return the scores of the canaries that were in, and of those that were out.

    ``*.npz`` holds the arrays ``scores`` and ``coins``, or ``scores_in`` and ``scores_out``. Any other file is CSV
    with the columns ``score`` and ``coin``, which is 1 for in and 0 for out.

    Raises
    ------
    InputError
        If it cannot be read, or holds no such scores.
    """
    try:
        found = _from_npz(path) if path.suffix == ".npz" else _from_csv(path)
    except OSError as error:
        raise InputError(
            f"canaries={str(path)!r} cannot be read ({error.strerror or error}); give a CSV or NPZ file"
        ) from None
    except InputError as error:
        raise InputError(f"canaries={str(path)!r}: {error}") from None
    return found


def _from_npz(path: Path) -> tuple[FloatArray, FloatArray]:
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays: dict[str, Any] = {name: archive[name] for name in archive.files}
    except (ValueError, EOFError, zipfile.BadZipFile, AttributeError):
        raise InputError(f"this is no NPZ file of plain arrays; {_NPZ}") from None
    if {"scores", "coins"} <= arrays.keys():
        return checked_scores(*split_by_coins(arrays["scores"], arrays["coins"]))
    if {"scores_in", "scores_out"} <= arrays.keys():
        return checked_scores(arrays["scores_in"], arrays["scores_out"])
    raise InputError(f"it holds {', '.join(sorted(arrays)) or 'nothing'}; {_NPZ}")


def _from_csv(path: Path) -> tuple[FloatArray, FloatArray]:
    scores: list[float] = []
    coins: list[float] = []
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file, skipinitialspace=True)
            if not {"score", "coin"} <= set(reader.fieldnames or ()):
                raise InputError(f"its header is {','.join(reader.fieldnames or ()) or 'empty'}; {_CSV}")
            for row in reader:
                scores.append(_number(row["score"], "score", reader.line_num))
                coins.append(_number(row["coin"], "coin", reader.line_num))
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"this is no CSV file ({error}); {_CSV}") from None
    return checked_scores(*split_by_coins(scores, coins))


def _number(text: str | None, column: str, line: int) -> float:
    try:
        return float(text or "")
    except ValueError:
        raise InputError(f"{column}={text!r} in line {line} is no number; {_CSV}") from None
