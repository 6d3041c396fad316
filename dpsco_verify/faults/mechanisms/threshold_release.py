"""Keys released with their noisy counts where these reach a threshold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpsco_verify.faults.mechanisms.additive import discrete_laplace

Release = tuple[tuple[str, int], ...]


@dataclass(frozen=True, kw_only=True)
class ThresholdRelease:
    """The keys that occur in the data, each with its noisy count, if that is at least `threshold`.

    The noise is discrete Laplace. A key that one record alone holds gives that record away whenever it is released: δ
    is at least ``P(1 + Z ≥ threshold) = e^{−(threshold − 1)/scale}/(1 + e^{−1/scale})``. Whoever writes `threshold` in
    place of ``threshold − 1`` there claims a δ that is too small by the factor ``e^{1/scale}``.
    """

    scale: float
    threshold: int

    def __call__(self, dataset: list[str], size: int, rng: np.random.Generator) -> list[Release]:
        """Return `size` releases, each a tuple of (key, noisy count)."""
        keys = sorted(set(dataset))
        counts = np.array([dataset.count(key) for key in keys], dtype=np.int64)
        noisy = counts + discrete_laplace(self.scale, (size, len(keys)), rng)
        return [
            tuple((key, count) for key, count in zip(keys, row, strict=True) if count >= self.threshold)
            for row in noisy.tolist()
        ]
