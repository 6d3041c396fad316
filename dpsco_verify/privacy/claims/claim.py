"""The interface of every privacy claim."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import cloudpickle

from dpsco_verify.errors import InputError


@runtime_checkable
class PrivacyClaim(Protocol):
    """A privacy guarantee of a mechanism, as what it implies about single events.

    Neighbouring is a symmetric relation, so a claim is about the pairs (D, D') and (D', D) alike.

    Examples
    --------
    >>> isinstance(GaussianDP(1.0), PrivacyClaim)
    True
    """

    def delta(self, epsilon: float) -> float:
        """Return δ with ``P(E|D) ≤ e^ε P(E|D') + δ`` for all events E and both orders of the pair.

        It is never below the smallest such δ that the claim implies: a true claim survives every test of it.

        Parameters
        ----------
        epsilon
            The order ε, finite and at least 0.

        Raises
        ------
        InputError
            For an order that is negative, infinite or NaN.
        """
        ...

    def orders(self) -> tuple[float, ...]:
        """Return the orders, increasing, at which an audit looks; they depend on the claim alone."""
        ...

    def headline(self) -> tuple[float, float]:
        """Return the (ε, δ) at which reports speak when nothing else is said: implied, and the usual one to tell."""
        ...


def rounded_up(value: float) -> float:
    """Return a double above `value` by about nine units in its last place, at most 1.

    More than what the few roundings of a sum of positive terms can take away.
    """
    return min(1.0, math.nextafter(value * (1.0 + 2.0**-49), math.inf))


def packed(name: str, function: Callable[[float], float]) -> bytes:
    """Return a function of the user's own as bytes, a lambda too, for the pickle of a claim that is made of it.

    Raises
    ------
    InputError
        If what it holds cannot be pickled.
    """
    try:
        data: bytes = cloudpickle.dumps(function)
    except Exception as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())
        raise InputError(
            f"{name}={function!r} cannot be pickled, nor what is claimed by it ({said}); give a function of a "
            "module's top level"
        ) from error
    return data


def rebuilt(kind: Callable[..., Any], function: bytes, options: dict[str, Any]) -> Any:
    """Return the claim of this kind that :func:`packed` has made a pickle of."""
    return kind(cloudpickle.loads(function), **options)
