"""What several commands say in the same words."""

from __future__ import annotations

FORMATS = ("json", "html", "markdown", "junit", "figures")
"""The report formats, as :data:`dpsco_verify.reporting.FORMAT_NAMES` has them; a test holds the two together."""

EXIT_CODES = """\b
Exit codes: 0 every verdict as expected; 1 at least one is not; 2 wrong usage or
bad input; 3 undecided (a check that had to decide could not within its budget).
"""
