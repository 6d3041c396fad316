"""The numbers that an implementation runs with, beside those that its source prints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dpsco_verify.evidence import Quantity, Verdict
from dpsco_verify.geometry import L2Ball
from dpsco_verify.ledger.statement import Decision
from dpsco_verify.problems import Linear, Loss
from dpsco_verify.related import PrivacyBudget, Task
from dpsco_verify.related.catalogue import SYSTEMS

_ROUNDING = 1e-9


@dataclass(frozen=True)
class Place:
    """Where a calibration is looked at: n, d, ε, δ, and a loss with constant L over the ball of diameter 1."""

    n: int
    dimension: int
    epsilon: float = 1.0
    delta: float = 1e-6
    lipschitz: float = 1.0
    loss: Loss = field(default_factory=Linear)

    @property
    def task(self) -> Task:
        """What a system may know."""
        return Task(self.loss, L2Ball(np.zeros(self.dimension), 0.5), self.lipschitz)

    @property
    def budget(self) -> PrivacyBudget:
        """(ε, δ)."""
        return PrivacyBudget(self.epsilon, self.delta)

    def figures(self, system: str) -> Mapping[str, float]:
        """Return the numbers with which the system runs here, or raise a ConditionError where it does not."""
        return SYSTEMS[system].calibrate(self.task, self.n, self.budget).figures

    def __str__(self) -> str:
        return f"n = {self.n}, d = {self.dimension}, ε = {self.epsilon:g}, L = {self.lipschitz:g}"


@dataclass(frozen=True, kw_only=True)
class Implemented:
    """A number of the implementation's calibration over the one that the source prints, at some point."""

    words: str
    ratio: float


def compare(
    system: str, places: Iterable[Place], ratio: Callable[[Mapping[str, float], Place], float]
) -> tuple[Implemented, ...]:
    """Return at each place the `ratio` of the system's figures to what is printed."""
    return tuple(Implemented(words=str(place), ratio=ratio(place.figures(system), place)) for place in places)


def implementation_evidence(found: Sequence[Implemented]) -> dict[str, Quantity]:
    """Return the smallest and the largest noise of the implementation in units of the printed one, where it runs."""
    if not found:
        return {}
    ratios = [f.ratio for f in found]
    return {
        "least noise of the implementation": Quantity(
            value=min(ratios), unit="of the printed noise", note=f"at {len(found)} points"
        ),
        "most noise of the implementation": Quantity(value=max(ratios), unit="of the printed noise"),
    }


def shortfall(found: Sequence[Implemented]) -> Implemented | None:
    """Return a point at which the implementation adds less noise than is printed, if there is one."""
    return next((f for f in found if f.ratio < 1.0 - _ROUNDING), None)


def with_implementation(
    exact: Decision,
    found: Sequence[Implemented],
    *,
    words: Callable[[float], str] = lambda r: f"the implementation adds {r:.4g} of the printed noise",
) -> Decision:
    """Return the decision with the implementation's evidence; inconclusive where it falls short, as `words` says."""
    evidence = {**exact.evidence, **implementation_evidence(found)}
    short = shortfall(found)
    if short is None:
        return replace(exact, evidence=evidence)
    return Decision(
        verdict=Verdict.INCONCLUSIVE, summary=f"at {short.words} {words(short.ratio)}", evidence=evidence
    )
