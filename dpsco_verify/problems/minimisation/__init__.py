"""Minima of risks over convex sets, between a feasible value and a certified lower bound."""

from __future__ import annotations

from dpsco_verify.problems.minimisation.certified_minimum import CertifiedMinimum
from dpsco_verify.problems.minimisation.finite import minimise_finite, set_key
from dpsco_verify.problems.minimisation.linear import minimise_linear
from dpsco_verify.problems.minimisation.support import Support, support

__all__ = ["CertifiedMinimum", "Support", "minimise_finite", "minimise_linear", "set_key", "support"]
