"""Guarantees of a user's own in one call each: means, tails, quantiles, rates, constants, laws."""

from dpsco_verify.guarantees.calls import FunctionError
from dpsco_verify.guarantees.laws import equal_law
from dpsco_verify.guarantees.means import mean_at_least, mean_at_most
from dpsco_verify.guarantees.rates import rate
from dpsco_verify.guarantees.ratios import ratio_at_most
from dpsco_verify.guarantees.result import GuaranteeResult
from dpsco_verify.guarantees.tails import quantile_at_most, tail_at_most

__all__ = [
    "FunctionError",
    "GuaranteeResult",
    "equal_law",
    "mean_at_least",
    "mean_at_most",
    "quantile_at_most",
    "rate",
    "ratio_at_most",
    "tail_at_most",
]
