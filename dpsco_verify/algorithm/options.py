"""The choices on which the paper disagrees with itself, each named; the defaults are the corrected reading."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from dpsco_verify.errors import InputError
from dpsco_verify.validation import require_integer


class StoppingRule(enum.StrEnum):
    """When Algorithm 1 stops, as the number of distinct points that it has then seen.

    * ``loop``: the pseudo-code's ``while |F| <= n/2``, hence at ``floor(n/2) + 1`` points;
    * ``text``: Section 4, "greater than or equal to n/2", hence at ``ceil(n/2)`` points;
    * ``all-points``: the proof of Lemma ``lem:stopping_time_conv``, ``min{t : S_t = n}``.
    """

    LOOP = "loop"
    TEXT = "text"
    ALL_POINTS = "all-points"

    def distinct_points(self, n: int) -> int:
        """Return how many distinct points have been seen at the stop (for batches of one)."""
        n = require_integer("n", n, minimum=2)
        if self is StoppingRule.LOOP:
            return n // 2 + 1
        if self is StoppingRule.TEXT:
            return (n + 1) // 2
        return n


class Averaging(enum.StrEnum):
    """Which iterates the output averages.

    * ``fresh-times``: those at which a fresh point was processed (the corrected reading);
    * ``data-indices``: the literal ``(1/|F|) sum over j in F of w_j``, F holding indices of data points. It is
      undefined when F holds an index beyond the last iterate.
    """

    FRESH_TIMES = "fresh-times"
    DATA_INDICES = "data-indices"


class NoiseConvention(enum.StrEnum):
    """The covariance of the noise: Section 5 writes ``N(0, σ²I)``, Section 4 writes ``N(0, σI)``."""

    COVARIANCE_SIGMA_SQUARED = "covariance-sigma-squared"
    COVARIANCE_SIGMA = "covariance-sigma"

    def standard_deviation(self, sigma: float) -> float:
        """Return the standard deviation of one coordinate of the noise."""
        return sigma if self is NoiseConvention.COVARIANCE_SIGMA_SQUARED else float(sigma**0.5)


@dataclass(frozen=True, kw_only=True)
class Options:
    """A reading of Algorithm 1.

    Parameters
    ----------
    stopping, averaging, noise
        See the enumerations.
    batch_size
        The m of Section 5: each iteration draws m distinct indices and averages the subgradients at those
        that are fresh. Algorithm 1 itself has m = 1.
    """

    stopping: StoppingRule = StoppingRule.LOOP
    averaging: Averaging = Averaging.FRESH_TIMES
    noise: NoiseConvention = NoiseConvention.COVARIANCE_SIGMA_SQUARED
    batch_size: int = 1

    def __post_init__(self) -> None:
        """Refuse what is not an option."""
        for name, kind in (("stopping", StoppingRule), ("averaging", Averaging), ("noise", NoiseConvention)):
            value = getattr(self, name)
            if value not in set(kind):
                allowed = ", ".join(kind)
                raise InputError(f"{name}={value!r} is not an option; give one of {allowed}")
            object.__setattr__(self, name, kind(value))
        object.__setattr__(self, "batch_size", require_integer("batch_size", self.batch_size, minimum=1))
