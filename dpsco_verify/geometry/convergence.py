"""The error of an iteration that does not reach its criterion."""

from __future__ import annotations

from dpsco_verify.errors import InputError


class ConvergenceError(InputError):
    """An iterative method did not meet its stated criterion; no approximate result is handed out."""
