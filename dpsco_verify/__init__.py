"""Verification of differentially private stochastic convex optimization."""
