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

__all__ = [
    "boundary_points",
    "convex_sets",
    "coordinates",
    "points_in",
    "points_near_boundary",
    "potentials",
    "vectors",
]
