"""Theorem 2.1: strong convexity of a potential is smoothness of its conjugate."""
