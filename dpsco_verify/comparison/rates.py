"""The rates of risk and of gradient queries, constants aside, by the paper's Section 3 or a system's own source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


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
