"""The systems by their kin: what stands together in a panel of a figure."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

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
