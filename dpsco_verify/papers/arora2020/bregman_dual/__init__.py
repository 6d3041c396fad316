"""Section 4, before the regret equation: the divergence of the conjugate against the squared dual norm."""
