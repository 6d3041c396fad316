"""Records made harmless: whatever a record holds, its gradient stays in the ball that the noise was made for.

Nothing here fails for a record's values: an exception that one record causes would tell of that record.
"""

from __future__ import annotations

import numpy as np

from dpsco_verify.arrays import FloatArray

_LARGEST = 1e150
"""Larger entries count as this, so that squares stay in the doubles."""


def bounded_rows(rows: FloatArray, norm: float) -> FloatArray:
    """Return each row divided by the larger of its ℓ2 norm and `norm`: a point of the unit ball, up to rounding.

    A missing value (NaN) counts as 0, the centre; an infinite or overlarge one as ±1e150, so that the row keeps
    that direction alone.

    Parameters
    ----------
    rows
        Shape (f, d).
    norm
        In [1e-100, 1e100].
    """
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        squares = np.einsum("ij,ij->i", rows, rows)
        odd = ~np.isfinite(squares)
        if odd.any():
            rows = rows.copy()
            rows[odd] = finite_rows(rows[odd])
            squares[odd] = np.einsum("ij,ij->i", rows[odd], rows[odd])
        bounded: FloatArray = rows * (1.0 / np.maximum(np.sqrt(squares), norm))[:, np.newaxis]
    return bounded


def finite_rows(rows: FloatArray) -> FloatArray:
    """Return rows in which NaN is 0 and nothing is larger than 1e150 in magnitude."""
    return np.clip(np.nan_to_num(rows, nan=0.0, posinf=_LARGEST, neginf=-_LARGEST), -_LARGEST, _LARGEST)


def largest_norm(rows: FloatArray) -> float:
    """Return the largest ℓ2 norm of the finite rows, within [1e-100, 1e100]; 1 if there is none or it is 0."""
    with np.errstate(over="ignore", invalid="ignore"):
        norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    norms = norms[np.isfinite(norms)]
    top = float(norms.max(initial=0.0))
    return min(max(top, 1e-100), 1e100) if top > 0.0 else 1.0
