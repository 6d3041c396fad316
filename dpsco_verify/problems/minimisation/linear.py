"""The minimum of a linear risk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpsco_verify.problems.losses.loss import inner_product
from dpsco_verify.problems.minimisation.certified_minimum import CertifiedMinimum
from dpsco_verify.problems.minimisation.support import support

if TYPE_CHECKING:
    from dpsco_verify.arrays import FloatArray
    from dpsco_verify.geometry import ConvexSet


def minimise_linear(mean: FloatArray, convex_set: ConvexSet) -> CertifiedMinimum:
    """Return the minimum of ``F(w) = -<w, mean>`` over the set.

    Closed forms for the sets whose support function is known; for any other bounded set, projections with the bound
    that :func:`support` derives from their inequality.

    Raises
    ------
    InputError
        If the set is unbounded and the mean is not 0.
    """
    extreme = support(convex_set, mean)
    value = -float(inner_product(extreme.point, mean))
    if extreme.closed_form:
        return CertifiedMinimum(extreme.point, value, value, "closed form")
    return CertifiedMinimum(extreme.point, value, min(value, -extreme.upper_bound), "proximal points")
