"""Minima of losses of a linear predictor over sets with a barrier, along the central path."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpsco_verify.problems.minimisation.central_path import SmoothedProblem
from dpsco_verify.problems.minimisation.certified_minimum import CertifiedMinimum
from dpsco_verify.problems.minimisation.predictor_risk import PredictorRisk

if TYPE_CHECKING:
    from dpsco_verify.geometry import ConvexSet
    from dpsco_verify.problems.losses.linear_predictor import LinearPredictorLoss
    from dpsco_verify.problems.minimisation.domain import Domain
    from dpsco_verify.problems.populations.finite import FinitePopulation

_REDUCTION = 0.1
_STAGES = 40
# A gap of so many rounding margins is as good as it gets: the margin itself is part of it.
_MARGINS = 3.0
# A gap this many times as large as on the path shows that rounding has the upper hand.
_STRAYED = 100.0
_SMALLEST_SCALE, _LARGEST_SCALE = 1e-100, 1e100


def minimise_by_interior_point(
    population: FinitePopulation,
    loss: LinearPredictorLoss,
    convex_set: ConvexSet,
    domain: Domain,
    *,
    gap_wanted: float,
) -> CertifiedMinimum | None:
    """Minimise the risk over the set until the certified gap is as small as wanted, or arithmetic ends the path.

    Each loss is smoothed by a logarithmic barrier on its dual slope, the set by its own barrier; damped Newton
    steps follow the minimiser while the barriers' weight ``μ`` falls (Nesterov and Nemirovskii 1994; Boyd and
    Vandenberghe 2004, Ch. 11). At every stage the slopes at the current point give a lower bound that holds whatever
    the state of the search, and the point itself an upper one.

    Returns None if the risk's differences are not negligible but of a size outside [1e-100, 1e100], where squares leave
    the doubles.
    """
    risk = PredictorRisk(
        loss, loss.features(population.data), population.data[:, -1], population.probabilities
    )
    problem = SmoothedProblem.build(risk, domain)
    v = np.zeros(domain.matrix.shape[1])
    w = convex_set.project(domain.origin)
    value = float(population.risk(w))
    # Where all scores are constant on the set, these slopes are optimal already.
    lower, margin = risk.lower_bound(loss.score_slope(problem.scores(v), risk.targets), convex_set)
    enough = max(gap_wanted, _MARGINS * margin)
    scale = problem.scale
    if value - lower > enough and not _SMALLEST_SCALE <= scale <= _LARGEST_SCALE:
        return None

    mu = scale / (risk.targets.size + domain.body.parameter)
    for _ in range(_STAGES):
        if value - lower <= enough:
            break
        v, finished = problem.centre(v, mu)
        candidate = convex_set.project(domain.origin + np.einsum("dm,m->d", domain.matrix, v))
        candidate_value = float(population.risk(candidate))
        if candidate_value < value:
            w, value = candidate, candidate_value
        bound = risk.lower_bound(problem.dual_slopes(v, mu), convex_set)
        lower, enough = max(lower, bound.value), max(gap_wanted, _MARGINS * bound.margin)
        if not finished or value - lower > _STRAYED * problem.gap(mu):
            break
        mu *= _REDUCTION
    return CertifiedMinimum(w, value, min(lower, value), "interior point, dual certificate")
