"""An audit by canaries as a finding, and its certificate."""

from __future__ import annotations

import math

from dpsco_verify.auditing.canaries import CanaryAudit, Family
from dpsco_verify.evidence import AuditVerdict, Finding, Quantity, Stance, Verdict, checker
from dpsco_verify.evidence.checker import OWN, Kinds
from dpsco_verify.evidence.verdict_backing import Backed, with_checked_certificate
from dpsco_verify.gating.audit_evidence import REFERENCE, VERDICTS

_STATEMENT = (
    "P(E | canary in) ≤ e^ε P(E | canary out) + δ(ε), and the other way round, for all events E of what training "
    "releases; claimed: {claim}"
)


def canary_finding(
    result: CanaryAudit,
    *,
    id_: str,
    reading: str,
    reproduce: str,
    expected: AuditVerdict = AuditVerdict.NOT_VIOLATED,
) -> tuple[Finding, bytes | None]:
    """Return the finding of an audit, and its certificate as the bytes of a file if there is one.

    Parameters
    ----------
    result
        The audit.
    id_, reading
        The finding's names, as :class:`~dpsco_verify.gating.audit_evidence.FindingNames` gives them.
    reproduce
        The command that repeats the audit.
    expected
        The verdict that is no surprise.
    """
    backed = _backed(result, id_, reading)
    finding = Finding(
        paper="",
        id=id_,
        title=result.name,
        reference=REFERENCE,
        label="",
        reading=reading,
        reading_text=f"{result.claim}, by {result.inside:,} canaries in and {result.outside:,} out",
        stance=Stance.PRINTED,
        statement=_STATEMENT.format(claim=result.claim),
        verdict=backed.verdict,
        expected=VERDICTS[expected],
        summary=". Note: ".join((backed.summary, *result.notes)),
        method=result.method.theorem,
        evidence=_evidence(result),
        plots=result.plots(),
        counterexample=f"{result.seen}; {result.bounds}; p-value {result.p_value:.3g}"
        if backed.verdict is Verdict.REFUTED
        else None,
        certificate=f"certificates/{id_}--{reading}.json" if backed.data is not None else None,
        scope=backed.scope,
        reproduce=reproduce,
        seconds=result.seconds,
    )
    return finding, backed.data


def _backed(result: CanaryAudit, id_: str, reading: str) -> Backed:
    verdict, certificate = VERDICTS[result.verdict], None
    if result.witness is not None:
        try:
            certificate = checker.issue(f"{OWN}{id_}", reading, result.witness)
        except checker.Rejected as reason:
            return Backed(
                verdict=Verdict.INCONCLUSIVE,
                summary=f"no certificate could be issued ({reason}): {result.summary}",
            )
    return with_checked_certificate(verdict, result.summary, certificate, Kinds())


def _evidence(result: CanaryAudit) -> dict[str, Quantity]:
    """Return the figures of an audit by name; no times among them."""
    mdv, sure = result.mdv, f"with confidence 1 − {result.alpha:.3g}"
    ideal = "of ideal canaries, with probability 0.9"
    none = "no violation would have been found"
    within = "GDP mechanisms" if result.family is Family.GAUSSIAN else "all mechanisms"
    no_guarantee = "of these scores; no guarantee"
    return {
        "claim": Quantity(value=str(result.claim)),
        "method": Quantity(value=result.method.value, note=result.method.theorem),
        "family": Quantity(value=result.family.value, note=f"the bound on ε holds among {within}"),
        "epsilon_lower_bound": Quantity(
            value=result.epsilon_lower if math.isfinite(result.epsilon_lower) else None,
            note=f"at δ = {result.delta:.4g}, among {within}, {sure}",
        ),
        "mu_lower_bound": Quantity(
            value=result.mu_lower,
            note="the method says nothing of it"
            if result.mu_lower is None
            else f"of a GDP mechanism, {sure}",
        ),
        "mdv_epsilon": Quantity(
            value=mdv.epsilon if mdv else None,
            note=f"at δ = {result.delta:.4g}, {ideal}" if mdv else none,
        ),
        "mdv_privacy_loss_factor": Quantity(
            value=mdv.privacy_loss_factor if mdv else None,
            note="about: scores so many times as far apart would have been found"
            if mdv and mdv.privacy_loss_factor
            else "the scores tell nothing, or all",
        ),
        "seen": Quantity(value=result.seen),
        "canaries_in": Quantity(value=result.inside),
        "canaries_out": Quantity(value=result.outside),
        "canaries_needed": Quantity(
            value=result.canaries_needed, note="about, to find what is of interest, if undecided"
        ),
        "area_under_roc": Quantity(value=result.area_under_roc, note=no_guarantee),
        **{
            f"true_positive_rate_at_{rate:g}": Quantity(value=tpr, note=no_guarantee)
            for rate, tpr in result.true_positive_rates
        },
        "level": Quantity(value=result.alpha, note="the probability, at most, of refuting a true claim"),
        "p_value": Quantity(value=result.p_value),
    }
