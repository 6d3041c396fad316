"""What Theorem 5.1 claims at a point, and the grids on which it is decided."""

from __future__ import annotations

from fractions import Fraction

import flint

from dpsco_verify.choices import Profile
from dpsco_verify.papers.arora2020.transcript_cells import Claimed, Place
from dpsco_verify.privacy.balls import ball
from dpsco_verify.privacy.transcript import fixed_transcript

EPSILON_MAX = Fraction(1256, 1000)
"""The largest ε̃ of the theorem."""

NOISE_SQUARED = 3
"""The square of the constant c in ``σ = cL√log(1/δ)/ε̃``."""


def printed(place: Place) -> Claimed:
    """Return what the theorem claims at a point."""
    tau = place.draws or 1
    scale, n = ball(place.scale), place.n
    sigma = (-NOISE_SQUARED * ball(place.delta).log()).sqrt() / scale
    spread = (-2 * tau * ball(place.delta_prime).log()).sqrt()
    return Claimed(
        transcript=fixed_transcript(n, tau),
        epsilon=2 * scale * spread / n + 4 * tau * scale * scale / flint.arb(n) ** 2,
        delta=ball(Fraction(tau, n) * place.delta + place.delta_prime),
        mu=2 / sigma,
    )


_SIZES = {
    Profile.QUICK: (16, 10**4, 10**8),
    Profile.STANDARD: (16, 100, 10**3, 10**4, 10**6, 10**8),
    Profile.DEEP: (16, 17, 50, 100, 300, 10**3, 10**4, 10**5, 10**6, 10**7, 10**8),
}
_SCALES = {
    Profile.QUICK: (Fraction(1, 100), EPSILON_MAX),
    Profile.STANDARD: (Fraction(1, 100), Fraction(1, 2), EPSILON_MAX),
    Profile.DEEP: (
        Fraction(1, 1000),
        Fraction(1, 100),
        Fraction(1, 10),
        Fraction(1, 2),
        Fraction(1),
        EPSILON_MAX,
    ),
}
_DELTAS = (Fraction(1, 10**12), Fraction(1, 10**6), Fraction(1, 10**3), Fraction(1, 10), Fraction(1, 2))
_NEAR_ONE = (Fraction(9, 10), Fraction(99, 100))
_PRIMES = (Fraction(1, 10**12), Fraction(1, 10**6), Fraction(1, 10**3), Fraction(1, 10))


def sizes(profile: Profile) -> tuple[int, ...]:
    """Return the sizes n of the grid."""
    return _SIZES[profile]


def places(profile: Profile, n: int, *, every_delta: bool) -> tuple[Place, ...]:
    """Return the grid at size n, with δ up to 1/2, or close to 1 for `every_delta`."""
    deltas = (*_DELTAS, *_NEAR_ONE) if every_delta else _DELTAS
    taus = sorted({1, 10, 100, max(1, n // 100), n // 10, n, 2 * n})
    return tuple(
        Place(n=n, draws=tau, scale=scale, delta=delta, delta_prime=prime)
        for tau in taus
        for scale in _SCALES[profile]
        for delta in deltas
        for prime in _PRIMES
    )


def slack_places(n: int) -> tuple[Place, ...]:
    """Return where the slack is reported: τ = n, the largest ε̃, usual δ."""
    return (Place(n=n, draws=n, scale=EPSILON_MAX, delta=Fraction(1, 10**6), delta_prime=Fraction(1, 10**6)),)


def near_one_places(n: int) -> tuple[Place, ...]:
    """Return a ladder of δ from 0.5 up at τ = 1 and the largest ε̃, to find where the theorem begins to fail."""
    return tuple(
        Place(n=n, draws=1, scale=EPSILON_MAX, delta=Fraction(k, 100), delta_prime=Fraction(1, 10**j))
        for k in range(50, 100)
        for j in (3, 6, 12)
    )
