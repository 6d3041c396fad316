"""The arithmetic that every kind of certificate is checked with: exact rationals, balls, and the error of a refusal."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

import flint
import msgspec

Rational = Annotated[str, msgspec.Meta(pattern=r"^-?[0-9]+(/[1-9][0-9]*)?$", max_length=400)]
Count = Annotated[int, msgspec.Meta(ge=1, le=10**12)]


class Rejected(ValueError):  # noqa: N818  it is a decision, not an error of the program
    """The certificate does not prove what it states; the message says why."""


class Unreadable(ValueError):  # noqa: N818  the same
    """The file holds no certificate; the message says why."""


def rational(name: str, text: str) -> Fraction:
    """Return the rational that `text` writes, which must be in lowest terms."""
    value = Fraction(text)
    if str(value) != text:
        raise Rejected(f"{name}={text!r} is not in lowest terms; it should be {str(value)!r}")
    return value


def ball(value: Fraction | int) -> flint.arb:
    """Return the ball of a rational."""
    fraction = Fraction(value)
    return flint.arb(flint.fmpq(fraction.numerator, fraction.denominator))


def upper_tail(z: flint.arb) -> flint.arb:
    """Return ``P(Z > z)`` for a standard normal Z."""
    return (z / flint.arb(2).sqrt()).erfc() / 2


def require(*, holds: bool, reason: str) -> None:
    """Reject unless `holds`."""
    if not holds:
        raise Rejected(reason)


def root_up(square: Fraction) -> int:
    """Return ``⌈√square⌉``."""
    root = int(flint.fmpz(square.numerator // square.denominator).isqrt())
    return root if Fraction(root * root) >= square else root + 1
