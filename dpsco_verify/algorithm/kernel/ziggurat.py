"""The tables of a ziggurat for the standard normal law (Marsaglia and Tsang 2000), from the mathematics.

Under ``f(x) = exp(−x²/2)``, x ≥ 0, lie 256 layers of one area v: the rectangles ``[0, x_i] × [f(x_i), f(x_{i+1})]``
for i = 1, …, 255 with ``r = x_1 > x_2 > … > x_256 = 0``, and at the bottom the rectangle ``[0, r] × [0, f(r)]`` with
the tail beyond r. So ``v = r f(r) + ∫_r^∞ f`` and ``f(x_{i+1}) = f(x_i) + v/x_i``; r is what makes the last height
``f(x_256) = 1``. With ``x_0 = v/f(r)`` the bottom layer is drawn like the others: a point beyond r stands for the tail.

The law is exact up to the grid of the doubles that carry it: rounding r moves the layers' areas by a few 1e-16.
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from dpsco_verify.arrays import FloatArray

LAYERS = 256
"""A power of two: the layer's number is so many low bits of a word."""

MANTISSA_BITS = 52
"""Bits of the place in a layer, its sign apart."""


class Ziggurat(NamedTuple):
    """The tables: `edges` holds ``x_0, …, x_256``, `heights` their f (not used at 0), `widths` ``x_i/2⁵²``."""

    edges: FloatArray
    heights: FloatArray
    widths: FloatArray


def _heights_error(r: float) -> float:
    """Return ``f(x_256) − 1`` if the layers are stacked from r; above 1, a count that falls with r."""
    area = layer_area(r)
    x = r
    height = math.exp(-0.5 * r * r)
    for layer in range(1, LAYERS):
        height += area / x
        if height >= 1.0:
            return height - 1.0 + (LAYERS - 1 - layer)
        x = math.sqrt(-2.0 * math.log(height))
    return height - 1.0


def layer_area(r: float) -> float:
    """Return ``v = r f(r) + √(π/2) erfc(r/√2)``."""
    return r * math.exp(-0.5 * r * r) + math.sqrt(0.5 * math.pi) * math.erfc(r / math.sqrt(2.0))


@cache
def ziggurat() -> Ziggurat:
    """Return the tables; they are read-only."""
    r = float(brentq(_heights_error, 3.0, 4.5, xtol=1e-15))
    area = layer_area(r)
    edges, heights = [area / math.exp(-0.5 * r * r), r], [0.0, math.exp(-0.5 * r * r)]
    for _ in range(LAYERS - 2):
        heights.append(heights[-1] + area / edges[-1])
        edges.append(math.sqrt(-2.0 * math.log(heights[-1])))
    edges.append(0.0)
    heights.append(1.0)
    tables = Ziggurat(
        edges=np.array(edges),
        heights=np.array(heights),
        widths=np.array(edges[:-1]) / 2.0**MANTISSA_BITS,
    )
    for table in tables:
        table.setflags(write=False)
    return tables
