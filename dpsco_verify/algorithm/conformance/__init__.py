"""Checks that anyone can run on their own implementation of Algorithm 1: :func:`check_implementation`."""

from dpsco_verify.algorithm.conformance.check import Check, Finding
from dpsco_verify.algorithm.conformance.check_implementation import ConformanceReport, check_implementation
from dpsco_verify.algorithm.conformance.checks import CHECKS
from dpsco_verify.algorithm.conformance.observation import ConformanceError, Implementation, ObservedRun
from dpsco_verify.algorithm.conformance.oracle import Oracle

__all__ = [
    "CHECKS",
    "Check",
    "ConformanceError",
    "ConformanceReport",
    "Finding",
    "Implementation",
    "ObservedRun",
    "Oracle",
    "check_implementation",
]
