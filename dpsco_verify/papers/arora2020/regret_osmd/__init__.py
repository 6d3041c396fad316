"""Theorem 4.2: the regret of online stochastic mirror descent."""
