"""The least noise with which a run is (ε, δ)-DP as far as the bound knows, with a certificate."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from dpsco_verify.errors import InputError
from dpsco_verify.evidence.checker import Certificate, Rejected, WholeRunPrivacy, issue
from dpsco_verify.evidence.checker import whole_run as checked
from dpsco_verify.privacy.whole_run.bounds import (
    bracket,
    delta_lower,
    delta_upper,
    exp_up,
    sum_of,
)
from dpsco_verify.privacy.whole_run.functional_bounds import sharpest
from dpsco_verify.privacy.whole_run.plan import CHECKABLE
from dpsco_verify.privacy.whole_run.refinement import Narrow
from dpsco_verify.privacy.whole_run.run import WholeRun
from dpsco_verify.validation import require_open_interval, require_positive

_LEAST_CERTIFIED = 1e-200
_TOLERANCE = 1e-6
_FAR = 700.0


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """Noise for a run, and what is known of it.

    Attributes
    ----------
    sigma, sigma_over_lipschitz
        σ and σ/L.
    delta_upper, delta_lower
        Bounds on δ at the ε asked for: for every view, the one that the certificate shows where there is one; and
        for the worst instance whose pattern of repeats is shown.
    certificate
        That δ exceeds the bound, for the independent checker; None if it was not asked for, for several epochs, for
        K = n, for a law of K, outside ε ≤ 100 and δ ≥ 1e-200, and where no grid that the checker convolves fits.
    run
        The run with this noise.

    Examples
    --------
    >>> noise = calibrate(n=100, epsilon=1.0, delta=1e-3, certify=False)
    >>> print(round(noise.sigma, 2), noise.delta_upper <= 1e-3)
    1.31 True
    """

    sigma: float
    sigma_over_lipschitz: float
    delta_upper: float
    delta_lower: float
    certificate: Certificate[WholeRunPrivacy] | None
    run: WholeRun


def calibrate(
    *,
    n: int,
    epsilon: float,
    delta: float,
    lipschitz: float = 1.0,
    points: int | Mapping[int, float] | None = None,
    batch_size: int = 1,
    epochs: int = 1,
    certify: bool = True,
) -> Calibration:
    """Return the least σ, to a relative 1e-6 of it, at which the upper bound on δ(ε) is at most δ.

    Where a certificate can be had, the bound is that of the grid that the checker convolves: its σ is larger by
    about 0.1 %, and by 0.5 % at most.

    Parameters
    ----------
    epsilon, delta
        ε > 0 and 0 < δ < 1.
    n, lipschitz, points, batch_size, epochs
        As in :class:`WholeRun`.
    certify
        Whether to issue the certificate, which takes about as long as the rest; σ is the same without.

    Raises
    ------
    InputError
        For parameters outside their range, or a δ that a run without noise has.

    Examples
    --------
    >>> noise = calibrate(n=1000, epsilon=1.0, delta=1e-6, lipschitz=2.0)
    >>> print(round(noise.sigma_over_lipschitz, 3), noise.certificate.witness.n)
    1.358 1000
    """
    epsilon = require_positive("epsilon", epsilon)
    delta = require_open_interval("delta", delta, 0.0, 1.0)
    lipschitz = require_positive("lipschitz", lipschitz)

    def run(ratio: float) -> WholeRun:
        return WholeRun(
            n=n,
            sigma=ratio * lipschitz,
            lipschitz=lipschitz,
            points=points,
            batch_size=batch_size,
            epochs=epochs,
        )

    first = run(1.0)
    used = math.fsum(k * p for k, p in first.law) / first.n
    at_most = -math.expm1(epochs * math.log1p(-used)) if used < 1.0 else 1.0
    if delta >= at_most:
        raise InputError(
            f"delta={delta!r} is at least {at_most:.6g}, which needs no noise; give a smaller one"
        )
    certifiable = (
        epochs == 1
        and len(first.law) == 1
        and first.law[0][0] < first.n
        and epsilon <= 100.0
        and delta >= _LEAST_CERTIFIED
    )

    def bound(ratio: float) -> float:
        if certifiable:
            planned = sharpest(sum_of(run(ratio), first.law[0][0], epsilon), CHECKABLE)[0]
            if math.isfinite(planned):
                return planned
        # No grid fits a δ that is far too small, as it is where the search is at much too large a ratio.
        return math.log(delta_upper(run(ratio), epsilon))

    ratio = _least(lambda ratio: bound(ratio) - math.log(delta), start=1.0 / first.batch_size)
    certificate = None
    if certifiable and certify:
        for _ in range(8):
            certificate = _certificate(run(ratio), epsilon, delta)
            if certificate is not None:
                break
            ratio *= 1.0 + _TOLERANCE
    found = run(ratio)
    return Calibration(
        sigma=ratio * lipschitz,
        sigma_over_lipschitz=ratio,
        delta_upper=exp_up(bound(ratio)),
        delta_lower=delta_lower(found, epsilon),
        certificate=certificate,
        run=found,
    )


def _least(excess: Callable[[float], float], *, start: float) -> float:
    """Return about the least ratio at which the falling function is at most 0, searched for from `start`."""

    @functools.cache  # the ends of the bracket and the root are asked for again
    def bounded(ratio: float) -> float:
        return min(max(excess(ratio), -_FAR), _FAR)

    low = high = start
    while bounded(high) > 0.0:
        low, high = high, 2.0 * high
    while low == high or bounded(low) <= 0.0:
        low /= 2.0
    return bracket(bounded, low, high)[1]


def _certificate(run: WholeRun, epsilon: float, delta: float) -> Certificate[WholeRunPrivacy] | None:
    """Return the certificate, or None where the checker does not accept it."""
    points = run.law[0][0]
    plan = sharpest(sum_of(run, points, epsilon), CHECKABLE)[1]
    if plan is None or run.sigma is None:
        return None
    witness = WholeRunPrivacy(
        n=run.n,
        points=points,
        batch_size=run.batch_size,
        epochs=1,
        relation="replace-one",
        mu=str(2 * Fraction(run.lipschitz) / Fraction(run.sigma)),
        epsilon=str(Fraction(repr(epsilon))),
        delta=str(Fraction(repr(delta))),
        theta=str(Fraction(plan.theta)),
        step=str(Fraction(plan.step)),
        below=plan.below,
        above=plan.above,
        size=plan.size,
        reach=plan.reach,
        narrow=None if plan.narrow is None else narrow_of(plan.narrow),
    )
    try:
        return issue("own:whole-run", "replace-one", witness)
    except Rejected:
        return None


def narrow_of(narrow: Narrow) -> checked.Narrow:
    """Return a law's choices as a certificate writes them."""
    values = {
        "kappa": narrow.bend.kappa,
        "touch": narrow.bend.touch,
        "lowest": narrow.lowest,
        "turn": narrow.turn,
        "top": narrow.top,
        "foot": narrow.foot,
    }
    return checked.Narrow(**{name: str(Fraction(value)) for name, value in values.items()})
