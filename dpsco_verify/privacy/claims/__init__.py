"""Privacy claims as objects: each says what it implies about the probability of a single event."""

from dpsco_verify.privacy.claims.approximate import ApproximateDP
from dpsco_verify.privacy.claims.claim import PrivacyClaim
from dpsco_verify.privacy.claims.curve import PrivacyCurve
from dpsco_verify.privacy.claims.gaussian import GaussianDP
from dpsco_verify.privacy.claims.options import claim_from
from dpsco_verify.privacy.claims.pure import PureDP
from dpsco_verify.privacy.claims.renyi import RenyiDP
from dpsco_verify.privacy.claims.trade_off import TradeOff
from dpsco_verify.privacy.claims.zero_concentrated import ZeroConcentratedDP

__all__ = [
    "ApproximateDP",
    "GaussianDP",
    "PrivacyClaim",
    "PrivacyCurve",
    "PureDP",
    "RenyiDP",
    "TradeOff",
    "ZeroConcentratedDP",
    "claim_from",
]
