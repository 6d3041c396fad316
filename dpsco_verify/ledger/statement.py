"""The interface of a statement: its text, its readings, and how each is decided."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from dpsco_verify.choices import Profile
from dpsco_verify.errors import no_truth_value
from dpsco_verify.evidence import Plot, ProofStep, Quantity, Sharpness, Stance, Table, Verdict
from dpsco_verify.evidence.checker import Null, Witness
from dpsco_verify.inference.budget import Share
from dpsco_verify.ledger.errata import Discrepancy
from dpsco_verify.ledger.units import Handle, Outcomes, Units
from dpsco_verify.store import EValue

P = TypeVar("P")
"""What a reading fixes: its parameters."""
W = TypeVar("W")
"""The handles of what was planned for a reading."""
X = TypeVar("X")
"""What one unit of work finds."""


@dataclass(frozen=True, kw_only=True)
class Reading(Generic[P]):
    """One way to understand a statement.

    Attributes
    ----------
    id
        Its name among the statement's readings, as the expectations have it.
    text
        What this reading takes the words to mean.
    statement
        The mathematics that is verified.
    method
        How it is decided.
    stance
        Whether the source's words allow it, it repairs them, or it goes beyond them.
    parameters
        What this reading fixes, as a value: nothing is read out of the id.
    weight
        Its share of the error budget, relative to the other readings under verification; 0 where nothing is random.
    null
        The null hypothesis that observations may reject under it; without one no evidence from samples refutes it.
    """

    id: str
    text: str
    statement: str
    method: str
    stance: Stance
    parameters: P
    weight: float = 0.0
    null: Null | None = None


@dataclass(frozen=True, kw_only=True)
class Context:
    """What a statement may know of the run: the profile, the seed, and the reading's share of the error budget.

    `share` is None for a reading of weight 0, which may run no test that can err. `accumulate` says whether the run's
    e-values are multiplied with those of earlier runs and decide together with them.
    """

    profile: Profile
    seed: int
    share: Share | None
    accumulate: bool = False

    def levels(self, names: Sequence[str], *, accumulated: Collection[str] = ()) -> dict[str, float]:
        """Divide the share equally among the tests called `names`, and return the level of each in this run by itself.

        Those in `accumulated` hand over e-values. If these are multiplied over runs, the product is a second chance to
        reject: it has one half of the test's part, and the run by itself the other.
        """
        if not names or self.share is None:
            return {}
        divided = self.share.divide(names)
        return {
            name: divided.part(name).alpha * (0.5 if self.accumulate and name in accumulated else 1.0)
            for name in names
        }

    def spent(self, level: float) -> float:
        """Return what a test that hands over an e-value spends, `level` being the one that it has in this run."""
        return 2.0 * level if self.accumulate else level


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What the evidence says about a reading.

    Attributes
    ----------
    verdict, summary
        The verdict, and in one sentence why.
    sharpness
        For each constant of the statement how far from sharp it is, or what would repair it.
    spent
        The level of each test that was run, by its name; together at most the context's share.
    e_values
        The evidence against null hypotheses that do not depend on the run, by their names
        (:func:`~dpsco_verify.store.null_name`), for the product over runs; its level is what each test has in this
        run (:meth:`Context.levels`).
    witness
        What proves it. The run issues the certificate; ``refuted`` and ``certified`` without one that the checker
        accepts do not stand.
    """

    verdict: Verdict
    summary: str
    evidence: Mapping[str, Quantity]
    tables: Sequence[Table] = ()
    plots: Sequence[Plot] = ()
    counterexample: str | None = None
    proof_steps: Sequence[ProofStep] = ()
    sharpness: Sequence[Sharpness] = ()
    witness: Witness | None = None
    spent: Mapping[str, float] = field(default_factory=dict)
    e_values: Mapping[str, EValue] = field(default_factory=dict)

    __bool__ = no_truth_value("decision.verdict is Verdict.CERTIFIED")


class Statement(Protocol[P, W]):
    """A statement of a paper.

    `plan` says what has to be computed for a reading, and `conclude` what follows from the outcomes. Both depend on
    their arguments alone, so that a run can be repeated, selected from and spread over workers.
    """

    @property
    def id(self) -> str:
        """The stable name of the statement, unique among all papers."""
        ...

    @property
    def title(self) -> str:
        """What it says, in a few words."""
        ...

    @property
    def reference(self) -> str:
        """Its number in the paper."""
        ...

    @property
    def label(self) -> str:
        """Its LaTeX label where the paper's source is at hand, else ``related:`` and the system; the stable key."""
        ...

    @property
    def text(self) -> str:
        """The statement as its source has it, in one line."""
        ...

    @property
    def readings(self) -> Sequence[Reading[P]]:
        """Its readings."""
        ...

    @property
    def discrepancies(self) -> Sequence[Discrepancy]:
        """Where text, proof and constants disagree around this statement."""
        ...

    @property
    def witness_kinds(self) -> Sequence[type[Witness]]:
        """The kinds of witnesses that its decisions hold, beside evidence."""
        ...

    def plan(self, reading: Reading[P], context: Context, units: Units) -> W:
        """Plan the units of work for a reading, and return their handles."""
        ...

    def conclude(self, reading: Reading[P], context: Context, work: W, outcomes: Outcomes) -> Decision:
        """Return what the outcomes under the handles of :meth:`plan` say about the reading."""
        ...


AnyStatement = Statement[Any, Any]


class OneUnit(ABC, Generic[P, X]):
    """A statement that plans one unit of work for a reading, and decides by what that finds."""

    discrepancies: ClassVar[Sequence[Discrepancy]] = ()

    @abstractmethod
    def decide(self, reading: Reading[P], found: X) -> Decision:
        """Return what the value of the unit says about the reading."""

    def conclude(
        self,
        reading: Reading[P],
        context: Context,  # noqa: ARG002  the interface
        work: Handle[X],
        outcomes: Outcomes,
    ) -> Decision:
        """Decide by the value of the unit."""
        return self.decide(reading, outcomes[work])


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A statement of a paper under one reading: what the ledger verifies and the expectations name."""

    paper: str
    statement: AnyStatement
    reading: Reading[Any]

    @property
    def key(self) -> str:
        """Its name, ``id/reading``."""
        return f"{self.statement.id}/{self.reading.id}"
