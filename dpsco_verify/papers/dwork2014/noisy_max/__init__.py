"""The largest of noisy counts: Laplace noise (claim-3.9) and exponential noise (theorem-3.13)."""
