"""The property checks see what is broken: sets and potentials that are wrong on purpose, each caught by its check.

The examples come from a fixed generator, so that each test gives the same answer every time.
"""

from __future__ import annotations

import numpy as np
import pytest

from dpsco_verify.geometry import (
    Box,
    Euclidean,
    HalfSpace,
    Intersection,
    L1Ball,
    L2Ball,
    NegativeEntropy,
    PNorm,
    Simplex,
)
from dpsco_verify.geometry.lp_ball import LpBall
from dpsco_verify.geometry.norms import euclidean_norm
from dpsco_verify.geometry.properties import (
    PropertyViolation,
    check_batch_independence,
    check_convex_set,
    check_divergence_duality,
    check_extent,
    check_fenchel_young,
    check_gradient_inverse,
    check_idempotence,
    check_membership,
    check_non_expansiveness,
    check_potential,
    check_pythagorean_inequality,
    check_strong_convexity,
    check_three_point_identity,
    check_variational_inequality,
)

pytestmark = pytest.mark.slow  # seconds of processes or exact sums: the whole suite has time for them


DIMENSION = 4


class UnsortedSimplex(Simplex):
    """Takes the entries in the order in which they come."""

    def _project(self, x):
        gaps = np.minimum(x.max(axis=-1, keepdims=True) - x, 2 * self.total)
        counts = np.arange(1.0, self.dimension + 1)
        theta = ((np.cumsum(gaps, axis=-1) + self.total) / counts).min(axis=-1, keepdims=True)
        return np.maximum(theta - gaps, 0.0)


class NormalisedSimplex(Simplex):
    """Clips and normalises: a map onto the simplex, but not the nearest point."""

    def _project(self, x):
        positive = np.maximum(x, 0.0) + 1e-12
        return self.total * positive / positive.sum(axis=-1, keepdims=True)


class CancellingSimplex(Simplex):
    """Subtracts `total` from the running sums of x itself, where it drowns when x is large."""

    def _project(self, x):
        ordered = -np.sort(-x, axis=-1)
        sums = np.cumsum(ordered, axis=-1) - self.total
        counts = np.arange(1.0, self.dimension + 1)
        size = np.maximum((ordered * counts > sums).sum(axis=-1), 1)
        theta = np.take_along_axis(sums, size[..., np.newaxis] - 1, axis=-1) / size[..., np.newaxis]
        return np.maximum(x - theta, 0.0)


class SlightlyLargeBall(L2Ball):
    """Scales to a radius that is 1e-12 too large."""

    def _project(self, x):
        offset = x - self.center
        length = euclidean_norm(offset)[..., np.newaxis]
        radius = self.radius * (1 + 1e-12)
        return np.where(length > radius, self.center + offset / length * radius, x)


class SlightlySmallBall(L2Ball):
    """Scales to a radius that is 1e-12 too small: every result is a member, and still wrong."""

    def _project(self, x):
        offset = x - self.center
        length = euclidean_norm(offset)[..., np.newaxis]
        radius = self.radius * (1 - 1e-12)
        return np.where(length > self.radius, self.center + offset / length * radius, x)


class UncentredBall(L2Ball):
    """Scales x instead of x - c."""

    def _project(self, x):
        length = euclidean_norm(x - self.center)[..., np.newaxis]
        return np.where(length > self.radius, x / length * self.radius, x)


class AlwaysScaledBall(L2Ball):
    """Moves inner points to the sphere as well."""

    def _project(self, x):
        offset = x - self.center
        return self.center + offset / euclidean_norm(offset)[..., np.newaxis] * self.radius


class BatchedBall(L2Ball):
    """Scales the whole batch by its longest row."""

    def _project(self, x):
        offset = x - self.center
        length = euclidean_norm(offset)
        moved = self.center + offset / length.max() * self.radius
        return np.where((length > self.radius)[..., np.newaxis], moved, x)


class AliasingBox(Box):
    """Clips in place."""

    def _project(self, x):
        return np.clip(x, self.low, self.high, out=x)


class IdentityBox(Box):
    """Projects nothing."""

    def _project(self, x):
        return x.copy()


class MirroredHalfSpace(HalfSpace):
    """Reflects at the plane: non-expansive, a member, but twice too far."""

    def _project(self, x):
        excess = np.maximum(self._signed_distance(x), 0.0)
        return x - 2 * excess[..., np.newaxis] * self.unit_normal


class OneCycleIntersection(Intersection):
    """Alternating projections, once through the sets, instead of Dykstra's algorithm."""

    def _project(self, x):
        for member in self.sets:
            x = member.project(x)
        return x


class LooseIntersection(Intersection):
    """Alternating projections without Dykstra's increments: a common point, but not the nearest."""

    def _project(self, x):
        for _ in range(300):
            for member in self.sets:
                x = member.project(x)
        return x


class LinfBall(LpBall):
    """Scales radially instead of projecting."""

    def _project(self, x):
        excess = np.sum(np.abs(x - self.center) ** self.p, axis=-1) ** (1 / self.p) / self.radius
        return self.center + (x - self.center) / np.maximum(excess, 1.0)[..., np.newaxis]


class SmallDiameterBall(L1Ball):
    """Claims the diameter of its inscribed ball."""

    @property
    def diameter(self):
        return 2 * self.radius / np.sqrt(self.dimension)


ZERO, ONE = np.zeros(DIMENSION), np.ones(DIMENSION)
WEDGE = [Box(ZERO, ONE), HalfSpace([1.0, 2.0, 3.0, 4.0], 2.0)]


def points(count=60, scale=3.0):
    """Pairs of points, every other one of them close together."""
    rng = np.random.default_rng(0)
    for trial in range(count):
        x, step = scale * rng.standard_normal((2, DIMENSION))
        yield x, x + step * (0.1 if trial % 2 else 2.0)


def first_violation(check, subject, examples):
    for example in examples:
        try:
            check(subject, *example)
        except PropertyViolation as violation:
            return str(violation)
    return None


@pytest.mark.parametrize(
    ("mutant", "scale", "message"),
    [
        (UnsortedSimplex(DIMENSION), 3, "membership|variational"),
        (NormalisedSimplex(DIMENSION), 3, "idempotence|variational"),
        (CancellingSimplex(DIMENSION), 1e17, "membership"),
        (SlightlyLargeBall(ZERO, 1.0), 3, "membership"),
        (SlightlySmallBall(ZERO, 1.0), 3, "variational"),
        (UncentredBall(ONE, 1.0), 3, "membership"),
        (AlwaysScaledBall(ZERO, 1.0), 0.1, "idempotence|expansiveness|variational"),
        (BatchedBall(ZERO, 8.0), 3, "batch"),
        (AliasingBox(-ONE, ONE), 3, "batch|writes to|membership"),
        (IdentityBox(-ONE, ONE), 3, "membership"),
        (MirroredHalfSpace(ONE, 0.0), 3, "idempotence|variational"),
        pytest.param(
            OneCycleIntersection(WEDGE), 3, "membership|idempotence|variational", marks=pytest.mark.long
        ),
        (LinfBall(DIMENSION, 4.0, 1.0), 3, "expansiveness|variational"),
        (SmallDiameterBall(DIMENSION, 1.0), 30, "the diameter"),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "project") else "",
)
def test_broken_sets_are_caught(mutant, scale, message):
    import re

    bitwise = not isinstance(mutant, Intersection | LpBall)
    caught = first_violation(
        lambda subject, x, y: check_convex_set(subject, x, y, bitwise=bitwise), mutant, points(scale=scale)
    )
    assert caught is not None
    assert re.search(message, caught)
    # The same examples find nothing in what the mutant was made from.
    sound = type(mutant).__mro__[1]
    repaired = object.__new__(sound)
    repaired.__dict__.update(mutant.__dict__)
    assert (
        first_violation(
            lambda subject, x, y: check_convex_set(subject, x, y, bitwise=bitwise),
            repaired,
            points(10, scale),
        )
        is None
    )


def test_alternating_projections_are_not_taken_for_dykstra():
    """Their limit is a member and stays where it is; only the certified inequality tells it from the nearest point."""
    lens = [L2Ball([0.0, 0.0], 1.0), HalfSpace([1.0, 1.0], 0.5)]
    sound, mutant = Intersection(lens), LooseIntersection(lens)
    rng = np.random.default_rng(1)
    gaps = {sound: [], mutant: []}
    for _ in range(10):
        x = 3 * rng.standard_normal(2)
        # The origin is an inner point, so that this is a member for certain.
        v = 0.999 * sound.project(x)
        for subject, found in gaps.items():
            w = subject.project(x)
            assert subject.contains(w)
            found.append(np.sum((x - w) * (v - w)) / (1 + euclidean_norm(x - w)))
    assert max(gaps[sound]) <= 1e-10
    assert max(gaps[mutant]) > 1e-3


@pytest.mark.parametrize(
    ("check", "mutant"),
    [
        (lambda s, x, _: check_membership(s, x), SlightlyLargeBall(ZERO, 1.0)),
        (lambda s, x, _: check_idempotence(s, x), NormalisedSimplex(DIMENSION)),
        (check_non_expansiveness, AlwaysScaledBall(ZERO, 9.0)),
        (check_variational_inequality, LinfBall(DIMENSION, 4.0, 1.0)),
        (check_extent, SmallDiameterBall(DIMENSION, 1.0)),
        (check_batch_independence, BatchedBall(ZERO, 8.0)),
    ],
)
def test_each_check_of_sets_can_fail(check, mutant):
    assert first_violation(check, mutant, points(scale=30 if mutant.diameter == 1 else 3)) is not None


class WrongConjugate(PNorm):
    """Uses p instead of q in the conjugate."""

    def conjugate(self, y):
        return PNorm(self.p).value(y)


class WrongInverse(PNorm):
    """Forgets the norm in the gradient of the conjugate."""

    def conjugate_gradient(self, y):
        return np.sign(y) * np.abs(y) ** (self.q - 1)


class TransposedDivergence(PNorm):
    """Exchanges the arguments."""

    def divergence(self, x, y):
        return super().divergence(y, x)


class NaiveDivergence(NegativeEntropy):
    """Evaluates the definition, and loses all digits for close arguments."""

    def divergence(self, x, y):
        plain = (
            self.value(x)
            - self.value(y)
            - np.sum(self.gradient(y) * (np.asarray(x) - np.asarray(y)), axis=-1)
        )
        return np.maximum(plain, 0.0)


class TooConvex(PNorm):
    """Claims the strong convexity of the Euclidean potential."""

    @property
    def strong_convexity(self):
        return 1.0


class ClippedProjection(PNorm):
    """Projects in the Euclidean norm."""

    def bregman_projection(self, convex_set, y):
        return convex_set.project(y)


def triples(count=60, closeness=1.0):
    rng = np.random.default_rng(2)
    for _ in range(count):
        x = rng.uniform(0.1, 2, DIMENSION)
        y, z = (x * (1 + closeness * rng.uniform(-0.5, 0.5, DIMENSION)) for _ in range(2))
        yield x, y, z


@pytest.mark.parametrize(
    ("check", "mutant", "closeness"),
    [
        (lambda s, x, _y, _z: check_fenchel_young(s, x), WrongConjugate(1.5), 1.0),
        (lambda s, x, _y, _z: check_gradient_inverse(s, x), WrongInverse(1.5), 1.0),
        (check_three_point_identity, TransposedDivergence(1.5), 1.0),
        (lambda s, x, y, _z: check_divergence_duality(s, x, y), TransposedDivergence(1.5), 1.0),
        (lambda s, x, y, _z: check_divergence_duality(s, x, y), NaiveDivergence(), 1e-9),
        (lambda s, x, y, _z: check_strong_convexity(s, x, y), NaiveDivergence(), 1e-9),
        (lambda s, x, y, _z: check_strong_convexity(s, x, y), TooConvex(1.5), 1.0),
        (
            lambda s, _x, y, z: check_pythagorean_inequality(s, Simplex(DIMENSION), y, z),
            ClippedProjection(1.5),
            1.0,
        ),
    ],
)
def test_broken_potentials_are_caught(check, mutant, closeness):
    assert first_violation(check, mutant, triples(closeness=closeness)) is not None
    sound = type(mutant).__mro__[1]
    repaired = object.__new__(sound)
    repaired.__dict__.update(mutant.__dict__)
    assert first_violation(check, repaired, triples(closeness=closeness)) is None


def test_the_whole_suite_of_potentials_runs_every_check():
    for mutant in (WrongConjugate(1.5), WrongInverse(1.5), TransposedDivergence(1.5), TooConvex(1.5)):
        assert first_violation(check_potential, mutant, triples()) is not None
    for potential in (Euclidean(), PNorm(1.5), NegativeEntropy()):
        assert first_violation(check_potential, potential, triples()) is None


def test_nan_is_a_violation():
    class NanBall(L2Ball):
        def _project(self, x):
            return np.full_like(x, 0.1)

        def _violation(self, x):
            return np.full(x.shape[:-1], np.nan)

    with pytest.raises(PropertyViolation, match="off by nan"):
        check_membership(NanBall(ZERO, 1.0), ONE)
