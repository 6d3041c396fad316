"""Discriminants of outputs with more coordinates than samples: noise that coordinates share, at whatever distance.

- **Partners.** Two coordinates with the same noise, or with proportional noise, have a combination ``x_j − c x_i``
  without noise. Each coordinate's partner is the one with which it is correlated most, among all; where that is a lot,
  what the partner leaves unexplained is judged in place of the coordinate.
- **Low rank.** Noise in a subspace of fewer dimensions than there are samples is removed by the projection onto what
  is orthogonal to it. With Δ the difference of the means and X the centred samples, ``w = (XᵀX + λI)⁻¹ Δ`` is that
  projection of Δ up to a factor for λ → 0, and Fisher's discriminant with a ridge for larger λ. By Woodbury's identity
  it takes the n × n Gram matrix alone.
- **Single coordinates** among many, by the differences of their means and of their spreads.

Noise that is left by rounding alone is no noise: combinations are rounded to a billionth of their coordinates' scale,
so that the last bits of doubles, which the data sets do shift, are not taken for a difference of real numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from dpsco_verify.arrays import FloatArray, IntArray
from dpsco_verify.auditing.features import MAX_COORDINATES, Feature, entries
from dpsco_verify.auditing.outputs import Outputs

FEWEST_COORDINATES = 41
"""Below this the logistic regression has columns enough for all."""
_MOST_ROWS = 512
_FEWEST_ROWS = 48
_MOST_VALUES = 1 << 23
_ROWS_FOR_PARTNERS = 192
_MOST_FOR_PARTNERS = 1 << 14
"""Of more a random part is compared: m of n coordinates that share their noise two by two hold m²/2n of the pairs."""
_BLOCK = 1024
_CLOSE = 0.8
_GRAIN = 2.0**-30
_RIDGES = (1e-10, 1e-2, 1.0)
_SINGLE = 16
_LARGEST = 1e6


def wide_features(first: Outputs, second: Outputs) -> Iterator[Feature]:
    """Yield the features that `first`, outputs on d, and `second`, on d_prime, give; they are used for nothing else."""
    width = min(first.width, second.width)
    if width < FEWEST_COORDINATES or min(first.size, second.size) < 4:
        return
    rows = min(max(_MOST_VALUES // width, _FEWEST_ROWS), _MOST_ROWS)
    scaled = _Scaled.of(first.numbers[:rows, :width], second.numbers[:rows, :width])
    a, b = (scaled(x.numbers[:rows, :width]) for x in (first, second))
    gap = a.mean(axis=0) - b.mean(axis=0)
    centred = np.concatenate([a - a.mean(axis=0), b - b.mean(axis=0)])
    variance = (centred**2).mean(axis=0)
    if width > MAX_COORDINATES:
        for j in _telling(a, b, gap, variance):
            yield Feature(name=f"coordinate {j + 1}", values=_Coordinate(int(j)))
    # The partners' own noise is in the rows, so that they come first and the rest sees what they leave.
    residual = _Residual.of(a, b, centred, variance)
    if residual is not None:
        yield Feature(name="learned combination of partners", values=residual.scored(scaled))
    gram = centred @ centred.T
    seen = centred @ gap
    mean = float(np.trace(gram)) / len(gram)
    for ridge in _RIDGES:
        if mean > 0.0:
            inner = np.linalg.solve(gram + ridge * mean * np.eye(len(gram)), seen)
            weights = gap - centred.T @ inner
            yield Feature(
                name="learned discriminant", values=_Scored(slice(width), scaled, _Weighted(weights))
            )


def _telling(a: FloatArray, b: FloatArray, gap: FloatArray, variance: FloatArray) -> IntArray:
    """Return the coordinates whose means or spreads differ most for their standard errors."""
    rows = min(len(a), len(b))
    safe = np.where(variance > 0, variance, 1.0)
    shift = np.where(variance > 0, np.abs(gap) / np.sqrt(2.0 * safe / rows), _LARGEST * (gap != 0))
    spread = np.abs(np.log((a.var(axis=0) + _GRAIN) / (b.var(axis=0) + _GRAIN))) * np.sqrt(rows) / 2.0
    return np.asarray(np.argsort(-np.maximum(shift, spread), kind="stable")[:_SINGLE])


@dataclass(frozen=True)
class _Coordinate:
    j: int

    def __call__(self, outputs: Outputs) -> FloatArray:
        return np.asarray(entries(outputs, self.j + 1)[:, self.j])


@dataclass(frozen=True)
class _Scaled:
    """The coordinates centred, in units of their spread, and clipped; what is no number is at the centre."""

    centre: FloatArray
    scale: FloatArray

    def take(self, columns: IntArray) -> _Scaled:
        """Return it for some of the coordinates."""
        return _Scaled(self.centre[columns], self.scale[columns])

    @classmethod
    def of(cls, a: FloatArray, b: FloatArray) -> _Scaled:
        table = np.concatenate([a, b])
        table = np.where(np.isfinite(table), table, 0.0)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            centre = np.median(table, axis=0)
            spread = np.median(np.abs(table - centre), axis=0)
            largest = np.abs(table - centre).max(axis=0)
        return cls(centre, np.where(spread > 0, spread, np.where(largest > 0, largest, 1.0)))

    def __call__(self, numbers: FloatArray) -> FloatArray:
        with np.errstate(invalid="ignore", over="ignore"):
            z = (numbers - self.centre) / self.scale
        return np.clip(np.nan_to_num(z, nan=0.0), -_LARGEST, _LARGEST)


@dataclass(frozen=True)
class _Scored:
    """A score of the coordinates in `columns`, scaled."""

    columns: slice | IntArray
    scaled: _Scaled
    score: Callable[[FloatArray], FloatArray]

    def __call__(self, outputs: Outputs) -> FloatArray:
        last = self.columns.stop if isinstance(self.columns, slice) else int(self.columns[-1]) + 1
        return self.score(self.scaled(entries(outputs, last)[:, self.columns]))


@dataclass(frozen=True)
class _Weighted:
    """A linear combination, rounded to a billionth of what its terms add up to."""

    weights: FloatArray

    def __call__(self, z: FloatArray) -> FloatArray:
        grain = _GRAIN * float(np.abs(self.weights).sum())
        return np.asarray(np.round(z @ self.weights / grain) if grain > 0 else np.zeros(len(z)))


@dataclass(frozen=True)
class _Residual:
    """The sum of what partners leave unexplained of coordinates, each weighted by its difference over its variance."""

    places: IntArray
    partners: IntArray
    factors: FloatArray
    weights: FloatArray

    @classmethod
    def of(cls, a: FloatArray, b: FloatArray, centred: FloatArray, variance: FloatArray) -> _Residual | None:
        places, partners = _partners(centred, variance)
        if places.size == 0:
            return None
        product = (centred[:, places] * centred[:, partners]).mean(axis=0)
        factors = product / variance[partners]
        unweighted = cls(places, partners, factors, np.ones(places.size))
        left_a, left_b = (unweighted.left(x) for x in (a, b))
        gap = left_a.mean(axis=0) - left_b.mean(axis=0)
        noise = 0.5 * (left_a.var(axis=0) + left_b.var(axis=0)) + _GRAIN**2
        return cls(places, partners, factors, gap / noise)

    def scored(self, scaled: _Scaled) -> _Scored:
        """Return the feature that it is, of coordinates scaled so, which looks at those it needs."""
        columns, where = np.unique(np.concatenate([self.places, self.partners]), return_inverse=True)
        places, partners = np.split(where, 2)
        return _Scored(columns, scaled.take(columns), _Residual(places, partners, self.factors, self.weights))

    def left(self, z: FloatArray) -> FloatArray:
        return np.round((z[:, self.places] - self.factors * z[:, self.partners]) / _GRAIN) * _GRAIN

    def __call__(self, z: FloatArray) -> FloatArray:
        return np.asarray(self.left(z) @ self.weights)


def _partners(centred: FloatArray, variance: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the coordinates that are all but explained by another one, and for each that other one."""
    varied = np.flatnonzero(variance > 0)
    if varied.size < 2:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    if varied.size > _MOST_FOR_PARTNERS:
        varied = np.sort(np.random.default_rng(0).choice(varied, _MOST_FOR_PARTNERS, replace=False))
    rows = np.linspace(0, len(centred) - 1, min(len(centred), _ROWS_FOR_PARTNERS)).astype(np.int64)
    table = centred[np.ix_(rows, varied)]
    norms = np.linalg.norm(table, axis=0)
    unit = (table / np.where(norms > 0, norms, 1.0)).astype(np.float32)
    best = np.zeros(varied.size, dtype=np.int64)
    close = np.zeros(varied.size)
    for start in range(0, varied.size, _BLOCK):
        block = np.abs(unit[:, start : start + _BLOCK].T @ unit)
        own = np.arange(len(block))
        block[own, start + own] = 0.0
        best[start : start + _BLOCK] = block.argmax(axis=1)
        close[start : start + _BLOCK] = block.max(axis=1)
    found = close > _CLOSE
    return varied[found], varied[best[found]]
