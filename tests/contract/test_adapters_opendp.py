"""OpenDP's measurements as mechanisms, against the real package.

They draw from the operating system, so the audits are random: each has a level of 1e-9 for a false alarm. The excess of
the violated ones is 15 standard errors or more, where 6.5 are needed: they are missed with a chance below 1e-9. Claims
that are curves are looked at at orders of which samples this few can say something, so that none is undecided.
"""

from __future__ import annotations

import importlib
import math

import numpy as np
import opendp.prelude as dp
import pytest

from dpsco_verify.adapters import from_opendp, opendp_claim
from dpsco_verify.auditing import AuditVerdict, audit
from dpsco_verify.errors import InputError
from dpsco_verify.privacy.claims import ApproximateDP, GaussianDP, PrivacyCurve, PureDP, ZeroConcentratedDP

pytestmark = pytest.mark.slow  # audits of another package

ALPHA = 1e-9


@pytest.fixture(autouse=True, scope="module")
def _features():
    dp.enable_features("contrib", "honest-but-curious")


def scalars(kind=float):
    domain = dp.atom_domain(T=float, nan=False) if kind is float else dp.atom_domain(T=kind)
    return domain, dp.absolute_distance(T=kind)


def laplace(scale=1.0, kind=float):
    return dp.m.make_laplace(*scalars(kind), scale=scale)


def gaussian(scale=1.0):
    return dp.m.make_gaussian(*scalars(), scale=scale)


def renyi_gaussian(scale=1.0):
    """A measurement in Python; no composition of it is needed to be correct, only its map."""
    return dp.m.make_user_measurement(
        *scalars(),
        dp.renyi_divergence(),
        lambda x: x,
        lambda d_in: lambda alpha: alpha * (d_in / scale) ** 2 / 2.0,
        TO=float,
    )


# --- as mechanisms --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("floating_point", [pytest.param(False, marks=pytest.mark.long), True])
@pytest.mark.parametrize("make", [laplace, pytest.param(gaussian, marks=pytest.mark.long)])
def test_a_correct_measurement_is_not_violated(make, floating_point):
    """Also where the floating-point events count: OpenDP's noise lies on a grid that the data do not move."""
    measurement = make()
    result = audit(
        from_opendp(measurement),
        0.0,
        1.0,
        claim=PrivacyCurve(opendp_claim(measurement, 1.0).delta, orders=(0.5, 1.0)),
        samples=2_000,
        alpha=ALPHA,
        floating_point=floating_point,
    )
    assert result.verdict is AuditVerdict.NOT_VIOLATED
    assert not result.reproducible
    assert not result.notes
    assert "OpenDP measurement" in result.mechanism


@pytest.mark.parametrize("kind", [pytest.param(float, marks=pytest.mark.long), int])
def test_a_wrong_claim_is_violated(kind):
    measurement = laplace(1.0, kind)
    result = audit(
        from_opendp(measurement),
        kind(0),
        kind(2),
        claim=opendp_claim(measurement, kind(1)),
        samples=4_000,
        alpha=ALPHA,
    )
    assert result.verdict is AuditVerdict.VIOLATED
    assert result.epsilon_lower > 1.0


@pytest.mark.long
def test_half_the_claim_is_violated():
    measurement = laplace()
    half = PureDP(0.5 * opendp_claim(measurement, 1.0).epsilon)
    result = audit(from_opendp(measurement), 0.0, 1.0, claim=half, samples=9_000, alpha=ALPHA)
    assert result.verdict is AuditVerdict.VIOLATED


def test_a_vector_measurement_and_a_data_set_that_is_a_table():
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=3), dp.l1_distance(T=float)
    measurement = dp.m.make_laplace(*space, scale=1.0)
    outputs = from_opendp(measurement)([1.0, 2.0, 3.0], 100, np.random.default_rng(0))
    assert np.asarray(outputs).shape == (100, 3)
    result = audit(
        from_opendp(measurement),
        [0.0, 0.0, 0.0],
        [0.5, 0.5, 0.0],
        claim=opendp_claim(measurement, 1.0),
        samples=1_000,
        alpha=ALPHA,
    )
    assert result.verdict is AuditVerdict.NOT_VIOLATED


@pytest.mark.parametrize("size", [1, 63, 64, 65, 200])
def test_as_many_outputs_as_wanted(size):
    outputs = from_opendp(laplace())(0.0, size, np.random.default_rng(0))
    assert len(outputs) == size
    assert len(set(outputs)) == size


def test_what_opendp_cannot_compose_runs_one_by_one():
    measurement = dp.c.make_zCDP_to_approxDP(gaussian())
    mechanism = from_opendp(measurement)
    assert mechanism._many is None
    assert len(set(mechanism(0.0, 10, np.random.default_rng(0)))) == 10


def test_randomised_response():
    measurement = dp.m.make_randomized_response_bool(0.75)
    result = audit(
        from_opendp(measurement),
        d=True,
        d_prime=False,
        claim=opendp_claim(measurement, 1),
        samples=2_000,
        alpha=ALPHA,
    )
    assert result.verdict is AuditVerdict.NOT_VIOLATED


# --- as claims ------------------------------------------------------------------------------------------------------


def test_claims_by_output_measure():
    assert opendp_claim(laplace(2.0), 3.0) == PureDP(1.5)
    assert opendp_claim(gaussian(), 1.0) == ZeroConcentratedDP(0.5)
    fixed = dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(gaussian()), 1e-6)
    epsilon, delta = fixed.map(1.0)
    assert opendp_claim(fixed, 1.0) == ApproximateDP(epsilon, delta)


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.0, 3.0])
def test_a_privacy_profile_is_the_profile(epsilon):
    measurement = dp.c.make_zCDP_to_approxDP(gaussian())
    claim = opendp_claim(measurement, 1.0)
    assert claim.delta(epsilon) == measurement.map(1.0).delta(epsilon)
    assert claim.delta(epsilon) >= GaussianDP(1.0).delta(epsilon)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_a_renyi_map_bounds_the_gaussian_s_curve(epsilon):
    claimed = opendp_claim(renyi_gaussian(), 1.0).delta(epsilon)
    assert GaussianDP(1.0).delta(epsilon) <= claimed < 20.0 * GaussianDP(1.0).delta(epsilon)


def test_approximate_zcdp_adds_its_delta():
    measurement = dp.m.make_user_measurement(
        *scalars(),
        dp.approximate(dp.zero_concentrated_divergence()),
        lambda x: x,
        lambda d_in: (0.5 * d_in**2, 0.01),
        TO=float,
    )
    claim = opendp_claim(measurement, 1.0)
    assert claim.delta(1.0) == pytest.approx(ZeroConcentratedDP(0.5).delta(1.0) + 0.01)
    assert "0.01-approximate" in str(claim)


def test_measures_and_distances_without_a_claim():
    odd = dp.m.make_user_measurement(
        *scalars(), dp.user_divergence("taste"), lambda x: x, lambda d_in: d_in, TO=float
    )
    with pytest.raises(InputError, match="has no privacy claim here"):
        opendp_claim(odd, 1.0)
    with pytest.raises(InputError, match="d_in=-1.0 is refused"):
        opendp_claim(laplace(), -1.0)
    with pytest.raises(InputError, match="claims nothing at this distance"):
        opendp_claim(laplace(0.0), 1.0)
    assert math.isinf(laplace(0.0).map(1.0))


def test_what_is_no_measurement():
    for call in (from_opendp, lambda m: opendp_claim(m, 1.0)):
        with pytest.raises(InputError, match="measurement of type function is not an OpenDP measurement"):
            call(lambda x: x)


def test_without_opendp(monkeypatch):
    def missing(name, *args):
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(InputError, match=r"pip install 'dpsco-verify\[opendp\]'"):
        from_opendp(laplace())
