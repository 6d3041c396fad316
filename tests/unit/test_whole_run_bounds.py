"""The bounds of a whole run in doubles against quadrature and balls; wrong accountants turn the comparison."""

from __future__ import annotations

import functools
import math
import types
from fractions import Fraction

import flint
import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import integrate, special, stats

from dpsco_verify.errors import InputError
from dpsco_verify.evidence.checker.whole_run import WholeRunPrivacy
from dpsco_verify.privacy.gaussian import gaussian_delta
from dpsco_verify.privacy.whole_run import (
    View,
    WholeRun,
    bounds,
    calibration,
    convolution,
    delta_lower,
    delta_upper,
    epochs,
    epsilon_lower,
    epsilon_upper,
    functional_bounds,
    law,
    output,
)
from dpsco_verify.privacy.whole_run.bounds import sum_of
from dpsco_verify.privacy.whole_run.functional import Sum
from dpsco_verify.privacy.whole_run.functional_bounds import log_lower
from dpsco_verify.privacy.whole_run.plan import CHECKABLE


def potential(t, epsilon, mu):
    """U(t) of the envelope, and E(Y − e^ε − t)₊ of the attained law."""
    alpha = math.exp(epsilon)

    def curve(y):
        if y <= 0:
            return 1.0 - y
        z = math.log(y) / mu - mu / 2
        return float(special.ndtr(-z) - y * special.ndtr(-z - mu))

    upper = curve(alpha + t) if t >= 0 else 1.0 - alpha - t + alpha * curve((1.0 - t) / alpha)
    return upper, curve(alpha + t)


@functools.cache
def two_steps(n, epsilon, mu):
    """The functionals with two steps, of the envelope and of the attained law, by quadrature."""
    alpha, c = math.exp(epsilon), (n - 2) * math.expm1(epsilon)
    low, high = -epsilon / mu + mu / 2, epsilon / mu + mu / 2

    def y(z):
        return math.exp(mu * z - mu * mu / 2)

    def mean(function, start, stop=12.0):
        return integrate.quad(
            lambda z: math.exp(-z * z / 2) * function(z), start, stop, limit=400, epsabs=1e-12
        )[0] / math.sqrt(2 * math.pi)

    ups = mean(lambda z: potential(c - (y(z) - alpha), epsilon, mu)[0], high, high + 12.0)
    downs = mean(lambda z: potential(c - (1.0 - alpha * y(z)), epsilon, mu)[0], low)
    atom = (special.ndtr(low) - special.ndtr(-high)) * potential(c, epsilon, mu)[0]
    attained = mean(lambda z: potential(c - (y(z) - alpha), epsilon, mu)[1], -12.0)
    return (ups + downs + atom) / n, attained / n


@functools.cache
def bound_in_balls(witness):
    with flint.ctx.workprec(128):
        return float(witness.sides("replace-one")[1].mid())


def in_balls(n, points, mu, epsilon, batch=1):
    """The bound on the grid that the checker can do: in doubles, and by the checker."""
    problem = Sum(epsilon=epsilon, mu=mu / batch, n=n, points=points, batch=batch)
    doubles, chosen = functional_bounds.sharpest(problem, CHECKABLE)
    witness = WholeRunPrivacy(
        n=n,
        points=points,
        batch_size=batch,
        epochs=1,
        relation="replace-one",
        mu=str(Fraction(mu)),
        epsilon=str(Fraction(epsilon)),
        delta="1/2",
        theta=str(Fraction(chosen.theta)),
        step=str(Fraction(chosen.step)),
        below=chosen.below,
        above=chosen.above,
        size=chosen.size,
        reach=chosen.reach,
        narrow=None if chosen.narrow is None else calibration.narrow_of(chosen.narrow),
    )
    return math.exp(doubles), bound_in_balls(witness)


SMALL = [(3, 0.1, 1.0), (3, 0.5, 2.0), (10, 0.05, 0.5), (5, 0.0, 1.0), (40, 0.2, 3.0)]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "epsilon", "mu"), SMALL)
def test_two_steps_by_quadrature(n, epsilon, mu):
    upper, lower = two_steps(n, epsilon, mu)
    run = WholeRun(n=n, mu=mu, points=2)
    assert upper * (1 - 1e-7) <= delta_upper(run, epsilon) <= upper * 1.01
    assert lower * 0.97 <= delta_lower(run, epsilon) <= lower * (1 + 1e-7)


AGAINST_BALLS = [
    (1000, 501, 2 / 1.358, 1.0, 1),
    (1000, 501, 2 / 5.56, 1000**-0.5, 1),
    (1000, 510, 2 / 0.6, 0.1, 10),
    (3, 2, 1.0, 1.0, 1),
    (5, 3, 1.0, 0.0, 1),
    (60, 59, 1e-5, 1e-6, 1),
]
LARGE = [(10**5, 50_001, 1.0, 0.01, 1), (10**8, 50_000_001, 3.1, 1.0, 1), (10**8, 50_000_001, 0.5, 1e-4, 1)]


@pytest.mark.slow
@pytest.mark.parametrize("case", AGAINST_BALLS + [pytest.param(c, marks=pytest.mark.long) for c in LARGE])
def test_doubles_are_above_the_balls_and_close(case):
    """The stated rounding bound covers what doubles do, and is small: 1e-4 at 5·10⁷ steps."""
    doubles, exact = in_balls(*case)
    assert exact <= doubles <= exact * (1.0 + 1e-6 + 1e-12 * case[1])


@pytest.mark.slow
@given(st.floats(2.0, 18.0), st.floats(0.0, 1.0), st.floats(-8.0, 4.0), st.floats(-9.0, 2.7))
@settings(max_examples=settings.default.max_examples // 5)
def test_doubles_are_above_the_balls_wherever_they_are(log_n, share, log_epsilon, log_mu):
    """Over the whole range, where the grid is one that takes the checker no second."""
    n = int(math.exp(log_n))
    k, epsilon, mu = max(1, min(int(share * n), n - 1)), math.exp(log_epsilon), math.exp(log_mu)
    problem = Sum(epsilon=epsilon, mu=mu, n=n, points=k)
    chosen = functional_bounds.sharpest(problem, CHECKABLE)[1]
    assume(chosen is not None and chosen.size <= 2**13 and chosen.below + chosen.above < 3000)
    doubles, exact = in_balls(n, k, mu, epsilon)
    assert exact * (1 - 1e-12) <= doubles <= exact * 1.01


# Wrong accountants: each turns a comparison above.


def forget():
    bounds._log_part.cache_clear()
    functional_bounds.sharpest.cache_clear()


def holds():
    """Say whether the upper bound is above two steps by quadrature and within 1 % of it, and above the balls."""
    forget()
    n, epsilon, mu = 10, 0.05, 0.5
    upper, lower = two_steps(n, epsilon, mu)
    run = WholeRun(n=n, mu=mu, points=2)
    found = delta_upper(run, epsilon), delta_lower(run, epsilon)
    doubles, exact = in_balls(1000, 501, 2 / 5.56, 1000**-0.5)
    forget()
    return (
        upper * (1 - 1e-7) <= found[0] <= upper * 1.01
        and found[1] <= lower * (1 + 1e-7)
        and exact <= doubles <= exact * (1.0 + 1e-6)
    )


@pytest.mark.slow
def test_the_right_accountant_holds():
    assert holds()


@pytest.mark.slow
@pytest.mark.parametrize("change", [-1, 1])
def test_k_off_by_one_is_seen(monkeypatch, change):
    right = functional_bounds.log_hockey_stick
    monkeypatch.setattr(
        functional_bounds,
        "log_hockey_stick",
        lambda law, plan, steps, threshold, *, upper: right(
            law, plan, steps + change, threshold, upper=upper
        ),
    )
    assert not holds()


@pytest.mark.slow
def test_half_the_distance_is_seen(monkeypatch):
    right = functional_bounds.envelope
    monkeypatch.setattr(functional_bounds, "envelope", lambda *, mu, **rest: right(mu=mu / 2, **rest))
    assert not holds()


@pytest.mark.slow
def test_an_envelope_without_its_atom_is_seen(monkeypatch):
    """Its mass would be missing; put where the rest is, in proportion, the mean would be another."""
    monkeypatch.setattr(law, "_atom", lambda epsilon, mu: 0.0)
    assert not holds()
    right = functional_bounds.envelope

    def scaled(**arguments):
        found = right(**arguments)
        return law.LatticeLaw(
            origin=0.0, step=found.step, first=found.first, masses=found.masses / found.masses.sum()
        )

    monkeypatch.setattr(functional_bounds, "envelope", scaled)
    assert not holds()


@pytest.mark.slow
def test_rounding_down_is_seen(monkeypatch):
    """A cell's mass at its lower end alone."""
    right = law._panels

    def down(*arguments):
        left, upper = right(*arguments)
        return left + upper, np.zeros_like(upper)

    monkeypatch.setattr(law, "_panels", down)
    assert not holds()


@pytest.mark.slow
def test_rounding_up_in_the_lower_bound_is_seen(monkeypatch):
    def split(**arguments):
        found = law.envelope(**{k: v for k, v in arguments.items() if k != "highest"}, below=200, above=400)
        return types.SimpleNamespace(**vars(found), last=found.last)

    monkeypatch.setattr(functional_bounds, "attained", split)
    assert not holds()


# The laws on the lattice.


@pytest.mark.slow
@given(st.floats(0.0, 2.0), st.floats(0.05, 3.0), st.floats(0.01, 1.5))
def test_the_laws_are_ordered(epsilon, mu, relative_step):
    """The upper potential is the envelope's at lattice points, and above between; the lower is below its law's."""
    step = relative_step * math.sqrt(math.expm1(mu * mu))
    upper = law.envelope(epsilon=epsilon, mu=mu, step=step, below=300, above=600)
    x = upper.step * (upper.first + np.arange(len(upper.masses)))
    lost = potential(x[-1], epsilon, mu)[0]
    for t in (-2.5 * step, -step, 0.0, 0.3 * step, 2.0 * step):
        exact = potential(t, epsilon, mu)[0]
        assert float(upper.masses @ np.maximum(x - t, 0.0)) >= (exact - lost) * (1 - 1e-12) - 1e-14
    assert upper.masses.sum() == pytest.approx(1.0, abs=1e-9)
    lower = law.attained(epsilon=epsilon, mu=mu, step=step, highest=600 * step)
    if lower is None:
        return
    x = lower.origin + lower.step * np.arange(len(lower.masses))
    assert lower.masses.min() >= 0.0
    assert lower.masses.sum() <= 1.0
    for t in np.linspace(-math.exp(epsilon), 20 * step, 41):
        exact = potential(float(t), epsilon, mu)[1]
        assert float(lower.masses @ np.maximum(x - t, 0.0)) <= exact + 1e-13


@pytest.mark.parametrize(
    ("shift", "ratio", "mu"), [(0.5, 1e-4, 0.3), (0.0, 0.2, 1.0), (-0.1, 30.0, 3.0), (2e-3, 1e-7, 1e-3)]
)
def test_masses_keep_their_relative_error(shift, ratio, mu):
    """Against integrals of 40 digits, also far out."""
    cells = 40
    masses = law.split(shift, ratio, cells, mu)
    with mpmath.workdps(40):
        s, r, m = mpmath.mpf(shift), mpmath.mpf(ratio), mpmath.mpf(mu)

        def curve(i):
            y = mpmath.exp(s) * (1 + i * r)
            z = mpmath.log(y) / m - m / 2
            return (mpmath.erfc(z / mpmath.sqrt(2)) - y * mpmath.erfc((z + m) / mpmath.sqrt(2))) / 2

        for i in (1, 2, 17, 39):
            exact = (curve(i + 1) - 2 * curve(i) + curve(i - 1)) / (mpmath.exp(s) * r)
            allowed = law.relative_error(abs(shift), mu, abs(float((mpmath.log(1 + i * r) + s) / m)) + mu)
            assert abs(float(masses[i] / exact) - 1.0) < allowed < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(("size", "copies"), [(256, 1), (256, 10**6 + 3), (4096, 501)])
def test_the_error_of_the_convolution_is_within_its_bound(size, copies):
    rng = np.random.default_rng(1)
    masses = np.zeros(size)
    masses[:40] = rng.dirichlet(np.ones(40))
    found, bound = convolution.convolved(masses, copies)
    with flint.ctx.workprec(192):
        transform = flint.acb.dft([flint.acb(float(x)) for x in masses])
        exact = flint.acb.dft([z**copies for z in transform], inverse=True)
        error = math.sqrt(
            sum(float((z.real - flint.arb(float(p))) ** 2) for z, p in zip(exact, found, strict=True))
        )
    assert error <= bound <= 1e-9


# Relations that hold whatever the numbers are.


@pytest.mark.slow
@given(st.integers(2, 400), st.floats(0.0, 1.0), st.floats(0.1, 4.0), st.data())
@settings(max_examples=settings.default.max_examples // 5)
def test_orders(n, epsilon, mu, data):
    """Lower below upper; both grow with μ and K as far as they are sharp, and fall with ε."""
    k = data.draw(st.integers(1, n - 1))
    run = WholeRun(n=n, mu=mu, points=k)
    upper, lower = delta_upper(run, epsilon), delta_lower(run, epsilon)
    assert lower > 0.0 or -math.inf < log_lower(sum_of(run, k, epsilon)) < -700.0  # below the doubles
    assert lower <= upper <= min(1.0, k / n * (1 + 1e-9))
    assert upper <= float(gaussian_delta(epsilon, mu)) * (1 + 1e-9)
    assert lower <= delta_upper(WholeRun(n=n, mu=1.01 * mu, points=k), epsilon)
    assert lower <= delta_upper(WholeRun(n=n, mu=mu, points=min(k + 1, n)), epsilon)
    assert delta_lower(run, epsilon + 0.1) <= upper


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "epsilon", "mu"), [(100, 1e-3, 2 / 348.8), (100, 1e-4, 1e-3), (20, 1e-5, 1e-4), (3, 1e-6, 1e-5)]
)
def test_both_bounds_are_sharp_where_the_noise_is_large(n, epsilon, mu):
    """The step is a small part of μ there; it was taken for too coarse, and δ was bounded by that of one step."""
    run = WholeRun(n=n, mu=mu)
    lower, upper = delta_lower(run, epsilon), delta_upper(run, epsilon)
    assert 0.8 * upper < lower <= upper


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 10**4, *(pytest.param(n, marks=pytest.mark.long) for n in (10, 10**8))])
def test_the_range_of_n(n):
    run = WholeRun(n=n, sigma=1.0)
    for epsilon in (0.0, n**-0.5, 1.0, 1000.0):
        upper, lower = delta_upper(run, epsilon), delta_lower(run, epsilon)
        assert 0.0 <= lower <= upper
        assert upper > 0.0


@pytest.mark.slow
def test_the_range_of_the_noise():
    assert 0.0 < delta_upper(WholeRun(n=10**6, sigma=1e4), 1.0) < 1e-300
    assert delta_upper(WholeRun(n=1000, sigma=1e-9), 1.0) == pytest.approx(0.501, rel=1e-6)
    assert delta_lower(WholeRun(n=1000, sigma=1e-9), 1.0) == pytest.approx(0.501, rel=1e-6)


@pytest.mark.slow
def test_epsilon_is_the_inverse_of_delta():
    run = WholeRun(n=50, sigma=2.0)
    upper, lower = epsilon_upper(run, 1e-6), epsilon_lower(run, 1e-6)
    assert delta_upper(run, upper) <= 1e-6 < delta_upper(run, upper * 0.999)
    assert delta_lower(run, lower) > 1e-6 > delta_lower(run, lower * 1.001)
    assert 0.0 < lower < upper
    assert epsilon_upper(run, 0.9) == epsilon_lower(run, 0.9) == 0.0


@pytest.mark.slow
def test_batches_are_runs_on_fewer_points():
    """f points a step at noise σ: n/f points at noise fσ."""
    batches = WholeRun(n=1000, sigma=0.6, points=510, batch_size=10)
    fewer = WholeRun(n=100, sigma=6.0, points=51)
    assert delta_upper(batches, 0.1) == pytest.approx(delta_upper(fewer, 0.1), rel=1e-9)
    assert WholeRun(n=1000, sigma=0.6, batch_size=10).law == ((510, 1.0),)


@pytest.mark.slow
def test_a_law_of_k_is_a_mixture():
    law_of_k = {400: 0.25, 500: 0.5, 1000: 0.25}
    run = WholeRun(n=1000, sigma=2.0, points=law_of_k)
    parts = [delta_upper(WholeRun(n=1000, sigma=2.0, points=k), 0.5) * p for k, p in law_of_k.items()]
    assert delta_upper(run, 0.5) == pytest.approx(sum(parts), rel=1e-12)


@pytest.mark.long
def test_a_law_of_k_with_more_atoms_than_blocks():
    k = np.arange(380, 421)
    weights = stats.binom.pmf(k, 1000, 0.4)
    many = dict(zip(k.tolist(), (weights / weights.sum()).tolist(), strict=True))
    assert len(bounds._blocks(tuple(many.items()), upper=True)) < len(many)
    run = WholeRun(n=1000, sigma=1.4, points=many)
    middle = delta_upper(WholeRun(n=1000, sigma=1.4, points=400), 1.0)
    assert middle <= delta_upper(run, 1.0) <= 1.2 * middle
    assert 0.8 * middle <= delta_lower(run, 1.0) <= middle


@pytest.mark.slow
@pytest.mark.parametrize("nodes", [24, pytest.param(96, marks=pytest.mark.long)])
def test_several_epochs(monkeypatch, nodes):
    """A bound by fewer orders is a bound as well."""
    monkeypatch.setattr(epochs, "_NODES", nodes)
    full = WholeRun(n=1000, sigma=15.0, points=1000, epochs=9)
    exact = float(gaussian_delta(0.1, 3 * 2 / 15.0))  # nine Gaussian steps
    assert exact <= delta_upper(full, 0.1) <= 1.01 * exact
    once, thrice = (WholeRun(n=100, sigma=2.0, epochs=e) for e in (1, 3))
    assert delta_upper(once, 0.3) < delta_lower(thrice, 0.3) < delta_upper(thrice, 0.3)
    assert delta_upper(thrice, 0.3) < 1.0
    # the attained pair of n = 2, K = 1 in three epochs, from 10⁵ samples: 0.012 is eight standard errors
    run = WholeRun(n=2, mu=1.5, points=1, epochs=3)
    rng = np.random.default_rng(3)
    z = rng.normal(size=(10**5, 3)) + 1.5 * (rng.random((10**5, 3)) < 0.5)
    ratio = np.prod(0.5 + 0.5 * np.exp(1.5 * z - 1.125), axis=1)
    sampled = float(np.mean(np.maximum(1.0 - math.exp(0.4) / ratio, 0.0)))
    assert sampled - 0.025 <= delta_lower(run, 0.4) <= sampled + 0.012
    assert delta_upper(run, 0.4) >= sampled - 0.012


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "mu", "epsilon"), [(2, 1.0, 0.1), (9, 3.0, 0.4), (50, 2.0, 0.2), (1000, 0.5, 0.03)]
)
def test_the_output_alone_from_below(n, mu, epsilon):
    """Half-lines are nearly the best sets: against the positive part of the densities' difference, by tails."""
    law_of_it, alpha = output.Average(n, 4.0), math.exp(epsilon)
    x = np.linspace(-law_of_it.reach, law_of_it.reach, 501)
    best = max(
        float(
            np.maximum(-np.diff([law_of_it.tail(t, a) - alpha * law_of_it.tail(t, b) for t in x]), 0.0).sum()
        )
        for a, b in ((mu, 0.0), (mu / 2, -mu / 2), (0.0, -mu))
    )
    run = WholeRun(n=n, mu=mu)
    found = delta_lower(run, epsilon, view=View.OUTPUT)
    assert 0.98 * best <= found <= best * 1.001
    assert found <= delta_upper(run, epsilon)
    assert law_of_it.tail(0.0, 0.0) == pytest.approx(0.5, abs=1e-13)


@pytest.mark.slow
def test_the_noise_of_the_output_has_its_variance():
    """Of n = 9: Σ c_i²/(1 − i/9); and a tail beyond every period is 0 to the stated error."""
    law_of_it = output.Average(9, 4.0)
    variance = sum(((5 - i) / 5) ** 2 / (1 - i / 9) for i in range(1, 5))
    assert law_of_it.spread == pytest.approx(math.sqrt(variance), rel=1e-14)
    x = np.linspace(-40.0, 40.0, 4001)
    tails = np.array([law_of_it.tail(t, 0.0) for t in x])
    second = 2.0 * float(np.sum(x[x >= 0] * tails[x >= 0]) * (x[1] - x[0])) * 2.0
    assert second == pytest.approx(variance, rel=1e-4)
    assert abs(law_of_it.tail(law_of_it.reach, 0.0)) < 1e-12


@pytest.mark.slow
def test_three_views():
    run = WholeRun(n=100, sigma=2.0)
    for view in View:
        assert delta_upper(run, 0.5, view=view) == delta_upper(run, 0.5)
        assert epsilon_upper(run, 1e-3, view=view) == epsilon_upper(run, 1e-3)
    with pytest.raises(InputError, match="is not a view"):
        delta_upper(run, 0.5, view="everything")


@pytest.mark.slow
@pytest.mark.parametrize("view", [pytest.param(View.TRANSCRIPT, marks=pytest.mark.long), View.OUTPUT])
def test_the_lower_bounds_of_less_than_all_that_is_released(view):
    run = WholeRun(n=100, sigma=2.0)
    assert 0.0 < delta_lower(run, 0.1, view=view) < delta_lower(run, 0.1)
    found = epsilon_lower(run, 1e-3, view=view)
    assert delta_lower(run, found, view=view) > 1e-3 > delta_lower(run, found * 1.001, view=view)
    for other in ({"points": 50}, {"batch_size": 2}, {"epochs": 2}, {"n": 10**7}):
        with pytest.raises(InputError, match="has a lower bound for one epoch"):
            delta_lower(WholeRun(**{"n": 100, "sigma": 2.0} | other), 0.5, view=view)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 1}, "n=1 is too small"),
        ({"n": 2.5}, "n=2.5 is not an integer"),
        ({"n": 10**9}, "n=1000000000 is above"),
        ({"sigma": 0.0}, "sigma=0.0 is not positive"),
        ({"sigma": math.nan}, "sigma=nan"),
        ({"sigma": None}, "give one of the two"),
        ({"mu": 1.0}, "give one of the two"),
        ({"sigma": None, "mu": 0.0}, "mu=0.0 is not positive"),
        ({"lipschitz": 0.0}, "lipschitz=0.0"),
        ({"points": 101}, "points=101 is above n=100"),
        ({"points": 0}, "points=0"),
        ({"points": {50: 0.5}}, "sum to 0.5"),
        ({"points": {50: 1.5, 51: -0.5}}, "is no probability"),
        ({"points": {50: math.nan}}, "points[50]=nan"),
        ({"batch_size": 3}, "batch_size=3 does not divide n=100"),
        ({"batch_size": 0}, "batch_size=0"),
        ({"batch_size": 7, "points": 50}, "batch_size=7 does not divide points=50"),
        ({"epochs": 0}, "epochs=0"),
    ],
)
def test_bad_runs(arguments, message):
    with pytest.raises(InputError) as caught:
        WholeRun(**{"n": 100, "sigma": 1.0} | arguments)
    assert message in str(caught.value)


@pytest.mark.parametrize("value", [-0.1, math.nan, math.inf])
def test_bad_orders_and_deltas(value):
    run = WholeRun(n=100, sigma=1.0)
    for function in (delta_upper, delta_lower):
        with pytest.raises(InputError, match="epsilon="):
            function(run, value)
    for function in (epsilon_upper, epsilon_lower):
        with pytest.raises(InputError, match="delta="):
            function(run, value)


@pytest.mark.parametrize("mu", [0.7, 1.5, 3.0])
def test_what_lies_beyond_the_last_point_by_quadrature(mu):
    """With Y = exp(μN − μ²/2) and V = min(Y, T + α) − α, and the moments of V by quadrature."""
    problem = Sum(epsilon=0.1, mu=mu, n=20, points=10)
    last, alpha = 9.0, math.exp(0.1)

    def mean(of):
        edge = (math.log(last + alpha) + mu * mu / 2) / mu
        parts = ((-12.0, edge), (edge, edge + 12.0))
        return sum(
            integrate.quad(
                lambda x: of(math.exp(mu * x - mu * mu / 2)) * stats.norm.pdf(x), *part, limit=200
            )[0]
            for part in parts
        )

    beyond = mean(lambda y: max(y - alpha - last, 0.0))
    first, second = (mean(lambda y, k=k: (min(y, last + alpha) - alpha) ** k) for k in (1, 2))
    spread = math.sqrt(9 * (second - first**2))
    k = (9 * first + last - 10 * math.expm1(0.1)) / spread
    found = functional_bounds._log_excess(problem, last)
    expected = math.log(10 / 20 * beyond * k * k / (1 + k * k))
    assert expected - 0.01 < found < expected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "mu", "epsilon"), [(10, 10.0, 0.0), (10, 10.0, 0.1), (100, 3.0, 0.0), (100, 3.0, 0.5)]
)
def test_the_bound_of_the_average_is_that_of_the_best_of_its_pairs(n, mu, epsilon):
    """Data at either end and about the middle; by events (x, ∞) on a fine grid, without any search."""
    law, alpha = output._average(n, 2.0 ** math.ceil(math.log2(mu))), math.exp(epsilon)
    best = max(
        law.tail(float(x), a) - alpha * law.tail(float(x), b)
        for a, b in ((mu, 0.0), (mu / 2, -mu / 2), (0.0, -mu))
        for x in np.linspace(-law.reach, law.reach, 801)
    )
    assert best - 1e-9 * (1.0 + alpha) <= output.output_lower(n, mu, epsilon) <= best * 1.001


@pytest.mark.parametrize("scale", [1e-12, 0.3])
def test_masses_of_one_in_all_are_not_exact_below_their_rounding(scale):
    orders = np.linspace(0.0, 2.0, 9)
    masses, beyond, inexact = epochs._dominating(orders, scale * np.exp(-orders))
    assert masses.sum() + beyond == pytest.approx(1.0, rel=1e-12)
    assert inexact >= 64.0 * 2.0**-53
