"""Several tests under one claim: Holm's procedure for p-values, averages for e-values.

Holm 1979 (A simple sequentially rejective multiple test procedure, Scand. J. Statist. 6) keeps the
probability of any false rejection at most α, whatever the dependence. The weighted average of e-values, with
weights fixed beforehand, is an e-value whatever the dependence (Vovk & Wang 2021, E-values: calibration,
combination and applications, Ann. Statist. 49).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from dpsco_verify.errors import InputError, no_truth_value
from dpsco_verify.validation import require_number, require_open_interval, require_positive


@dataclass(frozen=True)
class HolmDecision:
    """Which of the named hypotheses Holm's procedure rejects, and their adjusted p-values."""

    rejected: Mapping[str, bool]
    adjusted: Mapping[str, float]
    alpha: float

    __bool__ = no_truth_value("not decision.any_rejected")

    @property
    def any_rejected(self) -> bool:
        """Whether at least one hypothesis is rejected."""
        return any(self.rejected.values())


def holm(p_values: Mapping[str, float], *, alpha: float) -> HolmDecision:
    """Apply Holm's step-down procedure at family-wise level `alpha` to named p-values in [0, 1]."""
    # Taken in here because it loads pandas, which most runs do without.
    from statsmodels.stats.multitest import multipletests  # noqa: PLC0415  loads pandas; only Holm needs it

    if not p_values:
        raise InputError("p_values={} is empty; give at least one p-value")
    for name, value in p_values.items():
        if not 0.0 <= require_number(f"p_values[{name!r}]", value) <= 1.0:
            raise InputError(f"p_values[{name!r}]={value!r} is not a p-value; give a number in [0, 1]")
    level = require_open_interval("alpha", alpha, 0.0, 1.0)
    rejected, adjusted, _, _ = multipletests(list(p_values.values()), alpha=level, method="holm")
    return HolmDecision(
        rejected=dict(zip(p_values, map(bool, rejected), strict=True)),
        adjusted=dict(zip(p_values, map(float, adjusted), strict=True)),
        alpha=level,
    )


def average_log_e_value(
    log_e_values: Mapping[str, float], *, weights: Mapping[str, float] | None = None
) -> float:
    """Return the log of the weighted average of e-values that are given by their logs.

    Each is the log wealth of a test at the moment when it stopped, never the largest log wealth that it had: the
    maximum over time is not an e-value. ``-inf`` stands for the e-value 0. The weights, equal when None, are positive
    and were fixed before the data; they are normalised here. The average rejects at level α when it is at least 1/α.
    """
    if not log_e_values:
        raise InputError("log_e_values={} is empty; give at least one")
    for name, value in log_e_values.items():
        if require_number(f"log_e_values[{name!r}]", value) == math.inf:
            raise InputError(
                f"log_e_values[{name!r}]={value!r} is infinite; give the log of a finite e-value"
            )
    if weights is None:
        weights = dict.fromkeys(log_e_values, 1.0)
    if weights.keys() != log_e_values.keys():
        raise InputError(
            f"weights for {sorted(weights)} do not fit log_e_values for {sorted(log_e_values)}; give the same names"
        )
    share = np.array([require_positive(f"weights[{name!r}]", weights[name]) for name in log_e_values])
    return float(logsumexp(np.array(list(log_e_values.values())), b=share / share.sum()))
