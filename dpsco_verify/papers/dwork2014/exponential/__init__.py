"""The exponential mechanism: its privacy (theorem-3.10) and its utility (theorem-3.11)."""
