"""What each system's noise promises at every ε at once, of which (ε, δ) is one point.

Whoever claims (8, 1e-6) claims nothing that 500 fits can refute: an event that does is 2,981 times rarer on the
neighbour. But the noise was calibrated by its exact law, or by a bound on the whole curve δ(ε), and on the rest of
that curve events are frequent. A system with too little noise breaks it there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import dp_accounting
import numpy as np
from dp_accounting import pld

from benchmarks.quality.fitters import DELTA, poisson_sampling
from dpsco_verify.estimators import noise
from dpsco_verify.privacy.claims import GaussianDP, PrivacyClaim, PrivacyCurve, PureDP
from dpsco_verify.privacy.whole_run import WholeRun, calibrate, delta_upper
from dpsco_verify.related import PrivacyBudget
from dpsco_verify.related.catalogue import SYSTEMS

_PARAMETERS = 2
"""Of the audited models: a coefficient and the intercept."""
_ORDERS = 12
"""At which a curve is computed, from 0 to its ε."""

Curve = Callable[[float, int], PrivacyClaim]
"""From ε and n to what is claimed."""


def _curve(delta: Callable[[float], float], epsilon: float) -> PrivacyCurve:
    return PrivacyCurve(
        delta, orders=np.linspace(0.0, epsilon, _ORDERS), label=f"its curve to ε = {epsilon:g}"
    )


def _in_random_order(run: WholeRun, epsilon: float) -> PrivacyCurve:
    return _curve(lambda order: float(delta_upper(run, order)), epsilon)


def _estimator(**given: Any) -> Curve:
    def claim(epsilon: float, n: int) -> PrivacyClaim:
        asked = {"batch_size": "auto", "epochs": "auto", **given}
        plan = noise.plan(n=n, parameters=_PARAMETERS, epsilon=epsilon, delta=DELTA, **asked)
        if plan.theorem == noise.GAUSSIAN:
            return GaussianDP(noise.gaussian_distance(epsilon, DELTA))
        run = WholeRun(n=n, sigma=plan.ratio, points=plan.points, batch_size=plan.batch_size)
        return _in_random_order(run, epsilon)

    return claim


def _algorithm_1(epsilon: float, n: int) -> PrivacyClaim:
    found = calibrate(n=n, epsilon=epsilon, delta=DELTA, certify=False)
    return _in_random_order(WholeRun(n=n, sigma=found.sigma_over_lipschitz), epsilon)


def _dp_sgd(relation: str) -> Curve:
    def claim(epsilon: float, n: int) -> PrivacyClaim:  # noqa: ARG001  sampling hides n
        accountant = pld.PLDAccountant(dp_accounting.NeighboringRelation[relation])
        accountant.compose(poisson_sampling(epsilon, relation))
        return _curve(lambda order: float(accountant.get_delta(order)), epsilon)

    return claim


def _related(name: str) -> Curve:
    def claim(epsilon: float, n: int) -> PrivacyClaim:  # noqa: ARG001  the same
        found = SYSTEMS[name].guarantee.claim(PrivacyBudget(epsilon, DELTA))
        assert found is not None  # noqa: S101  of a private system
        return found

    return claim


CURVES: Mapping[str, Curve] = {
    "estimator": _estimator(),
    "its one pass": _estimator(epochs=1),
    "its full passes": _estimator(epochs=100),
    "one by one": _estimator(batch_size=1, epochs=1),
    "Algorithm 1": _algorithm_1,
    "DP-SGD": _dp_sgd("REPLACE_ONE"),
    "DP-SGD, add-remove": _dp_sgd("ADD_OR_REMOVE_ONE"),
    "objective perturbation": _related("objective-perturbation-sharp"),
    "output perturbation": _related("output-perturbation"),
    "phased SGD": _related("phased-sgd-tight"),
    "diffprivlib": lambda epsilon, n: PureDP(epsilon),  # noqa: ARG005  the same
}
"""By the names of :data:`~benchmarks.quality.fitters.FITTERS`; with δ = 0 the curve is its only point."""
