"""Theorem 5.1: the privacy of a fixed number of iterations."""
