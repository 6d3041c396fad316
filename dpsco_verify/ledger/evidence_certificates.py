"""Certificates for refutations that rest on observations: the e-value, to be computed anew by the checker."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from dpsco_verify.evidence.checker import Certificate, EventEvidence, MeanEvidence, issue

_DENOMINATOR = 2**60


def rational_text(value: float | Fraction) -> str:
    """Return the rational that a double or a fraction is, in lowest terms."""
    return str(Fraction(value))


def _rounded(value: float, *, up: bool) -> Fraction:
    scaled = Fraction(value) * _DENOMINATOR
    return Fraction(math.ceil(scaled) if up else math.floor(scaled), _DENOMINATOR)


def mean_certificate(
    claim: str,
    reading: str,
    *,
    observations: Sequence[float],
    bound: float,
    low: float,
    alpha: float,
    fractions: Sequence[float],
) -> Certificate:
    """Return the certificate that `observations` reject ``mean ≤ bound`` at level `alpha`.

    `fractions` are the bets as fractions of the largest one, ``1/(bound − low)``.
    """
    low_text, bound_text = Fraction(low), Fraction(bound)
    bets = [_rounded(float(theta / (bound - low)), up=False) for theta in fractions]
    return issue(
        claim,
        reading,
        MeanEvidence(
            low=str(low_text),
            bound=str(bound_text),
            alpha=rational_text(alpha),
            bets=tuple(str(b) for b in bets if b > 0),
            observations=tuple(rational_text(x) for x in observations),
        ),
    )


def event_certificate(
    claim: str,
    reading: str,
    *,
    epsilon: float,
    delta: float,
    alpha: float,
    fractions: Sequence[float],
    counts: tuple[int, int, int, int],
) -> Certificate:
    """Return the certificate that counts (both, first only, second only, neither) reject ``P − e^ε P' ≤ δ``."""
    largest = 1.0 / (math.exp(epsilon) + delta)
    # As doubles, not in multiples of some 2^-60: against a large ε all bets are smaller than that.
    bets = [Fraction(float(theta) * largest) for theta in fractions]
    both, first, second, neither = counts
    return issue(
        claim,
        reading,
        EventEvidence(
            epsilon=rational_text(epsilon),
            delta=rational_text(delta),
            alpha=rational_text(alpha),
            bets=tuple(str(b) for b in bets if b > 0),
            both=both,
            first_only=first,
            second_only=second,
            neither=neither,
        ),
    )
