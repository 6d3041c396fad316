"""What the statements of this book share: each is decided by one witness and what is known of its constants."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

from dpsco_verify.evidence import ProofStep, Quantity, Sharpness, Verdict
from dpsco_verify.evidence.checker import Rejected, Witness, evaluate
from dpsco_verify.ledger import Context, Decision, Discrepancy, Handle, Outcomes, Reading, Units

P = TypeVar("P")

Study = tuple[Callable[..., Any], Mapping[str, Any]]
"""A function of a module's top level and its arguments: figures that a reading's case is made from."""


@dataclass(frozen=True, kw_only=True)
class Examined:
    """What the checker makes of a witness: the inequality with its two sides, or why it is refused."""

    inequality: str = ""
    left: float = 0.0
    right: float = 0.0
    refused: str | None = None


def examine(*, witness: Witness, claim: str, reading: str) -> Examined:
    """Evaluate a witness as the checker does."""
    try:
        inequality, left, right = evaluate(witness, claim, reading)
    except Rejected as reason:
        return Examined(refused=str(reason))
    return Examined(inequality=inequality, left=float(left), right=float(right))


@dataclass(frozen=True, kw_only=True)
class Work:
    """The handles: of the examined witness, and of the figures beside it."""

    examined: Handle[Examined] | None
    figures: Handle[Any] | None


@dataclass(frozen=True, kw_only=True)
class Case:
    """What a reading's witness proves, and what is known beside it.

    Attributes
    ----------
    proves, summary
        The verdict if the checker accepts the witness and no constant is too strong, and why.
    sharpness
        The constants of the statement: one that is stronger than what is needed refutes it.
    """

    proves: Verdict
    summary: str
    sharpness: tuple[Sharpness, ...] = ()
    evidence: Mapping[str, Quantity] = field(default_factory=dict)
    proof_steps: tuple[ProofStep, ...] = ()
    counterexample: str | None = None


class ExactStatement(Generic[P]):
    """A statement whose readings are each decided by a witness: nothing here is random."""

    id: ClassVar[str]
    title: ClassVar[str]
    reference: ClassVar[str]
    label: ClassVar[str]
    text: ClassVar[str]
    readings: Sequence[Reading[P]]
    discrepancies: Sequence[Discrepancy] = ()
    witness_kinds: ClassVar[Sequence[type[Witness]]]

    @abstractmethod
    def witness(self, reading: Reading[P]) -> Witness | None:
        """Return the witness of a reading; None for one whose text has no meaning, which needs none."""

    @abstractmethod
    def case(self, reading: Reading[P], examined: Examined, studied: Any) -> Case:
        """Return what the witness proves; the checker makes `examined` of it, and `studied` is of :meth:`study`."""

    def study(self, reading: Reading[P], context: Context) -> Study | None:
        """Return the figures that have to be computed beside the witness; by default none."""
        return None

    def plan(self, reading: Reading[P], context: Context, units: Units) -> Work:
        """Plan a unit for the witness and one for the figures beside it."""
        witness, study = self.witness(reading), self.study(reading, context)
        given = {"witness": witness, "claim": self.id, "reading": reading.id}
        return Work(
            examined=None if witness is None else units.add("witness", examine, given, cost=0.05),
            figures=None if study is None else units.add("figures", study[0], study[1], cost=0.1),
        )

    def conclude(
        self,
        reading: Reading[P],
        context: Context,
        work: Work,
        outcomes: Outcomes,
    ) -> Decision:
        """Decide as the witness proves, unless a constant is stronger than what is needed or it proves nothing."""
        examined = Examined() if work.examined is None else outcomes[work.examined]
        case = self.case(reading, examined, None if work.figures is None else outcomes[work.figures])
        verdict, summary, witness = case.proves, case.summary, self.witness(reading)
        evidence = dict(case.evidence)
        too_strong = [s for s in case.sharpness if _too_strong(s)]
        if case.proves is Verdict.CERTIFIED and too_strong:
            s = too_strong[0]
            verdict = Verdict.REFUTED
            summary = f"false: with {s.claimed:.6g} for {s.constant} it fails, {s.needed:.6g} is needed"
        elif examined.refused is not None:
            verdict, summary = Verdict.INCONCLUSIVE, f"the witness proves nothing: {examined.refused}"
        elif examined.inequality:
            evidence |= {
                "greater side of the witness": Quantity(value=examined.left, note=examined.inequality),
                "smaller side of the witness": Quantity(value=examined.right),
            }
        return Decision(
            verdict=verdict,
            summary=summary,
            evidence=evidence,
            counterexample=case.counterexample if verdict is case.proves else None,
            proof_steps=case.proof_steps,
            sharpness=case.sharpness,
            witness=witness if verdict is case.proves else None,
        )


def _too_strong(sharpness: Sharpness) -> bool:
    if sharpness.claimed is None or sharpness.needed is None:
        return False
    if sharpness.larger_is_stronger:
        return sharpness.claimed > sharpness.needed
    return sharpness.claimed < sharpness.needed


def sharp(constant: str, *, claimed: float, exact: float, how: str) -> Sharpness:
    """Return the record of a constant that is exactly sharp: `exact` suffices and nothing smaller does."""
    return Sharpness(constant=constant, claimed=claimed, holds_with=exact, needed=exact, how=how)


def exactly_sharp(summary: str, *, constant: str, claimed: float, exact: float, how: str) -> Case:
    """Return the case of a statement that holds, with one constant that is exactly sharp."""
    constants = (sharp(constant, claimed=claimed, exact=exact, how=how),)
    return Case(proves=Verdict.CERTIFIED, summary=summary, sharpness=constants)
