"""Theorem 5.3, the privacy part: the whole transcript of Algorithm 1."""
