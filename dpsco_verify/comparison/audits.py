"""The audit of a system: its outputs on two neighbouring data sets, against the claim of its source."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.auditing import AuditResult, AuditVerdict, audit
from dpsco_verify.comparison.audit_settings import AuditSetting, Statistic, setting_for
from dpsco_verify.errors import InputError, no_truth_value
from dpsco_verify.execution import stream
from dpsco_verify.related import PrivacyBudget, System, Task
from dpsco_verify.related.catalogue import SYSTEMS
from dpsco_verify.related.conditions import ConditionError

_LARGEST_SEED = 2**63


@dataclass(frozen=True)
class AuditOf:
    """What a unit of work that audits a system is about."""

    system: str


@dataclass(frozen=True, kw_only=True)
class SystemAudit:
    """What the audit of a system found.

    Attributes
    ----------
    system, pair, claim
        The id; the two data sets, and what was claimed, in words.
    n, dimension
        Of the data sets.
    verdict, summary
        The verdict, and one sentence; None where the system cannot run at the budget, and which condition fails.
    samples, event
        Outputs drawn on each data set, and the event that was judged.
    occurrences, occurrences_neighbour
        How many fresh outputs on the one data set lie in the event, and on the other.
    order, delta_at_order
        The point (ε, δ) of the claim at which it was judged.
    detectable_epsilon
        The smallest ε at `delta_at_order` that would have been found with power 0.9; None where none would have been,
        or one was.
    epsilon_lower
        ε at `delta_at_order` is at least this, with confidence 1 − `alpha`.
    alpha, test_alpha
        The level of the audit, and that of the test that decided.
    counts, fractions, weights
        Cell counts (both, first only, second only, neither) up to the decision, and the bets, or the weights of the
        test of fixed size that decided, for a certificate.
    """

    system: str
    pair: str
    n: int
    dimension: int
    summary: str
    alpha: float
    verdict: AuditVerdict | None = None
    claim: str = "none"
    samples: int = 0
    event: str = "none"
    occurrences: int = 0
    occurrences_neighbour: int = 0
    order: float = 0.0
    delta_at_order: float = 1.0
    detectable_epsilon: float | None = None
    epsilon_lower: float = 0.0
    test_alpha: float = 1.0
    counts: tuple[int, int, int, int] = (0, 0, 0, 0)
    fractions: tuple[float, ...] = ()
    weights: tuple[float, float] | None = None

    __bool__ = no_truth_value("audit.verdict is AuditVerdict.NOT_VIOLATED")

    @property
    def is_violated(self) -> bool:
        """Whether the claim was found violated."""
        return self.verdict is AuditVerdict.VIOLATED


def audit_system(
    *, system: str, epsilon: float, delta: float, alpha: float, samples: int, seed: int, name: str
) -> SystemAudit:
    """Audit a private system of the catalogue at (ε, δ), on data sets made for it.

    Parameters
    ----------
    system
        Its id.
    epsilon, delta
        The budget that it is given; judged is the claim that it makes for it, which may be a stronger one.
    alpha
        The probability, at most, of finding a true claim violated.
    samples
        Outputs a data set, at most.
    seed, name
        The root seed and the name of the unit of work, from which the stream comes.

    Raises
    ------
    InputError
        For a system that is unknown or not private.

    Notes
    -----
    Where the system's conditions are not met at (ε, δ) on its data sets, there is no verdict, and nothing
    was drawn.
    """
    if system not in SYSTEMS:
        raise InputError(f"system={system!r} is unknown; give one of {', '.join(SYSTEMS)}")
    setting = setting_for(system)
    try:
        return audit_implementation(
            SYSTEMS[system],
            budget=PrivacyBudget(epsilon, delta),
            setting=setting,
            alpha=alpha,
            samples=samples,
            seed=seed,
            name=name,
        )
    except ConditionError as error:
        return SystemAudit(
            system=system,
            pair=setting.words,
            n=setting.n,
            dimension=setting.dimension,
            summary=str(error),
            alpha=alpha,
        )


def audit_implementation(
    system: System,
    *,
    budget: PrivacyBudget,
    setting: AuditSetting,
    alpha: float,
    samples: int,
    seed: int,
    name: str,
) -> SystemAudit:
    """Audit any implementation of the protocol on the data sets of a setting; see :func:`audit_system`."""
    task, (first, second) = setting.task(), setting.pair()
    n = first.shape[0]
    claim = system.claim(task, n, budget)
    if claim is None:
        raise InputError(f"system={system.id!r} claims no privacy; there is nothing to audit")
    found = audit(
        _Mechanism(system, task, budget, setting.statistic),
        first,
        second,
        claim=claim,
        relation="replace-one",
        alpha=alpha,
        samples=samples,
        # The auditor's streams are named alike in all audits; the unit's own name goes into the seed.
        seed=int(stream(seed, name).integers(_LARGEST_SEED)),
        classifier="none",
        name=system.id,
    )
    return _as_record(system.id, setting, task, found)


class _Mechanism:
    """What is judged of a run, in the coordinate in which the data sets differ: two functions of what is released."""

    def __init__(self, system: System, task: Task, budget: PrivacyBudget, statistic: Statistic) -> None:
        self._system, self._task, self._budget, self._statistic = system, task, budget, statistic

    def __call__(self, dataset: FloatArray, size: int, rng: np.random.Generator) -> FloatArray:
        sample = np.broadcast_to(dataset, (size, *dataset.shape))
        found = self._system.fit(
            sample,
            task=self._task,
            budget=self._budget,
            rng=rng,
            keep_transcript=self._statistic is not Statistic.SOLUTION,
        )
        solution = found.solution[:, :1]
        if found.transcript is None:
            return solution
        along = found.transcript[:, :, 0]
        told = along.sum(axis=1) if self._statistic is Statistic.SUM else along[:, 0]
        return np.column_stack([told, solution])


def _as_record(system: str, setting: AuditSetting, task: Task, found: AuditResult) -> SystemAudit:
    witness = found.witness
    cells = witness.decision_counts
    return SystemAudit(
        system=system,
        pair=setting.words,
        claim=str(found.claim),
        n=setting.n,
        dimension=task.dimension,
        verdict=found.verdict,
        summary=found.summary,
        samples=found.samples,
        event=witness.event,
        occurrences=witness.occurrences,
        occurrences_neighbour=witness.occurrences_neighbour,
        order=found.order,
        delta_at_order=found.delta_at_order,
        detectable_epsilon=None if found.mdv is None else found.mdv.epsilon,
        epsilon_lower=found.epsilon_lower,
        alpha=found.alpha,
        test_alpha=witness.alpha,
        counts=(cells.n11, cells.n10, cells.n01, cells.n00),
        fractions=witness.fractions,
        weights=witness.weights,
    )
