"""The exhibits of the fault museum: wrong mechanisms that must be caught, and right ones that must stay unaccused."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from dpsco_verify.arrays import ArrayLike
from dpsco_verify.auditing import AuditVerdict, Mechanism, audit
from dpsco_verify.auditing.density import audit_density
from dpsco_verify.auditing.relations import OwnRelation
from dpsco_verify.choices import RelationName
from dpsco_verify.errors import no_truth_value
from dpsco_verify.privacy.claims import PrivacyClaim


class ExhibitKind(enum.StrEnum):
    """Whether an exhibit is a fault, to be caught, or a control, to be left alone."""

    FAULT = "fault"
    CONTROL = "control"

    @property
    def expected(self) -> AuditVerdict:
        """The verdict to be had: ``violated`` of a fault."""
        return AuditVerdict.VIOLATED if self is ExhibitKind.FAULT else AuditVerdict.NOT_VIOLATED


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What the judge of an exhibit came to.

    Attributes
    ----------
    verdict
        ``violated``: the exhibit was caught.
    caught_by
        The event in words, or the name of the check; for what was not caught, what would have been.
    samples
        Outputs a data set, or runs, after which the verdict stood; 0 where nothing was sampled.
    """

    verdict: AuditVerdict
    caught_by: str
    samples: int

    __bool__ = no_truth_value("judgement.verdict is AuditVerdict.VIOLATED")


class Judged(Protocol):
    """Anything that can stand in the museum.

    It must be possible to pickle it, and the same seed must give the same judgement, in whatever process.

    Attributes
    ----------
    id
        Unique in the museum, lower case with hyphens; the random streams hang on it.
    title
        The fault in words.
    source
        Where this kind of fault was found.
    truth
        What is true of it, in words.
    kind
        A fault or a control.
    cost
        Expected seconds, roughly: costly exhibits start first.
    slow
        Whether the quick profile leaves it out.
    """

    @property
    def id(self) -> str: ...  # noqa: D102  told above
    @property
    def title(self) -> str: ...  # noqa: D102  told above
    @property
    def source(self) -> str: ...  # noqa: D102  told above
    @property
    def truth(self) -> str: ...  # noqa: D102  told above
    @property
    def kind(self) -> ExhibitKind: ...  # noqa: D102  told above
    @property
    def cost(self) -> float: ...  # noqa: D102  told above
    @property
    def slow(self) -> bool: ...  # noqa: D102  told above

    def judge(self, *, alpha: float, seed: int) -> Judgement:
        """Judge the exhibit: a right one is found ``violated`` with probability at most `alpha`."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False)
class Exhibit:
    """A mechanism that is judged by :func:`dpsco_verify.auditing.audit`; the attributes not told here are `Judged`'s.

    Attributes
    ----------
    mechanism
        ``mechanism(dataset, size, rng)``, a function of a module's top level or a record, so that it can be pickled.
    pairs
        Pairs of neighbouring data sets, which share the level.
    claim, relation
        What is claimed, between which neighbours: a named relation, or what makes one of one's own.
    samples
        Outputs a data set, at most.
    floating_point
        Whether outputs are judged as the doubles that they are.
    true_delta
        Computes the true δ of the first pair at the claimed ε from the exact law; None where no number tells the truth.
    """

    id: str
    title: str
    source: str
    mechanism: Mechanism
    pairs: Sequence[tuple[Any, Any]]
    claim: PrivacyClaim
    relation: RelationName | Callable[[], OwnRelation] | None
    truth: str
    samples: int
    kind: ExhibitKind = ExhibitKind.FAULT
    floating_point: bool = False
    true_delta: Callable[[], float] | None = None
    cost: float = 0.2
    slow: bool = False

    @property
    def neighbours(self) -> RelationName | OwnRelation | None:
        """The relation itself: one's own are made anew, since they cannot be pickled."""
        return self.relation() if callable(self.relation) else self.relation

    def judge(self, *, alpha: float, seed: int) -> Judgement:
        """Audit the mechanism."""
        result = audit(
            self.mechanism,
            pairs=list(self.pairs),
            claim=self.claim,
            relation=self.neighbours,
            alpha=alpha,
            samples=self.samples,
            seed=seed,
            floating_point=self.floating_point,
            name=self.id,
        )
        if result.verdict is AuditVerdict.VIOLATED:
            caught_by = result.witness.event
        elif result.mdv is None:
            caught_by = "nothing would have been"
        else:
            caught_by = f"ε ≥ {result.mdv.epsilon:.3g} would have been"
        decided = result.samples_to_decision
        return Judgement(
            verdict=result.verdict,
            caught_by=caught_by,
            samples=result.samples if decided is None else decided,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class DensityExhibit(Exhibit):
    """A mechanism that is judged by its own density, by :func:`dpsco_verify.auditing.density.audit_density`.

    That test finds violations and passes nothing, so that no control can be one of these.

    Attributes
    ----------
    log_density
        ``log_density(outputs, dataset)``, which can be pickled.
    """

    log_density: Callable[[Any, Any], ArrayLike]

    def judge(self, *, alpha: float, seed: int) -> Judgement:
        """Hold the claim against the density."""
        [pair] = self.pairs
        found = audit_density(
            self.mechanism, pair, self.claim, self.log_density, alpha=alpha, samples=self.samples, seed=seed
        )
        caught_by = f"δ ≥ {found.delta_lower:.3g} by its density"
        if found.verdict is not AuditVerdict.VIOLATED:
            caught_by = "no δ beyond the claim by its density"
        return Judgement(verdict=found.verdict, caught_by=caught_by, samples=found.samples)


def fault_and_control(
    fault: Mechanism,
    right: Mechanism,
    *,
    id_: str,
    title: str,
    right_title: str,
    truth: str,
    true_delta: Callable[[], float],
    right_truth: str = "holds with equality",
    right_delta: Callable[[], float] | None = None,
    **shared: Any,
) -> tuple[Exhibit, Exhibit]:
    """Return a fault and its right counterpart, on the same pairs under the same claim.

    Parameters
    ----------
    fault, right
        The mechanisms.
    id_
        The fault's; the counterpart is ``control-…``.
    title, truth, true_delta
        Of the fault.
    right_title, right_truth, right_delta
        Of the counterpart, whose δ is 0 if left out.
    shared
        What else :class:`Exhibit` takes.
    """
    shared = {"relation": "add-remove", "samples": 10_000, **shared}
    return (
        Exhibit(
            id=id_,
            title=title,
            mechanism=fault,
            truth=truth,
            true_delta=true_delta,
            kind=ExhibitKind.FAULT,
            **shared,
        ),
        Exhibit(
            id=f"control-{id_}",
            title=right_title,
            mechanism=right,
            truth=right_truth,
            true_delta=no_delta if right_delta is None else right_delta,
            kind=ExhibitKind.CONTROL,
            **shared,
        ),
    )


def no_delta() -> float:
    """Return the δ of a claim that is met at δ = 0."""
    return 0.0
