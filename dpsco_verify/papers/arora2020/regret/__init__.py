"""Corollary 4.3: the regret over τ iterations."""
