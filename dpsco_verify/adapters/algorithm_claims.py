"""The privacy claims that the paper, and the exact theory, make of Algorithm 1 and its single step."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import flint

from dpsco_verify.algorithm import Schedule, StoppingRule
from dpsco_verify.choices import Relation
from dpsco_verify.errors import InputError
from dpsco_verify.privacy.balls import ball, enclose
from dpsco_verify.privacy.claims import ApproximateDP, PrivacyCurve
from dpsco_verify.privacy.single_step import (
    replace_one_delta,
    zero_out_absent_delta,
    zero_out_present_delta,
    zero_out_upper_bound,
)
from dpsco_verify.privacy.whole_run import WholeRun, delta_upper
from dpsco_verify.validation import require_integer, require_open_interval, require_positive

# By relation, and whether a batch is of one point.
_CURVES = {
    (Relation.REPLACE_ONE, True): (replace_one_delta,),
    (Relation.REPLACE_ONE, False): (replace_one_delta,),
    (Relation.ZERO_OUT, True): (zero_out_present_delta, zero_out_absent_delta),
    (Relation.ZERO_OUT, False): (zero_out_upper_bound,),
}


def single_step_claim(
    *,
    n: int,
    sigma: float,
    lipschitz: float,
    relation: str = "replace-one",
    batch_size: int = 1,
    orders: Sequence[float] | None = None,
) -> PrivacyCurve:
    """Return the worst-case δ(ε) of the single step, rounded up: attained by data sets for batches of one point.

    For larger batches it is an upper bound (see :mod:`dpsco_verify.privacy.single_step`). At the step with
    ``σ = 2L√(3 log(1/δ))/ε̃`` it is below the lemma's ``((m/n)(e^ε̃ − 1), (m/n)δ)``.

    Parameters
    ----------
    n, batch_size
        The number of points, and m.
    sigma, lipschitz
        The standard deviation of a coordinate of the noise, and L.
    relation
        ``replace-one`` or ``zero-out`` (one point's gradient is zero).
    orders
        The ε at which an audit looks; by default as :class:`PrivacyCurve` has them.
    """
    n = require_integer("n", n, minimum=2)
    batch_size = require_integer("batch_size", batch_size, minimum=1)
    if batch_size > n:
        raise InputError(f"batch_size={batch_size} exceeds n={n}; give at most n")
    ratio = Fraction(require_positive("sigma", sigma)) / Fraction(require_positive("lipschitz", lipschitz))
    neighbours = Relation(relation)
    if neighbours is Relation.ADD_REMOVE:
        raise InputError(
            "relation='add-remove' changes n, which the paper takes for public; give 'replace-one' or 'zero-out'"
        )
    share = Fraction(batch_size, n)
    return PrivacyCurve(
        functools.partial(_single_step_delta, share, ratio, (neighbours, batch_size == 1)),
        orders=orders,
        label=f"single step of {batch_size} of n={n} points, σ/L={float(ratio):g}, {neighbours}",
    )


def _single_step_delta(
    share: Fraction, ratio: Fraction, kind: tuple[Relation, bool], epsilon: float
) -> float:
    return max(_upper(curve, share, ratio, epsilon) for curve in _CURVES[kind])


def _upper(
    curve: Callable[[flint.arb, flint.arb, flint.arb], flint.arb],
    share: Fraction,
    ratio: Fraction,
    epsilon: float,
) -> float:
    # The balls are built inside, at the precision that is in force there.
    high = enclose(lambda: curve(ball(share), ball(epsilon), ball(ratio)))[1]
    return min(max(high, 0.0), 1.0)


def paper_single_step_claim(
    *, n: int, epsilon_tilde: float, delta: float, batch_size: int = 1
) -> ApproximateDP:
    """Return what Lemma ``lem:amp_subsamp`` (5.2) claims: ``((m/n)(e^ε̃ − 1), (m/n)δ)``-DP.

    Its σ is :func:`dpsco_verify.algorithm.single_step_sigma`, which is too small for replaced points.
    """
    n = require_integer("n", n, minimum=2)
    batch_size = require_integer("batch_size", batch_size, minimum=1)
    epsilon_tilde = require_positive("epsilon_tilde", epsilon_tilde)
    delta = require_open_interval("delta", delta, 0.0, 1.0)
    share = batch_size / n
    return ApproximateDP(share * math.expm1(epsilon_tilde), share * delta)


def paper_claim(schedule: Schedule) -> ApproximateDP:
    """Return what Theorem ``thm:main_result`` (5.3) promises of a run by its schedule.

    Raises
    ------
    InputError
        For a schedule outside the theorem's conditions, or a δ of 1 or more, of which nothing is claimed.
    """
    if schedule.privacy is None:
        raise InputError(f"{schedule.outside}, outside which it claims nothing; choose parameters inside")
    if schedule.privacy.delta >= 1.0:
        raise InputError(
            f"delta={schedule.privacy.delta:g} of the schedule is 1 or more, which claims nothing; give a larger n"
        )
    return ApproximateDP(schedule.privacy.epsilon, schedule.privacy.delta)


def transcript_claim(
    *,
    n: int,
    sigma: float,
    lipschitz: float,
    stopping: StoppingRule = StoppingRule.LOOP,
    orders: Sequence[float] | None = None,
) -> PrivacyCurve:
    """Return a proven δ(ε) of all iterates of a run with batches of one point, for replace-one neighbours.

    The bound on a whole run (:func:`dpsco_verify.privacy.whole_run.delta_upper`), which the output shares.

    Parameters
    ----------
    n, sigma, lipschitz
        The number of points, the standard deviation of a coordinate of the noise, and L.
    stopping
        The rule, on which the share depends.
    orders
        As for :func:`single_step_claim`.
    """
    n = require_integer("n", n, minimum=2)
    used = stopping.distinct_points(n)
    run = WholeRun(n=n, sigma=sigma, lipschitz=lipschitz, points=used)
    return PrivacyCurve(
        functools.partial(delta_upper, run),
        orders=orders,
        label=f"transcript of {used} of n={n} points, σ/L={sigma / lipschitz:g}, replace-one",
    )
