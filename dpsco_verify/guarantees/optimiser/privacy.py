"""The privacy that an optimiser claims, audited on neighbouring data sets."""

from __future__ import annotations

import math

import numpy as np

from dpsco_verify.auditing import AuditResult, AuditVerdict, audit
from dpsco_verify.errors import InputError
from dpsco_verify.guarantees.optimiser.fits import Claim, Place
from dpsco_verify.guarantees.optimiser.laws import Law, OptimiserMechanism
from dpsco_verify.guarantees.optimiser.neighbours import Group
from dpsco_verify.guarantees.result import POWER, GuaranteeResult
from dpsco_verify.guarantees.witnesses import of_audit
from dpsco_verify.privacy.claims import ApproximateDP, PrivacyClaim

_TIMES = (1, 4)
"""How many times the outputs that were asked for are drawn; the second time where the first decides nothing."""
_ROUNDS = len(_TIMES)

_WORST_FIRST = (AuditVerdict.VIOLATED, AuditVerdict.UNDECIDED, AuditVerdict.NOT_VIOLATED)


def privacy_claim(claim: Claim | None, place: Place, n: int) -> PrivacyClaim:
    """Return the claimed guarantee with n records: by default (ε, δ) itself.

    Raises
    ------
    InputError
        If the claim is neither a privacy claim nor a pair (ε, δ) of numbers that are allowed.
    """
    found = (place.epsilon, place.delta) if claim is None else claim.at(place, n)
    if isinstance(found, PrivacyClaim):
        return found
    if isinstance(found, tuple) and len(found) == 2:
        return ApproximateDP(*found)
    raise InputError(
        f"privacy={found!r} is not a guarantee; return (epsilon, delta) or a claim of dpsco_verify.privacy.claims"
    )


def judge_privacy(law: Law, claim: Claim | None, *, outliers: bool) -> GuaranteeResult | str:
    """Audit the claimed privacy on the pairs of all numbers of records that the optimiser takes, or say why not."""
    if claim is not None:
        privacy_claim(claim, law.place, 1)
    taken = [n for n, refusal in law.accepted.items() if refusal is None][:3]
    if not taken:
        return f"it refuses the data sets of the audit ({law.accepted[max(law.accepted)]})"
    # Where it refuses the scaled data sets, those of L = D = 1 are left, which it may refuse as well.
    plain = [Group(n=n, task=law.data.task(), pairs=law.data.pairs(n)) for n in taken]
    tried = list(zip(law.data.groups(taken), plain, strict=True))
    groups = [one for both in tried for one in [g for g in both if law.takes(g)][:1]]
    groups += [group for group in law.data.outliers(taken) if outliers and law.takes(group)]
    if not groups:
        return "it refuses the pairs of data sets of the audit"
    found, drawn = [], 0
    for group in groups:
        place = law.at(group)
        one, outputs = _audited(
            law, group, privacy_claim(claim, place, group.n), alpha=law.alpha / (_ROUNDS * len(groups))
        )
        found.append(one)
        drawn += outputs
        if one.verdict is AuditVerdict.VIOLATED:
            break
    return _as_result(law, found, groups, drawn)


def _audited(law: Law, group: Group, claim: PrivacyClaim, *, alpha: float) -> tuple[AuditResult, int]:
    """Audit a group of pairs, and where that was undecided once more, from more outputs; return how many were drawn.

    Where all records but one pull to the border of W, what tells of that one is rare. Each of the two audits accuses a
    right optimiser with a probability of at most `alpha`.
    """
    drawn = 0
    for times in _TIMES:
        found = audit(
            OptimiserMechanism(law.optimiser, law.at(group)),
            pairs=group.pairs,
            claim=claim,
            relation="replace-one",
            alpha=alpha,
            samples=times * law.samples,
            seed=law.seed + times - 1,
            time_limit=law.seconds * times,
            name=law.optimiser.name,
        )
        drawn += 2 * found.samples
        if found.verdict is not AuditVerdict.UNDECIDED:
            break
    return found, drawn


def _as_result(law: Law, found: list[AuditResult], groups: list[Group], drawn: int) -> GuaranteeResult:
    violated = found[-1].verdict is AuditVerdict.VIOLATED
    # The claim is about all of them, so it stands only where each would have shown a violation of the size of interest;
    # what is told is the group that saw least.
    shown, group = (
        (found[-1], groups[len(found) - 1])
        if violated
        else max(zip(found, groups, strict=True), key=lambda one: _blindness(one[0]))
    )
    w = shown.witness
    first, second = w.d.tolist(), w.d_prime.tolist()
    pair = f"the data sets {first} and {second}" if len(first) <= 2 else f"two data sets of {group.n} records"
    pair += f" with {group.words}" if group.words else ""
    L, D, epsilon, delta = law.at(group).told
    at = f"at L = {L:g}, D = {D:g}, ε = {epsilon:g}, δ = {delta:g}"
    total = sum(len(one.pairs) for one in groups)
    held = f"{w.occurrences} and {w.occurrences_neighbour} of {w.samples} outputs"
    seen = f"{at} on {pair} the event [{w.event}] holds {held}"
    verdicts = {one.verdict for one in found}
    return GuaranteeResult(
        name=law.optimiser.name,
        claim=f"{shown.claim} on the worst of {total} pairs, in {len(groups)} groups, at ε = {epsilon:g}, "
        f"δ = {delta:g}",
        verdict=next(v for v in _WORST_FIRST if v in verdicts),
        seen=seen,
        counterexample=f"{seen}, so ε ≥ {shown.epsilon_lower:.4g} at δ = {shown.delta_at_order:.4g} (p-value "
        f"{shown.p_value:.3g}, seed {law.seed})"
        if violated
        else None,
        detectable=None
        if violated
        else "no violation would have been found there"
        if shown.mdv is None
        else f"ε ≥ {shown.mdv.epsilon:.4g} at δ = {shown.delta_at_order:.4g} would have been found there with "
        f"probability {POWER:g}, and no group saw less",
        mdv=None if violated or shown.mdv is None else shown.mdv.epsilon,
        # Groups and rounds that were not reached, or do not count, are evidence 0.
        log_e_value=float(
            np.logaddexp.reduce([one.log_e_value for one in found]) - math.log(_ROUNDS * len(groups))
        ),
        p_value=min(1.0, min(one.p_value for one in found) * _ROUNDS * len(groups)),
        alpha=law.alpha,
        samples=drawn,
        seed=law.seed,
        witness=of_audit(f"{law.optimiser.name}: {shown.claim} {at}", shown) if violated else None,
        figures={"epsilon_lower_bound": shown.epsilon_lower} if np.isfinite(shown.epsilon_lower) else {},
    )


def _blindness(one: AuditResult) -> tuple[bool, float]:
    """Return how little an audit would have found, to be compared with those of other groups."""
    return one.verdict is AuditVerdict.UNDECIDED, one.mdv.epsilon if one.mdv else math.inf
