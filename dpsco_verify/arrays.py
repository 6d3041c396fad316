"""Names for the array types that the signatures use."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
"""An array of doubles; docstrings give the shape."""

IntArray = NDArray[np.int64]
"""An array of 64-bit integers."""

BoolArray = NDArray[np.bool_]
"""An array of truth values."""

__all__ = ["ArrayLike", "BoolArray", "FloatArray", "IntArray"]
