"""Composition: the sums (theorem-3.16), the advanced bound (theorem-3.20), its corollary and its example."""
