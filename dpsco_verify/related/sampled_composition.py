"""Many noisy gradients at single points drawn with replacement: what subsampling and composition prove."""

from __future__ import annotations

import math


def composed_epsilon(*, steps: int, n: int, mu: float, delta: float) -> float:
    """Return an ε with which `steps` adaptive Gaussian answers, each about one of n points drawn anew, are private.

    That is (ε, δ)-private. With `mu` the sensitivity to the drawn point over the standard deviation, an answer
    about a fixed point is ``(μ²/2 + μ√(2 log(1/(2δ'))), δ')``-private by the tail of the privacy loss; drawing
    the point turns (ε', δ') into ``(log(1 + (e^ε' − 1)/n), δ'/n)`` (Balle, Barthe and Gaboardi 2018, Theorem 9,
    replace-one), and ``ε₀√(2T log(1/δ'')) + Tε₀(e^ε₀ − 1)`` composes T of them (Dwork, Rothblum and Vadhan 2010,
    Theorem III.3). δ is halved between ``Tδ'/n`` and δ''.
    """
    inner_delta = min(0.5 * n * delta / steps, 0.5)
    inner = 0.5 * mu * mu + mu * math.sqrt(2.0 * -math.log(2.0 * inner_delta))
    if inner > 700.0:
        return math.inf
    epsilon = math.log1p(math.expm1(inner) / n)
    return epsilon * math.sqrt(2.0 * steps * math.log(2.0 / delta)) + steps * epsilon * math.expm1(epsilon)
