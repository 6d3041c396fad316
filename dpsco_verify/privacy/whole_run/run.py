"""What a run is to its accountant, and what is seen of it."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from dpsco_verify.errors import InputError
from dpsco_verify.validation import require_integer, require_non_negative, require_positive

LARGEST = 10**8
"""The largest n. Beyond it the rounding of K products, and grids of more than 2²¹ points, would be felt."""


class View(enum.StrEnum):
    """What the adversary sees.

    Each view is a function of the one before, so an upper bound for PATTERN holds for all, a lower bound for OUTPUT
    does, and a lower bound for PATTERN says nothing of the others.

    * PATTERN: every noisy step and iterate, and which draws were repeats;
    * TRANSCRIPT: every iterate, the repeats hidden among them;
    * OUTPUT: the returned average alone.

    Examples
    --------
    >>> [view.value for view in View]
    ['pattern', 'transcript', 'output']
    """

    PATTERN = "pattern"
    TRANSCRIPT = "transcript"
    OUTPUT = "output"


@dataclass(frozen=True, kw_only=True)
class WholeRun:
    """A run of noisy gradient steps on n points, K of them used, each once an epoch, in uniformly random order.

    Parameters
    ----------
    n
        The size of the data, 2 to 10⁸.
    sigma, lipschitz
        The noise's standard deviation σ in each coordinate, and L, the largest norm of a gradient.
    mu
        ``2L/σ``, in place of sigma and lipschitz.
    points
        K: an integer from 1 to n, or its law as a mapping from K to probabilities that sum to 1. By default the
        least multiple of the batch size above n/2, which is the loop's rule of Algorithm 1; the batch size must
        divide n then.
    batch_size
        f: each step averages the gradients of f fresh points; it must divide K.
    epochs
        How many times the data are gone through, each time in a new order. Each epoch may depend on the earlier
        ones.

    Attributes
    ----------
    law
        The possible K in increasing order, with their probabilities.

    Raises
    ------
    InputError
        For anything outside these ranges.

    Examples
    --------
    >>> run = WholeRun(n=1000, sigma=2.0)
    >>> run.n, run.mu
    (1000, 1.0)
    """

    n: int
    sigma: float | None = None
    lipschitz: float = 1.0
    mu: float | None = None
    points: int | Mapping[int, float] | None = None
    batch_size: int = 1
    epochs: int = 1
    law: tuple[tuple[int, float], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        n = require_integer("n", self.n, minimum=2)
        if n > LARGEST:
            raise InputError(f"n={n} is above {LARGEST}, where doubles would be felt; give at most that")
        lipschitz = require_positive("lipschitz", self.lipschitz)
        if (self.sigma is None) == (self.mu is None):
            raise InputError(f"sigma={self.sigma!r} and mu={self.mu!r}: give one of the two")
        if self.sigma is not None:
            mu = 2.0 * lipschitz / require_positive("sigma", self.sigma)
        else:
            mu = require_non_negative("mu", self.mu if self.mu is not None else 0.0)
        object.__setattr__(self, "mu", require_positive("2*lipschitz/sigma" if self.mu is None else "mu", mu))
        batch = require_integer("batch_size", self.batch_size, minimum=1)
        require_integer("epochs", self.epochs, minimum=1)
        object.__setattr__(self, "law", _law(n, batch, self.points))

    @property
    def distance(self) -> float:
        """The distance of two means of a step in standard deviations, ``2L/(fσ)``."""
        assert self.mu is not None  # noqa: S101  set above; for the type checker
        return self.mu / self.batch_size


def _law(n: int, batch: int, points: int | Mapping[int, float] | None) -> tuple[tuple[int, float], ...]:
    if points is None:
        if n % batch:
            raise InputError(
                f"batch_size={batch} does not divide n={n}; give a divisor of n, or points, a multiple of it"
            )
        return ((min(batch * (n // (2 * batch) + 1), n), 1.0),)
    law = dict(points) if isinstance(points, Mapping) else {points: 1.0}
    for k, probability in law.items():
        require_integer("points", k, minimum=1)
        if k > n:
            raise InputError(f"points={k} is above n={n}; a run uses each point at most once an epoch")
        if k % batch:
            raise InputError(f"batch_size={batch} does not divide points={k}; give a divisor")
        if require_non_negative(f"points[{k}]", probability) > 1.0:
            raise InputError(f"points[{k}]={probability!r} is no probability; give numbers that sum to 1")
    total = math.fsum(law.values())
    if not abs(total - 1.0) <= 1e-9:
        raise InputError(f"points has probabilities that sum to {total!r}; give numbers that sum to 1")
    return tuple(sorted((k, float(p) / total) for k, p in law.items() if p > 0.0))
