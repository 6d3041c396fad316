"""Certificates: issuing and reading them, and the two sides of their inequality."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Generic, Literal, TypeVar

import flint
import msgspec

from dpsco_verify.evidence.checker.arithmetic import Line, Profile, Rejected, Seed, ball, require
from dpsco_verify.evidence.checker.at_once import OwnMechanismAtOnce
from dpsco_verify.evidence.checker.canaries import CanaryEvidence
from dpsco_verify.evidence.checker.guarantees import OWN_GUARANTEES
from dpsco_verify.evidence.checker.statistical import OwnMechanismEvidence
from dpsco_verify.evidence.checker.witness import Witness, kind_of

STATED_DIGITS = 18
PRECISIONS = (128, 256, 512, 1024, 2048, 4096)

OWN = "own:"
"""Begins the claim of a certificate about a mechanism of the user's own, and of no other."""

Name = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9:.+_-]*$", max_length=200)]
Number = Annotated[str, msgspec.Meta(pattern=r"^[-+.0-9e]+$", max_length=60)]

W = TypeVar("W", bound=Witness)


class Draw(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The run that drew the observations: its profile, its seed, and the papers over which it split its budget."""

    profile: Profile
    seed: Seed
    papers: Annotated[tuple[Name, ...], msgspec.Meta(min_length=1, max_length=1000)]


class Certificate(msgspec.Struct, Generic[W], frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A witness, what it is a witness of, and the two sides of its inequality, left > right.

    `draw` is there for observations about a paper's claim.
    """

    schema: Literal[2]
    claim: Name
    reading: Name
    inequality: Line
    left: Number
    right: Number
    draw: Draw | msgspec.UnsetType = msgspec.UNSET
    witness: W


def evaluate(witness: Witness, claim: str, reading: str) -> tuple[str, str, str]:
    """Return the inequality in words and its two sides in decimals, or raise :class:`Rejected`."""
    if witness.readings:
        require(
            holds=claim == witness.claim_id,
            reason=f"claim={claim!r} is not {witness.claim_id!r}, which this kind of witness speaks of",
        )
        require(
            holds=reading in witness.readings,
            reason=f"reading={reading!r} is none of {', '.join(witness.readings)}",
        )
    else:
        own = isinstance(witness, (OwnMechanismEvidence, OwnMechanismAtOnce, CanaryEvidence, *OWN_GUARANTEES))
        require(
            holds=own == claim.startswith(OWN),
            reason=f"claim={claim!r} does not fit kind={kind_of(type(witness).__name__)!r}: {OWN!r} begins the claims "
            "about mechanisms of the user's own, and no others",
        )
    for precision in PRECISIONS:
        with flint.ctx.workprec(precision):
            try:
                left, right, words = witness.sides(reading)
            except (ArithmeticError, MemoryError) as error:
                raise Rejected(f"the inequality cannot be evaluated ({error})") from None
            if not (left.is_finite() and right.is_finite()):
                continue
            if left <= right:
                raise Rejected(f"the inequality is false: left={left.str(12)} right={right.str(12)}")
            texts = [_digits(left), _digits(right)]
            if left > right and texts[0] is not None and texts[1] is not None:
                return words, texts[0], texts[1]
    raise Rejected("the inequality stays undecided at 4096 bits")


def _digits(value: flint.arb) -> str | None:
    """Return `value` to STATED_DIGITS significant digits, rounded, once the ball is narrow enough to know them."""
    narrow = value.rad() <= abs(value).lower() * ball(Fraction(1, 10 ** (STATED_DIGITS + 6)))
    if not narrow:
        return None
    return value.mid().str(STATED_DIGITS, radius=False)


def issue(
    claim: str, reading: str, witness: W, draw: Draw | msgspec.UnsetType = msgspec.UNSET
) -> Certificate[W]:
    """Return the certificate of a witness, or raise :class:`Rejected` if its inequality does not hold.

    Whether it decides anything is said by :meth:`dpsco_verify.evidence.checker.Kinds.check`.
    """
    words, left, right = evaluate(witness, claim, reading)
    return Certificate(
        schema=2,
        claim=claim,
        reading=reading,
        inequality=words,
        left=left,
        right=right,
        draw=draw,
        witness=witness,
    )
