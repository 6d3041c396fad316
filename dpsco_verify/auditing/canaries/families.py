"""The two families of claims in which a lower bound can be told, and how ideal canaries of each would score.

A bound on ε from one training run is a statement about a family: that no mechanism of the family with a smaller
parameter explains what was seen. Every μ-GDP mechanism is (ε, δ_μ(ε))-DP, yet more than that is known of it, and
bounds within the Gaussian family are larger: 1,000 canaries all guessed right, δ = 1e-5, confidence 0.95, show ε ≥
12.3 of a mechanism that satisfies GDP for some μ and ε ≥ 5.8 of one of which nothing but (ε, δ)-DP is known.
"""

from __future__ import annotations

import enum
import math

from scipy.optimize import brentq
from scipy.special import expit, log_ndtr, ndtr

from dpsco_verify.auditing.canaries.lines import TradeOffLines, approximate_lines, gaussian_lines
from dpsco_verify.errors import InputError
from dpsco_verify.privacy import gaussian_delta
from dpsco_verify.privacy.claims import ApproximateDP, PrivacyClaim, PureDP

_LARGEST_MU = 35.0
_LARGEST_EPSILON = 60.0
_FAR = 40.0


class Family(enum.StrEnum):
    """A one-parameter family of claims.

    ``gaussian``: μ-GDP, by its μ. ``approximate``: (ε, δ)-DP at a given δ, by its ε.

    Examples
    --------
    >>> [family.value for family in Family]
    ['gaussian', 'approximate']
    """

    GAUSSIAN = "gaussian"
    APPROXIMATE = "approximate"

    @classmethod
    def _missing_(cls, value: object) -> Family:
        raise InputError(f"family={value!r} is unknown; give one of {', '.join(cls)}")

    @classmethod
    def of(cls, claim: PrivacyClaim) -> Family:
        """Return the family in which a claim speaks: (ε, δ) for pure and approximate DP, GDP for curves."""
        return cls.APPROXIMATE if isinstance(claim, PureDP | ApproximateDP) else cls.GAUSSIAN

    @property
    def largest(self) -> float:
        """The largest parameter that is looked at."""
        return _LARGEST_MU if self is Family.GAUSSIAN else _LARGEST_EPSILON

    def lines(self, parameter: float, delta: float) -> TradeOffLines:
        """Return the lines of the member with this parameter."""
        if self is Family.GAUSSIAN:
            return gaussian_lines(parameter)
        return approximate_lines(parameter, delta)

    def epsilon(self, parameter: float, delta: float) -> float:
        """Return the member's ε at `delta`."""
        return gaussian_epsilon(parameter, delta) if self is Family.GAUSSIAN else parameter

    def accuracy(self, parameter: float, delta: float, guessed: float) -> float:
        """Return how often a guess "in" on the part `guessed` of ideal canaries with the largest scores is right.

        Ideal canaries are independent and show the member's privacy loss in full. Gaussian: N(μ, 1) in, N(0, 1)
        out; with the threshold t of that part, ``½ Φ(μ − t)/guessed``. Approximate: the coin itself with
        probability δ, else by randomised response; all guesses are equally good, ``δ + (1 − δ)/(1 + e^−ε)``.
        """
        if self is Family.APPROXIMATE:
            return float(delta + (1.0 - delta) * expit(parameter))
        if guessed >= 0.5:
            return float(ndtr(0.5 * parameter))

        def excess(t: float) -> float:
            return float(ndtr(parameter - t) + ndtr(-t)) - 2.0 * guessed

        t = float(brentq(excess, -_FAR, _FAR + parameter))
        # The root's rounding must not make it more than a probability: of that a binomial tail is NaN.
        return min(1.0, float(ndtr(parameter - t)) / (2.0 * guessed))

    def power_point(self, parameter: float, delta: float, fpr: float) -> float:
        """Return the TPR of the member's best test at a false-positive rate."""
        if self is Family.APPROXIMATE:
            return float(approximate_lines(parameter, delta).most(fpr))
        t = float(brentq(lambda t: float(log_ndtr(-t)) - math.log(fpr), -_FAR, _FAR))
        return float(ndtr(parameter - t))


def gaussian_epsilon(mu: float, delta: float) -> float:
    """Return the ε with ``δ_G(ε; μ) = δ``, or 0 where ``δ_G(0; μ) ≤ δ``."""
    if mu <= 0.0 or float(gaussian_delta(0.0, mu)) <= delta:
        return 0.0
    high = 0.5 * mu * mu + _FAR * mu
    return float(brentq(lambda e: float(gaussian_delta(e, mu)) - delta, 0.0, high))


def gaussian_mu(epsilon: float, delta: float) -> float:
    """Return the largest μ, up to 35, for which μ-GDP implies (ε, δ)-DP."""
    if float(gaussian_delta(epsilon, _LARGEST_MU)) <= delta:
        return _LARGEST_MU
    return float(brentq(lambda mu: float(gaussian_delta(epsilon, mu)) - delta, 0.0, _LARGEST_MU))


def claimed_epsilon(claim: PrivacyClaim, delta: float) -> float:
    """Return the smallest ε up to 60 at which a claim's δ(ε) is at most `delta`; infinity where it is nowhere.

    To a part in 1e9, and rounded up.
    """
    if claim.delta(0.0) <= delta:
        return 0.0
    low, high = 0.0, _LARGEST_EPSILON
    if claim.delta(high) > delta:
        return math.inf
    while high - low > 1e-9 * high:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if claim.delta(middle) <= delta else (middle, high)
    return high
