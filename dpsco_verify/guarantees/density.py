"""Privacy by a mechanism's own density, for a small δ at a large ε, as a guarantee with a certificate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from dpsco_verify.arrays import ArrayLike
from dpsco_verify.auditing.density import SMALLEST_DELTA, audit_density
from dpsco_verify.auditing.mechanism import Mechanism
from dpsco_verify.auditing.request import checked_claim
from dpsco_verify.choices import ERROR_BUDGET, SAMPLES, Profile
from dpsco_verify.errors import InputError
from dpsco_verify.evidence import AuditVerdict
from dpsco_verify.evidence.checker import OwnMean
from dpsco_verify.guarantees.result import GuaranteeResult, guarantee, name_of, sampled
from dpsco_verify.inference.witnesses import mean_evidence
from dpsco_verify.privacy.claims import PrivacyClaim


@guarantee
def privacy_by_density(
    mechanism: Mechanism,
    pair: Any,
    log_density: Callable[[Any, Any], ArrayLike],
    *,
    epsilon: float | None = None,
    delta: float = 0.0,
    claim: PrivacyClaim | None = None,
    alpha: float = ERROR_BUDGET,
    samples: int = SAMPLES[Profile.QUICK],
    seed: int = 0,
    time_limit: float = 60.0,
    name: str | None = None,
) -> GuaranteeResult:
    """Hold a privacy claim against the mechanism's own density, after a test that the density is the mechanism's.

    With ℓ the exact log ratio of the densities on the two data sets, ``δ(ε) = E_P[(1 − e^{ε − ℓ})_+]``
    (:mod:`dpsco_verify.auditing.density`). The test finds violations and passes nothing: the verdict is ``violated`` or
    ``undecided``.

    Parameters
    ----------
    mechanism, log_density
        As :func:`dpsco_verify.auditing.audit` takes them.
    pair
        ``(d, d_prime)``, or a function that gives it.
    epsilon, delta, claim
        The claim, as :func:`dpsco_verify.auditing.audit` takes it.
    alpha
        The probability, at most, of finding a true claim violated, or a right density wrong.
    samples
        Outputs a data set.
    seed
        The root seed.
    time_limit, name
        As for :func:`~dpsco_verify.guarantees.mean_at_most`.

    Raises
    ------
    InputError
        For a bad argument, or a pair that is not one.
    MechanismError
        If the mechanism cannot be audited, or the density is not the mechanism's.

    Examples
    --------
    >>> import numpy as np
    >>> noisy = lambda data, size, rng: data[0] + rng.laplace(scale=0.5, size=size)
    >>> log_density = lambda outputs, data: -2 * np.abs(outputs - data[0])
    >>> pair = ([0.0], [1.0])
    >>> print(privacy_by_density(noisy, pair, log_density, epsilon=1.0).verdict)
    violated
    """
    claimed = checked_claim(epsilon, delta, claim)
    both = pair() if callable(pair) else pair
    if not isinstance(both, tuple | list) or len(both) != 2:
        raise InputError(
            f"pair={both!r} is no pair of data sets; give (d, d_prime), or a function that gives it"
        )
    title = name if name is not None else name_of(mechanism)
    found = audit_density(
        mechanism,
        (both[0], both[1]),
        claimed,
        log_density,
        alpha=alpha,
        samples=samples,
        seed=seed,
        time_limit=time_limit,
    )
    needs = (
        ""
        if found.samples_needed is None
        else f"; about {found.samples_needed:,} samples would show an excess"
    )
    result = sampled(
        name=title,
        claim=f"{claimed}, by its density",
        seen=f"δ ≥ {found.delta_lower:.4g} at ε = {found.order:.4g}, where {found.delta_at_order:.4g} is allowed, from "
        f"{found.samples:,} outputs a data set{', on the second of the pair' if found.swapped else ''}",
        violated=found.verdict is AuditVerdict.VIOLATED,
        p_value=found.p_value,
        alpha=alpha,
        mdv=None,
        of_interest=0.0,
        would="",
        nothing=f"{found.samples:,} outputs",
        samples=found.samples,
        seed=seed,
        log_e_value=found.log_e_value,
        figures={
            "tested_epsilon": found.order,
            "tested_delta": found.delta_at_order,
            "delta_seen": found.delta_seen,
            "delta_lower_bound": found.delta_lower,
        },
        witness=None
        if found.payoffs is None
        else mean_evidence(
            found.payoffs.tolist(),
            null_hypothesis=f"{title}: E_P[(1 − e^(ε − ℓ))+] at ε = {found.order:.6g}, {claimed}",
            bound=max(found.delta_at_order, SMALLEST_DELTA),
            low=0.0,
            high=1.0,
            alpha=0.5 * alpha,
            kind=OwnMean,
        ),
    )
    if result.detectable is None:
        return result
    return replace(result, detectable=f"this test passes nothing{needs}")
