"""What the comparison knows of each system: its kin, its rates, and the cost of running it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from dpsco_verify.related import Calibration, System, Task

REFERENCES = ("algorithm-1", "empirical-optimum")
"""The systems that a figure shows in every panel: the paper's, and what no privacy would allow."""

FAMILIES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "Noise added once": ("output-perturbation", "objective-perturbation", "objective-perturbation-sharp"),
        "Many passes: noisy SGD for ERM": (
            "noisy-sgd-erm",
            "noisy-sgd-erm-short",
            "noisy-sgd-erm-short-scaled",
        ),
        "Many passes: mini-batches": ("minibatch-sgd", "smoothed-minibatch-sgd", "smoothed-minibatch-sgd-2l"),
        "In phases": ("phased-sgd", "phased-sgd-tight", "phased-erm", "phased-erm-sharp"),
        "One pass, amplified": (
            "iteration-sgd",
            "iteration-sgd-halving",
            "subsampled-one-pass",
            "subsampled-one-pass-scaled",
        ),
        "Algorithm 1's other forms": (
            "algorithm-1-printed",
            "estimator-batches",
            "estimator-passes",
            "private-mirror-descent-p-norm",
            "private-mirror-descent-entropic",
        ),
        "One pass, not private": (
            "mirror-descent-euclidean",
            "mirror-descent-p-norm",
            "mirror-descent-entropic",
        ),
    }
)
"""The other systems, each in one family."""


@dataclass(frozen=True, kw_only=True)
class Rates:
    """The excess risk in units of LD, and the gradient queries."""

    risk: str
    queries: str


_OPTIMAL = "max(1/√n, √d/(nε))"

RATES: Mapping[str, Rates] = {
    "algorithm-1": Rates(risk="(1 + σ√d/L)/√n", queries="n/2"),
    "algorithm-1-printed": Rates(risk=_OPTIMAL, queries="n/2"),
    "estimator-batches": Rates(risk="(1 + σ√d/L)/√T with T ≤ 400", queries="n"),
    "estimator-passes": Rates(risk="1/√T + √d/(nε) on the sample, T = 100", queries="Tn"),
    "output-perturbation": Rates(risk="max(1/√n, d/(nε), d√β/(n^(2/3)ε))", queries="one ERM"),
    "objective-perturbation": Rates(risk="as output perturbation", queries="one ERM"),
    "objective-perturbation-sharp": Rates(risk="as output perturbation", queries="one ERM"),
    "noisy-sgd-erm": Rates(risk="max(d^(1/4)/√n, √d/(nε))", queries="n²"),
    "noisy-sgd-erm-short": Rates(risk="as with n² steps", queries="(nε)²/√d"),
    "noisy-sgd-erm-short-scaled": Rates(risk="as with n² steps", queries="(nε)²/√d"),
    "minibatch-sgd": Rates(risk=_OPTIMAL, queries="min(n^(3/2), n^(5/2)/d)"),
    "smoothed-minibatch-sgd": Rates(
        risk=_OPTIMAL, queries="n⁵; with closed proximal points as without smoothing"
    ),
    "smoothed-minibatch-sgd-2l": Rates(
        risk=_OPTIMAL, queries="n⁵; with closed proximal points as without smoothing"
    ),
    "phased-sgd": Rates(risk=_OPTIMAL, queries="n"),
    "phased-sgd-tight": Rates(risk=_OPTIMAL, queries="n"),
    "phased-erm": Rates(risk=_OPTIMAL, queries="n²"),
    "phased-erm-sharp": Rates(risk=_OPTIMAL, queries="n²"),
    "iteration-sgd": Rates(risk=_OPTIMAL, queries="n"),
    "iteration-sgd-halving": Rates(risk=_OPTIMAL, queries="n"),
    "subsampled-one-pass": Rates(risk="open", queries="n"),
    "subsampled-one-pass-scaled": Rates(risk="open", queries="n"),
    "private-mirror-descent-p-norm": Rates(risk="open", queries="n/2"),
    "private-mirror-descent-entropic": Rates(risk="open", queries="n/2"),
    "mirror-descent-euclidean": Rates(risk="1/√n", queries="n"),
    "mirror-descent-p-norm": Rates(risk="1/√n", queries="n"),
    "mirror-descent-entropic": Rates(risk="1/√n", queries="n"),
    "empirical-optimum": Rates(risk="√(d/n) at most", queries="one ERM"),
}


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Seconds: a step of all runs, a gradient of one run, and a coordinate of one gradient of one run."""

    step: float = 8e-5
    gradient: float = 0.0
    coordinate: float = 2e-8


_NUMPY = Cost()
_COSTS: Mapping[str, Cost] = {
    "algorithm-1": Cost(step=0.0, coordinate=3e-8),
    "algorithm-1-printed": Cost(step=0.0, coordinate=3e-8),
    "output-perturbation": Cost(step=0.0, coordinate=5e-8),
    "objective-perturbation": Cost(step=0.0, coordinate=1.5e-7),
    "objective-perturbation-sharp": Cost(step=0.0, coordinate=1.5e-7),
    "phased-erm": Cost(step=0.0),
    "phased-erm-sharp": Cost(step=0.0),
    "empirical-optimum": Cost(step=0.0, coordinate=1.5e-7),
    "smoothed-minibatch-sgd": Cost(gradient=3e-6),
    "smoothed-minibatch-sgd-2l": Cost(gradient=3e-6),
    "private-mirror-descent-p-norm": Cost(step=5e-4, gradient=1.2e-4),
    "private-mirror-descent-entropic": Cost(step=2.5e-4),
    "mirror-descent-p-norm": Cost(step=5e-4, gradient=1.2e-4),
}
"""Measured on one core of a machine of 2024, rounded; a system that is not named is a loop of numpy over its steps."""


def nominal_seconds(system: System, calibration: Calibration, task: Task, *, runs: int) -> float:
    """Return about how long `runs` runs take on one core."""
    cost = _COSTS.get(system.id, _NUMPY)
    steps = calibration.figures.get("T", calibration.gradient_queries)
    a_gradient = cost.gradient + cost.coordinate * task.dimension
    return steps * cost.step + calibration.gradient_queries * runs * a_gradient
