"""Which null hypotheses observations may reject under a reading: the statement declares them, the checker holds to it.

A null hypothesis has a name and parameters, as in ``P(τ > 2n) ≤ claimed {"n":16}``. Its declaration says which values
the parameters may have, and what follows for the numbers of the evidence: those of the claim, or harder ones. What is
declared is all that evidence can speak of.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import flint
import msgspec

from dpsco_verify.evidence.checker.arithmetic import Rejected, ball, rational, require, shown

Value = str | int | float | bool | None
Parameters = Mapping[str, Value]


class OneOf:
    """Some values, of these types (1 is neither 1.0 nor True), and texts that match `pattern` as a whole."""

    def __init__(self, *values: Value, pattern: str | None = None) -> None:
        self.values, self.pattern = values, pattern

    def admits(self, value: Value) -> bool:
        """Whether `value` is one of them."""
        if self.pattern is not None and isinstance(value, str) and re.fullmatch(self.pattern, value):
            return True
        return any(type(value) is type(one) and value == one for one in self.values)


@dataclass(frozen=True, kw_only=True)
class Between:
    """Numbers in ``[low, high]``, of the type of its ends."""

    low: int | float
    high: int | float

    def admits(self, value: Value) -> bool:
        """Whether `value` is one of them."""
        return (
            isinstance(value, int | float)
            and type(value) is type(self.low)
            and self.low <= value <= self.high
        )


@dataclass(frozen=True, kw_only=True)
class Null:
    """A null hypothesis: its name, and which values each of its parameters may have."""

    name: str
    parameters: Mapping[str, OneOf | Between]

    def read(self, text: str) -> Parameters:
        """Return the parameters that `text` names, or raise :class:`Rejected`."""
        name, brace, rest = text.partition(" {")
        require(
            holds=name == self.name and bool(brace),
            reason=f"null_hypothesis={text!r} is not {self.name!r}, which this reading admits",
        )
        try:
            found = msgspec.json.decode("{" + rest, type=dict[str, Value])
        except (msgspec.DecodeError, RecursionError):
            raise Rejected(f"null_hypothesis={text!r} has no readable parameters") from None
        require(
            holds=f"{name} {msgspec.json.encode(found, order='deterministic').decode()}" == text,
            reason=f"null_hypothesis={text!r} is not written as its one name",
        )
        require(
            holds=found.keys() == self.parameters.keys(),
            reason=f"null_hypothesis={text!r} has other parameters than {', '.join(self.parameters)}",
        )
        for key, admitted in self.parameters.items():
            require(
                holds=admitted.admits(found[key]),
                reason=f"{key}={found[key]!r} is outside of what this reading admits",
            )
        return found

    def require_mean(self, text: str, *, bound: str, lows: tuple[str, ...]) -> None:  # noqa: ARG002  for some
        """Refuse evidence about a mean that rejects less than this hypothesis."""
        raise Rejected(f"this reading admits no evidence about a mean: {self.name}")

    def require_event(self, text: str, *, epsilon: str, delta: str) -> None:  # noqa: ARG002  for some
        """Refuse evidence about an event that rejects less than this hypothesis."""
        raise Rejected(f"this reading admits no evidence about an event: {self.name}")


@dataclass(frozen=True, kw_only=True)
class MeanNull(Null):
    """``mean ≤ bound(parameters)`` of what is never below `low`, whatever the mechanism does."""

    bound: Callable[[Parameters], flint.arb]
    low: Fraction = Fraction(0)

    def require_mean(self, text: str, *, bound: str, lows: tuple[str, ...]) -> None:
        """Refuse a bound below the claim's, and a range that is too small for the observations."""
        allowed = self.bound(self.read(text))
        require(
            holds=bool(ball(rational("bound", bound)) >= allowed),
            reason=f"bound={shown(Fraction(bound))} is below {allowed.str(12)}, which the claim allows",
        )
        for low in lows:
            require(
                holds=rational("low", low) <= self.low,
                reason=f"low={shown(Fraction(low))} is above {self.low}, so observations can be lower",
            )


@dataclass(frozen=True, kw_only=True)
class EventNull(Null):
    """``P(E) − e^ε P'(E) ≤ δ`` for every event E, at every (ε, δ) that the claim implies.

    Attributes
    ----------
    implies
        Whether the claim implies (ε, δ), given the parameters, ε and δ.
    """

    implies: Callable[[Parameters, Fraction, Fraction], bool]

    def require_event(self, text: str, *, epsilon: str, delta: str) -> None:
        """Refuse evidence against a point (ε, δ) that the claim does not imply."""
        implied = self.implies(self.read(text), rational("epsilon", epsilon), rational("delta", delta))
        require(
            holds=implied,
            reason=f"the claim does not imply epsilon={shown(Fraction(epsilon))}, delta={shown(Fraction(delta))}",
        )


def approximate(epsilon: Fraction, delta: Fraction) -> Callable[[Parameters, Fraction, Fraction], bool]:
    """Return what an (ε, δ)-DP claim implies: the points that are no smaller in both."""

    def implies(_: Parameters, at: Fraction, tested: Fraction) -> bool:
        return at >= epsilon and tested >= delta

    return implies
