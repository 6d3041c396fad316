"""Evidence against one null hypothesis from several independent runs: their e-values multiply.

If the null hypothesis is true, each run's e-value has mean at most 1 given the runs before it, so the product over runs
is a non-negative supermartingale that begins at 1, and the probability that it ever reaches 1/α, after however many
runs, is at most α (Ville 1939, Étude critique de la notion de collectif; Vovk & Wang 2021, E-values: calibration,
combination and applications, Ann. Statist. 49). That holds only if

- an e-value is the wealth at the moment at which its run stopped, never the largest that was seen
  (:attr:`~dpsco_verify.inference.e_process.EProcessDecision.log_wealth`, not ``max_log_wealth``);
- the runs are independent: of the runs of one seed, which share their random numbers whatever the profile, one counts,
  the first that ended, so that no seed gets a second chance;
- the runs come one after the other: of two that overlap in time neither may see the other, and then the probability is
  at most α for each of the two products, but not for both together;
- it is the same null hypothesis: its name holds every parameter that it depends on, none on which it does not, such as
  the number of samples, and the implementation that it speaks of is the same code;
- what is decided by the product is not decided by the single run as well at the same level: the two share the level
  (:meth:`~dpsco_verify.ledger.statement.Context.levels`), so that a violation that one run sees is not lost among
  earlier runs that saw little.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from dpsco_verify.errors import InputError
from dpsco_verify.store.observations import Observations
from dpsco_verify.validation import require_open_interval

Parameter = str | int | float | bool | None


def null_name(name: str, parameters: Mapping[str, Parameter]) -> str:
    """Return the one name of a null hypothesis with these parameters, whatever their order."""
    for key, value in parameters.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise InputError(
                f"parameters[{key!r}]={value!r} is not finite; name a null hypothesis by finite numbers"
            )
    return f"{name} {msgspec.json.encode(parameters, order='deterministic').decode()}"


@dataclass(frozen=True, kw_only=True)
class EValue:
    """A run's log e-value against a null hypothesis, and the level at which the product over runs decides.

    `log_e_value` is not above the true one by rounding; `observations` are what it can be computed anew from.
    """

    log_e_value: float
    alpha: float
    observations: Observations


@dataclass(frozen=True, kw_only=True)
class RunEvidence:
    """One run's log e-value and what it was computed from; `run` is its number in the store."""

    run: int
    profile: str
    seed: int
    log_e_value: float
    observations: Observations


@dataclass(frozen=True, kw_only=True)
class Accumulated:
    """The product of the e-values of independent runs.

    Attributes
    ----------
    runs
        The runs that count, in the order in which they ended; that under way is the last, unless an earlier one of its
        seed counts.
    log_e_value
        The log of the product.
    alpha
        The level.
    """

    runs: tuple[RunEvidence, ...]
    log_e_value: float
    alpha: float

    @property
    def rejected(self) -> bool:
        """Whether the null hypothesis is rejected at the level: the product is at least ``1/alpha``."""
        return self.log_e_value >= -math.log(self.alpha) + _rounding(self.runs)

    @property
    def p_value(self) -> float:
        """``min(1, 1/product)``."""
        return math.exp(-max(self.log_e_value, 0.0))


def accumulate(earlier: tuple[RunEvidence, ...], current: RunEvidence, *, alpha: float) -> Accumulated:
    """Multiply the e-values of earlier runs and of that under way: of each seed the first.

    Raises
    ------
    InputError
        For a log e-value that is NaN or +∞, or a level outside (0, 1).
    """
    alpha = require_open_interval("alpha", alpha, 0.0, 1.0)
    first: dict[int, RunEvidence] = {}
    for one in (*earlier, current):
        first.setdefault(one.seed, one)
    runs = tuple(first.values())
    for one in runs:
        if math.isnan(one.log_e_value) or one.log_e_value == math.inf:
            raise InputError(
                f"log_e_value={one.log_e_value!r} is not the log of an e-value; give a finite number or -inf"
            )
    # An e-value of 0 stays 0 whatever it is multiplied with.
    broke = any(one.log_e_value == -math.inf for one in runs)
    total = -math.inf if broke else math.fsum(one.log_e_value for one in runs)
    return Accumulated(runs=runs, log_e_value=total, alpha=alpha)


def _rounding(runs: tuple[RunEvidence, ...]) -> float:
    """Bound the rounding of the sum and of the threshold, so that rounding alone never rejects."""
    return 4.0 * math.ulp(max((abs(one.log_e_value) for one in runs), default=0.0) + 1024.0)
