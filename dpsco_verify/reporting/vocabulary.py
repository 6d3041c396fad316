"""The words of a report: a paper has claims and readings of them; a gate has mechanisms and audits of them."""

from __future__ import annotations

from dataclasses import dataclass

from dpsco_verify.evidence import AuditRecord, Verdict


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """The words of one kind of report.

    Attributes
    ----------
    reading, claim
        What a finding is called, and what the findings of one id are called together.
    key
        The heading over both.
    expectation
        The heading over how a verdict compares with what is expected.
    expected
        What verdicts are compared with, in a sentence.
    group
        What the word before the name of a reading is.
    explanation
        What is listed, in a sentence or two.
    exit_meaning
        What each exit code says.
    verdicts
        Those that there can be.
    counts_outcomes
        Whether the sentence on the gate also counts the verdicts that are as expected.
    has_errata
        Whether discrepancies of a text and its constants are a subject.
    tells_all
        Whether the terminal tells in words what was found also where all is as expected.
    """

    reading: str
    claim: str
    key: str
    expectation: str
    expected: str
    group: str
    explanation: str
    exit_meaning: dict[int, str]
    verdicts: tuple[Verdict, ...]
    counts_outcomes: bool
    has_errata: bool
    tells_all: bool


PAPER = Vocabulary(
    reading="reading",
    claim="claim",
    key="Claim / reading",
    expectation="Expectation",
    expected="what is expected",
    group="Reading",
    explanation="A claim is a statement of a paper; a reading is one way in which a careful reader could take it. "
    "Its expectation is the verdict that is committed for it.",
    exit_meaning={
        0: "every verdict is as expected",
        1: "at least one verdict is not as expected",
        2: "wrong usage or bad input",
        3: "undecided: a check that had to decide could not within its budget",
    },
    verdicts=tuple(Verdict),
    counts_outcomes=True,
    has_errata=True,
    tells_all=False,
)

GATE = Vocabulary(
    reading="audit",
    claim="mechanism",
    key="Mechanism / claim",
    expectation="Outcome",
    expected="what is expected",
    group="Claim",
    explanation="An audit holds a mechanism against a claimed guarantee, on the outputs that it gives for neighbouring "
    "data sets. Expected is that the claim is not refuted.",
    exit_meaning={
        0: "no claimed guarantee is refuted",
        1: "at least one claimed guarantee is refuted",
        2: "wrong usage or bad input",
        3: "undecided: no claimed guarantee is refuted, but at least one audit did not see enough to decide",
    },
    verdicts=(Verdict.NOT_REFUTED, Verdict.REFUTED, Verdict.INCONCLUSIVE),
    counts_outcomes=False,
    has_errata=False,
    tells_all=True,
)


def vocabulary(record: AuditRecord) -> Vocabulary:
    """Return the words for `record`: those of papers where it is about any."""
    return PAPER if record.papers else GATE
