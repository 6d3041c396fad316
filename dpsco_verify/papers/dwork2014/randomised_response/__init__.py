"""Randomised response with two coins (claim-3.5)."""
