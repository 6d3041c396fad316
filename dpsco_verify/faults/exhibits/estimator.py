"""Faults of a private fit, as users and authors of private learning libraries make them, and the fit as it is."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.estimators import noise
from dpsco_verify.faults.exhibit import Exhibit, ExhibitKind
from dpsco_verify.faults.mechanisms.private_fit import DELTA, EPSILON, FitFault, PrivateFit
from dpsco_verify.privacy.claims import ApproximateDP
from dpsco_verify.privacy.gaussian import gaussian_delta
from dpsco_verify.privacy.whole_run import WholeRun, delta_lower

_N = 8
_PAIRED, _BATCH, _PASSES = 9, 2, 4
_MANY, _TENTH = 200, 10
_OUTLIER, _WEIGHT = 40.0, 10.0
_CLASSES = 4
_EQUALITY = "holds almost with equality"


def _records(n: int, *first: float) -> FloatArray:
    """Return n records: the first as given, (features, label), and n − 1 times 1 with label 1."""
    rows = np.ones((n, len(first)))
    rows[0] = first
    return rows


def _of_class(label: float, feature: float) -> FloatArray:
    """Return records of class 0, but the first, which is (feature, label)."""
    rows = _records(_N, feature, label)
    rows[1:, -1] = 0.0
    return rows


def _gaussian(times: float) -> float:
    """Return δ(ε) where the distance of the means is this many times the claimed one."""
    return float(gaussian_delta(EPSILON, times * noise.gaussian_distance(EPSILON, DELTA)))


def _exact(value: float) -> float:
    return value


def _known_order() -> float:
    """Return δ(ε) of the first batch's release, of which everybody knows that the record is in it."""
    ratio = PrivateFit(batch_size=_TENTH).plan(_MANY).ratio
    return float(gaussian_delta(EPSILON, 2.0 / (_TENTH * ratio)))


def _in_batches() -> float:
    """Return δ(ε) of the pair, whose other records all have the gradient of one of the two: it is attained."""
    plan = PrivateFit(batch_size=_TENTH).plan(_MANY)
    return delta_lower(WholeRun(n=_MANY, mu=2.0 / plan.ratio, points=plan.points, batch_size=_TENTH), EPSILON)


def _exhibit(**told: Any) -> Exhibit:
    return Exhibit(claim=ApproximateDP(EPSILON, DELTA), relation="replace-one", **{"samples": 6_000, **told})


def _fault(fault: FitFault, *, mechanism: PrivateFit | None = None, **told: Any) -> Exhibit:
    return _exhibit(
        id=f"fit-{fault.value}",
        mechanism=mechanism or PrivateFit(fault=fault),
        **told,
    )


_MIRROR = (_records(_N, 1.0, 1.0), _records(_N, 1.0, -1.0))
_MANY_MIRROR = (_records(_MANY, 1.0, -1.0), _records(_MANY, 1.0, 1.0))

ESTIMATOR_FAULTS: tuple[Exhibit, ...] = (
    _fault(
        FitFault.HALF_NOISE,
        title="A fit with noise for added and removed records, claimed for replaced ones",
        source="public software for DP-SGD: one accountant for both relations",
        pairs=(_MIRROR,),
        truth="a replaced record moves a sum twice as far",
        true_delta=partial(_gaussian, 2.0),
    ),
    _fault(
        FitFault.UNCLIPPED,
        title="A fit that takes the records to be bounded",
        source="public software: a bound on the data is assumed and not enforced",
        pairs=((_records(_N, _OUTLIER, 1.0), _records(_N, 1.0, -1.0)),),
        truth="unbounded in the size of the outlier, here 40 times the bound",
        true_delta=partial(_gaussian, (_OUTLIER + 1.0) / 2.0),
    ),
    _fault(
        FitFault.NORM_FROM_DATA,
        title="A fit whose clipping norm is the largest in the data",
        source="public software: bounds are read from the data where they are left out",
        pairs=((_records(_N, _OUTLIER, 1.0), _records(_N, 1.0, 1.0)),),
        truth="one large record shrinks all others",
        true_delta=partial(_gaussian, (_N - 1.0) * (1.0 - 1.0 / _OUTLIER) / 2.0),
    ),
    _fault(
        FitFault.MISSING_KEPT,
        title="A fit that lets a missing value through",
        source="clipping by a norm: NaN is neither above nor below it",
        pairs=((_records(_N, np.nan, 1.0), _records(_N, 1.0, 1.0)),),
        truth="δ = 1: the release is missing if and only if a value is",
        true_delta=partial(_exact, 1.0),
    ),
    _fault(
        FitFault.WEIGHTED,
        title="A fit with weights of records and noise for weight 1",
        source="scikit-learn's interface: sample_weight",
        pairs=((_records(_N, 1.0, _WEIGHT, 1.0), _records(_N, 1.0, _WEIGHT, -1.0)),),
        truth="a record of weight 10 moves a sum ten times as far",
        true_delta=partial(_gaussian, _WEIGHT),
    ),
    _fault(
        FitFault.CLASSES_APART,
        title="One against the rest for four classes, each clipped by itself, with the noise of one",
        source="one-against-rest: the norm of the stacked gradient is √k times as large",
        mechanism=PrivateFit(fault=FitFault.CLASSES_APART, classes=_CLASSES),
        pairs=((_records(_N, 1.0, 0.0), _records(_N, -1.0, 0.0)),),
        truth="the record moves four sums by 2 each, and the noise is for all four together",
        true_delta=partial(_gaussian, 2.0),
    ),
    _fault(
        FitFault.INTERCEPT_FORGOTTEN,
        title="A fit with an intercept that the sensitivity forgets",
        source="linear models: the features are clipped, and then a column of ones is added",
        mechanism=PrivateFit(fault=FitFault.INTERCEPT_FORGOTTEN, intercept=True),
        pairs=(_MIRROR,),
        samples=30_000,
        truth="the gradient is √2 times as long",
        true_delta=partial(_gaussian, float(np.sqrt(2.0))),
    ),
    _fault(
        FitFault.ONE_STEP_NOISE,
        title="Four passes with the noise of one",
        source="public software: the budget is spent in every epoch",
        mechanism=PrivateFit(fault=FitFault.ONE_STEP_NOISE, epochs=_PASSES),
        pairs=(_MIRROR,),
        truth="four Gaussian mechanisms are one at twice the distance",
        true_delta=partial(_gaussian, 2.0),
    ),
    _fault(
        FitFault.SAME_NOISE,
        title="A fit that draws its noise once and adds it in every step",
        source="a generator seeded in every step",
        mechanism=PrivateFit(fault=FitFault.SAME_NOISE, batch_size=_BATCH),
        pairs=((_records(_PAIRED, 1.0, -1.0), _records(_PAIRED, 1.0, 1.0)),),
        truth="δ = 8/9: the differences of steps have no noise, and show the record whenever it is used",
        true_delta=partial(_exact, (_PAIRED - 1.0) / _PAIRED),
    ),
    _fault(
        FitFault.KNOWN_ORDER,
        title="A pass in the order of the file, with noise for a secret one",
        source="public software: shuffle=False, or data that are shuffled once and kept",
        mechanism=PrivateFit(fault=FitFault.KNOWN_ORDER, batch_size=_TENTH),
        pairs=(_MANY_MIRROR,),
        truth="the first step alone is a Gaussian mechanism with too little noise",
        true_delta=_known_order,
    ),
)

ESTIMATOR_CONTROLS: tuple[Exhibit, ...] = tuple(
    _exhibit(
        id=f"control-fit-{name}",
        title=title,
        source="dpsco_verify.estimators",
        mechanism=mechanism,
        pairs=pairs,
        truth=truth,
        true_delta=true_delta,
        kind=ExhibitKind.CONTROL,
    )
    for name, title, mechanism, pairs, truth, true_delta in (
        (
            "full",
            "A private fit by a full pass",
            PrivateFit(),
            (_MIRROR,),
            _EQUALITY,
            partial(_gaussian, 1.0),
        ),
        (
            "batches",
            "A private fit in batches in a secret order",
            PrivateFit(batch_size=_TENTH),
            (_MANY_MIRROR,),
            "holds; the bound is above the pair's own δ",
            _in_batches,
        ),
        (
            "passes",
            "A private fit by four passes, with an intercept",
            PrivateFit(epochs=_PASSES, intercept=True),
            (_MIRROR,),
            _EQUALITY,
            partial(_gaussian, 1.0),
        ),
        (
            "outliers",
            "A private fit to a record of norm 10⁶, an infinite one, or one that overflows",
            PrivateFit(),
            tuple((_records(_N, huge, 1.0), _records(_N, 1.0, -1.0)) for huge in (1e6, np.inf, 1e308)),
            "clipped; then almost with equality",
            partial(_gaussian, 1.0),
        ),
        (
            "missing",
            "A private fit to a record without a value, or without a class that is known",
            PrivateFit(),
            tuple((_records(_N, *odd), _records(_N, 1.0, -1.0)) for odd in ((np.nan, 1.0), (1.0, np.nan))),
            "the record has no gradient: half of the distance",
            partial(_gaussian, 0.5),
        ),
        (
            "constant",
            "A private fit to records that are all the same, and one that is turned about or all zero",
            PrivateFit(intercept=True),
            (_MIRROR, (_records(_N, 0.0, 1.0), _records(_N, 1.0, -1.0))),
            _EQUALITY,
            partial(_gaussian, 1.0),
        ),
        (
            "classes",
            "A private fit of four classes, one against the rest, of which one has a single record or none",
            PrivateFit(classes=_CLASSES),
            (
                (_of_class(0.0, 1.0), _of_class(0.0, -1.0)),
                (_of_class(3.0, 1.0), _of_class(0.0, 1.0)),
                (_of_class(3.0, 1.0), _of_class(0.0, -1.0)),
            ),
            "the slopes of a record are clipped together; turned about, almost with equality",
            partial(_gaussian, 1.0),
        ),
    )
)
