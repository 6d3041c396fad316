"""Units of work of ``regret``: runs of the implementation, held path by path against the deterministic inequality.

For all draws and noise, and every u in W, with ``g̃_t`` the noisy subgradient (noise alone in repeat steps),

    Σ_t ⟨g̃_t, w_t − u⟩ ≤ ‖u − w₁‖²/(2η) + (η/2) Σ_t ‖g̃_t‖²,

so one run that violates it by more than rounding shows that the iterates are not those of the algorithm. No error
probability is involved.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from dpsco_verify.algorithm import (
    GeneratorTape,
    NoiseConvention,
    Options,
    private_sgd,
    utility_scale,
    utility_step_size,
)
from dpsco_verify.arrays import FloatArray, IntArray
from dpsco_verify.execution import stream
from dpsco_verify.geometry.norms import UNIT_ROUNDOFF
from dpsco_verify.papers.arora2020.utility.instances import Geometry, build

INSTANCES = ("drift", "off-centre", "median", "signs-4")


@dataclass
class _Recorder:
    """A tape that keeps the normals that it hands out."""

    source: GeneratorTape
    normals: list[FloatArray] = field(default_factory=list)

    def next(self) -> tuple[IntArray, FloatArray]:
        indices, normals = self.source.next()
        self.normals.append(normals[0])
        return indices, normals


@dataclass(frozen=True, kw_only=True)
class Paths:
    """What runs at one instance, n and σ (in units of L) showed.

    Attributes
    ----------
    tightest
        The largest left side over right side of the inequality.
    excess
        The largest amount by which rounding does not explain a violation; at most 0 if all is well.
    mean_regret
        ``Σ_{fresh t} f(w_t, x) − f(u, x)`` over ``D(L + σ√d)√n``, averaged over the runs.
    """

    instance: str
    n: int
    sigma: float
    runs: int
    tightest: float
    excess: float
    mean_regret: float


def follow(
    *,
    instance: str,
    geometry: Geometry,
    n: int,
    sigma_over_lipschitz: float,
    noise: NoiseConvention,
    runs: int,
    seed: int,
    name: str,
) -> Paths:
    """Run the algorithm and hold every path against the inequality, u the minimiser of the risk."""
    built = build(instance, geometry)
    population, convex_set = built.population, built.convex_set
    loss, dimension, L = population.loss, population.dimension, built.lipschitz
    sigma = sigma_over_lipschitz * L
    eta = utility_step_size(diameter=built.D, lipschitz=L, sigma=sigma, n=n, dimension=dimension)
    u = convex_set.project(population.minimum(convex_set).w)
    rng = stream(seed, name)
    deviation = noise.standard_deviation(sigma)
    tightest, excess, regrets = 0.0, -math.inf, []
    for _ in range(runs):
        data = population.sample(rng, (n,))
        tape = _Recorder(GeneratorTape(rng, 1, n, dimension))
        run = private_sgd(
            data,
            loss=loss,
            convex_set=convex_set,
            step_size=eta,
            sigma=sigma,
            lipschitz=L,
            tape=tape,
            initial_point=built.initial_point,
            options=Options(noise=noise),
            transcript=True,
        )
        seen = run.transcript
        if seen is None:  # pragma: no cover  it was asked for
            raise AssertionError
        w = seen.iterates[:-1]
        points = data[seen.draws[:, 0]]
        fresh = seen.fresh[:, 0]
        noisy = deviation * np.stack(tape.normals) + np.where(
            fresh[:, np.newaxis], loss.subgradient(w, points), 0.0
        )
        products = np.sum(noisy * (w - u), axis=-1)
        start = float(np.sum((u - w[0]) ** 2)) / (2 * eta)
        right = start + eta / 2 * float(np.sum(noisy**2))
        room = 64 * (len(w) + dimension) * UNIT_ROUNDOFF * (right + float(np.abs(products).sum()))
        tightest = max(tightest, float(products.sum()) / right)
        excess = max(excess, float(products.sum()) - right - room)
        gaps = loss.value(w, points) - loss.value(u, points)
        regrets.append(float(np.sum(gaps[fresh])))
    scale = built.D * utility_scale(lipschitz=L, sigma=sigma, dimension=dimension) * math.sqrt(n)
    return Paths(
        instance=instance,
        n=n,
        sigma=sigma_over_lipschitz,
        runs=runs,
        tightest=tightest,
        excess=excess,
        mean_regret=float(np.mean(regrets)) / scale,
    )
