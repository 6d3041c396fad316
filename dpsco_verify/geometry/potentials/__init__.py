"""Potentials of mirror descent with their conjugates."""

from dpsco_verify.geometry.potentials.euclidean import Euclidean
from dpsco_verify.geometry.potentials.negative_entropy import NegativeEntropy
from dpsco_verify.geometry.potentials.p_norm import PNorm
from dpsco_verify.geometry.potentials.potential import Potential

__all__ = ["Euclidean", "NegativeEntropy", "PNorm", "Potential"]
