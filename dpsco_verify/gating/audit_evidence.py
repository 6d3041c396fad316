"""An audit as a finding: what was claimed, what was seen, what follows, and the certificate that a refutation needs."""

from __future__ import annotations

import math
import re

from dpsco_verify.auditing import AuditResult, AuditVerdict, describe_pair
from dpsco_verify.auditing.plots import curve_plot, growth_plot
from dpsco_verify.evidence import Finding, Quantity, Stance, Verdict, checker
from dpsco_verify.evidence.checker import OWN, Certificate, Evidence, Kinds
from dpsco_verify.evidence.records_codec import OWN_WORDS
from dpsco_verify.evidence.verdict_backing import with_checked_certificate
from dpsco_verify.guarantees.witnesses import of_audit
from dpsco_verify.reporting.naming import UniqueNames

VERDICTS = {word: verdict for verdict, word in OWN_WORDS.items()}
"""The verdict of a finding that an audit's is; the record's file has the audit's own word."""

REFERENCE = "claimed guarantee"
STATEMENT = (
    "P(M(D) ∈ E) ≤ e^ε P(M(D') ∈ E) + δ(ε) for all neighbours D, D' and all events E; claimed: {claim}"
)
METHOD = (
    "an event is chosen among all features of the outputs, both directions and all orders of the claim, and judged on "
    "fresh outputs against P(E|D) ≤ e^ε P(E|D') + δ: by a betting e-process, valid at every time (Ville 1939), and "
    "once all are drawn by a test of that fixed number of them"
)

_LONGEST = 80


class FindingNames:
    """Hands out the ids and readings of findings: stable, fit for files, and each pair of them once.

    The names depend on the audits so far in their order, and on nothing else.
    """

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}
        self._unique = UniqueNames()

    def of(self, mechanism: str, reading: str) -> tuple[str, str]:
        """Return id and reading of the next finding: of a mechanism's name and of what it is held against."""
        if mechanism not in self._ids:
            self._ids[mechanism] = self._unique.name(_file_name(mechanism))
        name = self._ids[mechanism]
        return name, self._unique.name(f"{name}/{_file_name(reading)}").partition("/")[2]


def _file_name(text: str) -> str:
    """Return `text` as ASCII letters, digits, dots and single hyphens."""
    return re.sub(r"[^A-Za-z0-9.+]+", "-", text)[:_LONGEST].strip("-.+") or "x"


def audit_finding(
    result: AuditResult,
    *,
    id_: str,
    reading: str,
    label: str = "",
    reproduce: str | None = None,
    expected: AuditVerdict = AuditVerdict.NOT_VIOLATED,
) -> tuple[Finding, bytes | None]:
    """Return the finding of an audit, and its certificate as the bytes of a file if there is one.

    Parameters
    ----------
    result
        The audit.
    id_, reading
        The finding's names, as :class:`FindingNames` gives them.
    label
        What the pair is called, where it has a name.
    reproduce
        The command that repeats the audit.
    expected
        The verdict that is no surprise.
    """
    backed = with_checked_certificate(*_claimed(result, id_, reading), Kinds())
    verdict = backed.verdict
    w = result.witness
    pairs = "" if result.pairs == 1 else f"the worst of {result.pairs} pairs, "
    finding = Finding(
        paper="",
        id=id_,
        title=result.mechanism,
        reference=REFERENCE,
        label="",
        reading=reading,
        reading_text=f"{_guarantee(result)}, on {pairs}"
        f"{f'{label}, ' if label else ''}{describe_pair(w.d, w.d_prime)}",
        stance=Stance.PRINTED,
        statement=STATEMENT.format(claim=result.claim),
        verdict=verdict,
        expected=VERDICTS[expected],
        summary=". Note: ".join((backed.summary, *result.notes)),
        method=METHOD,
        evidence=evidence_of(result),
        plots=(curve_plot(result), *((growth_plot(result),) if result.growth else ())),
        counterexample=counterexample(result) if verdict is Verdict.REFUTED else None,
        certificate=f"certificates/{id_}--{reading}.json" if backed.data is not None else None,
        scope=backed.scope,
        reproduce=reproduce or python_line(result),
        seconds=result.seconds,
    )
    return finding, backed.data


def _claimed(
    result: AuditResult, id_: str, reading: str
) -> tuple[Verdict, str, Certificate[Evidence] | None]:
    verdict = VERDICTS[result.verdict]
    if verdict is not Verdict.REFUTED:
        return verdict, result.summary, None
    try:
        certificate = checker.issue(
            f"{OWN}{id_}",
            reading,
            of_audit(" ".join(f"{result.mechanism}: {_guarantee(result)}".split()), result),
        )
    except checker.Rejected as reason:
        return Verdict.INCONCLUSIVE, f"no certificate could be issued ({reason}): {result.summary}", None
    return verdict, result.summary, certificate


def _guarantee(result: AuditResult) -> str:
    return f"{result.claim}{f' under {result.relation}' if result.relation else ''}"


def counterexample(result: AuditResult) -> str:
    """Return the witness in words: the pair, the event, the counts, the evidence, the seed."""
    w = result.witness
    allowed = math.exp(result.order) * w.frequency_neighbour + result.delta_at_order
    order = "; of the pair that was given, D is the second" if w.swapped else ""
    return (
        f"D and D' ({describe_pair(w.d, w.d_prime)}{order}); the event [{w.event}] holds {w.occurrences} of "
        f"{w.samples} outputs on D, a part of {w.frequency:.4g}, and {w.occurrences_neighbour} of {w.samples} on D', "
        f"from which the claim allows at most {min(allowed, 1.0):.4g} on D; p-value {result.p_value:.3g}, seed {w.seed}"
    )


def python_line(result: AuditResult) -> str:
    """Return the call that repeats the audit, given the mechanism and the pair."""
    relation = f", relation={result.relation!r}" if result.relation else ""
    return (
        f"audit({result.mechanism}, d, d_prime, claim={result.claim!r}{relation}, alpha={result.alpha!r}, "
        f"seed={result.witness.seed})"
    )


def evidence_of(result: AuditResult) -> dict[str, Quantity]:
    """Return the figures of an audit by name; no times among them."""
    w, mdv = result.witness, result.mdv
    at_delta, at_epsilon = f"at δ = {result.delta_at_order:.4g}", f"at ε = {result.order:.4g}"
    sure = f"with confidence 1 − {result.alpha:.3g}"
    return {
        "claim": Quantity(value=str(result.claim)),
        "relation": Quantity(value=result.relation, note=result.neighbours),
        "tested_epsilon": Quantity(value=result.order),
        "tested_delta": Quantity(value=result.delta_at_order),
        "epsilon_lower_bound": _finite(result.epsilon_lower, f"{at_delta}, {sure}"),
        "delta_lower_bound": _finite(result.delta_lower, f"{at_epsilon}, {sure}"),
        "mdv_epsilon": _finite(
            mdv.epsilon if mdv else None,
            f"an ε of this size {at_delta} would have been found on the event with probability {mdv.power:g}"
            if mdv
            else _no_mdv(result),
        ),
        "mdv_delta_excess": _finite(
            mdv.delta_excess if mdv else None,
            f"by which δ would exceed the claim {at_epsilon}" if mdv else _no_mdv(result),
        ),
        "mdv_privacy_loss_factor": _finite(
            mdv.privacy_loss_factor if mdv else None,
            "about: a mechanism of the same shape whose privacy losses are so many times as large would have been found"
            if mdv and mdv.privacy_loss_factor is not None
            else "no privacy loss was seen"
            if mdv
            else _no_mdv(result),
        ),
        "samples_needed": Quantity(
            value=result.samples_needed,
            note="about, to find on this event what is of interest"
            if result.samples_needed
            else "its time was up"
            if result.ended_after is not None
            else "no number of samples would do"
            if result.verdict is AuditVerdict.UNDECIDED
            else "decided",
        ),
        "event": Quantity(value=w.event),
        "frequency": Quantity(value=w.frequency, note="of the event, on D"),
        "frequency_neighbour": Quantity(value=w.frequency_neighbour, note="of the event, on D'"),
        "pairs_both_in_event": Quantity(value=w.counts.n11),
        "pairs_first_in_event": Quantity(value=w.counts.n10),
        "pairs_second_in_event": Quantity(value=w.counts.n01),
        "pairs_neither_in_event": Quantity(value=w.counts.n00),
        "samples": Quantity(
            value=result.samples, note="outputs a data set, the search for the event included"
        ),
        "samples_to_decision": Quantity(
            value=result.samples_to_decision,
            note=None if result.samples_to_decision else "undecided to the end",
        ),
        "events_tried": Quantity(value=result.candidates),
        "neighbouring_pairs": Quantity(value=result.pairs),
        "level": Quantity(
            value=result.alpha, note="the probability, at most, of finding a true claim violated"
        ),
        "log_e_value": _finite(result.log_e_value, "natural logarithm"),
        "p_value": Quantity(value=result.p_value),
        "seed": Quantity(value=w.seed),
        "reproducible": Quantity(
            value=result.reproducible,
            note=None
            if result.reproducible
            else "the mechanism draws its own randomness"
            if result.ended_after is None
            else "its time was up",
        ),
    }


def _no_mdv(result: AuditResult) -> str:
    if result.verdict is AuditVerdict.VIOLATED:
        return "a violation was found"
    if result.ended_after is not None:
        return "its time was up before the end"
    return "no violation of this event would have been found"


def _finite(value: float | None, note: str) -> Quantity:
    """Return a quantity that says "there is none" in place of what is not finite, which no record can hold."""
    if value is None or math.isfinite(value):
        return Quantity(value=value, note=note)
    return Quantity(value=None, note=f"not finite; {note}")
