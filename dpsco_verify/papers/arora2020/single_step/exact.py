"""Units of work of ``single-step`` that are exact: the map of where the lemma holds, and the smallest σ."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import flint

from dpsco_verify.privacy.balls import ball, decide
from dpsco_verify.privacy.single_step import (
    NeighbouringStep,
    replace_one_delta,
    zero_out_absent_delta,
    zero_out_present_delta,
    zero_out_upper_bound,
)

Curve = Callable[[flint.arb, flint.arb, flint.arb], flint.arb]
"""A divergence ``(p, ε, σ) -> δ``, σ in units of L."""


class Adjacency(enum.StrEnum):
    """Neighbouring relations."""

    REPLACE_ONE = "replace-one"
    ZERO_OUT = "zero-out"


class Status(enum.StrEnum):
    """What is known of the lemma at one point; OPEN lies between the bounds for m > 1."""

    HOLDS = "holds"
    FAILS = "fails"
    OPEN = "open"


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One point of the map: `ratio` is the worst δ found over the claimed (m/n)δ, `upper_ratio` a bound on it."""

    n: int
    m: int
    epsilon_tilde: Fraction
    delta: Fraction
    status: Status
    ratio: float
    upper_ratio: float
    witness: NeighbouringStep | None


SMALLEST_RATIO = 1e-12
"""Ratios below are shown as this one."""


def sigma_ball(epsilon_tilde: Fraction, delta: Fraction, factor: Fraction) -> flint.arb:
    """Return ``factor · √(3 log(1/δ))/ε̃``: the lemma's σ/L times `factor`."""
    return ball(factor) * (-3 * ball(delta).log()).sqrt() / ball(epsilon_tilde)


def claimed_epsilon(p: Fraction, epsilon_tilde: Fraction) -> flint.arb:
    """Return ``p(e^ε̃ − 1)``."""
    return ball(p) * ball(epsilon_tilde).expm1()


def neighbours(adjacency: Adjacency, n: int, m: int) -> tuple[NeighbouringStep, ...]:
    """Return the concrete pairs tried: the worst case for m = 1, and for m > 1 few or many fresh points."""
    one, zero = Fraction(1), Fraction(0)
    replaced = adjacency is Adjacency.REPLACE_ONE
    if m == 1:
        pairs = [(one, -one if replaced else zero, -one, n)]
        if not replaced:
            pairs.append((zero, one, one, n))
    else:
        pairs = [
            (one, -one if replaced else zero, h, fresh)
            for fresh, h in ((1, zero), (2, -one), (min(n, 1 + n // m), -one), (n, -one))
        ]
    return tuple(
        NeighbouringStep(n=n, m=m, fresh=fresh, g=g, g_prime=g_prime, h=h) for g, g_prime, h, fresh in pairs
    )


def upper_curves(adjacency: Adjacency, m: int) -> tuple[Curve, ...]:
    """Return curves whose maximum bounds the worst case from above; it is the worst case itself for m = 1."""
    if adjacency is Adjacency.REPLACE_ONE:
        return (replace_one_delta,)
    if m == 1:
        return (zero_out_present_delta, zero_out_absent_delta)
    return (zero_out_upper_bound,)


def _ratio(value: flint.arb) -> float:
    return max(float(value.upper()), SMALLEST_RATIO)


def evaluate(
    adjacency: Adjacency, n: int, m: int, epsilon_tilde: Fraction, delta: Fraction, factor: Fraction
) -> Cell:
    """Decide the lemma at one point, with σ multiplied by `factor`."""
    p = Fraction(m, n)

    def bound(curve: Curve) -> flint.arb:
        return curve(
            ball(p), claimed_epsilon(p, epsilon_tilde), sigma_ball(epsilon_tilde, delta, factor)
        ) / ball(p * delta)

    curves = upper_curves(adjacency, m)
    above = [decide(lambda c=curve: bound(c), lambda: flint.arb(1)) for curve in curves]  # type: ignore[misc]  # bound now
    with flint.ctx.workprec(256):
        upper_ratio = max(_ratio(bound(curve)) for curve in curves)
    if all(result is False for result in above):
        return Cell(
            n=n,
            m=m,
            epsilon_tilde=epsilon_tilde,
            delta=delta,
            status=Status.HOLDS,
            ratio=upper_ratio,
            upper_ratio=upper_ratio,
            witness=None,
        )
    best: tuple[float, NeighbouringStep | None] = (SMALLEST_RATIO, None)
    with flint.ctx.workprec(256):
        sigma, epsilon = sigma_ball(epsilon_tilde, delta, factor), claimed_epsilon(p, epsilon_tilde)
        for pair in neighbours(adjacency, n, m):
            threshold = pair.best_threshold(float(epsilon), float(sigma))
            gap = pair.probability(pair.g, threshold, sigma) - epsilon.exp() * pair.probability(
                pair.g_prime, threshold, sigma
            )
            ratio = float((gap / ball(p * delta)).lower())
            if ratio > best[0]:
                best = (ratio, pair)
    ratio, witness = best
    fails = ratio > 1.0 and witness is not None
    return Cell(
        n=n,
        m=m,
        epsilon_tilde=epsilon_tilde,
        delta=delta,
        status=Status.FAILS if fails else Status.OPEN,
        ratio=ratio,
        upper_ratio=upper_ratio,
        witness=witness if fails else None,
    )


def map_panel(
    *,
    adjacency: Adjacency,
    n: int,
    m: int,
    epsilons: tuple[Fraction, ...],
    deltas: tuple[Fraction, ...],
    factor: Fraction,
) -> list[list[Cell]]:
    """Return the cells of one panel, a row for each δ and a column for each ε̃."""
    return [[evaluate(adjacency, n, m, eps, delta, factor) for eps in epsilons] for delta in deltas]


def sufficient_factor(
    *, adjacency: Adjacency, n: int, m: int, epsilon_tilde: Fraction, delta: Fraction
) -> float:
    """Return the smallest factor on the lemma's σ with which its conclusion holds by :func:`upper_curves`.

    Exact for m = 1, sufficient for m > 1. Bisection on balls, as every curve falls in σ; relative error 1e-9.
    """
    p = Fraction(m, n)

    def holds(factor: float) -> bool:
        with flint.ctx.workprec(192):
            sigma = sigma_ball(epsilon_tilde, delta, Fraction(factor))
            epsilon = claimed_epsilon(p, epsilon_tilde)
            return all(
                bool(curve(ball(p), epsilon, sigma) <= ball(p * delta))
                for curve in upper_curves(adjacency, m)
            )

    low, high = 1e-3, 1e3
    while high / low > 1.0 + 1e-9:
        middle = (low * high) ** 0.5
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
