"""Privacy curves: the Gaussian mechanism, the paper's single step, and their rigorous enclosures; privacy claims."""

from dpsco_verify.privacy.claims import (
    ApproximateDP,
    GaussianDP,
    PrivacyClaim,
    PrivacyCurve,
    PureDP,
    RenyiDP,
    TradeOff,
    ZeroConcentratedDP,
    claim_from,
)
from dpsco_verify.privacy.gaussian import gaussian_delta, log_gaussian_delta
from dpsco_verify.privacy.single_step import NeighbouringStep, inner_epsilon
from dpsco_verify.privacy.single_step_doubles import StepCurve, log_step_delta, step_delta

__all__ = [
    "ApproximateDP",
    "GaussianDP",
    "NeighbouringStep",
    "PrivacyClaim",
    "PrivacyCurve",
    "PureDP",
    "RenyiDP",
    "StepCurve",
    "TradeOff",
    "ZeroConcentratedDP",
    "claim_from",
    "gaussian_delta",
    "inner_epsilon",
    "log_gaussian_delta",
    "log_step_delta",
    "step_delta",
]
