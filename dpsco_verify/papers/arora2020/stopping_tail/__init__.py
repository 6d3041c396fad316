"""Theorem 4.1: the tail of the stopping time."""
