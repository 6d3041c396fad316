"""Theorem 5.3, the risk part."""
