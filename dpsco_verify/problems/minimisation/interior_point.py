"""Minima of risks with a self-concordant smoothing over sets with a barrier, along the central path."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpsco_verify.problems.losses.euclidean_distance import EuclideanDistance
from dpsco_verify.problems.losses.linear_predictor import LinearPredictorLoss
from dpsco_verify.problems.minimisation.central_path import SmoothedProblem
from dpsco_verify.problems.minimisation.certified_minimum import CertifiedMinimum, FiniteLaw
from dpsco_verify.problems.minimisation.distance_risk import DistanceRisk, SmoothedDistanceRisk
from dpsco_verify.problems.minimisation.predictor_risk import PredictorRisk
from dpsco_verify.problems.minimisation.smoothed_predictor_risk import SmoothedPredictorRisk

if TYPE_CHECKING:
    from dpsco_verify.geometry import ConvexSet
    from dpsco_verify.problems.minimisation.domain import Domain
    from dpsco_verify.problems.minimisation.smoothed_risk import SmoothedRisk

_REDUCTION = 0.1
_STAGES = 40
# A gap of so many rounding margins is as good as it gets: the margin itself is part of it.
_MARGINS = 3.0
# A gap this many times as large as on the path shows that rounding has the upper hand.
_STRAYED = 100.0
_SMALLEST_SCALE, _LARGEST_SCALE = 1e-100, 1e100


def smoothed_risk(population: FiniteLaw, domain: Domain) -> SmoothedRisk | None:
    """Return the population's risk with its smoothing, or None for a loss without a known one.

    The bound of :class:`DistanceRisk` holds for the distance itself; a class that derives from it may be any loss.
    """
    match population.loss:
        case LinearPredictorLoss() as loss:
            predictor_risk = PredictorRisk(
                loss, loss.features(population.data), population.data[:, -1], population.probabilities
            )
            return SmoothedPredictorRisk.build(predictor_risk, domain)
        case EuclideanDistance() as loss if type(loss) is EuclideanDistance:
            return SmoothedDistanceRisk.build(DistanceRisk(population.data, population.probabilities), domain)
        case _:
            return None


def minimise_by_interior_point(
    population: FiniteLaw,
    risk: SmoothedRisk,
    convex_set: ConvexSet,
    domain: Domain,
    *,
    gap_wanted: float,
) -> CertifiedMinimum | None:
    """Minimise the risk over the set until the certified gap is as small as wanted, or arithmetic ends the path.

    Each loss is smoothed by a logarithmic barrier on its dual variable, the set by its own barrier; damped Newton
    steps follow the minimiser while the barriers' weight ``μ`` falls (Nesterov and Nemirovskii 1994; Boyd and
    Vandenberghe 2004, Ch. 11). At every stage the dual variables at the current point give a lower bound that holds
    whatever the state of the search, and the point itself an upper one.

    Returns None if the risk's differences are not negligible but of a size outside [1e-100, 1e100], where squares leave
    the doubles.
    """
    problem = SmoothedProblem(risk, domain)
    v = np.zeros(domain.matrix.shape[1])
    w = convex_set.project(domain.origin)
    value = float(population.risk(w))
    # Where the risk is constant on the set, or stationary at its centre, this bound is tight already.
    lower, margin = risk.plain_bound(v, convex_set)
    enough = max(gap_wanted, _MARGINS * margin)
    scale = risk.scale
    if value - lower > enough and not _SMALLEST_SCALE <= scale <= _LARGEST_SCALE:
        return None

    mu = scale / (risk.count + domain.body.parameter)
    for _ in range(_STAGES):
        if value - lower <= enough:
            break
        v, finished = problem.centre(v, mu)
        candidate = convex_set.project(domain.origin + np.einsum("dm,m->d", domain.matrix, v))
        candidate_value = float(population.risk(candidate))
        if candidate_value < value:
            w, value = candidate, candidate_value
        bound = problem.lower_bound(v, mu, convex_set)
        lower, enough = max(lower, bound.value), max(gap_wanted, _MARGINS * bound.margin)
        if not finished or value - lower > _STRAYED * problem.gap(mu):
            break
        mu *= _REDUCTION
    return CertifiedMinimum(w, value, min(lower, value), "interior point, dual certificate")
