"""The truth about accountants by three routes that agree: in closed form, by composition, and by samples."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpsco_verify.auditing.accountants import (
    Gaussian,
    Laplace,
    PoissonSampled,
    SampledWithoutReplacement,
    audit_accountant,
    grids,
    sampled,
)
from dpsco_verify.auditing.accountants import audit as audit_module
from dpsco_verify.auditing.accountants.curves import exact_delta, threshold
from dpsco_verify.auditing.accountants.events import Noise, Sampling, Step, steps_of
from dpsco_verify.auditing.accountants.pairs import Pair, directions
from dpsco_verify.auditing.accountants.pld import pld_bounds
from dpsco_verify.auditing.accountants.sampled import TiltedStep, sampled_delta
from dpsco_verify.auditing.pairs import Relation
from dpsco_verify.errors import InputError
from dpsco_verify.privacy.balls import ball, enclose
from dpsco_verify.privacy.gaussian import gaussian_delta
from dpsco_verify.privacy.single_step import (
    replace_one_delta,
    zero_out_absent_delta,
    zero_out_present_delta,
)

pytestmark = pytest.mark.slow  # compositions and samples

NOISES = [
    (Noise.GAUSSIAN, Fraction(1, 4)),
    (Noise.GAUSSIAN, Fraction(4)),
    (Noise.LAPLACE, Fraction(1, 2)),
    (Noise.LAPLACE, Fraction(3)),
]
SAMPLINGS = [
    (Sampling.NONE, Fraction(1)),
    (Sampling.POISSON, Fraction(1, 10)),
    (Sampling.POISSON, Fraction(9, 10)),
    (Sampling.WITHOUT_REPLACEMENT, Fraction(1, 5)),
]
ORDERS = (0.0, 0.03, 0.2, 0.6, 1.5)


def all_pairs():
    for (noise, parameter), (sampling, p), relation in itertools.product(NOISES, SAMPLINGS, Relation):
        step = Step(noise=noise, parameter=parameter, sampling=sampling, probability=p)
        for direction in directions(step, relation):
            yield direction.forward


def by_quadrature(noise, scale, p, x, y, h, *, points=100_001):
    """Return δ at each of ORDERS."""
    reach = (10.0 if noise is Noise.GAUSSIAN else 30.0) * scale
    t = np.linspace(-1.0 - reach, 1.0 + reach, points)

    def density(mean):
        z = (t - mean) / scale
        if noise is Noise.GAUSSIAN:
            return np.exp(-0.5 * z * z) / (scale * math.sqrt(2.0 * math.pi))
        return np.exp(-np.abs(z)) / (2.0 * scale)

    first = p * density(x) + (1.0 - p) * density(h)
    second = p * density(y) + (1.0 - p) * density(h)
    return [np.maximum(first - math.exp(e) * second, 0.0).sum() * (t[1] - t[0]) for e in ORDERS]


def test_closed_forms_against_quadrature():
    for pair in all_pairs():
        found = by_quadrature(pair.noise, pair.scale, float(pair.p), pair.x, pair.y, pair.h)
        for epsilon, expected in zip(ORDERS, found, strict=True):
            low, high = exact_delta(pair, epsilon)
            assert high - low <= 1e-11 * high
            # The trapezoidal rule at kinks and jumps of the density: the spacing squared, in scales.
            assert low == pytest.approx(expected, rel=1e-4, abs=1e-6)


def test_the_half_line_attains_the_closed_form():
    for pair in all_pairs():
        points = threshold(pair, np.array(ORDERS))
        for epsilon, c in zip(ORDERS, points, strict=True):
            low, _ = exact_delta(pair, epsilon)
            masses = pair.masses(np.array([c, np.inf])) if math.isfinite(c) else (np.zeros(1), np.zeros(1))
            assert masses[0][0] - math.exp(epsilon) * masses[1][0] == pytest.approx(low, rel=1e-9, abs=1e-14)


@pytest.mark.parametrize(("noise", "parameter"), NOISES)
def test_no_contributions_are_worse(noise, parameter):
    """Random contributions of the record, of its neighbour and of the stand-in stay below the table's entries."""
    rng = np.random.default_rng(3)
    scale = math.sqrt(parameter) if noise is Noise.GAUSSIAN else float(parameter)
    p = Fraction(1, 5)
    kinds = {
        ("replace-one", Sampling.POISSON): lambda x, y, h: (x, y, 0.0),
        ("replace-one", Sampling.WITHOUT_REPLACEMENT): lambda x, y, h: (x, y, h),
        ("zero-out", Sampling.POISSON): lambda x, y, h: (x, 0.0, 0.0),
        ("zero-out", Sampling.WITHOUT_REPLACEMENT): lambda x, y, h: (x, 0.0, h),
        ("add-remove", Sampling.WITHOUT_REPLACEMENT): lambda x, y, h: (x, h, h),
    }
    for (relation, sampling), shape in kinds.items():
        step = Step(noise=noise, parameter=parameter, sampling=sampling, probability=p)
        pairs = [direction.forward for direction in directions(step, Relation(relation))]
        worst = np.array([max(exact_delta(pair, epsilon)[1] for pair in pairs) for epsilon in ORDERS])
        for _ in range(15):
            x, y, h = rng.choice([-1.0, 1.0, *rng.uniform(-1.0, 1.0, 2)], size=3)
            x, y, h = shape(x, y, h)
            for first, second in ((x, y), (y, x)):
                found = by_quadrature(noise, scale, float(p), first, second, h, points=20_001)
                assert np.all(found <= worst * (1.0 + 1e-3) + 1e-7)


@pytest.mark.parametrize(("sampling", "p"), SAMPLINGS)
@pytest.mark.parametrize("relation", Relation)
def test_the_worst_contributions_are_of_their_relation(sampling, p, relation):
    """Added or removed, the record leaves what is there in any case; zeroed, it leaves 0; and 0 stands for none."""
    step = Step(noise=Noise.GAUSSIAN, parameter=Fraction(4), sampling=sampling, probability=p)
    found = directions(step, relation)
    assert len(found) == (1 if relation is Relation.REPLACE_ONE else 2)
    apart = relation is Relation.REPLACE_ONE or (
        relation is Relation.ADD_REMOVE and sampling is Sampling.WITHOUT_REPLACEMENT
    )
    for pair in (direction.forward for direction in found):
        assert abs(pair.x - pair.y) == (2 if apart else 1)
        assert relation is not Relation.ADD_REMOVE or pair.h in (pair.x, pair.y)
        assert relation is not Relation.ZERO_OUT or 0 in (pair.x, pair.y)
        assert sampling is not Sampling.POISSON or pair.h == 0
        if sampling is Sampling.WITHOUT_REPLACEMENT and relation is not Relation.ADD_REMOVE:
            assert abs(pair.h) == 1  # as far from the record as a stand-in may be
            assert pair.h != pair.x


def test_the_paper_s_single_step_is_one_of_the_events():
    n, sigma = 16, 0.7
    (step,) = steps_of(SampledWithoutReplacement(n, 1, Gaussian(sigma)))
    p = Fraction(1, n)
    for epsilon in (0.01, 0.1, 1.0):

        def value(curve, epsilon=epsilon):
            return enclose(lambda: curve(ball(p), ball(epsilon), ball(sigma)))[0]

        (replaced,) = directions(step, Relation.REPLACE_ONE)
        present, absent = directions(step, Relation.ZERO_OUT)
        assert exact_delta(replaced.forward, epsilon)[0] == pytest.approx(value(replace_one_delta), rel=1e-12)
        assert exact_delta(present.forward, epsilon)[0] == pytest.approx(
            value(zero_out_present_delta), rel=1e-12
        )
        assert exact_delta(absent.forward, epsilon)[0] == pytest.approx(
            value(zero_out_absent_delta), rel=1e-12
        )


def test_what_has_no_closed_form_is_refused():
    pair = Pair(noise=Noise.GAUSSIAN, parameter=Fraction(1), p=Fraction(1, 3), x=0, y=-1, h=1)
    with pytest.raises(InputError, match="is not a worst case"):
        exact_delta(pair, 0.5)


EVENTS = [
    Gaussian(1.5),
    Laplace(2.0),
    PoissonSampled(0.1, Gaussian(1.0)),
    PoissonSampled(0.3, Laplace(1.0)),
    SampledWithoutReplacement(10, 1, Gaussian(1.0)),
    SampledWithoutReplacement(8, 2, Laplace(1.0)),
]


@pytest.mark.parametrize(
    ("event", "relation"),
    [
        pytest.param(event, relation, marks=[pytest.mark.long] * ((i + j) % 3 > 0))
        for i, event in enumerate(EVENTS)
        for j, relation in enumerate(["add-remove", "replace-one", "zero-out"])
    ],
    ids=str,
)
def test_three_routes_agree(event, relation):
    """Exact, composed and sampled truth: all bounds are consistent, and the composed ones tight."""
    audit = audit_accountant(event, lambda epsilon: 1.0, relation=relation, epsilons=(0.05, 0.6))
    for point in audit.points:
        exact, pld, sampled = point.routes
        assert [bounds.route for bounds in point.routes] == ["exact", "pld", "sampled"]
        assert pld.lower <= exact.upper
        assert pld.upper >= exact.lower
        assert pld.upper - pld.lower <= 2e-3 * exact.upper + 2e-14
        assert sampled.lower <= exact.upper
        assert sampled.upper >= exact.lower


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_compositions_against_the_closed_form(relation):
    """Four Gaussian steps kept apart: composed and sampled, they bracket the one with half the noise."""
    step = Step(noise=Noise.GAUSSIAN, parameter=Fraction(9), count=4)
    mu = 2.0 / 3.0 * (2.0 if relation == "replace-one" else 1.0)
    orders = np.array([0.1, 1.0, 3.0])
    lower, upper = pld_bounds([step], Relation(relation), orders)
    truth = gaussian_delta(orders, mu)
    assert np.all(lower <= truth)
    assert np.all(truth <= upper)
    assert np.all(upper - lower <= 1e-3 * truth)
    (direction, *_) = directions(step, Relation(relation))
    for epsilon, expected in zip(orders, truth, strict=True):
        interval = sampled_delta(
            [(direction.forward, 4)],
            float(epsilon),
            samples=4000,
            alpha=1e-6,
            rng=np.random.default_rng(1),
        )
        assert interval.low <= expected <= interval.high
        assert interval.high <= 1.7 * interval.low


def test_a_tilted_step_has_the_normal_laws_moments():
    """``log E_P e^{λ L} = λ(λ + 1)μ²/2``, and under the tilt L has mean ``(λ + 1/2)μ²`` and variance μ²."""
    step = TiltedStep(Pair(noise=Noise.GAUSSIAN, parameter=Fraction(4), p=Fraction(1), x=1, y=0, h=0))
    mu, tilt = 0.5, 5.0
    assert step.log_moment(tilt) == pytest.approx(tilt * (tilt + 1.0) * mu**2 / 2.0, rel=1e-12)
    step.tilt_by(tilt)
    losses = step.draw(40_000, np.random.default_rng(5))
    # Six standard errors: a chance of 2e-9 each.
    assert losses.mean() == pytest.approx((tilt + 0.5) * mu**2, abs=6 * mu / math.sqrt(40_000))
    assert losses.var() == pytest.approx(mu**2, rel=6 * math.sqrt(2 / 40_000))


def test_intervals_from_samples_cover():
    """At α = 0.1, 120 intervals: 40 misses or more, of at most 12 to expect, have a chance below 1e-11."""
    pair = directions(steps_of(PoissonSampled(0.2, Gaussian(1.0)))[0], Relation.ADD_REMOVE)[0].forward
    truth = exact_delta(pair, 1.0)[0]
    misses = 0
    for seed in range(120):
        found = sampled_delta([(pair, 1)], 1.0, samples=300, alpha=0.1, rng=np.random.default_rng(seed))
        misses += not found.low <= truth <= found.high
    assert misses < 40


def test_routes_that_contradict_each_other_raise(monkeypatch):
    monkeypatch.setattr(audit_module, "exact_delta", lambda pair, epsilon: (0.5, 0.5))
    with pytest.raises(ArithmeticError, match="route exact puts the true delta at 0.5 or more"):
        audit_accountant(
            Gaussian(3.0), lambda e: 1.0, relation="add-remove", epsilons=(0.5,), routes=("exact", "sampled")
        )


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("_ROUNDING", -2.0),  # losses rounded up by two cells where they are to be rounded down
        ("threshold", lambda pair, epsilon: threshold(pair, epsilon) + 1e-3),  # cells in the wrong place
    ],
)
def test_grids_that_are_wrong_are_found_out(monkeypatch, name, broken):
    monkeypatch.setattr(grids, name, broken)
    with pytest.raises(ArithmeticError, match="one of them is wrong"):
        audit_accountant(
            Gaussian(1.0), lambda e: 1.0, relation="add-remove", epsilons=(0.5, 2.0), routes=("exact", "pld")
        )


def test_every_sample_is_drawn_once_whatever_fits_at_once(monkeypatch):
    sizes, draw = [], TiltedStep.draw
    monkeypatch.setattr(
        TiltedStep, "draw", lambda step, size, rng: sizes.append(size) or draw(step, size, rng)
    )
    monkeypatch.setattr(sampled, "_DRAWS_AT_ONCE", 100)
    step = Step(noise=Noise.GAUSSIAN, parameter=Fraction(4), sampling=Sampling.NONE, probability=Fraction(1))
    pair = directions(step, Relation.REPLACE_ONE)[0].forward
    sampled_delta([(pair, 3)], 0.1, samples=70, alpha=0.1, rng=np.random.default_rng(1))
    assert sizes == [99, 99, 12]
