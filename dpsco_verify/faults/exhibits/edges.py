"""Faults at the edge of what data sets may be, each beside the same mechanism as it should be."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.auditing.relations import one_user, same_records
from dpsco_verify.faults.exhibit import Exhibit, fault_and_control
from dpsco_verify.faults.exhibits.release import always
from dpsco_verify.faults.laws import laplace_delta
from dpsco_verify.faults.mechanisms.edges import (
    BoundedValue,
    ClampedSum,
    LargestRecord,
    PrivateMedian,
    SaturatingSum,
    SumOfBytes,
    UserCount,
)
from dpsco_verify.privacy.claims import PureDP

_ZEROS = 1_491
_UPPER = 2.0


def _drawn_anew() -> float:
    """Return δ(1) of Laplace noise of scale 1 about 0 and about 1, both kept to [0, 2].

    With Z, Z' the masses there, ``p/p' = (Z'/Z) e^{1 − 2x}`` exceeds e up to ``t = log(Z'/Z)/2 < 1``, and
    ``∫_0^t p = (1 − e^{−t})/2Z``, ``∫_0^t p' = (e^{t − 1} − e^{−1})/2Z'``.
    """
    first, second = 0.5 * -math.expm1(-_UPPER), -math.expm1(-1.0)
    t = 0.5 * math.log(second / first)
    return 0.5 * -math.expm1(-t) / first - math.e * 0.5 * math.exp(-1.0) * math.expm1(t) / second


def _beyond(epsilon: float) -> float:
    return laplace_delta(1.0, true_epsilon=epsilon)


def _users(rows: int) -> FloatArray:
    """Return rows of user 1 and one of user 2."""
    return np.array([[1.0, 0.5]] * rows + [[2.0, 0.5]])


_ORDER = np.array([100, 100, -100, -100], dtype=np.int64)

EDGES: tuple[Exhibit, ...] = (
    *fault_and_control(
        ClampedSum(nan_passes=True),
        ClampedSum(nan_passes=False),
        claim=PureDP(1.0),
        id_="nan-past-a-clamp",
        title="A clamp by comparisons, which NaN passes",
        right_title="A clamp that takes NaN for 0",
        source="public software: minimum and maximum keep NaN",
        pairs=((np.array([1.0, np.nan]), np.array([1.0])),),
        truth="unbounded: the sum is NaN if and only if a record is",
        true_delta=always,
        right_truth="holds: a NaN counts as 0, so that this pair shows nothing",
    ),
    *fault_and_control(
        SumOfBytes(dtype="int8"),
        SumOfBytes(dtype="int64"),
        claim=PureDP(1.0),
        id_="wrapped-sum",
        title="A sum in a byte that wraps around",
        right_title="A sum in 64 bits",
        source="public software: the sum of a column in the column's own type",
        pairs=((np.array([100, 100], dtype=np.int8), np.array([100], dtype=np.int8)),),
        truth="ε = 1.56: 200 wraps to −56, which is 156 from 100",
        samples=20_000,
        true_delta=partial(_beyond, 1.56),
    ),
    *fault_and_control(
        SaturatingSum(saturates=True),
        SaturatingSum(saturates=False),
        claim=PureDP(1.0),
        id_="saturating-order",
        title="A saturating sum in the order of the rows",
        right_title="An exact sum, whatever the order of the rows",
        source="Casacuberta, Shoemate, Vadhan and Wagaman (2022), Widespread underestimation of sensitivity",
        pairs=((_ORDER, _ORDER[::-1].copy()),),
        relation=same_records,
        truth="ε = 1.46: 127 − 200 against 200 − 127",
        samples=20_000,
        true_delta=partial(_beyond, 1.46),
        right_truth="holds: this pair shows nothing",
    ),
    *fault_and_control(
        UserCount(rows_of_a_user=None),
        UserCount(rows_of_a_user=1),
        claim=PureDP(1.0),
        id_="many-contributions",
        title="A count of rows, claimed for users",
        right_title="A count with one row a user",
        source="Wilson et al. (2020), Differentially private SQL with bounded user contribution",
        pairs=((_users(3), _users(0)),),
        relation=partial(one_user, 0),
        truth="ε = 3: a user has three rows",
        true_delta=partial(_beyond, 3.0),
    ),
    *fault_and_control(
        LargestRecord(of_none=None),
        LargestRecord(of_none=0.0),
        claim=PureDP(1.0),
        id_="crash-on-empty",
        title="A largest record that raises where there is none",
        right_title="A largest record that is 0 where there is none",
        source="public software: statistics of an empty selection",
        pairs=((np.array([1.0]), np.array([])),),
        truth="unbounded: it raises if and only if there are no records",
        true_delta=always,
    ),
    *fault_and_control(
        PrivateMedian(in_logarithms=False),
        PrivateMedian(in_logarithms=True),
        claim=PureDP(1.0),
        id_="one-sided-exception",
        title="A private median whose weights underflow together on one data set",
        right_title="A private median with its weights in logarithms",
        source="public software: smartnoise-sdk issue 572",
        pairs=((np.append(np.zeros(_ZEROS + 1), 1.0), np.append(np.zeros(_ZEROS), 1.0)),),
        truth="unbounded: it raises on 1,492 zeros and a one, and returns a number on 1,491",
        true_delta=always,
        right_truth="holds: on this pair the median is uniform in [0, 1]",
    ),
    *fault_and_control(
        BoundedValue(upper=_UPPER, drawn_anew=True),
        BoundedValue(upper=_UPPER, drawn_anew=False),
        claim=PureDP(1.0),
        id_="drawn-anew",
        title="Noise drawn anew until the output lies in bounds",
        right_title="An output clipped to its bounds",
        source="Holohan, Antonatos, Braghin and Mac Aonghusa (2020), The bounded Laplace mechanism",
        pairs=((np.array([0.0]), np.array([1.0])),),
        relation="replace-one",
        truth="ε = 1.38: the mass that lies in bounds depends on the value",
        true_delta=_drawn_anew,
        samples=100_000,
    ),
)
"""Each fault, and after it its counterpart."""
