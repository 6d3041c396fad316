"""What bounds δ(ε) of an event at any size of its noise: wider noise from below, total variation from above, pure DP.

* Noise that is wider is a post-processing: ``N(0, σ'²)`` is ``N(0, σ²)`` with ``N(0, σ'² − σ²)`` added, and Laplace
  noise of scale b' > b is that of scale b with, at probability ``1 − b²/b'²``, Laplace noise of scale b' added (their
  characteristic functions have the ratio ``b²/b'² + (1 − b²/b'²)/(1 + b'²t²)``). So δ(ε) of the wider noise is at most
  that of the narrower.
* A step in whose sample the record is with probability p has the same law on both data sets otherwise, so
  ``δ(ε) ≤ δ(0) ≤ p``, and a composition has ``δ(ε) ≤ 1 − Π(1 − p)``.
* A Laplace step has losses of at most ``Δ/b``, Δ the distance of the contributions, with or without sampling; where the
  record is in the sample of one of the data sets alone, of at most ``log(p e^{Δ/b} + 1 − p)``. Where the sum over the
  steps is at most ε, ``δ(ε) = 0``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from dpsco_verify.auditing.accountants.events import Noise, Sampling, Step
from dpsco_verify.auditing.accountants.pairs import directions
from dpsco_verify.choices import Relation

_NARROWEST = {Noise.GAUSSIAN: Fraction(8, 100) ** 2, Noise.LAPLACE: Fraction(1, 250)}
"""Narrower noise has losses whose exponentials leave the doubles, and is not resolved by a thousand cells."""
_TOO_NARROW_FOR_DOUBLES = {Noise.GAUSSIAN: Fraction(1, 10**12), Noise.LAPLACE: Fraction(1, 10**6)}
_ROUNDING = 1.0 + 1e-12


def widened(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return steps with noise wide enough to be computed with, whose δ is at most that of the given ones."""
    return tuple(replace(step, parameter=max(step.parameter, _NARROWEST[step.noise])) for step in steps)


def resolved(steps: Sequence[Step]) -> bool:
    """Whether doubles can tell the noise of all steps from none."""
    return all(step.parameter >= _TOO_NARROW_FOR_DOUBLES[step.noise] for step in steps)


def ceiling(steps: Sequence[Step], relation: Relation, epsilon: float) -> float:
    """Return a proven upper bound on δ(ε) that needs no distribution."""
    if _largest_loss(steps, relation) <= Fraction(epsilon):
        return 0.0
    if any(step.probability == 1 for step in steps):
        return 1.0
    unaffected = math.fsum(step.count * math.log1p(-float(step.probability)) for step in steps)
    return min(1.0, -math.expm1(unaffected) * _ROUNDING)


def _largest_loss(steps: Sequence[Step], relation: Relation) -> Fraction | float:
    """Return a bound on the privacy loss of all steps together, infinite with Gaussian noise."""
    total = Fraction(0)
    for step in steps:
        if step.noise is Noise.GAUSSIAN:
            return math.inf
        distance = max(direction.forward.distance for direction in directions(step, relation))
        loss = distance / step.parameter
        if step.sampling is Sampling.POISSON and relation is not Relation.REPLACE_ONE and loss < 700:
            # One of the two has the record never: e^loss is at most p e^{Δ/b} + 1 − p, in either direction.
            loss = Fraction(math.log1p(float(step.probability) * math.expm1(float(loss))) * _ROUNDING)
        total += step.count * loss
    return total
