"""An implementation of Algorithm 1 as an exhibit: wrong ones are judged by the check that is to catch them."""

from __future__ import annotations

from dataclasses import dataclass

from dpsco_verify.algorithm.conformance import Implementation, check_implementation
from dpsco_verify.faults.exhibit import ExhibitKind, Judgement

_TOLD_OF_CONTROLS = ("noise-scale", "single-step-privacy")
"""The checks whose reach a control's judgement tells: of twenty, the ones about privacy."""


@dataclass(frozen=True, kw_only=True)
class AlgorithmExhibit:
    """An implementation that is judged by the conformance checks; the attributes not told here are `Judged`'s.

    Attributes
    ----------
    implementation
        The implementation; one that can be pickled.
    caught_by
        The checks that are to catch a fault, and all that judge it. A control has none here, and is judged by all.
    unseen_by
        Checks that might be thought to see it and cannot, each with the reason.
    effort
        Factor of the checks' numbers of runs.
    """

    id: str
    title: str
    source: str
    truth: str
    implementation: Implementation
    caught_by: tuple[str, ...] = ()
    unseen_by: tuple[tuple[str, str], ...] = ()
    effort: float = 1.0
    cost: float = 0.1
    slow: bool = False

    @property
    def kind(self) -> ExhibitKind:
        """A fault if something is to catch it."""
        return ExhibitKind.FAULT if self.caught_by else ExhibitKind.CONTROL

    def judge(self, *, alpha: float, seed: int) -> Judgement:
        """Run the checks."""
        report = check_implementation(
            self.implementation,
            alpha=alpha,
            seed=seed,
            effort=self.effort,
            checks=self.caught_by or None,
            name=self.id,
        )
        if report.failures:
            worst = report.failures[0]
            return Judgement(
                verdict=report.verdict, caught_by=f"{worst.check}: {worst.detail}", samples=worst.runs
            )
        told = [f for f in report.findings if f.check in (self.caught_by or _TOLD_OF_CONTROLS)]
        would = "; ".join(f"{finding.check}: {finding.detectable}" for finding in told)
        return Judgement(
            verdict=report.verdict,
            caught_by=f"would have been: {would}",
            samples=max(finding.runs for finding in report.findings),
        )
