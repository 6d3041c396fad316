"""Guarantees about a tail or a quantile: exact binomial tests."""

from __future__ import annotations

import math

import numpy as np

from dpsco_verify.choices import ERROR_BUDGET, SAMPLES, Profile
from dpsco_verify.errors import InputError
from dpsco_verify.guarantees.calls import Draw, Sampler
from dpsco_verify.guarantees.result import POWER, GuaranteeResult, guarantee, name_of, sampled
from dpsco_verify.guarantees.witnesses import of_tail
from dpsco_verify.inference import binomial
from dpsco_verify.inference.checks import require_probability
from dpsco_verify.validation import (
    require_finite,
    require_integer,
    require_open_interval,
    require_positive,
)

_MULTIPLE = 3.0


@guarantee
def tail_at_most(
    draw: Draw,
    threshold: float,
    probability: float,
    *,
    alpha: float = ERROR_BUDGET,
    samples: int = SAMPLES[Profile.QUICK],
    seed: int = 0,
    violation_of_interest: float | None = None,
    time_limit: float = 60.0,
    name: str | None = None,
) -> GuaranteeResult:
    """Check that ``P(X > threshold) ≤ probability``.

    Parameters
    ----------
    draw
        ``draw(size, rng)`` returns `size` independent observations, shape (size,); infinite ones are allowed.
    threshold, probability
        The claim. A probability of 0 says that it never happens, and one occurrence refutes it.
    alpha
        The probability, at most, of finding a true claim violated.
    samples
        Observations, looked at once.
    seed
        The root seed.
    violation_of_interest
        The verdict is ``undecided`` unless a probability larger by this much would have been found; by default the
        smaller of twice the probability and half of what is left to 1 (0.01 for a probability of 0).
    time_limit, name
        As for :func:`~dpsco_verify.guarantees.mean_at_most`.

    Raises
    ------
    InputError
        For a bad argument.
    FunctionError
        If `draw` raises, hangs, ignores the generator, or returns something else than `size` numbers.

    Notes
    -----
    The number of occurrences is binomial: the p-value is ``P(Bin(n, p) ≥ k)``, the lower bound Clopper and Pearson's,
    and the MDV exact, for every law. The e-value is the likelihood ratio of the smallest probability that would have
    been found (:func:`tail_log_e_value`).

    Examples
    --------
    >>> roll = lambda size, rng: rng.integers(1, 7, size)
    >>> print(tail_at_most(roll, 5, 0.2).verdict, tail_at_most(roll, 5, 0.1).verdict)
    not_violated violated
    """
    return _check(
        draw,
        require_finite("threshold", threshold),
        _probability("probability", probability),
        claim=f"P(X > {threshold:g}) ≤ {probability:g}",
        quantile=None,
        alpha=alpha,
        samples=samples,
        seed=seed,
        of_interest=violation_of_interest,
        time_limit=time_limit,
        name=name,
    )


@guarantee
def quantile_at_most(
    draw: Draw,
    level: float,
    bound: float,
    *,
    alpha: float = ERROR_BUDGET,
    samples: int = SAMPLES[Profile.QUICK],
    seed: int = 0,
    violation_of_interest: float | None = None,
    time_limit: float = 60.0,
    name: str | None = None,
) -> GuaranteeResult:
    """Check that the quantile of a level, ``Q = min{x : P(X ≤ x) ≥ level}``, is at most `bound`.

    The same as ``P(X > bound) ≤ 1 − level``, and tested as such: the MDV is in terms of that probability, while the
    figures hold an exact lower bound of the quantile, an order statistic. Everything else is as in
    :func:`tail_at_most`.

    Examples
    --------
    >>> roll = lambda size, rng: rng.integers(1, 7, size)
    >>> print(quantile_at_most(roll, 0.6, 4).verdict, quantile_at_most(roll, 0.8, 4).verdict)
    not_violated violated
    """
    level = require_open_interval("level", level, 0.0, 1.0)
    return _check(
        draw,
        require_finite("bound", bound),
        1.0 - level,
        claim=f"the {level:g}-quantile of X ≤ {bound:g}",
        quantile=level,
        alpha=alpha,
        samples=samples,
        seed=seed,
        of_interest=violation_of_interest,
        time_limit=time_limit,
        name=name,
    )


def _probability(name: str, value: float) -> float:
    number = require_probability(name, value)
    if number >= 1.0:
        raise InputError(f"{name}={value!r} holds of every law; give a number in [0, 1)")
    return number


def _check(
    draw: Draw,
    threshold: float,
    probability: float,
    *,
    claim: str,
    quantile: float | None,
    alpha: float,
    samples: int,
    seed: int,
    of_interest: float | None,
    time_limit: float,
    name: str | None,
) -> GuaranteeResult:
    alpha = require_open_interval("alpha", alpha, 0.0, 1.0)
    samples = require_integer("samples", samples, minimum=1)
    shown = name or name_of(draw)
    values = Sampler(draw, name=shown, seed=seed, time_limit=time_limit, finite=False).draw(samples)
    above = int(np.count_nonzero(values > threshold))
    p_value = tail_p_value(above, samples, probability)
    violated = p_value <= alpha
    mdv = tail_mdv(samples, probability, alpha)
    lower = binomial.clopper_pearson_lower(above, samples, alpha=alpha)
    seen = (
        f"{above:,} of {samples:,} observations exceed {threshold:g}, so P(X > {threshold:g}) ≥ {lower:.4g}"
    )
    figures = {"frequency": above / samples, "probability_lower_bound": lower}
    if quantile is not None:
        order = quantile_lower_bound(values, quantile, alpha)
        figures["quantile_lower_bound"] = order
        seen += f" and the quantile is at least {order:.6g}"
    else:
        figures["largest"] = float(values.max())
    return sampled(
        name=shown,
        claim=claim,
        seen=seen,
        more=f"; one such observation is {float(values[values > threshold][0])!r}" if above else "",
        violated=violated,
        p_value=p_value,
        alpha=alpha,
        log_e_value=tail_log_e_value(above, samples, probability, mdv),
        mdv=mdv,
        of_interest=_of_interest(of_interest, probability),
        would=f"P(X > {threshold:g}) = {probability + (mdv or 0.0):.4g}",
        nothing=f"{samples:,} observations",
        samples=samples,
        seed=seed,
        figures={key: value for key, value in figures.items() if math.isfinite(value)},
        witness=of_tail(f"{shown}: {claim}", above, samples, probability=probability, alpha=alpha)
        if violated
        else None,
    )


def _of_interest(given: float | None, probability: float) -> float:
    """Return by how much a probability has to exceed the claimed one to be of interest."""
    if given is not None:
        return require_positive("violation_of_interest", given)
    return min((_MULTIPLE - 1.0) * probability, 0.5 * (1.0 - probability)) if probability > 0.0 else 0.01


def tail_p_value(above: int, samples: int, probability: float) -> float:
    """Return ``P(Bin(samples, probability) ≥ above)``, also at probability 0."""
    if probability == 0.0:
        return 0.0 if above else 1.0
    return binomial.p_value(above, samples, null_probability=probability)


def tail_mdv(samples: int, probability: float, alpha: float) -> float | None:
    """Return the exact excess over the claimed probability that is found with probability :data:`POWER`, or None."""
    if probability == 0.0:
        # One occurrence is enough: 1 − (1 − p)^n = POWER.
        return -math.expm1(math.log1p(-POWER) / samples)
    found = binomial.minimum_detectable_violation(
        samples, null_probability=probability, alpha=alpha, power=POWER
    )
    return found if math.isfinite(found) else None


def tail_log_e_value(above: int, samples: int, probability: float, mdv: float | None) -> float:
    """Return the log of ``(q/p)^k ((1 − q)/(1 − p))^{n − k}``, with q the smallest probability that would be found.

    It rises with k, so that its mean is largest at ``P(X > threshold) = p``, where it is 1; q does not hang on the
    observations. Where nothing would be found, q is half the way from p to 1; at p = 0 one occurrence is ∞.
    """
    q = 0.5 * (1.0 + probability) if mdv is None else min(probability + mdv, 0.5 * (1.0 + probability))
    if probability == 0.0 and above:
        return math.inf
    ratio = math.log(q) - math.log(probability) if above else 0.0
    return above * ratio + (samples - above) * (math.log1p(-q) - math.log1p(-probability))


def quantile_lower_bound(values: np.ndarray, level: float, alpha: float) -> float:
    """Return an order statistic that is at most the quantile with probability 1 − alpha; −∞ where there is none.

    ``Q < x_(k)`` means that fewer than k of the observations are at most Q, of which each is with probability at least
    `level`: its probability is at most ``P(Bin(n, level) ≤ k − 1)``.
    """
    n = values.size
    largest = binomial.critical_count(n, null_probability=level, alpha=alpha, alternative="less")
    return -math.inf if largest is None else float(np.partition(values, largest)[largest])
