"""What Theorem 5.3 claims of the transcript at a point, and the grid on which it is decided."""

from __future__ import annotations

from fractions import Fraction

import flint

from dpsco_verify.choices import Profile
from dpsco_verify.papers.arora2020.transcript_cells import Claimed, Place
from dpsco_verify.privacy.balls import ball
from dpsco_verify.privacy.transcript import loop_transcript

NOISE = Fraction(8)
"""The constant c in ``σ = cL√log(1/δ)/(√n ε)``."""

SCALE_MAX = Fraction(1, 2)
"""The largest √n ε of the theorem."""


def separation(scale: flint.arb, delta: Fraction) -> flint.arb:
    """Return ``μ = 2L/σ``, `scale` being √n ε."""
    return 2 * scale / (ball(NOISE) * (-ball(delta).log()).sqrt())


def printed(place: Place) -> Claimed:
    """Return ``(4ε(√log(1/δ') + 2), δ + δ' + 2e^{−n/16})``; the point's scale is √n ε."""
    scale, n = ball(place.scale), flint.arb(place.n)
    root = (-ball(place.delta_prime).log()).sqrt()
    return Claimed(
        transcript=loop_transcript(place.n),
        epsilon=4 * scale / n.sqrt() * (root + 2),
        delta=ball(place.delta + place.delta_prime) + 2 * (-n / 16).exp(),
        mu=separation(scale, place.delta),
    )


_SIZES = {
    Profile.QUICK: (16, 100, 400, 10**4, 10**6, 10**8),
    Profile.STANDARD: (16, 17, 50, 100, 200, 400, 10**3, 10**4, 10**5, 10**6, 10**7, 10**8),
    Profile.DEEP: tuple(
        sorted({16, 17, 18, 19, 20, 10**8} | {round(10.0 ** (1.25 + 0.05 * k)) for k in range(135)})
    ),
}
_FRACTIONS = (Fraction(1), Fraction(1, 10), Fraction(1, 1000))
_DELTAS = (
    *(Fraction(1, 10**k) for k in (12, 9, 6, 4, 3, 2, 1)),
    Fraction(1, 2),
    Fraction(9, 10),
    Fraction(999, 1000),
)
_PRIMES = (*(Fraction(1, 10**k) for k in (12, 9, 6, 4, 3, 2, 1)), Fraction(1, 2), Fraction(9, 10))


def sizes(profile: Profile) -> tuple[int, ...]:
    """Return the sizes n of the grid."""
    return _SIZES[profile]


def places(n: int) -> tuple[Place, ...]:
    """Return the grid at size n."""
    return tuple(
        Place(n=n, draws=None, scale=SCALE_MAX * fraction, delta=delta, delta_prime=prime)
        for fraction in _FRACTIONS
        for delta in _DELTAS
        for prime in _PRIMES
    )


def slack_places(n: int) -> tuple[Place, ...]:
    """Return where the slack is reported: the largest ε, the usual δ and the smallest of the grid."""
    return tuple(
        Place(n=n, draws=None, scale=SCALE_MAX, delta=Fraction(1, 10**k), delta_prime=Fraction(1, 10**k))
        for k in (6, 12)
    )
