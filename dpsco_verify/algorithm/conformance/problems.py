"""The problems on which an implementation is run.

Most have hardly any noise, 1e-4 in units where gradients are about 1, so that each step shows which gradient was used;
those that judge the noise have gradient 0. W is always a ball about 0, and huge where no projection is to take part. No
parameter has a value, such as 1, at which two readings of it would agree.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.geometry import L2Ball
from dpsco_verify.problems import Huber, Linear, Loss

LIPSCHITZ = 1.5
QUIET = 1e-4
"""The noise's standard deviation where steps are to be read."""
WIDE = 1e6
"""The radius of a ball that no run leaves."""

_GOLDEN_ANGLE = np.pi * (3.0 - np.sqrt(5.0))
_GOLDEN_RATIO = (np.sqrt(5.0) - 1.0) / 2.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Problem:
    """A data set with all parameters of a run.

    Attributes
    ----------
    data
        Shape (n, k).
    noise
        The standard deviation of one coordinate of the noise ξ.
    runs
        How many runs are looked at, at effort 1.
    may_refuse
        Whether the data break the Lipschitz bound, so that an implementation may refuse them.
    """

    name: str
    data: FloatArray
    loss: Loss
    convex_set: L2Ball
    step_size: float
    noise: float
    initial_point: FloatArray
    runs: int
    batch_size: int = 1
    may_refuse: bool = False
    lipschitz: float = LIPSCHITZ

    @property
    def n(self) -> int:
        """The number of points."""
        return len(self.data)

    @property
    def dimension(self) -> int:
        """The dimension d."""
        return self.convex_set.dimension


def spread_points(n: int) -> FloatArray:
    """Return n points of R^3 in general position, shape (n, 3): a spherical spiral, of lengths in [1/2, 1]."""
    k = np.arange(n)
    height = 1.0 - (2.0 * k + 1.0) / n
    across = np.sqrt(1.0 - height**2)
    angle = k * _GOLDEN_ANGLE
    length = 0.5 + 0.5 * np.mod((k + 1.0) * _GOLDEN_RATIO, 1.0)
    return np.asarray(
        length[:, np.newaxis] * np.stack([across * np.cos(angle), across * np.sin(angle), height], axis=-1)
    )


def _ball(dimension: int, radius: float = WIDE) -> L2Ball:
    return L2Ball(np.zeros(dimension), radius)


LINEAR = Problem(
    name="linear",
    data=LIPSCHITZ * spread_points(8),
    loss=Linear(),
    convex_set=_ball(3),
    step_size=0.25,
    noise=QUIET,
    initial_point=np.array([0.5, -0.25, 0.125]),
    runs=512,
)
"""The gradients are those of the points, wherever they are taken: each step tells which point it used."""

LINEAR_ODD = replace(LINEAR, name="linear, n odd", data=LIPSCHITZ * spread_points(7), runs=64)
"""An odd number of points, where n/2 has to be rounded."""

CURVED = replace(
    LINEAR,
    name="curved",
    data=np.column_stack([spread_points(8), 0.5 * np.cos(3.0 * np.arange(8))]),
    loss=Huber(LIPSCHITZ),
    runs=64,
)
"""Gradients ``(⟨w, a⟩ − b)a``, so that it shows at which point they were taken."""

BOUNDED = replace(
    LINEAR,
    name="bounded",
    convex_set=_ball(3, 0.4),
    step_size=0.5,
    initial_point=np.array([0.2, -0.1, 0.15]),
    runs=64,
)
"""Most steps leave a small ball and are projected back."""

BATCH = replace(LINEAR, name="batches", data=LIPSCHITZ * spread_points(6), runs=64, batch_size=3)

OUTLIERS = replace(
    LINEAR,
    name="outliers",
    data=(LIPSCHITZ * np.arange(2.0, 10.0))[:, np.newaxis] * spread_points(8),
    runs=16,
    may_refuse=True,
)
"""The gradients are longer than L."""

BATCH_OUTLIER = replace(
    LINEAR,
    name="batches with an outlier",
    data=LIPSCHITZ * spread_points(6) * np.array([1.0, 1.0, 1.0, 12.0, 1.0, 1.0])[:, np.newaxis],
    runs=64,
    batch_size=3,
    may_refuse=True,
)
"""One point's gradient is longer than L; clipped by itself, it is as any other in the mean."""

NOISE = Problem(
    name="noise alone",
    data=np.zeros((8, 16)),
    loss=Linear(),
    convex_set=_ball(16),
    step_size=0.25,
    noise=0.3,
    initial_point=np.linspace(-0.5, 0.7, 16),
    runs=128,
)
"""All gradients are 0: a step is the noise."""

BATCH_NOISE = replace(
    NOISE,
    name="noise alone, batches",
    data=np.zeros((6, 8)),
    convex_set=_ball(8),
    initial_point=np.linspace(-0.5, 0.7, 8),
    runs=64,
    batch_size=3,
)
