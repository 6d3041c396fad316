"""The minimum of a finite population's risk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpsco_verify.errors import InputError
from dpsco_verify.geometry import Box, L1Ball, L2Ball, Simplex
from dpsco_verify.problems.minimisation.certified_minimum import CertifiedMinimum, FiniteLaw
from dpsco_verify.problems.minimisation.domain import domain_of
from dpsco_verify.problems.minimisation.interior_point import minimise_by_interior_point, smoothed_risk
from dpsco_verify.problems.minimisation.subgradient_averaging import minimise_by_subgradients

if TYPE_CHECKING:
    from collections.abc import Hashable

    from dpsco_verify.geometry import ConvexSet

_GAP_WANTED = 1e-9
"""The certified gap at which the search ends, relative to ``L·D``."""


def minimise_finite(population: FiniteLaw, convex_set: ConvexSet) -> CertifiedMinimum:
    """Return the minimum of the risk over a bounded set.

    Losses of a linear predictor and the Euclidean distance, over a ball, a box or a simplex: the central path with a
    dual certificate, a gap of about ``1e-9·L·D``. Anything else: subgradient averaging, with the gap that it reaches.

    Raises
    ------
    InputError
        If the set is unbounded: the minimum need not be attained there.
    """
    if not np.isfinite(convex_set.diameter):
        raise InputError(f"diameter={convex_set.diameter!r}: the set is unbounded; give a bounded set")
    domain = domain_of(convex_set)
    risk = None if domain is None else smoothed_risk(population, domain)
    if domain is not None and risk is not None:
        gap_wanted = _GAP_WANTED * population.lipschitz * convex_set.diameter
        found = minimise_by_interior_point(population, risk, convex_set, domain, gap_wanted=gap_wanted)
        if found is not None:
            return found
    return minimise_by_subgradients(population, convex_set)


def set_key(convex_set: ConvexSet) -> Hashable:
    """Return a key that two equal sets share where the set is of a known kind; else the object itself."""
    match convex_set:
        case L2Ball():
            return "ball", convex_set.center.tobytes(), convex_set.radius
        case Box():
            return "box", convex_set.low.tobytes(), convex_set.high.tobytes()
        case L1Ball():
            return "l1 ball", convex_set.center.tobytes(), convex_set.radius
        case Simplex():
            return "simplex", convex_set.dimension, convex_set.total
        case _:
            return convex_set
