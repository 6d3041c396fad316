"""The failure that the property checks raise."""

from __future__ import annotations


class PropertyViolation(AssertionError):  # noqa: N818  it is the failure of an assertion, not an error of the program
    """A set or a potential lacks a property that its mathematics demands."""


def require(name: str, subject: object, *, excess: float, allowed: float) -> None:
    """Raise unless ``excess <= allowed``; NaN fails."""
    if not excess <= allowed:
        raise PropertyViolation(
            f"{name} fails for {subject!r}: off by {excess!r}, rounding explains {allowed!r}"
        )
