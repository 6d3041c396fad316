"""Hypothesis strategies for tests of your own (``pip install dpsco-verify[strategies]``)."""

from dpsco_verify.strategies.geometry import (
    boundary_points,
    convex_sets,
    coordinates,
    points_in,
    points_near_boundary,
    potentials,
    vectors,
)
from dpsco_verify.strategies.neighbours import (
    neighbouring_arrays,
    neighbouring_lists,
    neighbouring_tables,
    neighbours_of,
)
from dpsco_verify.strategies.problems import (
    data_points,
    finite_populations,
    losses,
    neighbouring_data,
    parameter_points,
    predictor_losses,
)
from dpsco_verify.strategies.specials import neighbouring_answers, special_values

__all__ = [
    "boundary_points",
    "convex_sets",
    "coordinates",
    "data_points",
    "finite_populations",
    "losses",
    "neighbouring_answers",
    "neighbouring_arrays",
    "neighbouring_data",
    "neighbouring_lists",
    "neighbouring_tables",
    "neighbours_of",
    "parameter_points",
    "points_in",
    "points_near_boundary",
    "potentials",
    "predictor_losses",
    "special_values",
    "vectors",
]
