"""A convex, non-increasing function on [0, 1] from samples, and a polygon that lies below it.

Between two samples a convex function lies above both neighbouring secants, continued. So the samples and the points
where those meet are the vertices of a polygon below the function, and a linear function of (a, f(a)) that
decreases in f is nowhere larger than at one of them: a certain bound, which samples near that vertex improve.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.validation import require_number

_FIRST_LOOKS = (
    *(0.0, 1e-16, 1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.03),
    *(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97, 0.99, 0.999, 1.0),
)
_SHAPE_TOLERANCE = 1e-9
"""By this much the values may miss the shape that they must have, for their own rounding."""
_ACCURACY = 1e-15
"""The values are taken as accurate to this."""
_RELATIVE_GAP = 4e-7
_ABSOLUTE_GAP = 2e-13
_MOST_LOOKS = 400
_SMALLEST = 1e-300


class ConvexSamples:
    """Samples of a trade-off function, refined where they are asked about.

    Parameters
    ----------
    function
        Convex, continuous, non-increasing, with ``0 ≤ f(a) ≤ 1 − a`` for a in [0, 1].

    Raises
    ------
    InputError
        Where a sampled value shows that it is not.
    """

    def __init__(self, function: Callable[[float], float]) -> None:
        self._function = function
        self._at: FloatArray = np.array(_FIRST_LOOKS)
        self._values: FloatArray = np.array([self._value(float(a)) for a in _FIRST_LOOKS])
        self._check_shape(0, len(_FIRST_LOOKS))

    def support(self, slope: float) -> float:
        """Return an upper bound on ``max_a 1 − f(a) − slope·a``, within 5e-7 of it relatively, or 5e-13."""
        for _ in range(_MOST_LOOKS):
            at, low = self._vertices()
            heights = 1.0 - low - slope * at
            interval = int(np.argmax(heights))
            attained = float(np.max(1.0 - self._values - slope * self._at))
            ceiling = max(float(heights[interval]), attained)
            close = ceiling - attained <= _RELATIVE_GAP * attained + _ABSOLUTE_GAP
            if close or not self._refine(interval, float(at[interval])):
                break
        return min(1.0, max(0.0, ceiling) + 2.0 * _ACCURACY)

    def _value(self, a: float) -> float:
        name = f"f({a:g})"
        value = require_number(name, self._function(a))
        if not -_SHAPE_TOLERANCE <= value <= 1.0 - a + _SHAPE_TOLERANCE:
            raise InputError(
                f"{name}={value!r} is outside [0, 1 − {a:g}]; give a trade-off function, whose values lie there"
            )
        return min(max(value, 0.0), 1.0)

    def _check_shape(self, start: int, stop: int) -> None:
        """Refuse samples between `start` and `stop` that increase or bulge."""
        at, values = self._at[start:stop], self._values[start:stop]
        rises = np.diff(values) > _SHAPE_TOLERANCE
        if rises.any():
            i = int(np.argmax(rises))
            raise InputError(
                f"f({at[i]:g})={values[i]:g} < f({at[i + 1]:g})={values[i + 1]:g}: f increases; "
                "give a trade-off function, which does not"
            )
        share = (at[1:-1] - at[:-2]) / (at[2:] - at[:-2])
        chord = values[:-2] + share * (values[2:] - values[:-2])
        bulges = values[1:-1] > chord + _SHAPE_TOLERANCE
        if bulges.any():
            i = int(np.argmax(bulges)) + 1
            raise InputError(
                f"f({at[i]:g})={values[i]:g} lies above the chord between {at[i - 1]:g} and {at[i + 1]:g}: "
                "f is not convex; give a trade-off function, which is"
            )

    def _vertices(self) -> tuple[FloatArray, FloatArray]:
        """Return positions and heights of the polygon's vertices between the samples, one an interval."""
        width = np.diff(self._at)
        first, last = self._values[:-1], self._values[1:]
        slopes = np.minimum(np.diff(self._values) / width, 0.0)
        # The secants before and after; none before the first interval, and f never falls below its last value.
        before = np.concatenate(([-np.inf], slopes[:-1]))
        after = np.concatenate((slopes[1:], [0.0]))
        turn = after - before
        bent = (turn > 0.0) & np.isfinite(turn)
        offset = np.divide(first - last + after * width, turn, out=0.5 * width, where=bent)
        offset = np.clip(offset, 0.0, width)
        offset[0] = 0.0
        from_after = last - after * (width - offset)
        from_before = first[1:] + before[1:] * offset[1:]
        low = from_after
        low[1:] = np.maximum(low[1:], from_before)
        low = np.minimum(low, first + slopes * offset)
        # A secant over a narrow interval, continued over a wide one, multiplies the error of the values.
        narrowest = np.minimum(np.concatenate(([np.inf], width[:-1])), np.concatenate((width[1:], [np.inf])))
        low -= _ACCURACY * (1.0 + 2.0 * width / narrowest)
        return self._at[:-1] + offset, np.maximum(low, 0.0)

    def _refine(self, interval: int, wanted: float) -> bool:
        """Look at f within the interval, near the wanted place; False where no double is left there."""
        left, right = float(self._at[interval]), float(self._at[interval + 1])
        if interval == 0:
            place = right / 16.0
        else:
            margin = 1e-3 * (right - left)
            place = min(max(wanted, left + margin), right - margin)
        if not left < place < right or place < _SMALLEST:
            return False
        self._at = np.insert(self._at, interval + 1, place)
        self._values = np.insert(self._values, interval + 1, self._value(place))
        self._check_shape(max(interval - 1, 0), interval + 4)
        return True
