"""What an estimator warns of: what the guarantee does not cover, and noise that hides everything."""

from __future__ import annotations

import warnings as _warnings


class PrivacyLeakWarning(RuntimeWarning):
    """Something was taken from the data, or from a seed, that the guarantee takes to be public or secret.

    Examples
    --------
    >>> import warnings
    >>> X, y = np.tile([[0.5], [-0.5]], (200, 1)), np.tile([1, 0], 200)
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     model = PrivateSGDClassifier(epsilon=2.0, data_norm=1.0, classes=[0, 1], random_state=0)
    ...     model = model.fit(X, y)
    >>> [warning.category.__name__ for warning in caught]
    ['PrivacyLeakWarning']
    """


class NoiseWarning(UserWarning):
    """The noise that ε, δ, n and d ask for is larger than what is to be learned.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     model = PrivateSGDClassifier(epsilon=0.01, data_norm=1.0, classes=[0, 1])
    ...     model = model.fit([[0.5], [-0.5]] * 5, [1, 0] * 5)
    >>> [warning.category.__name__ for warning in caught]
    ['NoiseWarning']
    """


def warn_of_leak(message: str) -> None:
    """Warn of a leak, where the user called ``fit``."""
    _warnings.warn(message, PrivacyLeakWarning, stacklevel=4)


def warn_of_noise(message: str) -> None:
    """Warn of noise, where the user called ``fit``."""
    _warnings.warn(message, NoiseWarning, stacklevel=4)
