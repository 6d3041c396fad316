"""Units of work of ``regret-osmd``: mirror descent against both bounds, and single steps that tell them apart."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpsco_verify.algorithm import mirror_descent, mirror_step
from dpsco_verify.arrays import FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.execution import stream
from dpsco_verify.geometry import (
    Box,
    ConvexSet,
    Euclidean,
    HalfSpace,
    L2Ball,
    NegativeEntropy,
    PNorm,
    Potential,
    Simplex,
)

_ROUNDING = 1e-12
"""Relative room for rounding: 2¹³ units, where sums of τ ≤ 64 terms of d ≤ 8 products lose at most some hundred."""

RESIDUAL = 1e-12
"""Relative room for a step's identity and variational inequality; the roots behind the steps are found to 1e-15."""

PAIRS = (
    "euclidean/l2-ball",
    "euclidean/box",
    "p-norm/box",
    "p-norm/simplex",
    "p-norm/half-space",
    "entropy/simplex",
    "entropy/box",
)


def build(pair: str, dimension: int) -> tuple[Potential, ConvexSet]:
    """Return the potential and the set that `pair` names; the entropy's box lies in the interior of its domain."""
    potentials: dict[str, Potential] = {
        "euclidean": Euclidean(),
        "p-norm": PNorm(1.5),
        "entropy": NegativeEntropy(),
    }
    sets: dict[str, ConvexSet] = {
        "l2-ball": L2Ball(np.zeros(dimension), 1.0),
        "box": Box(np.full(dimension, 0.25), np.linspace(0.5, 2.0, dimension)),
        "simplex": Simplex(dimension),
        "half-space": HalfSpace(-np.ones(dimension), -1.0),
    }
    potential, _, convex_set = pair.partition("/")
    if pair not in PAIRS:
        raise InputError(f"pair={pair!r} is unknown; give one of {', '.join(PAIRS)}")
    return potentials[potential], sets[convex_set]


@dataclass(frozen=True, kw_only=True)
class Runs:
    """What the runs of one pair showed.

    Attributes
    ----------
    tightest, literal
        The largest regret over the corrected and over the literal bound.
    excess
        The largest amount over the corrected bound that rounding does not explain, relative to the terms' size.
    residual
        The worst relative violation of a step's variational inequality.
    identity
        The worst relative error of the three-point identity of a step.
    """

    pair: str
    runs: int
    tightest: float
    literal: float
    excess: float
    residual: float
    identity: float

    @property
    def steps_are_right(self) -> bool:
        """Whether each step minimises what it should and its divergences fit together, up to rounding."""
        return self.residual <= RESIDUAL and self.identity <= RESIDUAL


def _comparators(
    potential: Potential, convex_set: ConvexSet, slopes: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Return members of W: two at random and three that the losses favour more and more."""
    random = convex_set.project(rng.uniform(0.0, 2.0, size=(2, convex_set.dimension)))
    total = slopes.sum(axis=0)
    favoured = potential.tilted_minimiser(convex_set, -np.outer([0.1, 1.0, 10.0], total))
    return np.concatenate([random, favoured])


def run_pair(*, pair: str, dimension: int, steps: int, runs: int, seed: int, name: str) -> Runs:
    """Run mirror descent on linear losses with noise and hold every path against the bounds.

    For convex losses with ``E[∇f̃_t | past] = ∇f_t(w_t)`` the pseudo-regret is at most the mean of ``Σ⟨∇f̃_t, w_t − u⟩``,
    and the bound holds for the latter on every path.
    """
    potential, convex_set = build(pair, dimension)
    rng = stream(seed, name)
    tightest, literal, excess, residual, identity = 0.0, 0.0, -math.inf, 0.0, 0.0
    for _ in range(runs):
        eta = float(10.0 ** rng.uniform(-2.0, 0.0))
        mean = rng.standard_normal(dimension) * 10.0 ** rng.uniform(-1.0, 1.0)
        slopes = mean + rng.uniform(0.0, 2.0) * rng.standard_normal((steps, dimension))
        # The entropy's weights stay above e^-200: they leave the interior when they underflow.
        eta = min(eta, 100.0 / float(np.abs(slopes).sum(axis=0).max()))
        run = mirror_descent(slopes, potential=potential, convex_set=convex_set, step_size=eta)
        w, after = run.iterates[:-1], run.iterates[1:]
        theta = potential.gradient(w)
        tilted = theta - eta * slopes
        terms = potential.conjugate_divergence(tilted, theta)
        printed = potential.conjugate_divergence(mean - eta * slopes, np.broadcast_to(mean, slopes.shape))
        for u in _comparators(potential, convex_set, slopes, rng):
            products = np.sum(slopes * (w - u), axis=-1)
            left = eta * float(products.sum())
            start = float(potential.divergence(u, w[0]))
            right = start + float(terms.sum())
            slack = (potential.gradient(after) - tilted) * (u - after)
            own = np.abs(potential.gradient(after)) + np.abs(tilted)
            size = np.sum(own * (np.abs(u) + np.abs(after)), axis=-1)
            violation = np.maximum(-np.sum(slack, axis=-1), 0.0)
            residual = max(residual, float((violation / size).max()))
            scale = right + eta * float(np.abs(products).sum()) + float(size.sum())
            excess = max(excess, (left - right - float(violation.sum())) / scale - _ROUNDING)
            tightest = max(tightest, left / right)
            literal = max(literal, left / (start + float(printed.sum())))
            identity = max(identity, _identity_error(potential, u, w, after, tilted, eta * products, size))
    return Runs(
        pair=pair,
        runs=runs,
        tightest=tightest,
        literal=literal,
        excess=excess,
        residual=residual,
        identity=identity,
    )


def _identity_error(
    potential: Potential,
    u: FloatArray,
    w: FloatArray,
    after: FloatArray,
    tilted: FloatArray,
    products: FloatArray,
    size: FloatArray,
) -> float:
    """Return the worst relative error of the identity of a step.

    ``η⟨g, w − u⟩ = D(u‖w) − D(u‖w⁺) + D_Φ*(θ − ηg‖θ) − D_Φ*(θ − ηg‖θ⁺) − ⟨θ⁺ − (θ − ηg), u − w⁺⟩``, with θ = ∇Φ(w) and
    θ⁺ = ∇Φ(w⁺); the last two terms are not positive, which is the generalised Pythagorean inequality.
    """
    theta, theta_after = potential.gradient(w), potential.gradient(after)
    to_w, to_after = potential.divergence(u, w), potential.divergence(u, after)
    gain = potential.conjugate_divergence(tilted, theta)
    loss = potential.conjugate_divergence(tilted, theta_after)
    slack = np.sum((theta_after - tilted) * (u - after), axis=-1)
    error = np.abs(products - (to_w - to_after + gain - loss - slack))
    return float((error / (size + to_w + to_after + gain + loss + np.abs(products))).max())


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step of a potential with its regret and the two bounds, each times η."""

    potential: str
    slope: float
    step_size: float
    regret: float
    literal: float
    corrected: float


def single_steps() -> tuple[Step, ...]:
    """Return single steps on linear losses, w₁ = argmin Φ, for the entropy, ½‖·‖_{3/2}² and ½‖·‖₂².

    For the entropy W is the simplex, g = (−G, 0) and u = (1, 0). For the others W is ``w_1 + w_2 ≥ 1``, g = (−G, G),
    and u is the unconstrained step, which lies in W and attains the corrected bound (Fenchel).
    """
    found = []
    for slope in (1.0, 2.0, 5.0, 10.0, 20.0):
        for eta in (0.1, 0.25, 0.5, 1.0):
            g = np.array([-slope, 0.0])
            found.append(
                _step("entropy", NegativeEntropy(), Simplex(2), g, eta, u=np.array([1.0, 0.0]), slope=slope)
            )
    half = HalfSpace([-1.0, -1.0], -1.0)
    for name, potential in (("p-norm, p = 3/2", PNorm(1.5)), ("euclidean", Euclidean())):
        found.extend(
            _step(name, potential, half, np.array([-slope, slope]), 1.0, u=None, slope=slope)
            for slope in (0.05, 0.1, 0.2)
        )
    return tuple(found)


def _step(
    name: str,
    potential: Potential,
    convex_set: ConvexSet,
    g: FloatArray,
    eta: float,
    *,
    u: FloatArray | None,
    slope: float,
) -> Step:
    w = convex_set.minimiser(potential)
    if u is None:
        u = mirror_step(w, g, potential=potential, convex_set=convex_set, step_size=eta)
    start = float(potential.divergence(u, w))
    theta = potential.gradient(w)
    return Step(
        potential=name,
        slope=slope,
        step_size=eta,
        regret=eta * float(np.sum(g * (w - u))),
        literal=start + float(potential.conjugate_divergence(g - eta * g, g)),
        corrected=start + float(potential.conjugate_divergence(theta - eta * g, theta)),
    )
