"""The record of a run: what was claimed, what was computed, what follows.

``results.json`` is the encoding of :class:`AuditRecord`, and every other report format is made from it alone.
The records are frozen and strict: what is not finite, or does not fit, is refused where it is built.
"""

from __future__ import annotations

import enum
from typing import Annotated

import msgspec

from dpsco_verify.errors import InputError, no_truth_value
from dpsco_verify.evidence.checker import Scope
from dpsco_verify.evidence.comparison import ComparisonRecord
from dpsco_verify.evidence.museum import MuseumRecord
from dpsco_verify.evidence.plots import Plot
from dpsco_verify.evidence.values import Figures, Quantity, Stance, Table, Verdict, require_finite

SCHEMA_VERSION = 5


class ProofStep(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One inequality that a proof uses, checked by itself."""

    id: str
    statement: str
    verdict: Verdict
    evidence: dict[str, Quantity] = msgspec.field(default_factory=dict)

    __bool__ = no_truth_value("step.verdict is Verdict.CERTIFIED")


class ContradictionError(InputError):
    """Two computations about the same thing contradict each other."""


WHOLE_RANGE = "all that the reading states"
WORST_CASE = "the worst case or its limit"


class Sharpness(Figures, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How far from sharp a constant of the statement is.

    Attributes
    ----------
    constant
        The constant, as the statement has it: ``5/2``, ``16 in e^{−n/16}``.
    claimed
        Its value in the statement; None where the statement has no number, as in O(n).
    holds_with
        The strongest value with which the statement was proven over `over`; for a statement that fails over the whole
        of its range this is the repair. None where nothing was proven: what samples did not refute is not.
    over
        Where: the range, the grid or the place. None where `holds_with` is.
    needed
        What is needed at least: every value stronger than this was shown, or found, to fail. None where none was.
    at
        Where: the place or the instance. None where `needed` is.
    larger_is_stronger
        Whether a larger value says more, as for the end of a range; for most constants a smaller one does.
    how
        How both were found.
    """

    constant: str
    claimed: float | None
    holds_with: float | None
    over: str | None = WHOLE_RANGE
    needed: float | None
    at: str | None = WORST_CASE
    larger_is_stronger: bool = False
    how: str

    def __post_init__(self) -> None:
        """Refuse values that are not finite, and a value that both holds and fails."""
        for name in ("claimed", "holds_with", "needed"):
            require_finite(f"{name} of {self.constant!r}", getattr(self, name))
        if self._contradicts_itself:
            raise ContradictionError(
                f"holds_with={self.holds_with!r} of {self.constant!r} is stronger than needed={self.needed!r}, with "
                "which it fails; one of the two computations is wrong"
            )
        if self.holds_with is None:
            msgspec.structs.force_setattr(self, "over", None)
        elif not self.over:
            raise InputError(
                f"over={self.over!r} of {self.constant!r} does not say where {self.holds_with!r} was proven; "
                "name the range"
            )
        if self.needed is None:
            msgspec.structs.force_setattr(self, "at", None)
        elif not self.at:
            raise InputError(
                f"at={self.at!r} of {self.constant!r} does not say where {self.needed!r} is needed; name the place"
            )
        super().__post_init__()  # afterwards: two values that contradict each other may round to one

    @property
    def _contradicts_itself(self) -> bool:
        if self.holds_with is None or self.needed is None:
            return False
        return self.holds_with > self.needed if self.larger_is_stronger else self.holds_with < self.needed


class Consequence(enum.StrEnum):
    """What an erratum changes for whoever relies on the paper."""

    GUARANTEE = "guarantee"
    CONSTANT = "constant"
    NOTHING = "nothing"


CONSEQUENCE_MEANING: dict[Consequence, str] = {
    Consequence.GUARANTEE: "a guarantee, or the output that it speaks of, is false, has no meaning, or is left "
    "without a proof as printed",
    Consequence.CONSTANT: "the guarantee stands with another constant",
    Consequence.NOTHING: "the guarantees stand as printed: the slip is in the wording or in a replaceable step",
}


class RepairedConstant(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A constant that the repair of an erratum touches: of which reading (``id/reading``), and how far it has to go."""

    reading: str
    sharpness: Sharpness


class Erratum(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A discrepancy between a statement and what was verified, or between a statement and its proof.

    Attributes
    ----------
    lines
        The lines of the paper's LaTeX source that it concerns.
    text, repair
        What is wrong, and the smallest change that fixes it, in the ledger's own words.
    shown_by
        The refuted or ill-posed readings and proof steps of this run that show it: ``id/reading`` or
        ``id/reading#step``.
    rests_on
        The readings of this run whose verdicts its consequence rests on, as far as they hold.
    not_verified
        Those that it rests on but that were not selected in this run.
    constants
        The constants that the repair touches.
    """

    paper: str
    id: str
    title: str
    reference: str
    lines: tuple[int, ...]
    consequence: Consequence
    text: str
    repair: str
    shown_by: tuple[str, ...]
    rests_on: tuple[str, ...] = ()
    not_verified: tuple[str, ...] = ()
    constants: tuple[RepairedConstant, ...] = ()


class AccumulatedRun(Figures, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A run that a product counts: its number in the store, its seed, its e-value; None stands for an e-value of 0."""

    run: int
    seed: int
    log10_e_value: float | None

    def __post_init__(self) -> None:
        """Refuse a value that is not finite."""
        super().__post_init__()
        require_finite(f"log10_e_value of run {self.run}", self.log10_e_value)


class AccumulatedRecord(Figures, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The evidence against one null hypothesis over independent runs: the product of their e-values.

    Attributes
    ----------
    null_hypothesis
        Its name, with all parameters that it depends on.
    runs
        The runs that count, in the order in which they ended.
    log10_e_value
        Of the product; None for a product of 0.
    alpha, rejected
        The level, and whether the product has reached ``1/alpha``.
    """

    null_hypothesis: str
    runs: tuple[AccumulatedRun, ...]
    log10_e_value: float | None
    alpha: float
    rejected: bool

    __bool__ = no_truth_value("product.rejected")

    def __post_init__(self) -> None:
        """Refuse values that are not finite."""
        super().__post_init__()
        for name in ("log10_e_value", "alpha"):
            require_finite(f"{name} against {self.null_hypothesis!r}", getattr(self, name))


class Source(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a mechanism is written: a file, relative to the run's folder and with slashes, and a line from 1 on."""

    file: Annotated[str, msgspec.Meta(min_length=1)]
    line: Annotated[int, msgspec.Meta(ge=1)]


class Finding(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a run found about one reading of one claim.

    ``paper`` is the id of the paper whose statement it is, empty for a guarantee of a user's own; ``expected`` comes
    from the paper's expectations. ``scope`` is how much of what the verdict needs is in the certificate: all of it
    (computation), an inequality from which an argument in words leads to it (argument), or observations, which are
    shown by drawing them again (samples). ``accumulated`` is there in a run that multiplies its evidence with that of
    earlier runs, for claims that have such. ``source`` is there where a mechanism of a user's own has a file in the
    folder of the run.
    """

    paper: str
    id: str
    title: str
    reference: str
    label: str
    reading: str
    reading_text: str
    stance: Stance
    statement: str
    verdict: Verdict
    expected: Verdict | None
    summary: str
    method: str
    evidence: dict[str, Quantity]
    tables: tuple[Table, ...] = ()
    plots: tuple[Plot, ...] = ()
    counterexample: str | None = None
    proof_steps: tuple[ProofStep, ...] = ()
    sharpness: tuple[Sharpness, ...] = ()
    certificate: str | None = None
    scope: Scope | None = None
    reproduce: str
    seconds: Annotated[float, msgspec.Meta(ge=0)]
    accumulated: tuple[AccumulatedRecord, ...] | msgspec.UnsetType = msgspec.UNSET
    source: Source | msgspec.UnsetType = msgspec.UNSET

    __bool__ = no_truth_value("finding.as_expected")

    @property
    def key(self) -> str:
        """The name of the claim and its reading, as the command line takes it: ``id/reading``."""
        return f"{self.id}/{self.reading}"

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the expected one (a reading without an expectation is not)."""
        return self.verdict == self.expected


class BudgetRecord(Figures, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The error budget: the probability that anything in the run alarms falsely, and where it was spent."""

    total: float
    spent: float
    by_claim: dict[str, float]

    def __post_init__(self) -> None:
        """Refuse levels that are not finite, and a budget that is overspent."""
        for name, value in (("total", self.total), ("spent", self.spent), *self.by_claim.items()):
            require_finite(f"error budget {name}", value)
        if self.spent > self.total:
            raise InputError(
                f"spent={self.spent!r} exceeds total={self.total!r}; an error budget is not overdrawn"
            )
        super().__post_init__()


class Paper(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A document under verification; `id` is its short name, as in ``arora2020``.

    `unconfirmed` is what the ledger quotes of it from memory, no text of it being at hand; empty where there was one.
    """

    id: str
    title: str
    authors: tuple[str, ...]
    identifier: str
    unconfirmed: str = ""


class AuditRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A whole run; `papers` is empty where guarantees of a user's own were judged."""

    schema_version: int
    papers: tuple[Paper, ...]
    profile: str
    seed: int
    versions: dict[str, str]
    error_budget: BudgetRecord
    claims: tuple[Finding, ...]
    errata: tuple[Erratum, ...] = ()
    museum: MuseumRecord | None = None
    comparison: ComparisonRecord | None = None
    exit_code: int
    seconds: float

    __bool__ = no_truth_value("record.exit_code == 0")
