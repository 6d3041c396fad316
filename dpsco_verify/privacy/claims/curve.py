"""A privacy curve of the user's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from dpsco_verify.errors import InputError
from dpsco_verify.privacy.claims.claim import packed, rebuilt
from dpsco_verify.privacy.claims.orders import spoken_of, spread_orders
from dpsco_verify.validation import require_non_negative, require_number


@dataclass(frozen=True)
class PrivacyCurve:
    """The claim ``P(E|D) ≤ e^ε P(E|D') + δ(ε)`` for all events and all ε, for a given δ(ε).

    The curve is taken at its word: where a neighbouring order implies a smaller δ, the given one is tested.

    Parameters
    ----------
    delta_of_epsilon
        The curve; its values are checked to be numbers in [0, 1]. The claim is pickled with it, where it can be, and
        then equal to this one if it is a function of a module's top level.
    orders
        Where an audit looks; by default where δ is about 0.8, 0.6, …, 1e-6 of δ(0), and 1e-9.
    label
        What reports call it.

    Examples
    --------
    >>> claim = PrivacyCurve(lambda epsilon: float(np.exp(-1 - epsilon)), orders=[0.0, 1.0], label="mine")
    >>> print(claim, round(claim.delta(1.0), 3))
    mine 0.135
    """

    delta_of_epsilon: Callable[[float], float]
    given_orders: tuple[float, ...] | None
    label: str
    _values: dict[float, float] = field(repr=False, compare=False)

    def __init__(
        self,
        delta_of_epsilon: Callable[[float], float],
        *,
        orders: Iterable[float] | None = None,
        label: str = "privacy curve",
    ) -> None:
        if not callable(delta_of_epsilon):
            raise InputError(
                f"delta_of_epsilon={delta_of_epsilon!r} is not a function; give one of ε that returns δ"
            )
        object.__setattr__(self, "delta_of_epsilon", delta_of_epsilon)
        object.__setattr__(self, "given_orders", None if orders is None else _checked_orders(orders))
        object.__setattr__(self, "label", str(label))
        object.__setattr__(self, "_values", {})

    def __str__(self) -> str:
        return self.label

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what makes the claim anew from its pickle."""
        options = {"orders": self.given_orders, "label": self.label}
        return rebuilt, (PrivacyCurve, packed("delta_of_epsilon", self.delta_of_epsilon), options)

    def __deepcopy__(self, memo: dict[int, Any]) -> PrivacyCurve:
        return self

    def delta(self, epsilon: float) -> float:
        """Return the curve's δ at the order `epsilon`.

        Raises
        ------
        InputError
            For a value that is not a number in [0, 1].
        """
        order = require_non_negative("epsilon", epsilon)
        if order not in self._values:
            name = f"delta_of_epsilon({order:g})"
            value = require_number(name, self.delta_of_epsilon(order))
            if not 0.0 <= value <= 1.0:
                raise InputError(
                    f"{name}={value!r} is outside [0, 1]; give a curve whose values are probabilities"
                )
            self._values[order] = value
        return self._values[order]

    def orders(self) -> tuple[float, ...]:
        """Return the orders that were given, or spread ones."""
        return spread_orders(self.delta) if self.given_orders is None else self.given_orders

    def headline(self) -> tuple[float, float]:
        """Return (ε, 1e-6) with the smallest ε of four digits; where orders were given, the middle one and its δ."""
        if self.given_orders is None:
            return spoken_of(self.delta)
        middle = self.given_orders[len(self.given_orders) // 2]
        return middle, self.delta(middle)


def _checked_orders(orders: Iterable[float]) -> tuple[float, ...]:
    try:
        given = tuple(orders)
    except TypeError:
        raise InputError(f"orders={orders!r} is not a sequence; give some numbers of at least 0") from None
    found = tuple(sorted({require_non_negative(f"orders[{i}]", value) for i, value in enumerate(given)}))
    if not found:
        raise InputError("orders=() is empty; give at least one number of at least 0, or leave it out")
    return found
