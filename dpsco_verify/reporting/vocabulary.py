"""The words of a report: a paper has claims and readings of them; a gate has mechanisms and audits of them."""

from __future__ import annotations

from dataclasses import dataclass

from dpsco_verify.evidence import AuditRecord, AuditVerdict, Finding, Verdict


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
    words, predicates
        Each verdict in words, and as what is said of one finding and of several.
    failing, none_fails
        What a finding is that a text or a mechanism cannot keep; and the sentence where there is none.
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
    words: dict[Verdict, str]
    predicates: dict[Verdict, tuple[str, str]]
    failing: str
    none_fails: str
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
    words={
        Verdict.CERTIFIED: "certified",
        Verdict.HOLDS_ON_GRID: "holds on grid",
        Verdict.NOT_REFUTED: "not refuted",
        Verdict.REFUTED: "refuted",
        Verdict.ILL_POSED: "ill-posed",
        Verdict.INCONCLUSIVE: "inconclusive",
    },
    predicates={
        Verdict.CERTIFIED: ("is certified", "are certified"),
        Verdict.HOLDS_ON_GRID: ("holds on its grid", "hold on their grid"),
        Verdict.NOT_REFUTED: ("is not refuted", "are not refuted"),
        Verdict.REFUTED: ("is refuted", "are refuted"),
        Verdict.ILL_POSED: ("is ill-posed", "are ill-posed"),
        Verdict.INCONCLUSIVE: ("is inconclusive", "are inconclusive"),
    },
    failing="refuted or ill-posed",
    none_fails="No reading is refuted or ill-posed.",
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
    "data sets. Expected is that the claim is not violated, unless the configuration expects that it is.",
    exit_meaning={
        0: "every audit is as expected",
        1: "at least one audit is not as expected",
        2: "wrong usage or bad input",
        3: "undecided: at least one audit did not see enough to decide, and the others are as expected",
    },
    verdicts=(Verdict.NOT_REFUTED, Verdict.REFUTED, Verdict.INCONCLUSIVE),
    words=PAPER.words
    | {
        Verdict.NOT_REFUTED: AuditVerdict.NOT_VIOLATED.words,
        Verdict.REFUTED: AuditVerdict.VIOLATED.words,
        Verdict.INCONCLUSIVE: AuditVerdict.UNDECIDED.words,
    },
    predicates=PAPER.predicates
    | {
        Verdict.NOT_REFUTED: ("found no violation", "found no violation"),
        Verdict.REFUTED: ("found a violation", "found a violation"),
        Verdict.INCONCLUSIVE: ("is undecided", "are undecided"),
    },
    failing="violated",
    none_fails="No claim is violated.",
    counts_outcomes=False,
    has_errata=False,
    tells_all=True,
)


def vocabulary(record: AuditRecord) -> Vocabulary:
    """Return the words for `record`: those of papers where it is about any."""
    return PAPER if record.papers else GATE


def words_for(finding: Finding) -> dict[Verdict, str]:
    """Return the words for the verdicts of `finding`, which is of a paper or of a guarantee of a user's own."""
    return (PAPER if finding.paper else GATE).words
