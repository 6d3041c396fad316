"""One way to write numbers for people, used by every format: ``12 345``, ``0.33333``, ``3.21×10⁻⁷``."""

from __future__ import annotations

import math
from decimal import Decimal

from dpsco_verify.evidence import Quantity, Scalar

NOTHING = "—"
"""What stands where there is no value."""

GROUP = "\u202f"
"""The thin space (that no line breaks at) between groups of three digits."""

MINUS = "\u2212"

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_LONGEST_INTEGER = 15
_FIXED_EXPONENTS = range(-4, 6)


def superscript(exponent: int) -> str:
    """Return `exponent` in superscript digits."""
    return str(exponent).translate(_SUPERSCRIPTS)


def format_scalar(value: Scalar, *, digits: int = 5) -> str:
    """Return `value` as text for a person.

    Truth values are yes and no, None is a dash, strings stay as they are. Integers are whole up to 15 digits.
    Floats are rounded to `digits` significant digits, and to scientific notation below 10⁻⁴ and from 10⁶ on.
    Trailing zeros are dropped only where nothing was rounded away: 1.0 is ``1``, but 0.9999999 is ``1.0000``.
    """
    if value is None:
        return NOTHING
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return _integer(value, digits)
    if not math.isfinite(value):
        # Records hold no such number; figures may ask for one all the same.
        return str(value).replace("-", MINUS).replace("inf", "∞")
    return _float(value, digits)


def format_quantity(quantity: Quantity, *, digits: int = 5) -> str:
    """Return the value of `quantity` followed by its unit."""
    text = format_scalar(quantity.value, digits=digits)
    return f"{text} {quantity.unit}" if quantity.unit else text


def format_seconds(seconds: float) -> str:
    """Return a duration: ``0.04 s``, ``12.3 s``, ``4 min 05 s``, ``2 h 10 min``."""
    if seconds < 0.005:
        return "< 0.01 s"
    if seconds < 9.995:
        return f"{seconds:.2f} s"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def exact(value: Scalar) -> str:
    """Return `value` as a machine would read it, for tool tips and attributes."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def count(number: int, singular: str, plural: str | None = None) -> str:
    """Return ``1 claim``, ``2 claims``."""
    return f"{_integer(number, 5)} {singular if number == 1 else plural or singular + 's'}"


def _group(digits: str) -> str:
    # Four digits stay together, as is usual.
    if len(digits) <= 4:
        return digits
    head = len(digits) % 3
    groups = [digits[:head]] if head else []
    groups += [digits[i : i + 3] for i in range(head, len(digits), 3)]
    return GROUP.join(groups)


def _integer(value: int, digits: int) -> str:
    sign = MINUS if value < 0 else ""
    # Python refuses to write out integers of more than 4,300 digits; Decimal knows their size without that.
    if abs(value) < 10**_LONGEST_INTEGER:
        return sign + _group(str(abs(value)))
    return _scientific(Decimal(value), digits, exact_at=Decimal(value))


def _float(value: float, digits: int) -> str:
    if value == 0:
        return "0"
    decimal = Decimal(value)
    rounded = Decimal(f"{decimal:.{digits - 1}e}")
    exponent = rounded.adjusted()
    if exponent not in _FIXED_EXPONENTS:
        # What a person reads as 1.2×10⁻⁷ is exact when it names the same double.
        return _scientific(decimal, digits, exact_at=Decimal(repr(abs(value))))
    text = f"{abs(decimal):.{max(digits - 1 - exponent, 0)}f}"
    if "." in text and float(text) == abs(value):
        text = text.rstrip("0").rstrip(".")
    whole, point, fraction = text.partition(".")
    return (MINUS if value < 0 else "") + _group(whole) + point + fraction


def _scientific(value: Decimal, digits: int, *, exact_at: Decimal) -> str:
    mantissa, exponent = f"{abs(value):.{digits - 1}e}".split("e")
    if "." in mantissa and Decimal(f"{mantissa}e{exponent}") == abs(exact_at):
        mantissa = mantissa.rstrip("0").rstrip(".")
    sign = MINUS if value < 0 else ""
    return f"{sign}{mantissa}×10{superscript(int(exponent))}"
