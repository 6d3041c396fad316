"""Groups with their noisy counts: which keys are told of, in which order, and as what."""

from __future__ import annotations

import enum
import json
from dataclasses import dataclass

import numpy as np

KEYS = ("a", "b", "c")
"""All keys that there may be, which are public."""


class GroupsTold(enum.StrEnum):
    """Which groups are released, and how."""

    ALL = "all"
    """Each of the public keys, in their order: right."""
    AS_THEY_APPEAR = "as they appear"
    """All keys, those in the data first and in the order in which they appear there."""
    THOSE_THERE = "those there"
    """The keys in the data alone, in the order of the alphabet."""
    AS_TEXT = "as text"
    """The keys in the data alone, as a text in JSON."""


@dataclass(frozen=True, kw_only=True)
class NoisyGroups:
    """The number of records of each group, plus Laplace noise of this scale.

    Parameters
    ----------
    told
        What is released of the keys.
    scale
        Of the noise: 2/ε where a record is replaced, which moves two counts by 1; 1/ε where one is added.
    """

    told: GroupsTold
    scale: float

    def __call__(self, dataset: list[str], size: int, rng: np.random.Generator) -> list[object]:
        """Return `size` lists of (key, noisy count), or texts."""
        there = list(dict.fromkeys(dataset))
        keys: list[str] = list(KEYS)
        if self.told is GroupsTold.AS_THEY_APPEAR:
            keys = there + [key for key in KEYS if key not in there]
        elif self.told is not GroupsTold.ALL:
            keys = sorted(there)
        counts = np.array([dataset.count(key) for key in keys], dtype=np.float64)
        noisy = (counts + rng.laplace(scale=self.scale, size=(size, len(keys)))).tolist()
        groups = [list(zip(keys, row, strict=True)) for row in noisy]
        return [json.dumps(dict(of)) for of in groups] if self.told is GroupsTold.AS_TEXT else [*groups]
