r"""Hold a claim against a mechanism's own density, where it has one: small δ at large ε, where events are too rare.

With ``ℓ = log(p/p')`` the exact log ratio of the densities of the output on the two data sets,

    ``δ(ε) = E_P[(1 − e^{ε − ℓ})_+]``,

the mean of a payoff in [0, 1] on one data set alone. An event has to be weighed against e^ε times what the other data
set gives it, of which samples see nothing at ε = 10; here the density says it. A betting e-process tests the mean, and
the payoffs up to its decision are the certificate of a violation, if the density is the mechanism's.

**All rests on the density**, so that it is tested first. If ℓ is right then for each bounded function g

    ``E_P[g/(1 + e^ℓ)] = ∫ g p p'/(p + p') = E_{P'}[g/(1 + e^{−ℓ})]``,

and if this holds for all g then ℓ is right, P- and P'-almost surely where both live. It is tested for g = 1 and for the
indicators that ℓ, and each of the first entries of the output, is below some cuts; and each data set's ratio is to be
one with which its outputs can occur. That finds densities of another scale, place or family. A density that is wrong
only where the outputs are too rare for either to be seen is not found: the verdict holds if it is right there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import expit

from dpsco_verify.arrays import ArrayLike, BoolArray, FloatArray
from dpsco_verify.auditing.mechanism import Caller, Mechanism, MechanismError, mechanism_name
from dpsco_verify.auditing.one_pair import draw_more, log_ratio_of
from dpsco_verify.auditing.outputs import Outputs
from dpsco_verify.auditing.pairs import require_pair
from dpsco_verify.choices import (
    DEFAULT_PROFILE,
    ERROR_BUDGET,
    FEWEST_SAMPLES,
    MULTIPLE_OF_INTEREST,
    SAMPLES,
)
from dpsco_verify.errors import no_truth_value
from dpsco_verify.evidence import AuditVerdict
from dpsco_verify.inference import BettingConfidenceSequence, BoundedMeanTest
from dpsco_verify.privacy.claims import PrivacyClaim
from dpsco_verify.validation import require_integer, require_open_interval, require_positive

_SEARCH = 1.0 / 3.0
_FEWEST_POSITIVE = 3
_ENTRIES = 8
_RATIO_CUTS = (-4.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 4.0)
_QUANTILES = (0.1, 0.3, 0.5, 0.7, 0.9)
_POWER = 1.2816
_ROUNDING = 1e-9
"""By how much a log ratio, made of a user's doubles, may exceed the order and show nothing; δ loses hardly more."""
SMALLEST_DELTA = 1e-12
"""What a claim of δ = 0 is held against: a mean that is larger is above 0 too."""


@dataclass(frozen=True, kw_only=True)
class DensityAudit:
    """What a mechanism's density showed of a claim.

    Attributes
    ----------
    verdict
        ``violated``, or ``undecided``: this test finds violations and passes nothing.
    claim
        What was claimed.
    order, delta_at_order
        The point of the claim that was tested.
    delta_lower
        δ at the order is at least this with confidence 1 − `alpha`, if the density is the mechanism's.
    swapped
        Whether the outputs of the second data set show it.
    delta_seen
        What the search saw of δ at the order.
    samples, samples_needed
        Outputs drawn a data set; and about how many would refute the claim: if δ is what the search saw, or where that
        was no excess, if it is 3 times the claimed one. None where nothing would be a violation.
    alpha
        The probability, at most, of finding a true claim violated, or a right density wrong.
    log_e_value, p_value
        The evidence against the claim at the order: the log of an e-value, and an anytime-valid p-value.
    payoffs
        Of a violation: the payoffs up to the decision, shape (n,), and the level of their test is half of `alpha`.

    Examples
    --------
    >>> from dpsco_verify.privacy import PureDP
    >>> noisy = lambda data, size, rng: data[0] + rng.laplace(size=size)
    >>> log_density = lambda outputs, data: -np.abs(outputs - data[0])
    >>> found = audit_density(noisy, ([0.0], [1.0]), PureDP(1.0), log_density)
    >>> print(found.verdict, found.delta_lower)  # this test passes nothing
    undecided 0.0
    """

    verdict: AuditVerdict
    claim: PrivacyClaim
    order: float
    delta_at_order: float
    delta_lower: float
    delta_seen: float
    swapped: bool
    samples: int
    samples_needed: int | None
    alpha: float
    log_e_value: float
    p_value: float
    payoffs: FloatArray | None = field(default=None, repr=False, compare=False)

    __bool__ = no_truth_value("result.verdict is AuditVerdict.VIOLATED")

    @property
    def summary(self) -> str:
        """What was found, in one sentence."""
        found = (
            f"by the mechanism's density δ ≥ {self.delta_lower:.4g} at ε = {self.order:.4g} with confidence "
            f"1 − {self.alpha:.3g}, from {self.samples:,} outputs a data set"
        )
        if self.verdict is AuditVerdict.VIOLATED:
            return f"{self.claim} is violated, which allows {self.delta_at_order:.4g}: {found}"
        if self.samples_needed is None:
            more = "nothing more would show it"
        elif self.delta_seen > self.delta_at_order:
            more = f"give about {self.samples_needed:,} samples"
        else:
            more = f"about {self.samples_needed:,} samples would show {MULTIPLE_OF_INTEREST:g} times what is allowed"
        return f"{self.claim} is undecided, which allows {self.delta_at_order:.4g}: {found}; {more}"


def audit_density(
    mechanism: Mechanism,
    pair: tuple[Any, Any],
    claim: PrivacyClaim,
    log_density: Callable[[Any, Any], ArrayLike],
    *,
    alpha: float = ERROR_BUDGET,
    samples: int = SAMPLES[DEFAULT_PROFILE],
    seed: int = 0,
    time_limit: float = 60.0,
) -> DensityAudit:
    """Test a claim on a pair of data sets by the mechanism's own density; see the module.

    Parameters
    ----------
    mechanism, alpha, samples, seed, time_limit, log_density
        As :func:`dpsco_verify.auditing.audit` takes them.
    pair
        Two neighbouring data sets, which must differ.
    claim
        Any claim of :mod:`dpsco_verify.privacy.claims`.

    Raises
    ------
    InputError
        For a bad argument, or a pair that is not one.
    MechanismError
        If the mechanism cannot be audited, or the density is not the mechanism's.

    Examples
    --------
    Gaussian noise whose δ at ε = 10 is twenty times the claimed one:

    >>> from dpsco_verify.privacy import ApproximateDP, gaussian_delta
    >>> noisy = lambda data, size, rng: data[0] + rng.normal(scale=0.3, size=size)
    >>> log_density = lambda outputs, data: -((outputs - data[0]) ** 2) / 0.18
    >>> claim = ApproximateDP(10.0, float(gaussian_delta(10.0, 1 / 0.3)) / 20)
    >>> found = audit_density(noisy, ([0.0], [1.0]), claim, log_density)
    >>> print(found.verdict, found.delta_lower > claim.delta(10.0))
    violated True
    """
    alpha = require_open_interval("alpha", alpha, 0.0, 1.0)
    samples = require_integer("samples", samples, minimum=FEWEST_SAMPLES)
    require_pair(*pair, None)
    name = mechanism_name(mechanism)
    caller = Caller(
        mechanism, pair, name=name, seed=seed, time_limit=require_positive("time_limit", time_limit)
    )
    caller.trial()
    ratio_of = log_ratio_of(log_density, pair)

    def drawn(size: int, purpose: str) -> tuple[tuple[Outputs, Outputs], tuple[FloatArray, FloatArray]]:
        outputs = draw_more(caller, size, purpose)
        first, second = (np.asarray(ratio_of(o.raw), dtype=np.float64) for o in outputs)
        return outputs, (first, -second)

    searched = int(_SEARCH * samples)
    outputs, losses = drawn(searched, "density/search")
    _require_right_density(name, outputs, losses, alpha=0.5 * alpha)
    swapped, order, seen = _choice(claim, losses)
    allowed = claim.delta(order)
    _, fresh = drawn(samples - searched, "density/confirm")
    payoffs = _payoff(fresh[int(swapped)], order)
    sequence = BettingConfidenceSequence(low=0.0, high=1.0, alpha=0.5 * alpha, side="lower")
    sequence.update(payoffs)
    lower = sequence.interval[0]
    decision = BoundedMeanTest(
        bound=max(allowed, SMALLEST_DELTA), low=0.0, high=1.0, alpha=0.5 * alpha
    ).update(payoffs)
    if decision.rejected:
        lower = max(lower, allowed)
    return DensityAudit(
        verdict=AuditVerdict.VIOLATED if decision.rejected else AuditVerdict.UNDECIDED,
        claim=claim,
        order=order,
        delta_at_order=allowed,
        delta_lower=lower,
        delta_seen=seen,
        swapped=swapped,
        samples=samples,
        samples_needed=_needed(
            seen if seen > allowed else MULTIPLE_OF_INTEREST * allowed, allowed, 0.5 * alpha
        ),
        alpha=alpha,
        log_e_value=decision.log_wealth,
        p_value=decision.p_value,
        payoffs=payoffs[: decision.rejected_at] if decision.rejected else None,
    )


def _payoff(loss: FloatArray, epsilon: float) -> FloatArray:
    return -np.expm1(-np.maximum(loss - epsilon - _ROUNDING * max(1.0, epsilon), 0.0))


def _choice(claim: PrivacyClaim, losses: tuple[FloatArray, FloatArray]) -> tuple[bool, float, float]:
    """Return the direction and the order whose δ exceeds the claimed one most, in logarithms, and the δ that was seen.

    Where an order's payoffs are fewer than a few, its δ has not been seen.
    """
    best = (-math.inf, False, claim.headline()[0], 0.0)
    for swapped in (False, True):
        for order in claim.orders():
            payoff = _payoff(losses[int(swapped)], order)
            seen, allowed = float(payoff.mean()), claim.delta(order)
            if allowed >= 1.0 or np.count_nonzero(payoff) < _FEWEST_POSITIVE:
                continue
            excess = seen - allowed
            strength = excess * abs(math.log(seen / allowed)) if allowed > 0.0 else math.inf
            best = max(best, (math.copysign(strength, excess), swapped, order, seen))
    return best[1:]


def _needed(seen: float, allowed: float, alpha: float) -> int | None:
    """Return about how many samples refute the claim, by the growth of the best bet on payoffs of 0 or 1."""
    if seen <= allowed or seen >= 1.0:
        return None
    rest = math.log1p(-seen) - math.log1p(-allowed)
    information = seen * math.log(seen / allowed) + (1.0 - seen) * rest if allowed > 0.0 else seen
    needed = (math.sqrt(math.log(1.0 / alpha)) + _POWER) ** 2 / information / (1.0 - _SEARCH)
    return int(float(f"{needed:.1e}"))


def _require_right_density(
    name: str, outputs: tuple[Outputs, Outputs], losses: tuple[FloatArray, FloatArray], *, alpha: float
) -> None:
    """Refuse a density that the outputs refute at level `alpha`.

    The means of both sides are enclosed by betting confidence sequences; where two do not meet, the density is wrong.
    """
    first, second = losses
    if (
        np.isnan(first).any()
        or np.isnan(second).any()
        or np.isneginf(first).any()
        or np.isneginf(second).any()
    ):
        raise MechanismError(
            f"log_density gives outputs of mechanism={name} no probability where they occur; mend it"
        )
    # 1/(1 + e^ℓ) on the one, and with −ℓ, the loss of the other, on the other.
    weights = [expit(-loss) for loss in losses]
    pilot = len(first) // 4
    tests = list(_indicators(outputs, (first, -second), pilot=pilot))
    for what, inside in tests:
        intervals = []
        for weight, chosen in zip(weights, inside, strict=True):
            sequence = BettingConfidenceSequence(low=0.0, high=1.0, alpha=0.5 * alpha / len(tests))
            sequence.update((weight * chosen)[pilot:])
            intervals.append(sequence.interval)
        (low, high), (other_low, other_high) = intervals
        if low > other_high or other_low > high:
            raise MechanismError(
                f"log_density is not the density of mechanism={name}: outputs with {what} are not as frequent as it "
                "says; mend it, or audit without it"
            )


def _indicators(
    outputs: tuple[Outputs, Outputs], ratios: tuple[FloatArray, FloatArray], *, pilot: int
) -> Iterator[tuple[str, tuple[BoolArray, BoolArray]]]:
    """Yield sets of outputs, in words and as indicators; the first `pilot` outputs give the cuts of entries."""
    yield "any value", (np.ones(ratios[0].size, np.bool_), np.ones(ratios[1].size, np.bool_))
    for cut in _RATIO_CUTS:
        yield f"a log ratio below {cut:g}", (ratios[0] < cut, ratios[1] < cut)
    for j in range(min(_ENTRIES, *(o.width for o in outputs))):
        one, other = (o.numbers[:, j] for o in outputs)
        pooled = np.concatenate([one[:pilot], other[:pilot]])
        pooled = pooled[np.isfinite(pooled)]
        for cut in np.unique(np.quantile(pooled, _QUANTILES)) if pooled.size else ():
            yield f"an entry {j + 1} below {cut:.4g}", (one < cut, other < cut)
