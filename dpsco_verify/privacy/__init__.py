"""Privacy curves: the Gaussian mechanism, the paper's single step, and their rigorous enclosures."""

from dpsco_verify.privacy.gaussian import gaussian_delta, log_gaussian_delta
from dpsco_verify.privacy.single_step import NeighbouringStep, inner_epsilon, smallest_sigma

__all__ = ["NeighbouringStep", "gaussian_delta", "inner_epsilon", "log_gaussian_delta", "smallest_sigma"]
