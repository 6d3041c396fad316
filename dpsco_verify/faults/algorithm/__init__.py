"""The ways in which Algorithm 1 gets implemented wrongly, each with the check that catches it."""

from dpsco_verify.faults.algorithm.exhibit import AlgorithmExhibit
from dpsco_verify.faults.algorithm.exhibits import ALGORITHM_EXHIBITS
from dpsco_verify.faults.algorithm.run import PlainRun

__all__ = ["ALGORITHM_EXHIBITS", "AlgorithmExhibit", "PlainRun"]
