"""All checks of an implementation of Algorithm 1, under one error budget, and their report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dpsco_verify.algorithm.conformance.bench import Bench
from dpsco_verify.algorithm.conformance.check import Check, Finding
from dpsco_verify.algorithm.conformance.checks import CHECKS
from dpsco_verify.algorithm.conformance.observation import Implementation
from dpsco_verify.algorithm.options import Options
from dpsco_verify.auditing import AuditVerdict
from dpsco_verify.choices import ERROR_BUDGET
from dpsco_verify.errors import InputError, no_truth_value
from dpsco_verify.inference import ErrorBudget
from dpsco_verify.validation import require_integer, require_open_interval, require_positive


@dataclass(frozen=True, kw_only=True)
class ConformanceReport:
    """What all checks found.

    Attributes
    ----------
    implementation
        Its name.
    findings
        One a check, in the order in which they ran.
    skipped
        The checks that did not apply, each with the reason.
    alpha
        The probability, at most, that a right implementation is found violated by any check.
    seed, effort
        As they were given; the same give the same report.
    """

    implementation: str
    findings: tuple[Finding, ...]
    skipped: tuple[tuple[str, str], ...]
    alpha: float
    seed: int
    effort: float

    __bool__ = no_truth_value("report.verdict is AuditVerdict.NOT_VIOLATED")

    @property
    def verdict(self) -> AuditVerdict:
        """``violated`` if any check found so, else ``undecided`` if any could not judge, else ``not_violated``."""
        verdicts = {finding.verdict for finding in self.findings}
        return next(
            (v for v in (AuditVerdict.VIOLATED, AuditVerdict.UNDECIDED) if v in verdicts),
            AuditVerdict.NOT_VIOLATED,
        )

    @property
    def failures(self) -> tuple[Finding, ...]:
        """The findings that are ``violated``."""
        return tuple(f for f in self.findings if f.verdict is AuditVerdict.VIOLATED)

    def finding(self, check: str) -> Finding:
        """Return the finding of a check."""
        return next(f for f in self.findings if f.check == check)

    @property
    def summary(self) -> str:
        """What was found, in one sentence."""
        if self.failures:
            found = "; ".join(f"{f.check} ({f.detail})" for f in self.failures)
            return f"{self.implementation} is not Algorithm 1, with confidence 1 − {self.alpha:.3g}: {found}"
        left = [f.check for f in self.findings if f.verdict is AuditVerdict.UNDECIDED]
        if left:
            return f"{self.implementation}: undecided, as {', '.join(left)} could not judge it"
        return f"{self.implementation} passes {len(self.findings)} checks of Algorithm 1 at level {self.alpha:.3g}"

    def __str__(self) -> str:
        lines = [self.summary]
        lines += [f"  {f.check}: {f.verdict}; {f.detail}; would find: {f.detectable}" for f in self.findings]
        lines += [f"  {check}: skipped; {reason}" for check, reason in self.skipped]
        return "\n".join(lines)


def check_implementation(
    implementation: Implementation,
    *,
    alpha: float = ERROR_BUDGET,
    seed: int = 0,
    options: Options | None = None,
    batched: bool = True,
    effort: float = 1.0,
    checks: Sequence[str] | None = None,
    name: str | None = None,
) -> ConformanceReport:
    """Hold an implementation of Algorithm 1 against the algorithm.

    Parameters
    ----------
    implementation
        ``implementation(data, rng, *, loss, convex_set, step_size, sigma, lipschitz, initial_point, batch_size)``
        returning an :class:`~dpsco_verify.algorithm.conformance.ObservedRun`.
    alpha
        The probability, at most, that a right implementation is found ``violated``, over all checks.
    seed
        The root seed.
    options
        The reading of the paper that the implementation means: stopping rule, average, noise; by default the
        corrected one. Its batch size plays no part.
    batched
        Whether the implementation takes batches; without, what concerns them is skipped, and ``batch_size`` is handed
        on, as 1, only to a signature that requires it.
    effort
        Factor of the numbers of runs.
    checks
        The ids of the checks to run, by default all; see :data:`~dpsco_verify.algorithm.conformance.CHECKS`.
    name
        How the report names the implementation.

    Raises
    ------
    InputError
        For a bad argument.
    ConformanceError
        If the implementation raises, changes its data or returns what is no run; the message names the call.

    Notes
    -----
    Exact checks need no level; the statistical ones share `alpha` by fixed weights. No time limit is set: a run that
    does not end has to be interrupted.
    """
    alpha = require_open_interval("alpha", alpha, 0.0, 1.0)
    if not callable(implementation):
        raise InputError(
            f"implementation={implementation!r} is not callable; give a function of (data, rng, …)"
        )
    chosen = _chosen(checks)
    able = [check for check in chosen if batched or not check.batched]
    weights = {check.id: check.weight for check in able if not check.exact}
    budget = ErrorBudget.split(alpha, weights) if weights else None
    shown = name or str(getattr(implementation, "__name__", type(implementation).__name__))
    bench = Bench(
        implementation=implementation,
        name=shown,
        options=options or Options(),
        seed=require_integer("seed", seed, minimum=0),
        effort=require_positive("effort", effort),
        batched=batched,
    )
    findings: list[Finding] = []
    skipped = [
        (check.id, "the implementation takes no batches") for check in chosen if check.batched and not batched
    ]
    for check in able:
        level = 0.0 if budget is None or check.exact else budget.share(check.id).alpha
        found = check.find(bench, alpha=level)
        if isinstance(found, str):
            skipped.append((check.id, found))
        else:
            findings.append(found)
    return ConformanceReport(
        implementation=shown,
        findings=tuple(findings),
        skipped=tuple(skipped),
        alpha=alpha,
        seed=seed,
        effort=effort,
    )


def _chosen(ids: Sequence[str] | None) -> list[Check]:
    if ids is None:
        return list(CHECKS)
    known = {check.id for check in CHECKS}
    unknown = [name for name in ids if name not in known]
    if unknown or not ids:
        raise InputError(
            f"checks={list(ids)!r} holds no known check; give some of {', '.join(sorted(known))}"
        )
    return [check for check in CHECKS if check.id in set(ids)]
