"""diffprivlib's mechanisms as mechanisms, against the real package, beside a scikit-learn that it does not import with.

Seeded by their `random_state`, so that the suite is reproducible. Each audit has a level of 1e-9 for a false alarm; the
excess of the violated ones is 12 standard errors or more, where 6.5 are needed.
"""

from __future__ import annotations

import importlib
import sys

import numpy as np
import pytest

from dpsco_verify.adapters import diffprivlib_claim, diffprivlib_mechanisms, from_diffprivlib
from dpsco_verify.auditing import AuditVerdict, audit
from dpsco_verify.errors import InputError
from dpsco_verify.privacy.claims import ApproximateDP, PureDP

pytestmark = pytest.mark.slow  # audits of another package

ALPHA = 1e-9
mechanisms = diffprivlib_mechanisms()

CASES = {
    "laplace": (mechanisms.Laplace, {"epsilon": 1.0, "sensitivity": 1.0}, 0.0, 1.0),
    "truncated": (
        mechanisms.LaplaceTruncated,
        {"epsilon": 1.0, "sensitivity": 1.0, "lower": 0.0, "upper": 1.0},
        0.0,
        1.0,
    ),
    "gaussian": (mechanisms.Gaussian, {"epsilon": 0.9, "delta": 0.05, "sensitivity": 1.0}, 0.0, 1.0),
    "analytic": (mechanisms.GaussianAnalytic, {"epsilon": 1.0, "delta": 0.05, "sensitivity": 1.0}, 0.0, 1.0),
    "geometric": (mechanisms.Geometric, {"epsilon": 1.0, "sensitivity": 1}, 0, 1),
    "binary": (mechanisms.Binary, {"epsilon": 1.0, "value0": "no", "value1": "yes"}, "no", "yes"),
    "staircase": (mechanisms.Staircase, {"epsilon": 1.0, "sensitivity": 1.0}, 0.0, 1.0),
}


def case(name):
    kind, arguments, d, d_prime = CASES[name]
    return kind(**arguments, random_state=11), d, d_prime


@pytest.mark.parametrize("name", list(CASES))
def test_a_correct_mechanism_is_not_violated(name):
    mechanism, d, d_prime = case(name)
    result = audit(
        from_diffprivlib(mechanism),
        d,
        d_prime,
        claim=diffprivlib_claim(mechanism),
        samples=4_000,
        alpha=ALPHA,
    )
    assert result.verdict is AuditVerdict.NOT_VIOLATED
    assert not result.reproducible
    assert result.mechanism == f"diffprivlib {type(mechanism).__name__}"


@pytest.mark.parametrize("name", ["laplace", "geometric", "binary"])
def test_half_the_claim_is_violated(name):
    mechanism, d, d_prime = case(name)
    result = audit(from_diffprivlib(mechanism), d, d_prime, epsilon=0.5, samples=8_000, alpha=ALPHA)
    assert result.verdict is AuditVerdict.VIOLATED


def test_a_sensitivity_that_is_too_small_is_violated():
    mechanism, *_ = case("laplace")
    result = audit(
        from_diffprivlib(mechanism), 0.0, 2.0, claim=diffprivlib_claim(mechanism), samples=8_000, alpha=ALPHA
    )
    assert result.verdict is AuditVerdict.VIOLATED


def test_the_doubles_of_its_laplace_noise_give_the_data_away():
    """A finding: around 0 its outputs are finer than any that a value of 1 can have. Whole numbers do not leak so."""
    laplace, d, d_prime = case("laplace")
    arguments = {
        "claim": diffprivlib_claim(laplace),
        "samples": 4_000,
        "alpha": ALPHA,
        "floating_point": True,
    }
    result = audit(from_diffprivlib(laplace), d, d_prime, **arguments)
    assert result.verdict is AuditVerdict.VIOLATED
    assert "lowest bit" in result.witness.event
    geometric, d, d_prime = case("geometric")
    result = audit(from_diffprivlib(geometric), d, d_prime, **arguments)
    assert result.verdict is AuditVerdict.NOT_VIOLATED


def test_claims():
    assert diffprivlib_claim(case("laplace")[0]) == PureDP(1.0)
    assert diffprivlib_claim(case("gaussian")[0]) == ApproximateDP(0.9, 0.05)


def test_outputs_are_its_own():
    mechanism = mechanisms.Laplace(epsilon=1.0, sensitivity=1.0, random_state=3)
    twin = mechanisms.Laplace(epsilon=1.0, sensitivity=1.0, random_state=3)
    outputs = from_diffprivlib(mechanism)(5.0, 4, np.random.default_rng(0))
    assert outputs == [twin.randomise(5.0) for _ in range(4)]


# --- the import -----------------------------------------------------------------------------------------------------


@pytest.fixture
def fresh_import():
    """Import diffprivlib anew within the test, and put back what was there."""
    kept = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "diffprivlib"}
    for name in kept:
        del sys.modules[name]
    yield
    for name in [name for name in sys.modules if name.split(".")[0] == "diffprivlib"]:
        del sys.modules[name]
    sys.modules.update(kept)


@pytest.mark.usefixtures("fresh_import")
def test_the_rest_of_diffprivlib_does_not_import_and_the_mechanisms_do():
    """The trap itself: when this fails because diffprivlib imports again, the detour can go."""
    with pytest.raises(ImportError, match="sklearn"):
        importlib.import_module("diffprivlib")
    found = diffprivlib_mechanisms()
    assert found.Laplace(epsilon=1.0, sensitivity=1.0).epsilon == 1.0
    assert diffprivlib_mechanisms() is found


@pytest.mark.usefixtures("fresh_import")
def test_without_diffprivlib(monkeypatch):
    def missing(name, *args):
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(importlib, "import_module", missing)
    for call in (diffprivlib_mechanisms, lambda: from_diffprivlib(None), lambda: diffprivlib_claim(None)):
        with pytest.raises(InputError, match=r"pip install 'dpsco-verify\[diffprivlib\]'"):
            call()


def test_what_is_no_mechanism():
    for call in (from_diffprivlib, diffprivlib_claim):
        with pytest.raises(InputError, match="mechanism of type function is not a diffprivlib mechanism"):
            call(lambda x: x)
