"""Audit an accountant: its δ(ε) for an event, beside bounds on the true one."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec

import numpy as np

from dpsco_verify.auditing.accountants.asking import Claim, asked_claims
from dpsco_verify.auditing.accountants.curves import exact_delta
from dpsco_verify.auditing.accountants.events import Event, Step, steps_of
from dpsco_verify.auditing.accountants.limits import ceiling, resolved, widened
from dpsco_verify.auditing.accountants.pairs import directions
from dpsco_verify.auditing.accountants.pld import pld_bounds
from dpsco_verify.auditing.accountants.result import AccountantAudit, AccountantPoint, Route, RouteBounds
from dpsco_verify.auditing.accountants.sampled import sampled_delta
from dpsco_verify.choices import ERROR_BUDGET, Relation, RelationName
from dpsco_verify.errors import InputError
from dpsco_verify.evidence import AuditVerdict
from dpsco_verify.execution import stream
from dpsco_verify.privacy.claims import PrivacyClaim
from dpsco_verify.validation import (
    require_integer,
    require_open_interval,
)

CLAIM_ROUNDING = 1e-9
"""An accountant computes in doubles: a δ that is right but for this relative error is not a violation."""
_SMALLEST = math.ulp(0.0)
"""A δ below the smallest double may be called 0."""


def audit_accountant(
    event: Event,
    claimed_delta: Callable[[float], float] | PrivacyClaim | None = None,
    *,
    relation: Relation | RelationName,
    epsilons: Sequence[float] = (),
    claimed_epsilon: Callable[[float], float] | None = None,
    deltas: Sequence[float] = (),
    routes: Sequence[str] | None = None,
    samples: int = 4_000,
    alpha: float = ERROR_BUDGET,
    seed: int = 0,
) -> AccountantAudit:
    """Compare an accountant's δ(ε) for an event with exact, composed and sampled truth.

    Parameters
    ----------
    event
        What is accounted for (:mod:`dpsco_verify.auditing.accountants.events`; of dp-accounting's own events
        :func:`~dpsco_verify.auditing.accountants.dp_events.from_dp_event` makes one).
    claimed_delta, claimed_epsilon
        The accountant's ``ε -> δ`` and ``δ -> ε``, such as ``get_delta`` and ``get_epsilon`` of dp-accounting's
        accountants; the first may be a privacy claim. One of them is enough. Each is asked all questions in turn, and
        then all of them again, of which the smallest answer counts: an accountant whose answers change what it
        remembers shows it then. An answer that is None, NaN or below 0 bounds nothing, and is a violation.
    relation
        ``replace-one``, ``add-remove`` or ``zero-out``: sampled events have a different truth under each.
    epsilons, deltas
        The orders at which δ is asked for, at least 0; and the δ at which ε is, in [0, 1].
    routes
        Of ``exact``, ``pld`` and ``sampled``; by default all that there are for the event, ``pld`` only where the extra
        ``accounting`` is installed.
    samples, alpha, seed
        Samples of each privacy loss; the probability, at most, that a bound from them is wrong; the root seed.

    Raises
    ------
    InputError
        For a bad argument, an answer that is something else than a number or None, or an unknown route.
    ArithmeticError
        If two routes contradict each other: a fault of this package (or, with probability α, bad luck).
    """
    started = time.perf_counter()
    steps = steps_of(event)
    neighbours = Relation(relation)
    claims = asked_claims(claimed_delta, epsilons, claimed_epsilon, deltas)
    orders = np.array(sorted({claim.epsilon for claim in claims if math.isfinite(claim.epsilon)}))
    samples = require_integer("samples", samples, minimum=1)
    alpha = require_open_interval("alpha", alpha, 0.0, 1.0)
    seed = require_integer("seed", seed, minimum=0)
    bounds: dict[float, list[RouteBounds]] = {float(epsilon): [] for epsilon in orders}
    for route in _routes(event, steps, routes):
        found = {
            Route.EXACT: lambda: _exact(steps, neighbours, orders),
            Route.PLD: lambda: _pld(steps, neighbours, orders),
            Route.SAMPLED: lambda: _sampled(
                steps, neighbours, orders, samples=samples, alpha=alpha, seed=seed, name=f"{event}/{relation}"
            ),
        }[route]()
        for epsilon, (low, high) in zip(orders, found, strict=True):
            upper = min(max(high, _SMALLEST), ceiling(steps, neighbours, float(epsilon)))
            bounds[float(epsilon)].append(RouteBounds(route=route, lower=low, upper=upper))
    return AccountantAudit(
        event=event,
        relation=neighbours,
        points=tuple(_point(claim, tuple(bounds.get(claim.epsilon, ()))) for claim in claims),
        alpha=alpha,
        samples=samples,
        seed=seed,
        seconds=time.perf_counter() - started,
    )


def _routes(event: Event, steps: Sequence[Step], wanted: Sequence[str] | None) -> tuple[Route, ...]:
    single = len(steps) == 1 and steps[0].count == 1
    if wanted is None:
        installed = find_spec("dp_accounting") is not None
        return tuple(
            route
            for route, there in ((Route.EXACT, single), (Route.PLD, installed), (Route.SAMPLED, True))
            if there
        )
    chosen = []
    for name in wanted:
        if name not in set(Route):
            raise InputError(f"routes holds {name!r}, which is none; give some of {', '.join(Route)}")
        chosen.append(Route(name))
    if not chosen:
        raise InputError(f"routes={wanted!r} holds none; give some of {', '.join(Route)}, or None for all")
    if Route.EXACT in chosen and not single:
        raise InputError(f"event={event} has no closed form, being several steps; leave the route exact out")
    return tuple(route for route in Route if route in chosen)


def _exact(steps: Sequence[Step], relation: Relation, orders: np.ndarray) -> list[tuple[float, float]]:
    pairs = [direction.forward for direction in directions(steps[0], relation)]
    found = []
    for epsilon in orders:
        ends = [exact_delta(pair, float(epsilon)) for pair in pairs]
        found.append((max(low for low, _ in ends), max(high for _, high in ends)))
    return found


def _pld(steps: Sequence[Step], relation: Relation, orders: np.ndarray) -> list[tuple[float, float]]:
    wide = widened(steps)
    lower, upper = pld_bounds(wide, relation, orders)
    if wide != tuple(steps):
        upper = (
            pld_bounds(steps, relation, orders, below=False)[1] if resolved(steps) else np.ones(orders.shape)
        )
    return list(zip(lower.tolist(), upper.tolist(), strict=True))


def _sampled(
    steps: Sequence[Step],
    relation: Relation,
    orders: np.ndarray,
    *,
    samples: int,
    alpha: float,
    seed: int,
    name: str,
) -> list[tuple[float, float]]:
    """Return bounds from samples; an upper one only where the sampled pair is the worst for the composition."""
    wide = widened(steps)
    ways = list(zip(*(directions(step, relation) for step in wide), strict=True))
    single = len(steps) == 1 and steps[0].count == 1
    level = alpha / (len(orders) * len(ways))
    found = []
    for number, epsilon in enumerate(orders):
        low, high = 0.0, 0.0
        for chunk, way in enumerate(ways):
            interval = sampled_delta(
                [(direction.forward, step.count) for direction, step in zip(way, wide, strict=True)],
                float(epsilon),
                samples=samples,
                alpha=level,
                rng=stream(seed, f"accountants/{name}/{number}", chunk=chunk),
            )
            low = max(low, interval.low)
            worst = wide == tuple(steps) and (single or all(direction.composes for direction in way))
            high = max(high, interval.high if worst else 1.0)
        found.append((low, high))
    return found


def _point(claim: Claim, routes: tuple[RouteBounds, ...]) -> AccountantPoint:
    epsilon, claimed = claim.epsilon, claim.delta
    if not routes:
        # An infinite ε holds at any δ; what is no number bounds nothing.
        trivial = (RouteBounds(route=Route.EXACT, lower=0.0, upper=0.0 if epsilon == math.inf else 1.0),)
        routes = trivial
    below = max(routes, key=lambda bounds: bounds.lower)
    above = min(routes, key=lambda bounds: bounds.upper)
    if below.lower > math.nextafter(above.upper, math.inf):
        raise ArithmeticError(
            f"at epsilon={epsilon:g} the route {below.route} puts the true delta at {below.lower!r} or more, and "
            f"{above.route} at {above.upper!r} or less; one of them is wrong, please report this"
        )
    allowed = max(claimed * (1.0 + CLAIM_ROUNDING), _SMALLEST)
    if math.isnan(claimed) or math.isnan(epsilon) or allowed < below.lower:
        verdict = AuditVerdict.VIOLATED
    elif allowed >= above.upper:
        verdict = AuditVerdict.NOT_VIOLATED
    else:
        verdict = AuditVerdict.UNDECIDED
    return AccountantPoint(
        epsilon=epsilon,
        claimed=claimed,
        lower=below.lower,
        upper=above.upper,
        lower_route=below.route,
        upper_route=above.route,
        routes=routes,
        verdict=verdict,
        answers=claim.answers,
    )
