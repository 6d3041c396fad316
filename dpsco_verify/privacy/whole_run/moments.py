"""The bound on a whole run by the envelope's exponential moment: in balls, in milliseconds, at any n.

``docs/whole-run.md`` proves ``δ(ε) ≤ (1/n) E(ΣW̄_s − c)₊`` for K < n, ``c = (n − K)(e^ε − 1)``, with K
independent copies of the law W̄ whose potential ``U(t) = E(W̄ − t)₊`` is ``G(e^ε + t)`` for t ≥ 0 and ``1 − e^ε − t +
e^ε G((1 − t)/e^ε)`` below. For T ≥ 0 and θ > 0, as ``x₊ ≤ e^{θx}/(eθ)``,

    E(ΣW̄ − c)₊ ≤ K U(T) + M^K e^{−θc}/(eθ),   M ≥ E e^{θ min(W̄, T)}.

For M put the law on knots ``x_0 < … < x_J = T``, one of which is 0: split the mass of each cell between its ends with
the mean kept, and move what is below x_0 up to it. That raises the mean of the increasing convex function. The masses
are the jumps of the slope of U's interpolation at the knots, where the slope is −1 before the first and 0 after the
last.

Against the convolution (:mod:`dpsco_verify.privacy.whole_run.bounds`) this gives away a factor of about ``2πθ`` times
the standard deviation of the tilted sum, often 5 to 20 of δ and 3 to 8 % of σ. It decides whether a claim with that
much room holds.
"""

from __future__ import annotations

import itertools
import math

import flint
import numpy as np
from scipy import optimize

from dpsco_verify.arrays import FloatArray
from dpsco_verify.privacy.balls import ball, upper_tail
from dpsco_verify.privacy.whole_run.functional import Sum
from dpsco_verify.privacy.whole_run.plan import envelope_points, negligible_beyond

_LOST = 6.0
"""How much less than δ, in logarithms, what is beyond T may add."""
_IN_SCORES, _IN_TILTS = 0.25, 0.5
"""How wide a cell may be: in standard deviations of log Y, and in units of 1/θ."""
_MOST_KNOTS = 600


def moment_bound(
    *, n: int, points: int, epsilon: flint.arb, mu: flint.arb, target: flint.arb
) -> flint.arb | None:
    """Return a ball whose upper end is at least δ(ε) of a run on n points that uses `points` < n of them.

    Parameters
    ----------
    n, points
        n and K.
    epsilon, mu
        ε > 0, and ``2L/σ``.
    target
        The δ that is to be proven: θ and T are chosen for it, and any choice gives a true bound. None where
        doubles find no choice, as for ε beyond 700.
    """
    order, distance, level = float(epsilon), float(mu), float(target)
    if not (0.0 < order < 700.0 and 0.0 < distance < 16.0 and level > 0.0):
        return None
    problem = Sum(epsilon=order, mu=distance, n=n, points=points)
    highest = negligible_beyond(problem, math.log(level) - _LOST, tolerance=1e-3)
    theta = _tilt(problem, highest)
    if theta is None:
        return None
    knots = _knots(order, distance, highest, theta)
    if len(knots) > _MOST_KNOTS:
        return None
    tilt, alpha = ball(theta), epsilon.exp()
    x = [ball(knot) for knot in knots]
    potential = [_potential(t, alpha, mu) for t in x]
    slopes = [(d - b) / (c - a) for (a, b), (c, d) in itertools.pairwise(zip(x, potential, strict=True))]
    masses = [b - a for a, b in itertools.pairwise([flint.arb(-1), *slopes, flint.arb(0)])]
    moment = sum((m * (tilt * t).exp() for m, t in zip(masses, x, strict=True)), flint.arb(0))
    threshold = (n - points) * epsilon.expm1()
    mean = (points * moment.log() - tilt * threshold - 1).exp() / tilt
    return (mean + points * potential[-1]) / n


def _potential(t: flint.arb, alpha: flint.arb, mu: flint.arb) -> flint.arb:
    """Return ``E(W̄ − t)₊``."""

    def curve(y: flint.arb) -> flint.arb:
        z = y.log() / mu - mu / 2
        return upper_tail(z) - y * upper_tail(z + mu)

    return curve(alpha + t) if t >= 0 else 1 - alpha - t + alpha * curve((1 - t) / alpha)


def _tilt(problem: Sum, highest: float) -> float | None:
    """Return about the best θ, by a law of a few thousand points."""
    values, weights = envelope_points(problem.epsilon, problem.mu)
    values, log_weights = np.clip(values, -100.0 * highest, highest), np.log(weights)

    def log_mean(log_theta: float) -> float:
        tilted = log_weights + math.exp(log_theta) * values
        top = float(tilted.max())
        cumulant = top + math.log(float(np.exp(tilted - top).sum()))
        return problem.steps * cumulant - math.exp(log_theta) * problem.threshold - log_theta

    spread = math.sqrt(problem.steps * float(weights @ (values - float(weights @ values)) ** 2))
    if not (0.0 < spread < math.inf):
        return None
    middle = -math.log(spread)
    found = optimize.minimize_scalar(
        log_mean, bounds=(middle - 4.0, middle + 8.0), method="bounded", options={"xatol": 0.02}
    )
    return math.exp(float(found.x))


def _knots(epsilon: float, mu: float, highest: float, theta: float) -> FloatArray:
    """Return the knots, 0 among them, from where W̄ rarely is to `highest`."""
    lowest = min(12.0 / theta, math.expm1(min(9.0 * mu + epsilon, 600.0)))
    sides = []
    for scale, end in ((1.0, lowest), (math.exp(epsilon), highest)):
        side, x = [0.0], 0.0
        while x < end and len(side) <= _MOST_KNOTS:
            x = min(x + min((scale + x) * math.expm1(_IN_SCORES * mu), _IN_TILTS / theta), end)
            side.append(x)
        sides.append(np.array(side))
    return np.concatenate([-sides[0][:0:-1], sides[1]])
