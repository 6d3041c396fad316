"""Guarantees of a user's own in one call each: means, tails, rates, constants, laws, and properties of functions."""

from dpsco_verify.guarantees.calls import FunctionError
from dpsco_verify.guarantees.density import privacy_by_density
from dpsco_verify.guarantees.laws import equal_law
from dpsco_verify.guarantees.means import mean_at_least, mean_at_most
from dpsco_verify.guarantees.projections import projection
from dpsco_verify.guarantees.properties import convex, identity, lipschitz, monotone
from dpsco_verify.guarantees.rates import rate
from dpsco_verify.guarantees.ratios import ratio_at_most
from dpsco_verify.guarantees.result import GuaranteeResult
from dpsco_verify.guarantees.tails import quantile_at_most, tail_at_most

__all__ = [
    "FunctionError",
    "GuaranteeResult",
    "convex",
    "equal_law",
    "identity",
    "lipschitz",
    "mean_at_least",
    "mean_at_most",
    "monotone",
    "privacy_by_density",
    "projection",
    "quantile_at_most",
    "rate",
    "ratio_at_most",
    "tail_at_most",
]
