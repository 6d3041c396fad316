"""The Gaussian mechanism (theorem-A.1)."""
