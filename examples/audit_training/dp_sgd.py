"""DP-SGD in numpy on the handwritten digits, as it should be and with five faults that real libraries have had.

A network of two layers; each step sums clipped gradients of a Poisson sample and adds Gaussian noise. Canaries are
gradients of their own: what `per_example` does here is the place where they join those of the data, before clipping.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.datasets import load_digits

EXAMPLES, HIDDEN, CLASSES, PIXELS = 500, 32, 10, 64
FIRST = PIXELS * HIDDEN + HIDDEN  # parameters of the first layer, with its biases
DIMENSION = FIRST + HIDDEN * CLASSES + CLASSES

RIGHT = "right"
FAULTS = (
    "no noise on the last layer",
    "clipped after averaging",
    "batches dealt once and used again",
    "no noise on accumulated gradients",
    "wrong sampling rate",
)


@dataclass(frozen=True)
class Settings:
    """What the accountant is told."""

    clip: float = 1.0
    noise: float = 1.6  # noise multiplier
    rate: float = 0.04  # Poisson sampling
    steps: int = 600
    learning_rate: float = 0.5


def backward(w, x, y):
    """Return what the gradients of the cross-entropy are made of: layers' inputs and slopes at their outputs."""
    hidden = np.tanh(x @ w[: PIXELS * HIDDEN].reshape(PIXELS, HIDDEN) + w[PIXELS * HIDDEN : FIRST])
    last = w[FIRST : FIRST + HIDDEN * CLASSES].reshape(HIDDEN, CLASSES)
    logits = hidden @ last + w[FIRST + HIDDEN * CLASSES :]
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    p[np.arange(len(y)), y] -= 1
    back = (p @ last.T) * (1 - hidden**2)
    return (x, back), (hidden, p)


def per_example(layers):
    """Return the gradients, one row an example."""
    parts = [part for x, slope in layers for part in (x[:, :, None] * slope[:, None, :], slope)]
    return np.concatenate([part.reshape(len(part), -1) for part in parts], axis=1)


def clipped_sum(layers, bound):
    """Return the sum of all examples' clipped gradients, without writing these down."""
    squares = sum(((x**2).sum(axis=1) + 1) * (slope**2).sum(axis=1) for x, slope in layers)
    factors = np.minimum(1, bound / np.maximum(np.sqrt(squares), 1e-12))[:, None]
    return np.concatenate(
        [
            part.ravel()
            for x, slope in layers
            for part in (x.T @ (factors * slope), (factors * slope).sum(axis=0))
        ]
    )


def clipped(gradients, bound):
    """Gradients no longer than a bound."""
    norms = np.linalg.norm(gradients, axis=-1, keepdims=True)
    return gradients * np.minimum(1, bound / np.maximum(norms, 1e-12))


def train(canaries, settings, rng, fault=RIGHT):
    """Return the weights, every noisy update, which is all that is released, and what the data alone let expect of it.

    Both have the shape (steps, d). Whoever audits may know the data and the weights, and not which examples were drawn.
    `canaries` are the gradients of those canaries that are in, shape (number, d).
    """
    x, y = load_digits(return_X_y=True)
    x, y = x[:EXAMPLES] / 16, y[:EXAMPLES]
    n = len(y) + len(canaries)
    rate = settings.rate * (4 if fault == "wrong sampling rate" else 1)
    slots = round(1 / settings.rate)
    dealt = rng.permutation(n) % slots
    w = rng.normal(scale=0.1, size=DIMENSION)
    updates = np.empty((settings.steps, DIMENSION))
    expected = np.empty((settings.steps, DIMENSION))
    for step in range(settings.steps):
        chosen = rng.random(n) < rate
        if fault == "batches dealt once and used again":
            chosen = dealt == step % slots
        data, inserted = chosen[: len(y)], chosen[len(y) :]
        layers = backward(w, x, y)
        expected[step] = settings.rate * clipped_sum(layers, settings.clip)
        of_data = per_example([(inputs[data], slope[data]) for inputs, slope in layers])
        gradients = np.concatenate([of_data, canaries[inserted]])
        noise = rng.normal(scale=settings.noise * settings.clip, size=DIMENSION)
        if fault == "no noise on the last layer":
            noise[FIRST:] = 0
        if fault == "no noise on accumulated gradients" and step % 4:
            noise[:] = 0
        if fault == "clipped after averaging":
            batch = max(len(gradients), 1)
            total = clipped(gradients.sum(axis=0) / batch, settings.clip) * batch
        else:
            total = clipped(gradients, settings.clip).sum(axis=0)
        updates[step] = total + noise
        w = w - settings.learning_rate * updates[step] / (settings.rate * n)
    return w, updates, expected
