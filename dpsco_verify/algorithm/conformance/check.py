"""What a check is, and what it finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from dpsco_verify.algorithm.conformance.bench import Bench
from dpsco_verify.auditing import AuditVerdict
from dpsco_verify.errors import no_truth_value

ROUNDING = 1e-6
"""Relative room for rounding in exact comparisons: single precision is good enough."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What a check found.

    Attributes
    ----------
    check
        The check's id.
    null
        What it holds the implementation to.
    verdict
        ``violated``; ``not_violated``; or ``undecided``, where what is to be judged could not be read.
    detail
        What was seen, with numbers.
    detectable
        What would have been found, with probability at least 0.9 where the check is statistical.
    alpha
        The probability, at most, that a right implementation is found violated; 0 for an exact check.
    runs
        How many runs were looked at.
    """

    check: str
    null: str
    verdict: AuditVerdict
    detail: str
    detectable: str
    alpha: float
    runs: int

    __bool__ = no_truth_value("finding.verdict is AuditVerdict.NOT_VIOLATED")

    def __str__(self) -> str:
        return f"{self.check}: {self.verdict}: {self.detail}"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """A judge's answer, to be put into a :class:`Finding`; `violated` is None where nothing could be judged."""

    violated: bool | None
    detail: str
    detectable: str
    runs: int

    __bool__ = no_truth_value("outcome.violated is False")


@dataclass(frozen=True, kw_only=True)
class Check:
    """A check.

    Attributes
    ----------
    id
        Lower case with hyphens.
    null
        The null hypothesis in words.
    judge
        ``judge(bench, alpha)``: an outcome, or a string that says why the check does not apply.
    exact
        Whether it needs no level: a right implementation always passes.
    weight
        Its share of the level, in proportion.
    batched
        Whether it needs an implementation that takes batches.
    """

    id: str
    null: str
    judge: Callable[[Bench, float], Outcome | str] = field(repr=False)
    exact: bool = False
    weight: float = 1.0
    batched: bool = False

    def find(self, bench: Bench, *, alpha: float) -> Finding | str:
        """Run the check at level `alpha`."""
        outcome = self.judge(bench, alpha)
        if isinstance(outcome, str):
            return outcome
        verdict = {
            True: AuditVerdict.VIOLATED,
            False: AuditVerdict.NOT_VIOLATED,
            None: AuditVerdict.UNDECIDED,
        }[outcome.violated]
        return Finding(
            check=self.id,
            null=self.null,
            verdict=verdict,
            detail=outcome.detail,
            detectable=outcome.detectable,
            alpha=0.0 if self.exact else alpha,
            runs=outcome.runs,
        )


def check(
    id_: str, null: str, *, exact: bool = False, batched: bool = False
) -> Callable[[Callable[[Bench, float], Outcome | str]], Check]:
    """Make a check of the judge that follows."""
    return lambda judge: Check(id=id_, null=null, judge=judge, exact=exact, batched=batched)
