"""The ledger as a value: papers with their statements and expectations, and the sections of a run beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from dpsco_verify.choices import ERROR_BUDGET, nearest
from dpsco_verify.errors import InputError
from dpsco_verify.evidence import Paper
from dpsco_verify.evidence.checker import Kinds, Null, Rejected, Witness
from dpsco_verify.inference.budget import ErrorBudget
from dpsco_verify.ledger.errata import Discrepancy
from dpsco_verify.ledger.expectations import Expectation, require_complete
from dpsco_verify.ledger.section import Section
from dpsco_verify.ledger.statement import AnyStatement, Claim


@dataclass(frozen=True, kw_only=True)
class PaperEntry:
    """A paper under verification: what the entry-point group ``dpsco_verify.papers`` gives for each.

    Attributes
    ----------
    paper
        What is verified; its id is the name of the entry point.
    statements
        The statements, in the paper's order.
    expectations
        The committed verdict of every reading, by claim key (:func:`~dpsco_verify.ledger.expectations.load`).
    """

    paper: Paper
    statements: tuple[AnyStatement, ...]
    expectations: Mapping[str, Expectation]

    @property
    def witness_kinds(self) -> tuple[type[Witness], ...]:
        """The kinds of witnesses that its statements use, beside evidence."""
        return tuple(kind for statement in self.statements for kind in statement.witness_kinds)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Every reading of every statement, in the paper's order."""
        return tuple(
            Claim(paper=self.paper.id, statement=statement, reading=reading)
            for statement in self.statements
            for reading in statement.readings
        )


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """Everything that a run can verify.

    Raises
    ------
    InputError
        For no paper, two papers or two statements of one id, expectations that name a reading that does not exist or
        leave one out, and a kind of witness without a checker or with the name of another.
    """

    papers: tuple[PaperEntry, ...]
    sections: tuple[Section, ...] = ()

    def __post_init__(self) -> None:
        if not self.papers:
            raise InputError("papers=() is empty; give at least one paper")
        _require_unique("paper", ((entry.paper.id, entry.paper.title) for entry in self.papers))
        _require_unique(
            "statement",
            ((statement.id, entry.paper.id) for entry in self.papers for statement in entry.statements),
        )
        for entry in self.papers:
            keys = [claim.key for claim in entry.claims]
            _require_unique("reading", ((key, entry.paper.id) for key in keys))
            require_complete(entry.expectations, keys, where=entry.paper.id)
        _ = self.kinds

    @cached_property
    def kinds(self) -> Kinds:
        """The kinds of witnesses of all papers."""
        try:
            return Kinds((kind for entry in self.papers for kind in entry.witness_kinds), _ForChecker(self))
        except Rejected as reason:
            ids = ", ".join(entry.paper.id for entry in self.papers)
            raise InputError(f"papers={ids!r} cannot be checked: {reason}") from None

    @cached_property
    def error_budget(self) -> ErrorBudget:
        """The error budget, split over all claims that may run a test, and all sections."""
        weights = {claim.key: claim.reading.weight for claim in self.claims if claim.reading.weight > 0}
        # Summed in an order of its own, so that the shares do not depend on the order of the papers.
        whole = sum(sorted(weights.values(), reverse=True)) or 1.0
        weights |= {section.key: section.weight * whole for section in self.sections}
        return ErrorBudget.split(ERROR_BUDGET, weights) if weights else ErrorBudget(ERROR_BUDGET, ())

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Every reading of every statement of every paper."""
        return tuple(claim for entry in self.papers for claim in entry.claims)

    @property
    def expectations(self) -> dict[str, Expectation]:
        """The committed verdicts of all papers, by claim key."""
        return {key: one for entry in self.papers for key, one in entry.expectations.items()}

    @property
    def discrepancies(self) -> tuple[tuple[str, str, Discrepancy], ...]:
        """The discrepancies of every statement, each with its paper's id and the statement's reference."""
        return tuple(
            (entry.paper.id, statement.reference, discrepancy)
            for entry in self.papers
            for statement in entry.statements
            for discrepancy in statement.discrepancies
        )

    def paper(self, id_: str) -> PaperEntry:
        """Return the paper of this id."""
        for entry in self.papers:
            if entry.paper.id == id_:
                return entry
        known = ", ".join(entry.paper.id for entry in self.papers)
        raise InputError(f"paper={id_!r} is not installed; give one of {known}")

    def only(self, ids: Sequence[str]) -> Ledger:
        """Return the ledger of the papers `ids` alone, in its own order; of all, if `ids` is empty."""
        if not ids:
            return self
        wanted = {self.paper(id_).paper.id for id_ in ids}
        papers = tuple(entry for entry in self.papers if entry.paper.id in wanted)
        return self if papers == self.papers else Ledger(papers=papers, sections=self.sections)

    def find(self, names: Sequence[str]) -> tuple[Claim, ...]:
        """Return the claims that `names` name, each name being ``id`` or ``id/reading``.

        Raises
        ------
        InputError
            For a name that names nothing.
        """
        claims = self.claims
        for name in names:
            if not any(name in (claim.statement.id, claim.key) for claim in claims):
                known = dict.fromkeys(key for claim in claims for key in (claim.statement.id, claim.key))
                raise InputError(
                    f"id={name!r} names no claim; give an id or id/reading of `dpsco-verify claims`, such as "
                    f"{nearest(name, known)}"
                )
        return tuple(claim for claim in claims if {claim.statement.id, claim.key} & set(names))

    def select(self, select: Sequence[str], ignore: Sequence[str]) -> tuple[Claim, ...]:
        """Return the claims selected (all, if `select` is empty) less those ignored."""
        chosen = self.find(select) if select else self.claims
        dropped = {claim.key for claim in self.find(ignore)}
        kept = tuple(claim for claim in chosen if claim.key not in dropped)
        if not kept:
            raise InputError(
                f"select={list(select)!r} less ignore={list(ignore)!r} leaves no claim; select at least one"
            )
        return kept


@dataclass(frozen=True)
class _ForChecker:
    """The ledger as the independent checker asks for it (:class:`dpsco_verify.evidence.checker.Claims`)."""

    ledger: Ledger

    def nulls(self) -> Mapping[str, Null | None]:
        return {claim.key: claim.reading.null for claim in self.ledger.claims}

    def share(self, key: str, papers: Sequence[str]) -> Fraction:
        try:
            return Fraction(self.ledger.only(papers).error_budget.share(key).alpha)
        except InputError as error:
            raise Rejected(f"papers={', '.join(papers)} give no share of the error budget: {error}") from None


def _require_unique(what: str, named: Iterable[tuple[str, str]]) -> None:
    """Refuse a name that comes twice; each comes with what it belongs to."""
    seen: dict[str, str] = {}
    for name, owner in named:
        if name in seen:
            raise InputError(
                f"{what}={name!r} stands twice, in {seen[name]!r} and {owner!r}; give each {what} an id of its own"
            )
        seen[name] = owner
