"""The language of events, what is refused of it, and what works without dp_accounting."""

from __future__ import annotations

import builtins
import math

import dp_accounting
import numpy as np
import pytest

from dpsco_verify.auditing.accountants import (
    Composed,
    Gaussian,
    InTurn,
    Laplace,
    PoissonSampled,
    SampledWithoutReplacement,
    audit_accountant,
    from_dp_event,
)
from dpsco_verify.auditing.accountants import audit as audit_module
from dpsco_verify.auditing.accountants.events import steps_of
from dpsco_verify.auditing.accountants.pld import pld_bounds
from dpsco_verify.auditing.pairs import Relation
from dpsco_verify.errors import InputError
from dpsco_verify.privacy.gaussian import gaussian_delta

pytestmark = pytest.mark.slow  # compositions and samples


def test_events_come_down_to_steps():
    assert steps_of(Composed(Gaussian(2.0), 4)) == steps_of(Gaussian(1.0))
    assert steps_of(InTurn((Gaussian(2.0),) * 4)) == steps_of(Gaussian(1.0))
    assert steps_of(PoissonSampled(0.5, Composed(Gaussian(2.0), 4))) == steps_of(
        PoissonSampled(0.5, Gaussian(1.0))
    )
    assert steps_of(PoissonSampled(0.5, PoissonSampled(0.25, Laplace(1.0)))) == steps_of(
        PoissonSampled(0.125, Laplace(1.0))
    )
    assert steps_of(SampledWithoutReplacement(7, 7, Laplace(1.0))) == steps_of(Laplace(1.0))
    mixed = InTurn((Laplace(1.0), Composed(PoissonSampled(0.5, Gaussian(1.0)), 3), Laplace(1.0)))
    assert [step.count for step in steps_of(mixed)] == [2, 3]


def test_different_steps_in_turn():
    """A Gaussian and a Laplace step: above either alone, below the sum of what each may cost."""
    event = InTurn((Gaussian(4.0), Laplace(4.0)))
    audit = audit_accountant(event, lambda e: 1.0, relation="add-remove", epsilons=(0.5,), samples=1000)
    (point,) = audit.points
    alone = float(gaussian_delta(0.5, 0.25))
    basic = float(gaussian_delta(0.25, 0.25))  # the Laplace step costs 1/4 of ε
    assert alone < point.lower <= point.upper < basic
    assert point.upper - point.lower < 1e-2 * point.upper


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Gaussian(0.0), "noise_multiplier=0.0 is not positive"),
        (lambda: Laplace(math.nan), "NaN"),
        (lambda: PoissonSampled(1.5, Gaussian(1.0)), "outside \\(0, 1\\]"),
        (lambda: PoissonSampled(0.5, "Gaussian"), "not an event"),
        (lambda: SampledWithoutReplacement(3, 4, Gaussian(1.0)), "sample_size=4 exceeds size=3"),
        (lambda: Composed(Gaussian(1.0), 0), "count=0 is too small"),
        (lambda: InTurn(()), "no event"),
        (lambda: steps_of(PoissonSampled(0.5, Composed(Laplace(1.0), 2))), "one sample for several steps"),
        (
            lambda: steps_of(SampledWithoutReplacement(4, 2, PoissonSampled(0.5, Gaussian(1.0)))),
            "sample of a sample",
        ),
        (
            lambda: steps_of(PoissonSampled(0.5, SampledWithoutReplacement(4, 2, Gaussian(1.0)))),
            "one way of sampling",
        ),
        (lambda: from_dp_event(dp_accounting.NonPrivateDpEvent()), "has no counterpart here"),
    ],
)
def test_events_that_are_none(make, message):
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"relation": "neighbours"}, "relation='neighbours' is unknown"),
        ({"epsilons": ()}, "give both or neither"),
        ({"epsilons": (-1.0,)}, "epsilon=-1.0 is negative"),
        ({"epsilons": (math.inf,)}, "epsilon=inf is infinite"),
        ({"routes": ("guess",)}, "routes holds 'guess'"),
        ({"routes": ()}, "holds none"),
        ({"event": Composed(Laplace(1.0), 2), "routes": ("exact",)}, "has no closed form"),
        ({"claimed_delta": lambda e: "small"}, "claimed_delta\\(1\\)='small' is not a number"),
        ({"deltas": (0.1,)}, "give both or neither"),
        ({"claimed_epsilon": lambda d: 1.0, "deltas": (1.5,)}, "delta=1.5 is above 1"),
    ],
)
def test_bad_arguments(changes, message):
    arguments = {
        "event": Gaussian(1.0),
        "claimed_delta": lambda e: 1.0,
        "relation": "add-remove",
        "epsilons": (1.0,),
        "routes": ("exact",),
    } | changes
    with pytest.raises(InputError, match=message):
        audit_accountant(arguments.pop("event"), arguments.pop("claimed_delta"), **arguments)


def test_without_dp_accounting(monkeypatch):
    real = builtins.__import__

    def missing(name, *args, **kwargs):
        if name.startswith("dp_accounting"):
            raise ImportError("No module named 'dp_accounting'")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", missing)
    monkeypatch.setattr(audit_module, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'dpsco-verify\[accounting\]'"):
        pld_bounds(steps_of(Gaussian(1.0)), Relation.ADD_REMOVE, np.array([1.0]))
    with pytest.raises(InputError, match=r"pip install 'dpsco-verify\[accounting\]'"):
        from_dp_event(None)
    audit = audit_accountant(Gaussian(1.0), lambda e: 1.0, relation="add-remove", epsilons=(1.0,))
    assert [bounds.route for bounds in audit.points[0].routes] == ["exact", "sampled"]
