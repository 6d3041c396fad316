"""The systems of :mod:`dpsco_verify.related` as optimisers, with the claims of their sources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.comparison.systems import nominal_seconds
from dpsco_verify.errors import InputError
from dpsco_verify.geometry import ConvexSet
from dpsco_verify.guarantees.optimiser.bank import BANK
from dpsco_verify.guarantees.optimiser.check import check_optimiser
from dpsco_verify.guarantees.optimiser.fits import TOGETHER
from dpsco_verify.guarantees.optimiser.report import OptimiserReport
from dpsco_verify.problems import Loss
from dpsco_verify.related import PrivacyBudget, System, Task
from dpsco_verify.related.catalogue import SYSTEMS
from dpsco_verify.related.conditions import ConditionError

_MOST_SECONDS = 3.0
"""Nominal seconds that a call may cost; a dearer one is refused."""

_IN_ORDER = ("phased", "subsampled-one-pass", "iteration-sgd", "mirror-descent-", "minibatch", "smoothed")
"""Systems that read the data in the order in which they come, as their sources allow them to."""

_WHERE: Mapping[str, Mapping[str, Any]] = {
    # 16 log(6/δ) ≤ n ≤ 16 log(3/δ)/ε² leaves no n at ε = 1, and its noise few n whose bound is below LD.
    "algorithm-1-printed": {"epsilon": 0.05, "delta": 0.01, "sizes": (30_000,), "audit_at": (0.5, 0.01)},
    # At ε = 1 its bound is above LD at these sizes.
    "private-mirror-descent-p-norm": {"epsilon": 8.0},
}
"""Where a system's claims say something, if not at the default place."""


class SystemFit:
    """A system as ``fit(data, L, D, epsilon, delta, rng, loss=, convex_set=)``, for many data sets at once."""

    def __init__(self, system: System) -> None:
        self._system = system
        self.__name__ = system.id

    def __call__(
        self,
        data: FloatArray,
        L: float,
        D: float,  # noqa: ARG002  that of the set
        epsilon: float,
        delta: float,
        rng: np.random.Generator,
        *,
        loss: Loss,
        convex_set: ConvexSet,
    ) -> FloatArray:
        """Return the solutions, shapes (R, n, k) to (R, d)."""
        task, budget = Task(loss, convex_set, _radius(loss, L)), PrivacyBudget(epsilon, delta)
        # Of so many runs whatever is asked for, so that an instance is refused at once or never.
        wanted = nominal_seconds(
            self._system, self._system.calibrate(task, data.shape[1], budget), task, runs=TOGETHER
        )
        if wanted > _MOST_SECONDS:
            raise InputError(
                f"n={data.shape[1]}: {TOGETHER} runs would take about {wanted:.2g} s; give fewer points"
            )
        return self._system.fit(data, task=task, budget=budget, rng=rng).solution


def check_system(system: str, **options: Any) -> OptimiserReport:
    """Hold a system of the catalogue to its source's claims; `options` are those of :func:`check_optimiser`.

    It is checked where its claims say something: two of the systems not at the default ε, δ and sizes.

    Raises
    ------
    InputError
        For an unknown system, and as :func:`check_optimiser`.
    """
    if system not in SYSTEMS:
        raise InputError(f"system={system!r} is unknown; give one of {', '.join(SYSTEMS)}")
    chosen = SYSTEMS[system]

    def risk(n: int, d: int, L: float, D: float, epsilon: float, delta: float, *, problem: str) -> float:  # noqa: ARG001  a claim's signature
        task = Task.of(BANK[problem].population, BANK[problem].convex_set)
        try:
            bound = chosen.risk_bound(task, n, PrivacyBudget(epsilon, delta))
        except ConditionError:
            # Where its conditions are not met it claims nothing, and refuses the data.
            bound = None
        return L * D if bound is None else bound

    def privacy(n: int, d: int, L: float, D: float, epsilon: float, delta: float) -> Any:  # noqa: ARG001  the same
        return chosen.guarantee.claim(PrivacyBudget(epsilon, delta))

    states_no_bound = type(chosen)._risk_bound is System._risk_bound  # noqa: SLF001  whether it is the default
    claims: dict[str, Any] = {
        "risk": None if states_no_bound else risk,
        "privacy": privacy if chosen.is_private else False,
        "invariances": () if any(part in system for part in _IN_ORDER) else ("permutation",),
        "deterministic_given_seed": chosen.is_private,
        "batched": True,
        "name": system,
    }
    return check_optimiser(SystemFit(chosen), **(claims | dict(_WHERE.get(system, {})) | options))


def _radius(loss: Loss, L: float) -> float:
    """Return the largest norm of features for which the loss is L-Lipschitz."""
    unit = loss.lipschitz(1.0)
    return 1.0 if loss.lipschitz(0.0) > 0.0 or unit == 0.0 else L / unit
