"""The guarantee that a function is the projection onto a convex set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.geometry import ConvexSet, WholeSpace
from dpsco_verify.geometry.norms import euclidean_norm
from dpsco_verify.geometry.properties import PropertyViolation, check_convex_set
from dpsco_verify.geometry.property_violation import require
from dpsco_verify.guarantees.calls import Guarded
from dpsco_verify.guarantees.everywhere import OF_INTEREST, ROUNDING, call, checked, in_words
from dpsco_verify.guarantees.points import EXAMPLES, RANDOM, Failed
from dpsco_verify.guarantees.result import GuaranteeResult, guarantee, name_of
from dpsco_verify.validation import require_half_open_interval


@guarantee
def projection(
    function: Callable[[FloatArray], Any],
    convex_set: ConvexSet,
    *,
    rounding: float = ROUNDING,
    seed: int = 0,
    examples: int = EXAMPLES,
    random: int = RANDOM,
    violation_of_interest: float = OF_INTEREST,
    time_limit: float = 60.0,
    name: str | None = None,
) -> GuaranteeResult:
    """Check that a function is the Euclidean projection onto a set.

    Parameters
    ----------
    function
        From a point, shape (d,), to its projection, shape (d,).
    convex_set
        The set: one of :mod:`dpsco_verify.geometry`, or a subclass of your own.
    rounding
        By how much the function may miss, relative to the sizes of the point and of the set.

    Notes
    -----
    The function is held to the set's own projection, to the points of the set, which stay where they are, and to
    :func:`dpsco_verify.geometry.properties.check_convex_set`: membership, idempotence, non-expansiveness and the
    variational inequality ``⟨x − P(x), v − P(x)⟩ ≤ 0``. The points are drawn from all of R^d. Everything else is as in
    :func:`identity`.

    Examples
    --------
    >>> from dpsco_verify.geometry import L2Ball
    >>> ball = L2Ball(np.zeros(2), 1.0)
    >>> clip = lambda x: np.clip(x, -1.0, 1.0)  # onto the square
    >>> print(projection(ball.project, ball, examples=20, random=500).verdict)
    not_violated
    >>> print(projection(clip, ball).verdict)
    violated
    """
    if not isinstance(convex_set, ConvexSet):
        raise InputError(
            f"convex_set={convex_set!r} is not a ConvexSet; give one of dpsco_verify.geometry or your own"
        )
    guarded = Guarded(function, name=name or name_of(function), time_limit=time_limit)
    relative = require_half_open_interval("rounding", rounding, 0.0, 1.0)
    own = _OwnProjection(guarded, convex_set, relative)

    def fails(point: tuple[FloatArray, FloatArray]) -> Failed:
        x = point[0]
        try:
            own.check_point(x)
            check_convex_set(own, *point, bitwise=False)
        except PropertyViolation as violation:
            shown = " and y = ".join(in_words(v) for v in point)
            return Failed(excess=1.0, words=f"at x = {shown}: {violation}")
        return Failed(excess=-1.0, words="")

    return checked(
        fails,
        WholeSpace(convex_set.dimension),
        count=2,
        claim=f"f(x) is the projection of x onto {convex_set!r}",
        name=guarded.name,
        seed=seed,
        examples=examples,
        random=random,
        of_interest=violation_of_interest,
    )


class _OwnProjection(ConvexSet):
    """A set with a user's own projection, which may miss by a stated part of the sizes in play."""

    def __init__(self, guarded: Guarded, convex_set: ConvexSet, relative: float) -> None:
        super().__init__(convex_set.dimension)
        self._guarded, self._set, self._relative = guarded, convex_set, relative

    def __repr__(self) -> str:
        return f"{self._guarded.name} onto {self._set!r}"

    def check_point(self, x: FloatArray) -> None:
        """Hold the function to the set's own projection of x, and to x where that lies in the set."""
        found, allowed = self.project(x), float(self.projection_error(x) + self._set.projection_error(x))
        missed = float(euclidean_norm(found - self._set.project(x)))
        require("agreement with the set's own projection", self, excess=missed, allowed=allowed)
        if self._set.violation(x) == 0.0:
            moved = float(euclidean_norm(found - x))
            require("that points of the set stay where they are", self, excess=moved, allowed=allowed)

    @property
    def diameter(self) -> float:
        return self._set.diameter

    @property
    def max_norm(self) -> float:
        return self._set.max_norm

    def _project(self, x: FloatArray) -> FloatArray:
        rows = x.reshape(-1, self.dimension)
        found = [self._guarded.array(call(self._guarded, row), (self.dimension,), row.copy()) for row in rows]
        return np.array(found).reshape(x.shape)

    def _violation(self, x: FloatArray) -> FloatArray:
        return self._set.violation(x)

    def _rounding(self, x: FloatArray) -> FloatArray:
        reach = self.max_norm if np.isfinite(self.max_norm) else 0.0
        return np.asarray(self._set.rounding(x) + self._relative * (euclidean_norm(x) + reach))
