"""Certificates: reading, checking and issuing them."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

import flint
import msgspec

from dpsco_verify.evidence.checker.accumulated import AccumulatedEventEvidence, AccumulatedMeanEvidence
from dpsco_verify.evidence.checker.arithmetic import Rejected, Unreadable, ball, require
from dpsco_verify.evidence.checker.duality import (
    BregmanDualConstant,
    BregmanDualTight,
    DualityConstant,
    DualityEntropyViolation,
)
from dpsco_verify.evidence.checker.elementary import (
    AzumaMismatch,
    AzumaRepair,
    DualNormSign,
    ExpLinear,
    KlConstant,
)
from dpsco_verify.evidence.checker.iterations import (
    FreshSumInstance,
    FreshSumViolation,
    GradientQueries,
    McDiarmidGap,
    OutputDefined,
    StoppingMeanConstant,
    StoppingMeanUnbounded,
    TailIntegralExponent,
    TailIntegralViolation,
)
from dpsco_verify.evidence.checker.osmd import OsmdLiteralViolation
from dpsco_verify.evidence.checker.regret import (
    RegretConstant,
    RegretDriftViolation,
    RegretVarianceViolation,
)
from dpsco_verify.evidence.checker.related_noise import (
    IterationBatches,
    IterationStepViolation,
    ObjectivePerturbationLoss,
    OutputPerturbationRate,
    OutputPerturbationViolation,
    PhasedErmNoise,
    PhasedSgdNoise,
)
from dpsco_verify.evidence.checker.related_sampled import (
    MinibatchViolation,
    NoisySgdViolation,
    SmoothedMinibatchViolation,
)
from dpsco_verify.evidence.checker.risk import RateConstant, RiskConstants, RiskDriftViolation
from dpsco_verify.evidence.checker.single_step import SingleStepRepair, SingleStepViolation
from dpsco_verify.evidence.checker.statistical import EventEvidence, MeanEvidence
from dpsco_verify.evidence.checker.stopping import StoppingTailExponent, StoppingTailViolation
from dpsco_verify.evidence.checker.transcript import CompositionViolation, PrivacyRange
from dpsco_verify.evidence.checker.utility import (
    UtilityConstant,
    UtilityDriftViolation,
    UtilityVarianceViolation,
)

STATED_DIGITS = 18
PRECISIONS = (128, 256, 512, 1024, 2048, 4096)

Witness = (
    StoppingTailViolation
    | StoppingTailExponent
    | SingleStepViolation
    | SingleStepRepair
    | UtilityConstant
    | UtilityDriftViolation
    | UtilityVarianceViolation
    | BregmanDualConstant
    | BregmanDualTight
    | DualityConstant
    | DualityEntropyViolation
    | CompositionViolation
    | PrivacyRange
    | RateConstant
    | RiskConstants
    | RiskDriftViolation
    | RegretConstant
    | RegretDriftViolation
    | RegretVarianceViolation
    | OsmdLiteralViolation
    | MeanEvidence
    | EventEvidence
    | AccumulatedMeanEvidence
    | AccumulatedEventEvidence
    | ExpLinear
    | AzumaMismatch
    | AzumaRepair
    | KlConstant
    | DualNormSign
    | FreshSumInstance
    | FreshSumViolation
    | GradientQueries
    | McDiarmidGap
    | OutputDefined
    | StoppingMeanConstant
    | StoppingMeanUnbounded
    | TailIntegralExponent
    | TailIntegralViolation
    | OutputPerturbationRate
    | OutputPerturbationViolation
    | ObjectivePerturbationLoss
    | PhasedSgdNoise
    | PhasedErmNoise
    | IterationBatches
    | IterationStepViolation
    | NoisySgdViolation
    | MinibatchViolation
    | SmoothedMinibatchViolation
)


class Certificate(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A witness, what it is a witness of, and the two sides of its inequality, left > right."""

    schema: Literal[1]
    claim: str
    reading: str
    inequality: str
    left: str
    right: str
    witness: Witness


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


def decode(data: bytes) -> Certificate:
    """Return the certificate in `data`, or raise :class:`Unreadable` or :class:`Rejected`."""
    try:
        msgspec.json.decode(data)
        return msgspec.json.decode(data, type=Certificate, strict=True)
    except msgspec.ValidationError as error:
        raise Rejected(f"this is no certificate: {error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Unreadable(f"this is no JSON: {error}") from None
    except RecursionError:
        raise Unreadable("its values are nested too deep") from None


def check(certificate: Certificate) -> str:
    """Check a certificate and return the inequality that it proves, or raise :class:`Rejected`."""
    words, left, right = evaluate(certificate.witness, certificate.claim, certificate.reading)
    require(holds=certificate.inequality == words, reason=f"inequality should read {words!r}")
    require(holds=certificate.left == left, reason=f"left={certificate.left!r}, but it is {left}")
    require(holds=certificate.right == right, reason=f"right={certificate.right!r}, but it is {right}")
    return f"{words}: {left} > {right}"


def issue(claim: str, reading: str, witness: Witness) -> Certificate:
    """Return the certificate of a witness, or raise :class:`Rejected` if it proves nothing."""
    words, left, right = evaluate(witness, claim, reading)
    certificate = Certificate(
        schema=1, claim=claim, reading=reading, inequality=words, left=left, right=right, witness=witness
    )
    check(certificate)
    return certificate
