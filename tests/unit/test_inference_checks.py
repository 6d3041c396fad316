"""Arguments that several tests share: what is at the edge is taken, what is beyond it refused, by name."""

from __future__ import annotations

import numpy as np
import pytest

from dpsco_verify.errors import InputError
from dpsco_verify.inference.checks import (
    require_counts,
    require_probability,
    require_range,
    require_within,
)


def test_a_range_has_room():
    assert require_range(-1, 2) == (-1.0, 2.0)
    for low, high in ((1.0, 1.0), (2.0, 1.0)):
        with pytest.raises(InputError, match=f"low={low} is not below high={high}"):
            require_range(low, high)
    with pytest.raises(InputError, match="high"):
        require_range(0.0, np.inf)


def test_values_lie_within_their_bounds_ends_included():
    given = np.array([0.0, 0.5, 1.0])
    taken = require_within("values", given, 0.0, 1.0)
    assert taken.tolist() == [0.0, 0.5, 1.0]
    assert not np.shares_memory(taken, given)
    assert require_within("values", 0.5, 0.0, 1.0).shape == (1,)
    for beyond in (np.nextafter(0.0, -1.0), np.nextafter(1.0, 2.0)):
        with pytest.raises(InputError, match=r"values holds .* outside \[0.0, 1.0\]"):
            require_within("values", [0.5, beyond], 0.0, 1.0)
    with pytest.raises(InputError, match="values"):
        require_within("values", [[0.5]], 0.0, 1.0)


def test_a_probability_is_at_most_1():
    assert [require_probability("p", p) for p in (0, 0.25, 1)] == [0.0, 0.25, 1.0]
    for beyond in (np.nextafter(1.0, 2.0), -1e-300, np.nan):
        with pytest.raises(InputError, match="p="):
            require_probability("p", beyond)


def test_counts_are_integers_from_0_on():
    taken = require_counts("counts", [0, 3], size=2)
    assert taken.dtype == np.float64
    assert taken.tolist() == [0.0, 3.0]
    assert require_counts("counts", np.zeros(0, dtype=int), size=0).shape == (0,)
    for wrong in ([0.0, 3.0], [1], [[0, 3]], [True, False]):
        with pytest.raises(InputError, match="does not fit"):
            require_counts("counts", wrong, size=2)
    with pytest.raises(InputError, match="counts holds -1, a negative count"):
        require_counts("counts", [0, -1], size=2)
