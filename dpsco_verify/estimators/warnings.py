"""What an estimator warns of: what the guarantee does not cover, and noise that hides everything."""

from __future__ import annotations

import warnings as _warnings


class PrivacyLeakWarning(RuntimeWarning):
    """Something was taken from the data, or from a seed, that the guarantee takes to be public or secret."""


class NoiseWarning(UserWarning):
    """The noise that ε, δ, n and d ask for is larger than what is to be learned."""


def warn_of_leak(message: str) -> None:
    """Warn of a leak, where the user called ``fit``."""
    _warnings.warn(message, PrivacyLeakWarning, stacklevel=4)


def warn_of_noise(message: str) -> None:
    """Warn of noise, where the user called ``fit``."""
    _warnings.warn(message, NoiseWarning, stacklevel=4)
