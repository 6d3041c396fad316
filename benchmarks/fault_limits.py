"""What any test could do about the faults that the default number of outputs does not show, by their exact laws."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.stats import binom, laplace

from benchmarks.power_limit import Law, most_power
from benchmarks.zoo_laws import laplaces
from dpsco_verify.faults.exhibits import RELEASE_FAULTS, SELECTION_FAULTS
from dpsco_verify.faults.laws import attribute_counts, numeric_sparse_vector_densities, quadrature
from dpsco_verify.privacy.claims import ApproximateDP

_VALUES = 400
_FEWEST = 1e-15
"""Cells with less mass than this, on either data set, are joined."""


def kept_in_bounds(upper: float) -> Law:
    """Return the law of 0 or 1 plus Laplace noise of scale 1 that is drawn anew until it lies in [0, `upper`]."""
    x = np.linspace(0.0, upper, _VALUES + 1)
    below = [laplace.cdf(x - value) for value in (0.0, 1.0)]
    mass = [side[-1] - side[0] for side in below]
    ratio = np.abs(x - 1.0) - np.abs(x) + math.log(mass[1] / mass[0])
    p, q = (np.diff(side) / whole for side, whole in zip(below, mass, strict=True))
    return Law(p, q, np.minimum(ratio[1:], ratio[:-1]), np.maximum(ratio[1:], ratio[:-1]))


def first_value_above() -> Law:
    """Return the law of the museum's sparse vector technique that answers by values, by the nodes of a quadrature."""
    [exhibit] = (one for one in SELECTION_FAULTS if one.id == "sparse-vector-3")
    mechanism, (d, d_prime) = exhibit.mechanism, exhibit.pairs[0]
    gaps = np.concatenate([attribute_counts(data) - mechanism.threshold for data in (d, d_prime)])
    scale = min(mechanism.threshold_scale, mechanism.query_scale)
    rho, weights = quadrature(gaps, scale=scale, cells=4)
    densities = (numeric_sparse_vector_densities(mechanism, data, rho, weights) for data in (d, d_prime))
    p, q = ((weights[:, np.newaxis] * density).ravel() for density in densities)
    seen = (p > _FEWEST) & (q > _FEWEST)
    return Law.discrete(*(np.append(side[seen], 1.0 - side[seen].sum()) for side in (p, q)))


def power_on_release(samples: int, alpha: float) -> float:
    """Return what the power on the museum's threshold release cannot exceed: an event of no chance on d_prime.

    Of the pairs within the claim, ``p₀ = e^ε q₀ + δ`` on the event, the one nearest in entropy; the number of outputs
    in the event on d is all that tells the two hypotheses apart.
    """
    [exhibit] = (one for one in RELEASE_FAULTS if one.id == "threshold-release")
    claim = exhibit.claim
    assert isinstance(claim, ApproximateDP)  # noqa: S101  it is
    assert exhibit.true_delta is not None  # noqa: S101  it is
    p, delta = exhibit.true_delta(), claim.delta(claim.epsilon)

    def claimed(q: float) -> float:
        return math.exp(claim.epsilon) * q + delta

    def entropy(q: float) -> float:
        own = claimed(q)
        return p * math.log(p / own) + (1.0 - p) * math.log((1.0 - p) / (1.0 - own)) - float(np.log1p(-q))

    q = float(minimize_scalar(entropy, bounds=(0.0, p), method="bounded").x)
    k = np.arange(samples + 1)
    chance, other = binom.pmf(k, samples, p), binom.pmf(k, samples, claimed(q)) * (1.0 - q) ** samples
    # The infimum over t of e^t α + E[(1 − e^{t − S})₊] is at a value of S.
    factors = chance / np.maximum(other, np.finfo(float).tiny)
    return float(
        min(1.0, *(f * alpha + np.maximum(chance - f * other, 0.0).sum() for f in factors[chance > 0]))
    )


def _of(law: Callable[[], Law]) -> Callable[[int, float], float]:
    return lambda samples, alpha: most_power(law(), 1.0, samples, alpha)


LIMITS: dict[str, Callable[[int, float], float]] = {
    "threshold-release": power_on_release,
    "laplace-1.1": _of(lambda: laplaces(1.1)),
    "sparse-vector-3": _of(first_value_above),
    "drawn-anew": _of(lambda: kept_in_bounds(2.0)),
}
"""By the faults' ids, what the power of a test with so many outputs a data set, at level α, cannot exceed."""
