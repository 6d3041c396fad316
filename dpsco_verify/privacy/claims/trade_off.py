"""A trade-off function of the user's own."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from dpsco_verify.errors import InputError
from dpsco_verify.privacy.claims.claim import packed, rebuilt
from dpsco_verify.privacy.claims.convex_samples import ConvexSamples
from dpsco_verify.privacy.claims.orders import spoken_of, spread_orders
from dpsco_verify.validation import require_non_negative

_LARGEST_EXPONENT = 700.0


@dataclass(frozen=True)
class TradeOff:
    """f-differential privacy: every test of D' against D at the level a errs under D with probability f(a) at least.

    ``δ(ε) = max_a 1 − f(a) − e^ε a``, from a polygon that lies below f if f is what it must be: convex, continuous,
    non-increasing, at most 1 − a, and computed to 1e-15. An f that is not its own inverse is taken as it is; as
    neighbouring is symmetric, it claims a little more at small orders: give ``max(f, f⁻¹)`` to have that tested.

    Source: Dong, Roth and Su (2022), Definition 2.3 and Proposition 2.12.

    Parameters
    ----------
    f
        The trade-off function on [0, 1]; its values are checked where they are looked at. The claim is pickled with it,
        where it can be, and then equal to this one if it is a function of a module's top level.
    label
        What reports call it.

    Examples
    --------
    >>> half = TradeOff(lambda a: max(0.0, 1 - 2 * a, (1 - a) / 2), label="log 2")
    >>> print(half, round(half.delta(0.0), 3))  # log(2)-DP: (2 − 1)/(2 + 1)
    log 2 0.333
    """

    f: Callable[[float], float]
    label: str
    _samples: list[ConvexSamples] = field(repr=False, compare=False)
    _values: dict[float, float] = field(repr=False, compare=False)

    def __init__(self, f: Callable[[float], float], *, label: str = "trade-off function") -> None:
        if not callable(f):
            raise InputError(f"f={f!r} is not a function; give one of the level a that returns f(a)")
        object.__setattr__(self, "f", f)
        object.__setattr__(self, "label", str(label))
        object.__setattr__(self, "_samples", [])
        object.__setattr__(self, "_values", {})

    def __str__(self) -> str:
        return self.label

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what makes the claim anew from its pickle."""
        return rebuilt, (TradeOff, packed("f", self.f), {"label": self.label})

    def __deepcopy__(self, memo: dict[int, Any]) -> TradeOff:
        return self

    def delta(self, epsilon: float) -> float:
        """Return δ at the order `epsilon`, rounded up by no more than 1e-6 of it or 1e-12.

        Raises
        ------
        InputError
            Where a value of f shows that it is not a trade-off function.
        """
        order = min(require_non_negative("epsilon", epsilon), _LARGEST_EXPONENT)
        if order not in self._values:
            if not self._samples:
                self._samples.append(ConvexSamples(self.f))
            self._values[order] = self._samples[0].support(math.exp(order))
        return self._values[order]

    def orders(self) -> tuple[float, ...]:
        """Return the orders at which δ is about 0.8, 0.6, …, 1e-6 of δ(0), and 1e-9."""
        return spread_orders(self.delta)

    def headline(self) -> tuple[float, float]:
        """Return (ε, 1e-6) with the smallest ε of four digits."""
        return spoken_of(self.delta)
