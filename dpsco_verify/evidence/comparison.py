"""The record of the comparison: every system on every problem, side by side at the same privacy."""

from __future__ import annotations

import enum
from typing import Annotated

import msgspec

from dpsco_verify.errors import InputError, no_truth_value
from dpsco_verify.evidence.plots import Plot
from dpsco_verify.evidence.values import AuditVerdict, Figures, Table, require_finite


class CellState(enum.StrEnum):
    """Whether a system was run at a place of the comparison."""

    MEASURED = "measured"
    CONDITIONS = "conditions"
    TOO_SLOW = "too_slow"


class CellRecord(Figures, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A system on a problem with n points at a budget (ε, δ), over independent runs.

    Attributes
    ----------
    excess_risk, low, high
        The mean of ``F(w) − min F`` over the runs and a 95 % interval for its expectation; None where it was not run.
    bound
        The source's bound on the expectation; None where the source has no constant.
    gradient_queries
        Gradients of single points a run, on average; an estimate where it was not run, None where there is none.
    reason
        Why it was not run: the condition that is not met, or how much work it would have been.
    seconds
        Processor time a run.
    """

    system: str
    problem: str
    n: int
    epsilon: float
    state: CellState
    runs: int = 0
    excess_risk: float | None = None
    low: float | None = None
    high: float | None = None
    bound: float | None = None
    gradient_queries: float | None = None
    reason: str = ""
    seconds: Annotated[float, msgspec.Meta(ge=0)] = 0.0

    def __post_init__(self) -> None:
        """Refuse figures that are not finite, and a measured cell without a figure."""
        super().__post_init__()
        for name in ("epsilon", "excess_risk", "low", "high", "bound", "gradient_queries"):
            require_finite(f"{name} of {self.system} on {self.problem}", getattr(self, name))
        if (self.state is CellState.MEASURED) == (self.excess_risk is None):
            raise InputError(
                f"state={self.state.value!r} does not fit excess_risk={self.excess_risk!r} of {self.system} on "
                f"{self.problem}; a measured cell has a figure, another has none"
            )


class SystemAuditRecord(Figures, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the audit of a system's outputs on neighbouring data sets found.

    `detectable_epsilon` is the smallest ε that it would have found with power 0.9, where that is known.
    """

    verdict: AuditVerdict
    pair: str
    claim: str
    samples: Annotated[int, msgspec.Meta(ge=0)]
    detectable_epsilon: float | None
    event: str

    __bool__ = no_truth_value("audit.verdict is AuditVerdict.NOT_VIOLATED")


class SystemRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A system: where it is from, what its source promises of risk and cost, and what its audit found.

    `not_audited` says why there is no audit of a private one, where one was asked for.
    """

    id: str
    title: str
    source: str
    section: str
    is_private: bool
    rate: str
    query_rate: str
    audits: tuple[SystemAuditRecord, ...] = ()
    not_audited: str = ""


class ProblemRecord(Figures, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A problem: its population's d, L, D, and the minimum, known to `gap`."""

    id: str
    title: str
    kind: str
    dimension: int
    lipschitz: float
    diameter: float
    minimum: float
    gap: float


class ExponentRecord(Figures, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An exponent that was fitted to a system's figures on a problem.

    `quantity` is ``risk`` or ``queries``, `variable` is ``n`` or ``epsilon``; [low, high] is a 95 % interval. `stated`
    is the exponent of the paper's Section 3 where it names one, in words.
    """

    system: str
    problem: str
    quantity: str
    variable: str
    exponent: float
    low: float | None
    high: float | None
    sizes: tuple[float, ...]
    stated: str

    def __post_init__(self) -> None:
        """Refuse figures that are not finite: one that may be absent would be written as if it were."""
        super().__post_init__()
        for name in ("exponent", "low", "high"):
            require_finite(f"{name} of {self.system} on {self.problem}", getattr(self, name))


class CrossoverRecord(Figures, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Two systems that change places: below `at_most` the `before` has the smaller risk, from there on the `after`.

    The change lies in (`above`, `at_most`] of the variable; both differences are clear of 0 by their 95 % intervals.
    """

    problem: str
    variable: str
    before: str
    after: str
    above: float
    at_most: float


class ComparisonRecord(Figures, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole comparison at one δ; `error_budget` is the level of its audits, `tables` are of open questions."""

    epsilon: float
    delta: float
    runs: int
    error_budget: float
    systems: tuple[SystemRecord, ...]
    problems: tuple[ProblemRecord, ...]
    cells: tuple[CellRecord, ...]
    exponents: tuple[ExponentRecord, ...] = ()
    crossovers: tuple[CrossoverRecord, ...] = ()
    tables: tuple[Table, ...] = ()
    plots: tuple[Plot, ...] = ()

    __bool__ = no_truth_value("not record.violated")

    @property
    def violated(self) -> tuple[str, ...]:
        """The titles of the systems whose claim an audit found violated."""
        return tuple(
            s.title for s in self.systems if any(a.verdict is AuditVerdict.VIOLATED for a in s.audits)
        )
