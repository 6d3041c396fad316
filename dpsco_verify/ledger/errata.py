"""The errata: every discrepancy that a run has shown, with its repair and what it changes.

The words of a discrepancy stand with its statement; whether it is listed, what it changes, and the constants of its
repair come from the findings. A reading or a proof step that is refuted and that no discrepancy speaks of is listed in
the words of the finding, as one that may change a guarantee: nothing that fails is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dpsco_verify.evidence import Consequence, Erratum, Finding, RepairedConstant, Stance, Verdict

FAILING = frozenset({Verdict.REFUTED, Verdict.ILL_POSED})
"""The verdicts that show a discrepancy."""

HOLDING = frozenset({Verdict.CERTIFIED, Verdict.HOLDS_ON_GRID, Verdict.NOT_REFUTED})
"""The verdicts on which a mild consequence may rest."""

_ORDER = tuple(Consequence)


@dataclass(frozen=True, kw_only=True)
class Discrepancy:
    """A place where the paper's text, its proof or its constants disagree with what is true.

    Attributes
    ----------
    lines
        Lines of the paper's LaTeX source.
    consequence
        What it changes, if all of `rests_on` hold.
    text, repair
        What is wrong, and the smallest change that fixes it, in our own words.
    shown_by
        Each ``id/reading``, ``id/reading#step``, or ``id#step`` for the step under any reading of the statement: one
        that is refuted or ill-posed shows the discrepancy.
    rests_on
        Readings (``id/reading``) that have to hold for the consequence to be as mild as it is said to be.
    constants
        Pairs of a reading and the name of a constant in its sharpness: the repaired constants.
    """

    id: str
    title: str
    lines: tuple[int, ...]
    consequence: Consequence
    text: str
    repair: str
    shown_by: tuple[str, ...]
    rests_on: tuple[str, ...] = ()
    constants: tuple[tuple[str, str], ...] = ()


def errata(
    findings: Sequence[Finding], discrepancies: Sequence[tuple[str, str, Discrepancy]]
) -> tuple[Erratum, ...]:
    """Return the errata that `findings` show, the gravest first; each comes with paper and reference."""
    failing = dict(_failing(findings))
    by_key = {finding.key: finding for finding in findings}
    found: list[Erratum] = []
    described: set[str] = set()
    for paper, reference, discrepancy in discrepancies:
        shown = tuple(key for key in failing if any(_names(name, key) for name in discrepancy.shown_by))
        if shown:
            described.update(shown)
            found.append(_erratum(paper, reference, discrepancy, shown, by_key))
    found += [
        _undescribed(key, failing[key])
        for key in failing
        # What nobody claims may be false without an erratum.
        if key not in described and failing[key][0].stance is not Stance.EXTENSION
    ]
    return tuple(sorted(found, key=lambda erratum: _ORDER.index(erratum.consequence)))


def _failing(findings: Sequence[Finding]) -> Iterator[tuple[str, tuple[Finding, str]]]:
    """Yield the key of each failing reading and step, with its finding and what the finding says."""
    for finding in findings:
        if finding.verdict in FAILING:
            yield finding.key, (finding, finding.summary)
        for step in finding.proof_steps:
            if step.verdict in FAILING:
                yield f"{finding.key}#{step.id}", (finding, step.statement)


def _names(name: str, key: str) -> bool:
    """Whether `name` names `key`: in full, or as ``id#step`` for the step under any reading."""
    reading, _, step = key.partition("#")
    return name == key or (bool(step) and name == f"{reading.partition('/')[0]}#{step}")


def _erratum(
    paper: str,
    reference: str,
    discrepancy: Discrepancy,
    shown: tuple[str, ...],
    by_key: Mapping[str, Finding],
) -> Erratum:
    verified = [by_key[key] for key in discrepancy.rests_on if key in by_key]
    consequence = discrepancy.consequence
    if any(finding.verdict not in HOLDING for finding in verified):
        consequence = Consequence.GUARANTEE
    return Erratum(
        paper=paper,
        id=discrepancy.id,
        title=discrepancy.title,
        reference=reference,
        lines=discrepancy.lines,
        consequence=consequence,
        text=discrepancy.text,
        repair=discrepancy.repair,
        shown_by=shown,
        rests_on=tuple(finding.key for finding in verified),
        not_verified=tuple(key for key in discrepancy.rests_on if key not in by_key),
        constants=tuple(_constants(discrepancy, by_key)),
    )


def _constants(discrepancy: Discrepancy, by_key: Mapping[str, Finding]) -> Iterator[RepairedConstant]:
    for key, name in discrepancy.constants:
        if key in by_key:
            yield from (
                RepairedConstant(reading=key, sharpness=s)
                for s in by_key[key].sharpness
                if s.constant == name
            )


def _undescribed(key: str, finding_and_words: tuple[Finding, str]) -> Erratum:
    finding, words = finding_and_words
    return Erratum(
        paper=finding.paper,
        id=key.replace("/", "-").replace("#", "-"),
        title=f"{finding.title} ({key})",
        reference=finding.reference,
        lines=(),
        consequence=Consequence.GUARANTEE,
        text=words,
        repair="none is known to the ledger",
        shown_by=(key,),
    )
