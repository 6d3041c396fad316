"""Calibrated noise: the figures, the certificate and its checker, and another's accountant."""

from __future__ import annotations

import functools
import math
import time
from dataclasses import replace

import msgspec
import pytest
from dp_accounting import dp_event, privacy_accountant
from dp_accounting.pld import pld_privacy_accountant

from dpsco_verify.errors import InputError
from dpsco_verify.evidence import checker
from dpsco_verify.evidence.checker import Rejected
from dpsco_verify.privacy.gaussian import gaussian_delta
from dpsco_verify.privacy.whole_run import WholeRun, calibrate, calibration, delta_lower, delta_upper, epochs

RIGHT = calibration.sum_of


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "epsilon", "at_most"),
    [
        (1000, 1.0, 1.36),
        pytest.param(10**4, 1.0, 1.085, marks=pytest.mark.long),
        pytest.param(1000, 1000**-0.5, 5.6, marks=pytest.mark.long),
        pytest.param(10**4, 0.04, 2.06, marks=pytest.mark.long),
    ],
)
def test_the_figures(n, epsilon, at_most):
    """Theorem 5.3 needs 61.8, 61.8, 954 and 239 L; the attained run alone needs 1.354, 1.079, 5.02 and 1.81.

    δ is what the certificate shows.
    """
    found = calibrate(n=n, epsilon=epsilon, delta=1e-6, lipschitz=3.0)
    assert found.sigma_over_lipschitz <= at_most
    assert found.sigma == pytest.approx(3.0 * found.sigma_over_lipschitz, rel=1e-15)
    assert found.delta_lower <= found.delta_upper <= 1e-6
    assert found.delta_upper >= 0.9999e-6
    shown = float(found.certificate.right)
    assert shown <= found.delta_upper <= shown * (1 + 1e-5)
    if epsilon == 1.0:
        assert found.delta_lower >= 0.9e-6
    attained = WholeRun(n=n, sigma=found.sigma_over_lipschitz / (1.005 if epsilon == 1.0 else 1.06))
    assert delta_lower(attained, epsilon) > 1e-6
    kinds = checker.Kinds()
    assert kinds.check(kinds.decode(msgspec.json.encode(found.certificate))).inequality.startswith(
        "delta > bound"
    )


@pytest.mark.slow
def test_batches_and_a_full_pass():
    one = calibrate(n=1000, epsilon=0.5, delta=1e-5)
    batches = calibrate(n=1000, epsilon=0.5, delta=1e-5, batch_size=10)
    assert batches.certificate is not None
    assert 10 * batches.sigma > one.sigma > batches.sigma
    full = calibrate(n=100, epsilon=0.5, delta=1e-3, points=100)
    assert full.certificate is None
    assert float(gaussian_delta(0.5, 2 / full.sigma)) == pytest.approx(1e-3, rel=1e-4)


@pytest.mark.slow
def test_large_batches():
    # The search began at σ = L, where δ is far below what any grid can sum: it took that for a δ too large, and
    # ended at an infinite σ.
    found = calibrate(n=50_000, epsilon=1.0, delta=1e-6, points=49_900, batch_size=100)
    assert found.certificate is not None
    assert 0.8e-6 < found.delta_lower <= found.delta_upper <= 1e-6


@pytest.mark.long
@pytest.mark.parametrize("nodes", [12, 96])
def test_epochs(monkeypatch, nodes):
    """A bound by fewer orders is a bound as well."""
    monkeypatch.setattr(epochs, "_NODES", nodes)
    twice = calibrate(n=100, epsilon=0.5, delta=1e-3, epochs=2)
    assert twice.certificate is None
    assert twice.delta_lower < twice.delta_upper <= 1e-3
    assert twice.sigma > calibrate(n=100, epsilon=0.5, delta=1e-3).sigma


@pytest.mark.slow
@pytest.mark.parametrize(
    "delta", [0.05, *(pytest.param(delta, marks=pytest.mark.long) for delta in (1e-12, 1e-60, 1e-230))]
)
def test_other_deltas(delta):
    found = calibrate(n=50, epsilon=2.0, delta=delta)
    assert found.delta_upper <= delta
    assert found.delta_upper >= 0.2 * delta or delta < 1e-200  # far out the checker's grid is not as good
    assert (found.certificate is None) == (delta < 1e-200)


@pytest.mark.slow
@pytest.mark.parametrize(
    "wrong",
    [
        lambda run, points, epsilon: replace(RIGHT(run, points, epsilon), mu=run.distance / 2),
        pytest.param(lambda run, points, epsilon: RIGHT(run, points - 1, epsilon), marks=pytest.mark.long),
    ],
    ids=["half the distance", "one point fewer"],
)
def test_a_wrong_accountant_has_no_certificate(monkeypatch, wrong):
    """The checker convolves itself and does not accept."""
    monkeypatch.setattr(calibration, "sum_of", wrong)
    assert calibrate(n=40, epsilon=0.5, delta=1e-4).certificate is None


@functools.cache
def certificate():
    return calibrate(n=40, epsilon=0.5, delta=1e-4).certificate


def witness(**changes):
    return msgspec.structs.replace(certificate().witness, **changes)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"delta": "99/1000000"}, "inequality is false"),
        ({"points": 22}, "inequality is false"),
        ({"n": 39}, "inequality is false"),
        ({"epsilon": "49/100"}, "inequality is false"),
        ({"n": 21, "points": 21}, "not below n"),
        ({"batch_size": 2}, "does not divide points"),
        ({"delta": "0"}, "outside"),
        ({"delta": "1"}, "outside"),
        ({"mu": "20"}, "mu/batch_size is outside"),
        ({"mu": "0"}, "mu/batch_size is outside"),
        ({"mu": "1/1000000001"}, "mu/batch_size is outside"),
        ({"epsilon": "-1"}, "epsilon is outside"),
        ({"epsilon": "1000"}, "epsilon is outside"),
        ({"theta": "0"}, "is outside"),
        ({"theta": "1000000"}, "is outside"),
        ({"step": "0"}, "is outside"),
        ({"size": 5000}, "no power of two"),
        ({"reach": 4097}, "above size"),
        ({"reach": 1}, "ends before"),
        ({"step": "1/100000000000000"}, "is outside|too small|ends before"),
    ],
)
def test_witnesses_that_are_none_are_refused_at_once(changes, reason):
    started = time.process_time()
    with pytest.raises(Rejected, match=reason) as caught:
        checker.issue("own:whole-run", "replace-one", witness(**changes))
    assert "\n" not in str(caught.value)
    assert time.process_time() - started < 30  # a bound on the work, not a benchmark


@pytest.mark.parametrize(
    "changes",
    [
        {"size": 2**40},
        {"size": 2**19},
        {"above": 10**9},
        {"below": 0},
        {"n": 0},
        {"points": 10**15},
        {"epochs": 2},
        {"relation": "zero-out"},
        {"mu": "1e9"},
        {"step": "1/0"},
    ],
)
def test_certificates_out_of_bounds_do_not_decode(changes):
    tree = msgspec.to_builtins(certificate())
    tree["witness"] |= changes
    with pytest.raises(Rejected, match="not a valid certificate"):
        checker.Kinds().decode(msgspec.json.encode(tree))


@pytest.mark.slow
def test_less_delta_is_certified_with_more_noise():
    assert checker.issue("own:whole-run", "replace-one", witness(mu="1/3"))
    with pytest.raises(Rejected, match="reading"):
        checker.issue("own:whole-run", "zero-out", witness())


@pytest.mark.long
@pytest.mark.parametrize("n", [1000, 10**4])
def test_poisson_sampling_needs_half_the_noise(n):
    """As many steps at the rate 1/n, by dp-accounting: its point stands beside the others and moves the mean by L.

    Here it stands in the place of another one, whose gradient may be opposite, and moves it by 2L.
    """
    sigma = calibrate(n=n, epsilon=1.0, delta=1e-6).sigma_over_lipschitz

    def poisson(noise):
        accountant = pld_privacy_accountant.PLDAccountant(
            privacy_accountant.NeighboringRelation.ADD_OR_REMOVE_ONE
        )
        step = dp_event.PoissonSampledDpEvent(1 / n, dp_event.GaussianDpEvent(noise))
        accountant.compose(dp_event.SelfComposedDpEvent(step, n // 2 + 1))
        return accountant.get_delta(1.0)

    assert poisson(sigma / 2 * 0.98) > 1e-6 > poisson(sigma / 2 * 1.02)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"epsilon": 0.0}, "epsilon=0.0 is not positive"),
        ({"epsilon": -1.0}, "epsilon=-1.0"),
        ({"epsilon": math.nan}, "epsilon=nan"),
        ({"delta": 0.0}, "delta=0.0"),
        ({"delta": 1.0}, "delta=1.0"),
        ({"delta": math.nan}, "delta=nan"),
        ({"delta": 0.6}, "needs no noise"),
        ({"n": 1}, "n=1"),
        ({"lipschitz": 0.0}, "lipschitz=0.0"),
        ({"points": 101}, "points=101 is above n=100"),
        ({"batch_size": 3}, "does not divide n=100"),
        ({"epochs": 0}, "epochs=0"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(InputError) as caught:
        calibrate(**{"n": 100, "epsilon": 1.0, "delta": 1e-6} | arguments)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_the_bound_on_the_checkers_grid_is_hardly_worse():
    found = calibrate(n=10**5, epsilon=1.0, delta=1e-6)
    assert 0.98 * found.delta_upper <= delta_upper(found.run, 1.0) <= found.delta_upper
    assert found.delta_upper >= 0.9999e-6


@pytest.mark.long
def test_the_bound_is_at_most_what_the_certificate_shows():
    """At n = 1000 and ε = 0.1 the fine grid alone is 0.06 % above."""
    noise = calibrate(n=1000, epsilon=0.1, delta=1e-6)
    assert delta_upper(WholeRun(n=1000, sigma=noise.sigma), 0.1) <= noise.delta_upper <= 1e-6
