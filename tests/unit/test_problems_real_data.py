"""The larger real data sets: their scale, their labels and targets, and the losses that they take."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from statsmodels.datasets import engel

from dpsco_verify.errors import InputError
from dpsco_verify.problems import Quantile, digits, fair, randhie
from dpsco_verify.problems.populations.real_data import _table


def test_tables_read_from_their_files_are_what_the_packages_load():
    loaded = np.column_stack(load_breast_cancer(return_X_y=True))
    assert np.array_equal(_table("sklearn", "datasets/data/breast_cancer.csv", above=1, between=","), loaded)
    features, progression = load_diabetes(return_X_y=True, scaled=False)
    assert np.array_equal(_table("sklearn", "datasets/data/diabetes_data_raw.csv.gz"), features)
    assert np.array_equal(_table("sklearn", "datasets/data/diabetes_target.csv.gz"), progression)
    table = engel.load_pandas().data[["income", "foodexp"]].to_numpy()
    assert np.array_equal(_table("statsmodels", "datasets/engel/engel.csv", above=1, between=","), table)
    with pytest.raises(InputError, match="package='nowhere_to_be_found' is not installed"):
        _table("nowhere_to_be_found", "data.csv")


@pytest.mark.parametrize(
    ("build", "count", "dimension"), [(digits, 1797, 65), (fair, 6366, 9), (randhie, 20190, 10)]
)
def test_they_are_scaled_as_documented(build, count, dimension):
    population = build()
    assert population.data.shape == (count, dimension + 1)
    assert (population.dimension, population.data_radius, population.lipschitz) == (dimension, 1.0, 1.0)
    features, targets = population.data[:, :-1], population.data[:, -1]
    norms = np.sqrt(np.sum(features**2, axis=-1))
    assert 1.0 - 1e-12 <= norms.max() <= 1.0
    intercept = features[0, 0]
    assert np.ptp(features[:, 0]) == 0.0
    # Centring is a mean of N numbers of the size of 1, and so is this check of it: N·u bounds what each rounds.
    assert np.abs(features[:, 1:].mean(axis=0)).max() <= 2.0 * count * 2.0**-53
    if build is not digits:
        assert features[:, 1:].std(axis=0) == pytest.approx(intercept, rel=1e-12)
    assert np.abs(targets).max() == pytest.approx(1.0, abs=1e-15)


def test_digits_keep_one_unit_for_all_pixels_and_the_white_ones():
    features = digits().data[:, :-1]
    spans = np.ptp(features, axis=0) / features[0, 0]
    # From white to black is the unit of the intercept; no pixel is more, and three are white throughout.
    assert spans[1:].max() == pytest.approx(1.0, rel=1e-12)
    assert (spans[1:] == 0.0).sum() == 3


def test_labels():
    """891 of the 1797 digits are even, 896 are at least 5; 2053 of the 6366 women reported an affair."""
    assert (digits().data[:, -1] == 1.0).sum() == 891
    assert (digits(labels="at least 5").data[:, -1] == 1.0).sum() == 896
    assert (fair().data[:, -1] == 1.0).sum() == 2053
    for population in (digits(), fair()):
        assert (np.abs(population.data[:, -1]) == 1.0).all()


def test_randhie_counts_visits_on_a_log_scale():
    """``b = (log(1 + visits) − mean)/(largest deviation)``: 6308 of the 20190 had none, the most is 77."""
    targets = randhie().data[:, -1]
    values, counts = np.unique(targets, return_counts=True)
    assert counts[0] == 6308
    assert abs(targets.mean()) <= 1e-15
    steps = np.log1p(np.arange(3.0))
    ratio = (values[2] - values[0]) / (values[1] - values[0])
    assert ratio == pytest.approx((steps[2] - steps[0]) / (steps[1] - steps[0]), rel=1e-12)
    assert (values[-1] - values[0]) / (values[1] - values[0]) == pytest.approx(
        np.log(78.0) / np.log(2.0), rel=1e-12
    )


def test_they_take_the_named_losses():
    assert digits("logistic", labels="at least 5").name == "digits at least 5, logistic"
    assert fair("logistic").name == "fair, logistic"
    assert randhie("huber", threshold=0.5).lipschitz == 0.5
    assert randhie("quantile", level=0.9).loss == Quantile(0.9)
    assert digits("hinge") is digits("hinge")
    for build in (digits, fair, randhie):
        with pytest.raises(InputError, match="loss='square' is unknown; give one of"):
            build("square")
    with pytest.raises(InputError, match="labels='prime' is unknown; give one of parity, at least 5"):
        digits(labels="prime")
    with pytest.raises(InputError, match="level="):
        randhie("quantile", level=1.5)
