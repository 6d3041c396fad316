"""The arithmetic that every kind of certificate is checked with: exact rationals, balls, and the error of a refusal."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

import flint
import msgspec

Rational = Annotated[str, msgspec.Meta(pattern=r"^-?[0-9]+(/[1-9][0-9]*)?$", max_length=400)]
Count = Annotated[int, msgspec.Meta(ge=1, le=10**12)]
Cell = Annotated[int, msgspec.Meta(ge=0, le=10**12)]
"""How often something was seen, perhaps never."""
Line = Annotated[str, msgspec.Meta(pattern=r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]*$", max_length=20_000)]
"""Text of one line, which can be printed."""

Profile = Literal["quick", "standard", "deep"]
Seed = Annotated[str, msgspec.Meta(pattern=r"^(0|[1-9][0-9]*)$", max_length=200)]
"""A seed may be longer than the integers that JSON readers agree on."""

MOST_TERMS = 10_000
"""Terms of a sum with a special function in each that are evaluated at most, at 256 bits: a tenth of a second."""
MOST_STEPS = 1_000_000
"""Multiplications, at 256 bits: a half of a second."""


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
    return flint.arb(flint.fmpq(value.numerator, value.denominator))


def upper_tail(z: flint.arb) -> flint.arb:
    """Return ``P(Z > z)`` for a standard normal Z."""
    return (z / flint.arb(2).sqrt()).erfc() / 2


def require(*, holds: bool, reason: str) -> None:
    """Reject unless `holds`."""
    if not holds:
        raise Rejected(reason)


def require_terms(terms: int, what: str) -> None:
    """Reject a sum of so many special functions that its evaluation at the present precision would take long."""
    _require_work(terms, what, "terms", MOST_TERMS * 256**2 // max(flint.ctx.prec, 256) ** 2)


def require_steps(steps: int, what: str) -> None:
    """Reject what takes so many multiplications that it would take long."""
    _require_work(steps, what, "multiplications", MOST_STEPS * 256 // max(flint.ctx.prec, 256))


def _require_work(work: int, what: str, of: str, most: int) -> None:
    require(
        holds=work <= most,
        reason=f"{what} takes {work} {of}, above the {most} that are evaluated at {flint.ctx.prec} bits",
    )


def shown(value: Fraction) -> str:
    """Return a number as one reads it, to 12 digits; the exact one is in the witness."""
    return f"{float(value):.12g}" if abs(value) < 10**300 else "a number above 1e300"


def root_up(square: Fraction) -> int:
    """Return ``⌈√square⌉``."""
    root = int(flint.fmpz(square.numerator // square.denominator).isqrt())
    return root if Fraction(root * root) >= square else root + 1
