"""Certificates: reading, checking and issuing them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, Generic, Literal, TypeVar, Union

import flint
import msgspec

from dpsco_verify.evidence.checker.accumulation import AccumulatedEventEvidence, AccumulatedMeanEvidence
from dpsco_verify.evidence.checker.arithmetic import Rejected, Unreadable, ball, require
from dpsco_verify.evidence.checker.statistical import EventEvidence, MeanEvidence
from dpsco_verify.evidence.checker.whole_run import WholeRunPrivacy
from dpsco_verify.evidence.checker.witness import Witness, kind_of

STATED_DIGITS = 18
PRECISIONS = (128, 256, 512, 1024, 2048, 4096)

EVIDENCE_KINDS: tuple[type[Witness], ...] = (
    MeanEvidence,
    EventEvidence,
    AccumulatedMeanEvidence,
    AccumulatedEventEvidence,
)
"""Observations, which can speak of any claim."""

CORE_KINDS: tuple[type[Witness], ...] = (*EVIDENCE_KINDS, WholeRunPrivacy)
"""What belongs to no paper; every other kind stands beside the statement that uses it."""

W = TypeVar("W", bound=Witness)


class Certificate(msgspec.Struct, Generic[W], frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A witness, what it is a witness of, and the two sides of its inequality, left > right."""

    schema: Literal[1]
    claim: str
    reading: str
    inequality: str
    left: str
    right: str
    witness: W


class Kinds:
    """The kinds of witnesses that a checker knows: the core's, and those of the statements under verification.

    Raises
    ------
    Rejected
        If two kinds have one name, or one has no checker.
    """

    def __init__(self, kinds: Iterable[type[Witness]] = ()) -> None:
        self.all: tuple[type[Witness], ...] = (*CORE_KINDS, *kinds)
        for kind in self.all:
            if kind.sides is Witness.sides:
                raise Rejected(
                    f"kind={kind_of(kind.__name__)!r} has no checker; give {kind.__name__} a method sides"
                )
        name, times = Counter(kind_of(kind.__name__) for kind in self.all).most_common(1)[0]
        if times > 1:
            raise Rejected(f"kind={name!r} is the name of {times} kinds of witnesses; give each its own")
        witness: Any = Union[self.all]  # noqa: UP007  the union of a tuple that is known at run time only
        self._decoder = msgspec.json.Decoder(Certificate[witness], strict=True)

    def decode(self, data: bytes) -> Certificate[Any]:
        """Return the certificate in `data`, or raise :class:`Unreadable` or :class:`Rejected`."""
        try:
            msgspec.json.decode(data)
            return self._decoder.decode(data)
        except msgspec.ValidationError as error:
            raise Rejected(f"this is not a valid certificate: {error}") from None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise Unreadable(f"this is not JSON: {error}") from None
        except RecursionError:
            raise Unreadable("its values are nested too deep") from None


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
    for precision in PRECISIONS:
        with flint.ctx.workprec(precision):
            left, right, words = witness.sides(reading)
            if not witness.readings:  # a kind of evidence that can speak of any claim
                words = f"{words}, for {claim}/{reading}"
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


def check(certificate: Certificate[Any]) -> str:
    """Check a certificate and return the inequality that it proves, or raise :class:`Rejected`."""
    words, left, right = evaluate(certificate.witness, certificate.claim, certificate.reading)
    require(holds=certificate.inequality == words, reason=f"inequality should read {words!r}")
    require(holds=certificate.left == left, reason=f"left={certificate.left!r}, but it is {left}")
    require(holds=certificate.right == right, reason=f"right={certificate.right!r}, but it is {right}")
    return f"{words}: {left} > {right}"


def issue(claim: str, reading: str, witness: W) -> Certificate[W]:
    """Return the certificate of a witness, or raise :class:`Rejected` if it proves nothing."""
    words, left, right = evaluate(witness, claim, reading)
    certificate = Certificate(
        schema=1, claim=claim, reading=reading, inequality=words, left=left, right=right, witness=witness
    )
    check(certificate)
    return certificate
