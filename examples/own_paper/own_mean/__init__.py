"""A private mean, and the theorem about it."""

import numpy as np


def private_mean(data, size, rng, *, epsilon):
    """Return `size` private means of numbers in [0, 1]: Laplace noise of scale 1/(nε), then clipping to [0, 1]."""
    values = np.clip(np.asarray(data, dtype=float), 0.0, 1.0)
    return np.clip(values.mean() + rng.laplace(scale=1.0 / (len(values) * epsilon), size=size), 0.0, 1.0)
