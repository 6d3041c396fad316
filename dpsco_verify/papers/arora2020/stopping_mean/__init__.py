"""Theorem 4.1 (``thm:bins_and_balls``), its second half: the mean of the stopping time is ``O(n)``."""
