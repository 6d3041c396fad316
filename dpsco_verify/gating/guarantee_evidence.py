"""A guarantee as a finding, and the claims of an optimiser as several.

A violation that a test found has a certificate: the checker computes the evidence anew. A counterexample to a property
of a function, which the checker does not have, has none, and the finding says so; the call or the command that it names
computes it again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import msgspec

from dpsco_verify.evidence import AuditVerdict, Finding, Quantity, Stance, Verdict, checker
from dpsco_verify.evidence.checker import OWN, Kinds
from dpsco_verify.evidence.verdict_backing import Backed, with_checked_certificate
from dpsco_verify.gating.audit_evidence import REFERENCE, VERDICTS
from dpsco_verify.guarantees import GuaranteeResult
from dpsco_verify.guarantees.optimiser import OptimiserReport
from dpsco_verify.guarantees.optimiser.report import bank_plot, bank_table

_METHODS = {
    "mean_at_most": "a betting e-process, valid at every time",
    "mean_at_least": "a betting e-process, valid at every time",
    "tail_at_most": "an exact binomial test",
    "quantile_at_most": "an exact binomial test",
    "rate": "a betting e-process on pairs of sizes",
    "ratio_at_most": "a betting e-process for each case, on shares of the level",
    "equal_law": "an event is chosen on one part of the outputs and judged on the other by a betting e-process",
    "risk": "the worst instance is searched and judged on fresh runs by a betting e-process",
    "privacy_by_density": "a betting e-process on what each output adds to δ by the density, which is tested first",
    "privacy": "an event is chosen on one part of the outputs and judged on the other by a betting e-process",
}
_EXACT = "exact, at every input that was tried"
_NO_CERTIFICATE = (
    "none: the counterexample is exact, but only the function itself, which no certificate holds, can show it; the "
    "command that this finding names computes it again"
)

Findings = Iterator[tuple[Finding, float, "bytes | None"]]
"""Findings, each with the level that it spent and its certificate, if there is one."""


def findings_of(
    result: GuaranteeResult | OptimiserReport,
    *,
    id_: str,
    reading: str,
    reproduce: str,
    expected: AuditVerdict = AuditVerdict.NOT_VIOLATED,
) -> Findings:
    """Yield the finding of a guarantee, or one for each claim of an optimiser.

    Parameters
    ----------
    result
        What was found.
    id_, reading
        The finding's names; an optimiser's claims are told apart by ``reading-claim``.
    reproduce
        The command that repeats it; the call where it is empty.
    expected
        The verdict that is no surprise.
    """
    if isinstance(result, GuaranteeResult):
        finding, certificate = _finding(result, id_, reading, reproduce, expected)
        yield finding, result.alpha, certificate
        return
    for one in result.results:
        named = f"{reading}-{one.kind.replace('_', '-')}"
        finding, certificate = _finding(one, id_, named, reproduce, expected)
        if one.kind == "risk":
            finding = msgspec.structs.replace(
                finding, plots=(bank_plot(result),), tables=(bank_table(result),)
            )
        yield finding, one.alpha, certificate
    for kind, reason in result.skipped:
        named = f"{reading}-{kind.replace('_', '-')}"
        unchecked = GuaranteeResult(
            kind=kind,
            name=result.name,
            claim=kind.replace("_", " "),
            verdict=AuditVerdict.UNDECIDED,
            seen=reason,
            detectable="nothing would have been found",
            samples=0,
            seed=result.seed,
        )
        finding, certificate = _finding(unchecked, id_, named, reproduce, expected)
        yield finding, 0.0, certificate


def _finding(
    result: GuaranteeResult, id_: str, reading: str, reproduce: str, expected: AuditVerdict
) -> tuple[Finding, bytes | None]:
    backed = _backed(result, id_, reading)
    finding = Finding(
        paper="",
        id=id_,
        title=result.name,
        reference=REFERENCE,
        label="",
        reading=reading,
        reading_text=result.claim,
        stance=Stance.PRINTED,
        statement=result.claim,
        verdict=backed.verdict,
        expected=VERDICTS[expected],
        summary=backed.summary,
        method=_METHODS.get(result.kind, _EXACT),
        evidence=_evidence(result),
        counterexample=result.counterexample,
        certificate=f"certificates/{id_}--{reading}.json" if backed.data is not None else None,
        scope=backed.scope,
        reproduce=reproduce or result.call,
        seconds=result.seconds,
    )
    return finding, backed.data


def _backed(result: GuaranteeResult, id_: str, reading: str) -> Backed:
    verdict = VERDICTS[result.verdict]
    if result.witness is None:
        return Backed(verdict=verdict, summary=result.summary)
    try:
        certificate = checker.issue(f"{OWN}{id_}", reading, result.witness)
    except checker.Rejected as reason:
        why = f"no certificate could be issued ({reason}): {result.summary}"
        return Backed(verdict=Verdict.INCONCLUSIVE, summary=why)
    return with_checked_certificate(verdict, result.summary, certificate, Kinds())


def _evidence(result: GuaranteeResult) -> dict[str, Quantity]:
    """Return the figures of a guarantee by name; no times among them."""
    return {
        "claim": Quantity(value=result.claim),
        **{name: Quantity(value=value) for name, value in result.figures.items()},
        "mdv": Quantity(value=result.mdv, note=result.detectable or "a violation was found"),
        "samples": Quantity(value=result.samples),
        "level": Quantity(value=result.alpha, note="the probability, at most, of refuting a true claim"),
        "log_e_value": Quantity(
            value=result.log_e_value
            if result.log_e_value is not None and math.isfinite(result.log_e_value)
            else None,
            note="natural logarithm",
        ),
        "p_value": Quantity(value=result.p_value),
        "seed": Quantity(value=result.seed),
        **(
            {"certificate": Quantity(value=None, note=_NO_CERTIFICATE)}
            if result.verdict is AuditVerdict.VIOLATED and result.witness is None
            else {}
        ),
    }
