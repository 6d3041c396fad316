"""Step size and noise scale of each theorem, with its side conditions.

Outside a theorem's conditions its schedule promises nothing, so asking for it there is an error that names the
condition, unless the caller says ``outside_regime="allow"`` (to measure what happens there); the schedule then holds no
promise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from dpsco_verify.errors import InputError, RegimeError
from dpsco_verify.validation import (
    require_integer,
    require_non_negative,
    require_open_interval,
    require_positive,
)

OutsideRegime = Literal["error", "allow"]

EPSILON_TILDE_MAX = 1.256
"""The largest ε̃ of Theorem ``thm:dp_guarantee``."""


@dataclass(frozen=True, kw_only=True)
class PrivacyParameters:
    """An (ε, δ) pair."""

    epsilon: float
    delta: float


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """What Theorem ``thm:main_result`` prescribes and promises.

    Attributes
    ----------
    step_size, sigma
        η and σ.
    privacy, risk_bound
        The total (ε, δ) and the bound on the excess risk; both None outside the theorem's conditions.
    outside
        The condition that is not met, in a clause; None where all are.
    """

    step_size: float
    sigma: float
    privacy: PrivacyParameters | None
    risk_bound: float | None
    outside: str | None = None


def _require(fault: str | None, outside_regime: OutsideRegime) -> None:
    if outside_regime not in ("error", "allow"):
        raise InputError(f'outside_regime={outside_regime!r} is not allowed; give "error" or "allow"')
    if fault is not None and outside_regime == "error":
        raise RegimeError(f'{fault}; choose parameters inside, or pass outside_regime="allow"')


def utility_scale(*, lipschitz: float, sigma: float, dimension: int) -> float:
    """Return ``G = L + σ√d``, the scale of a noisy subgradient in Theorem ``thm:utility_guarantee``."""
    lipschitz = require_positive("lipschitz", lipschitz)
    sigma = require_non_negative("sigma", sigma)
    dimension = require_integer("dimension", dimension, minimum=1)
    return lipschitz + sigma * math.sqrt(dimension)


def utility_step_size(*, diameter: float, lipschitz: float, sigma: float, n: int, dimension: int) -> float:
    """Return ``η = D/(√n (L + σ√d))`` (Corollary ``cor:reg_bound``, Theorem ``thm:utility_guarantee``)."""
    n = require_integer("n", n, minimum=2)
    diameter = require_positive("diameter", diameter)
    return diameter / (math.sqrt(n) * utility_scale(lipschitz=lipschitz, sigma=sigma, dimension=dimension))


def utility_bound(
    *, diameter: float, lipschitz: float, sigma: float, n: int, dimension: int, constant: float = 2.5
) -> float:
    """Return ``constant · D(L + σ√d)/√n``, the bound of Theorem ``thm:utility_guarantee`` (5/2 there)."""
    n = require_integer("n", n, minimum=2)
    diameter = require_positive("diameter", diameter)
    constant = require_positive("constant", constant)
    scale = utility_scale(lipschitz=lipschitz, sigma=sigma, dimension=dimension)
    return constant * diameter * scale / math.sqrt(n)


def single_step_sigma(*, lipschitz: float, epsilon_tilde: float, delta: float) -> float:
    """Return ``σ = L√(3 log(1/δ))/ε̃`` (Lemma ``lem:amp_subsamp``, which restricts ε̃ in no way)."""
    lipschitz = require_positive("lipschitz", lipschitz)
    epsilon_tilde = require_positive("epsilon_tilde", epsilon_tilde)
    delta = require_open_interval("delta", delta, 0.0, 1.0)
    return lipschitz * math.sqrt(3.0 * -math.log(delta)) / epsilon_tilde


def composition_sigma(
    *, lipschitz: float, epsilon_tilde: float, delta: float, outside_regime: OutsideRegime = "error"
) -> float:
    """Return the σ of Theorem ``thm:dp_guarantee``: as the lemma's, for ``ε̃ ≤ 1.256``."""
    sigma = single_step_sigma(lipschitz=lipschitz, epsilon_tilde=epsilon_tilde, delta=delta)
    fault = f"epsilon_tilde={epsilon_tilde!r} exceeds {EPSILON_TILDE_MAX}, the condition of Theorem 5.1"
    _require(fault if epsilon_tilde > EPSILON_TILDE_MAX else None, outside_regime)
    return sigma


def main_schedule(
    *,
    n: int,
    dimension: int,
    diameter: float,
    lipschitz: float,
    epsilon: float,
    delta: float,
    delta_prime: float,
    outside_regime: OutsideRegime = "error",
) -> Schedule:
    """Return the schedule of Theorem ``thm:main_result`` (5.3).

    ``σ = 8L√log(1/δ)/(√n ε)`` and ``η = D/(√n (L + σ√d))`` for ``n ≥ 16`` and ``0 < ε ≤ 1/(2√n)``; promised are
    ``(4ε(√log(1/δ') + 2), δ + δ' + 2e^{−n/16})``-DP and excess risk
    ``≤ 5LD/√n + 20LD√(d log(1/δ))/(εn)``. This ε is no total; :func:`translated_schedule` takes one.
    """
    n = require_integer("n", n, minimum=2)
    dimension = require_integer("dimension", dimension, minimum=1)
    diameter = require_positive("diameter", diameter)
    lipschitz = require_positive("lipschitz", lipschitz)
    epsilon = require_positive("epsilon", epsilon)
    delta = require_open_interval("delta", delta, 0.0, 1.0)
    delta_prime = require_open_interval("delta_prime", delta_prime, 0.0, 1.0)
    root_n = math.sqrt(n)
    fault = None
    if n < 16:
        fault = f"n={n} is below 16, the condition of Theorem 5.3"
    elif epsilon > 1.0 / (2.0 * root_n):
        fault = (
            f"epsilon={epsilon!r} exceeds 1/(2√n)={1.0 / (2.0 * root_n):.6g}, the condition of Theorem 5.3"
        )
    _require(fault, outside_regime)
    log_term = -math.log(delta)
    sigma = 8.0 * lipschitz * math.sqrt(log_term) / (root_n * epsilon)
    step_size = utility_step_size(
        diameter=diameter, lipschitz=lipschitz, sigma=sigma, n=n, dimension=dimension
    )
    if fault is not None:
        return Schedule(step_size=step_size, sigma=sigma, privacy=None, risk_bound=None, outside=fault)
    return Schedule(
        step_size=step_size,
        sigma=sigma,
        privacy=PrivacyParameters(
            epsilon=4.0 * epsilon * (math.sqrt(-math.log(delta_prime)) + 2.0),
            delta=delta + delta_prime + 2.0 * math.exp(-n / 16.0),
        ),
        risk_bound=5.0 * lipschitz * diameter / root_n
        + 20.0 * lipschitz * diameter * math.sqrt(dimension * log_term) / (epsilon * n),
    )


def translated_schedule(
    *,
    n: int,
    dimension: int,
    diameter: float,
    lipschitz: float,
    epsilon: float,
    delta: float,
    outside_regime: OutsideRegime = "error",
) -> Schedule:
    """Return the schedule that the remark after Theorem ``thm:main_result`` derives for a total (ε̄, δ̄).

    The theorem's ``δ = δ' = δ̄/3`` and ``ε = ε̄/(8√log(1/δ'))`` for ``6e^{−n/16} ≤ δ̄ ≤ 3e^{−4}``. The remark asks for
    ``ε ≤ 1/√n``; the theorem that it translates asks for ``ε ≤ 1/(2√n)``, hence ``ε̄ ≤ 4√(log(3/δ̄)/n)``, which is what
    is checked here.

    Parameters
    ----------
    n, dimension, diameter, lipschitz
        n, d, D and L.
    epsilon, delta
        ε̄ and δ̄: the guarantee of the whole run.
    outside_regime
        What happens outside the conditions.

    Raises
    ------
    RegimeError
        Outside the conditions; where ε̄ is too large, it says the largest.
    """
    n = require_integer("n", n, minimum=2)
    epsilon = require_positive("epsilon", epsilon)
    delta = require_open_interval("delta", delta, 0.0, 1.0)
    fault = _translation_fault(n, epsilon, delta)
    _require(fault, outside_regime)
    share = delta / 3.0
    main = main_schedule(
        n=n,
        dimension=dimension,
        diameter=diameter,
        lipschitz=lipschitz,
        epsilon=epsilon / (8.0 * math.sqrt(-math.log(share))),
        delta=share,
        delta_prime=share,
        outside_regime="allow",  # its conditions follow from those above
    )
    if fault is not None:
        return Schedule(
            step_size=main.step_size, sigma=main.sigma, privacy=None, risk_bound=None, outside=fault
        )
    return Schedule(
        step_size=main.step_size,
        sigma=main.sigma,
        privacy=PrivacyParameters(epsilon=epsilon, delta=delta),
        risk_bound=5.0 * lipschitz * diameter / math.sqrt(n)
        + 160.0 * lipschitz * diameter * math.sqrt(dimension) * -math.log(share) / (epsilon * n),
    )


def _translation_fault(n: int, epsilon: float, delta: float) -> str | None:
    """Return which condition for a total (ε, δ) is not met; n ≥ 16 follows from the two on δ."""
    highest = 3.0 * math.exp(-4.0)
    if delta > highest:
        return f"delta={delta!r} exceeds 3e^-4={highest:.6g}, the largest total δ of the remark after Theorem 5.3"
    fewest = 16.0 * (math.log(6.0) - math.log(delta))
    if n < fewest:
        return (
            f"n={n} is below 16 log(6/δ)={fewest:.6g}, the fewest points for which the remark after Theorem 5.3 "
            f"reaches a total delta={delta!r}"
        )
    largest = 4.0 * math.sqrt((math.log(3.0) - math.log(delta)) / n)
    if epsilon > largest:
        # Shown a little smaller than it is, so that what is shown is allowed.
        return (
            f"epsilon={epsilon!r} exceeds 4√(log(3/δ)/n)={largest * (1.0 - 5e-6):.6g}, the largest total ε that "
            f"Theorem 5.3 reaches with n={n} and delta={delta!r}"
        )
    return None
