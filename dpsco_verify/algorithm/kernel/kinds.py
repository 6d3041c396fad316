"""Losses and sets as the kernel knows them: a number for the kind, and their parameters as plain arrays.

Exact types only: a class that derives from a shipped one may override anything, and goes the way of a user's own.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from dpsco_verify.algorithm.options import Averaging, Options
from dpsco_verify.arrays import FloatArray
from dpsco_verify.geometry import (
    Box,
    ConvexSet,
    Euclidean,
    HalfSpace,
    L1Ball,
    L2Ball,
    NegativeEntropy,
    PNorm,
    Potential,
    Simplex,
    WholeSpace,
)
from dpsco_verify.geometry.norms import UNIT_ROUNDOFF, summation_error
from dpsco_verify.problems import AbsoluteDeviation, Hinge, Huber, Linear, Logistic, Loss, Quantile

LARGEST_SIZE = 2**32 - 1
"""The largest n: indices are drawn from 32 random bits at a time."""

ROOM = cast(
    "int", np.int64(64)
)  # a Python number would make the compiler compile for this very number once more
"""Numbers beyond 2d that the kernel needs as scratch: one for each level of a pairwise sum."""


class LossKind(enum.IntEnum):
    """The shipped losses."""

    LINEAR = 0
    ABSOLUTE = 1
    QUANTILE = 2
    HUBER = 3
    HINGE = 4
    LOGISTIC = 5


class SetKind(enum.IntEnum):
    """The shipped sets whose projection is a closed form."""

    WHOLE_SPACE = 0
    L2_BALL = 1
    BOX = 2
    HALF_SPACE = 3
    SIMPLEX = 4
    L1_BALL = 5


class PotentialKind(enum.IntEnum):
    """The shipped potentials."""

    EUCLIDEAN = 0
    NEGATIVE_ENTROPY = 1
    P_NORM = 2


@dataclass(frozen=True, kw_only=True, eq=False)
class LossPlan:
    """A loss: its kind and its parameter (level or threshold, 0 where there is none)."""

    kind: LossKind
    number: float = 0.0


@dataclass(frozen=True, kw_only=True, eq=False)
class SetPlan:
    """A set: its kind, `numbers` of shape (3,) and `vectors` of shape (2, d); what they hold depends on the kind.

    =============  =================================  ======================
    kind           numbers                            vectors
    =============  =================================  ======================
    L2_BALL        radius, 1 if centred at 0          center
    BOX                                               low, high
    HALF_SPACE     distance offset, relative slack    unit normal
    SIMPLEX        total
    L1_BALL        radius                             center
    =============  =================================  ======================
    """

    kind: SetKind
    numbers: FloatArray
    vectors: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Plan:
    """A run that the kernel can do."""

    loss: LossPlan
    convex_set: SetPlan


_LOSSES: dict[type[Loss], Callable[[Any], LossPlan]] = {
    Linear: lambda _: LossPlan(kind=LossKind.LINEAR),
    AbsoluteDeviation: lambda _: LossPlan(kind=LossKind.ABSOLUTE),
    Quantile: lambda loss: LossPlan(kind=LossKind.QUANTILE, number=loss.level),
    Huber: lambda loss: LossPlan(kind=LossKind.HUBER, number=loss.threshold),
    Hinge: lambda _: LossPlan(kind=LossKind.HINGE),
    Logistic: lambda _: LossPlan(kind=LossKind.LOGISTIC),
}


def plan_loss(loss: Loss) -> LossPlan | None:
    """Return how the kernel knows `loss`, or None."""
    make = _LOSSES.get(type(loss))
    return make(loss) if make else None


def plan_set(convex_set: ConvexSet) -> SetPlan | None:
    """Return how the kernel knows `convex_set`, or None."""
    numbers, vectors = np.zeros(3), np.zeros((2, convex_set.dimension))
    kind = _SETS.get(type(convex_set))
    match convex_set if kind is not None else None:
        case L2Ball() as ball:
            numbers[:2] = ball.radius, not ball.center.any()
            vectors[0] = ball.center
        case Box() as box:
            vectors[:] = box.low, box.high
        case HalfSpace() as half_space:
            numbers[:2] = half_space.distance_offset, _relative_slack(half_space)
            vectors[0] = half_space.unit_normal
        case Simplex() as simplex:
            numbers[0] = simplex.total
        case L1Ball() as ball:
            numbers[0] = ball.radius
            vectors[0] = ball.center
    return None if kind is None else SetPlan(kind=kind, numbers=numbers, vectors=vectors)


def _relative_slack(half_space: HalfSpace) -> float:
    """Return the half-space's own relative bound on a point's rounding; a test holds the two together."""
    return 2.0 * summation_error(half_space.dimension) + 12.0 * UNIT_ROUNDOFF


_SETS: dict[type[ConvexSet], SetKind] = {
    WholeSpace: SetKind.WHOLE_SPACE,
    L2Ball: SetKind.L2_BALL,
    Box: SetKind.BOX,
    HalfSpace: SetKind.HALF_SPACE,
    Simplex: SetKind.SIMPLEX,
    L1Ball: SetKind.L1_BALL,
}


def plan_run(*, loss: Loss, convex_set: ConvexSet, options: Options, n: int) -> Plan | None:
    """Return how the kernel does such a run, or None where it cannot.

    It knows the shipped losses, the sets of :class:`SetKind`, and every option but the literal average, which needs
    all iterates.
    """
    known_loss, known_set = plan_loss(loss), plan_set(convex_set)
    if known_loss is None or known_set is None:
        return None
    if options.averaging is not Averaging.FRESH_TIMES or n > LARGEST_SIZE:
        return None
    return Plan(loss=known_loss, convex_set=known_set)


@dataclass(frozen=True, kw_only=True, eq=False)
class MirrorPlan:
    """An update of mirror descent that the kernel can do: the potential's kind and exponents, and the set."""

    kind: PotentialKind
    exponents: tuple[float, float]
    convex_set: SetPlan


def plan_mirror(*, potential: Potential, convex_set: ConvexSet) -> MirrorPlan | None:
    """Return how the kernel does such an update, or None where it has no closed form for it."""
    known = plan_set(convex_set)
    if known is None:
        return None
    if type(potential) is Euclidean:
        return MirrorPlan(kind=PotentialKind.EUCLIDEAN, exponents=(2.0, 2.0), convex_set=known)
    if type(potential) is NegativeEntropy and (
        known.kind in {SetKind.SIMPLEX, SetKind.WHOLE_SPACE}
        or (known.kind is SetKind.BOX and bool((known.vectors[1] >= 0).all()))
    ):
        return MirrorPlan(kind=PotentialKind.NEGATIVE_ENTROPY, exponents=(1.0, 1.0), convex_set=known)
    if type(potential) is PNorm and potential.p < 2 and known.kind is SetKind.WHOLE_SPACE:
        return MirrorPlan(kind=PotentialKind.P_NORM, exponents=(potential.p, potential.q), convex_set=known)
    return None
