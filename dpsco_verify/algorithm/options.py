"""The choices on which the paper disagrees with itself, each named; the defaults are the corrected reading."""

from __future__ import annotations

from dataclasses import dataclass

from dpsco_verify.choices import Averaging, NoiseConvention, StoppingRule
from dpsco_verify.errors import InputError
from dpsco_verify.validation import require_integer

__all__ = ["Averaging", "NoiseConvention", "Options", "StoppingRule"]


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
