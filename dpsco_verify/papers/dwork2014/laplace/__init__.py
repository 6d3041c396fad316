"""The Laplace mechanism: its privacy (theorem-3.6) and its accuracy (theorem-3.8)."""
