"""Algorithm 1 by the way of mirror descent: it holds the two implementations together."""

from __future__ import annotations

from dpsco_verify.related.mirror_descent import EuclideanPotential
from dpsco_verify.related.private_mirror_descent import PrivateMirrorDescent


class PrivateEuclideanMirrorDescent(EuclideanPotential, PrivateMirrorDescent):
    id = "private-mirror-descent-euclidean"
    title = "Algorithm 1 with a mirror step, Euclidean"

    def _fresh_square(self, gradient: float, noise: float) -> float:
        """Return ``G² + N²``: the noise is centred and the norm comes from an inner product."""
        return gradient**2 + noise**2
