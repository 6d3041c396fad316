"""What a certificate decides: the kinds of witnesses that a checker knows, and the claims that it holds them to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, Union

import msgspec

from dpsco_verify.evidence.checker.accumulation import AccumulatedEventEvidence, AccumulatedMeanEvidence
from dpsco_verify.evidence.checker.arithmetic import Rejected, Unreadable, rational, require, shown
from dpsco_verify.evidence.checker.at_once import EventAtOnce, OwnMechanismAtOnce
from dpsco_verify.evidence.checker.canaries import CanaryEvidence, RightGuesses, ScoresBeyond
from dpsco_verify.evidence.checker.certificate import OWN, Certificate, Draw, evaluate
from dpsco_verify.evidence.checker.guarantees import OWN_GUARANTEES
from dpsco_verify.evidence.checker.nulls import Null
from dpsco_verify.evidence.checker.statistical import (
    EventEvidence,
    Evidence,
    MeanEvidence,
    OwnMechanismEvidence,
)
from dpsco_verify.evidence.checker.whole_run import WholeRunPrivacy
from dpsco_verify.evidence.checker.witness import (
    Scope,
    Shows,
    Witness,
    in_words,
    kind_of,
    require_declared,
    shown_by,
)

EVIDENCE_KINDS: tuple[type[Evidence], ...] = (
    MeanEvidence,
    EventEvidence,
    EventAtOnce,
    AccumulatedMeanEvidence,
    AccumulatedEventEvidence,
    OwnMechanismEvidence,
    OwnMechanismAtOnce,
    RightGuesses,
    ScoresBeyond,
    *OWN_GUARANTEES,
)
"""Observations, for the null hypotheses that readings admit; every other kind belongs to the statement that uses it."""

_OF_NO_PAPER = (OwnMechanismEvidence, OwnMechanismAtOnce, CanaryEvidence, *OWN_GUARANTEES, WholeRunPrivacy)
"""What speaks of a mechanism or a run of the user's own."""

MOST_BYTES = 50_000_000
_LONGEST = 60


class Claims(Protocol):
    """The claims under verification, as a checker asks for them."""

    def nulls(self) -> Mapping[str, Null | None]:
        """Return the claims by their keys ``id/reading``, each with the null hypothesis that samples may reject."""
        ...

    def share(self, key: str, papers: Sequence[str]) -> Fraction:
        """Return the claim's share of the error budget in a run of these papers.

        Raises
        ------
        Rejected
            If the papers are not installed, or the claim is none of theirs.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class Decided:
    """What an accepted certificate decides.

    Attributes
    ----------
    claim, reading, shows
        What is shown of which reading.
    scope
        How much of it is in the certificate.
    over
        The range that it covers.
    argument
        What is not in the certificate; empty if it computes all.
    inequality
        The inequality with its two sides.
    repeat
        The commands that draw the observations again, byte for byte.
    """

    claim: str
    reading: str
    shows: Shows
    scope: Scope
    over: str
    argument: str
    inequality: str
    repeat: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts = [f"{self.shows} {self.claim}/{self.reading}"]
        if self.claim.startswith(OWN):
            parts[0] += ", a guarantee of a mechanism of the user's own and no paper's claim"
        parts += [self.over, str(self.scope), self.inequality]
        if self.argument:
            parts.append(f"not in the certificate: {self.argument}")
        if self.repeat:
            parts.append(f"to draw them again, byte for byte: {', '.join(self.repeat)}")
        return "; ".join(part for part in parts if part)


def _place(witness: Witness) -> str:
    """Return where a refutation is, its parameters by name."""
    found = {name: str(msgspec.to_builtins(getattr(witness, name))) for name in witness.__struct_fields__}
    return ", ".join(
        f"{name} = {text if len(text) <= _LONGEST else text[:_LONGEST] + '…'}" for name, text in found.items()
    )


class Kinds:
    """The kinds of witnesses that a checker knows: those of evidence, and those of the claims under verification.

    Without claims it knows of guarantees of a user's own alone.

    Raises
    ------
    Rejected
        If two kinds have one name, or one has no checker, does not say what it decides, or speaks of an unknown claim.
    """

    def __init__(self, kinds: Iterable[type[Witness]] = (), claims: Claims | None = None) -> None:
        own = tuple(kinds)
        self.all: tuple[type[Witness], ...] = (*EVIDENCE_KINDS, WholeRunPrivacy, *own)
        self._claims = claims
        self._nulls = {} if claims is None else claims.nulls()
        for kind in own:
            require_declared(kind)
            for reading in kind.readings:
                require(
                    holds=f"{kind.claim_id}/{reading}" in self._nulls,
                    reason=f"kind={kind_of(kind.__name__)!r} speaks of {kind.claim_id}/{reading}, which is no claim",
                )
        name, times = Counter(kind_of(kind.__name__) for kind in self.all).most_common(1)[0]
        if times > 1:
            raise Rejected(f"kind={name!r} is the name of {times} kinds of witnesses; give each its own")
        witness: Any = Union[self.all]  # noqa: UP007  the union of a tuple that is known at run time only
        self._decoder = msgspec.json.Decoder(Certificate[witness], strict=True)

    def decode(self, data: bytes) -> Certificate[Any]:
        """Return the certificate in `data`, or raise :class:`Unreadable` or :class:`Rejected`."""
        require(holds=len(data) <= MOST_BYTES, reason=f"its {len(data)} bytes are more than {MOST_BYTES}")
        try:
            msgspec.json.decode(data)
            return self._decoder.decode(data)
        except msgspec.ValidationError as error:
            raise Rejected(f"this is not a valid certificate: {error}") from None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise Unreadable(f"this is not JSON: {error}") from None
        except RecursionError:
            raise Unreadable("its values are nested too deep") from None

    def check(self, certificate: Certificate[Any]) -> Decided:
        """Return what a certificate decides, or raise :class:`Rejected`."""
        claim, reading, witness = certificate.claim, certificate.reading, certificate.witness
        own = isinstance(witness, _OF_NO_PAPER)
        key = f"{claim}/{reading}"
        if not own:
            require(holds=key in self._nulls, reason=f"{key} is no claim under verification")
        observed = isinstance(witness, Evidence)
        require(
            holds=isinstance(certificate.draw, Draw) == (observed and not own),
            reason="draw says which run drew the observations about a paper's claim, and is there for these alone",
        )
        if isinstance(witness, Evidence) and not own:
            self._require_admitted(certificate, witness)
        words, left, right = evaluate(witness, claim, reading)
        require(holds=certificate.inequality == words, reason=f"inequality should read {words!r}")
        require(holds=certificate.left == left, reason=f"left={certificate.left!r}, but it is {left}")
        require(holds=certificate.right == right, reason=f"right={certificate.right!r}, but it is {right}")
        kind = type(witness)
        shows = shown_by(kind, reading)
        argument = in_words(kind.argument, reading)
        over = in_words(kind.over, reading)
        return Decided(
            claim=claim,
            reading=reading,
            shows=shows,
            scope=Scope.SAMPLES if observed else Scope.ARGUMENT if argument else Scope.COMPUTATION,
            over=f"over {over}" if over else "" if observed else f"at {_place(witness)}",
            argument=argument,
            inequality=f"{words}: {left} > {right}",
            repeat=self._repeat(certificate),
        )

    def _require_admitted(self, certificate: Certificate[Any], witness: Evidence) -> None:
        """Refuse observations against a hypothesis that the reading does not admit, or at a level above its share."""
        key = f"{certificate.claim}/{certificate.reading}"
        null = self._nulls[key]
        if null is None or not isinstance(certificate.draw, Draw) or self._claims is None:
            raise Rejected(f"{key} is not decided by samples: it admits no null hypothesis")
        witness.require_admitted(null)
        share = self._claims.share(key, certificate.draw.papers)
        alpha = rational("alpha", witness.alpha)
        require(
            holds=alpha <= share,
            reason=f"alpha={shown(alpha)} is above {shown(share)}, the claim's share of the error budget",
        )

    def _repeat(self, certificate: Certificate[Any]) -> tuple[str, ...]:
        draw, witness = certificate.draw, certificate.witness
        if not isinstance(draw, Draw):
            return ()
        key = f"{certificate.claim}/{certificate.reading}"
        papers = "".join(f" --paper {paper}" for paper in draw.papers)
        return tuple(
            f"dpsco-verify audit --profile {profile} --seed {seed}{papers} --select {key}"
            for profile, seed in witness.drawn or ((draw.profile, draw.seed),)
        )
