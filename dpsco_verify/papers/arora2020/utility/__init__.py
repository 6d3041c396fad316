"""Theorem 4.4: the utility guarantee."""
