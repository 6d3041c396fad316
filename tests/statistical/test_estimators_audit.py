"""The estimators' releases, audited by this package's own auditor at their worst pairs, and their sources' laws.

Each audit accuses a right release with probability at most 1e-9. Two full passes at (0.5, 0.05) are a Gaussian
mechanism of which half the noise has δ = 0.23 at that ε: 2,000 outputs find it with probability above 0.999. Of a
quarter of the noise, by day, 600 find it with probability above 0.99. The seeds are fixed.
The two audits by canaries of right fits accuse them with probability at most 1e-9 each. A fiftieth of the noise lets
300 coins be guessed all but without error (area under the ROC above 0.98 at eight seeds, p below 3e-12).
The sources' laws are tested at 1e-9 each; there are fewer than ten.
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest
from scipy import stats

from dpsco_verify.auditing import AuditVerdict, audit
from dpsco_verify.auditing.canaries import SealedCoins, audit_canaries
from dpsco_verify.estimators import PrivateSGDClassifier, PrivateSGDRegressor, base, descent, noise
from dpsco_verify.estimators.descent import Problem, descend, gradient_sum, release_of
from dpsco_verify.estimators.randomness import SeededSource, SystemSource
from dpsco_verify.geometry import L2Ball
from dpsco_verify.privacy.claims import GaussianDP, PrivacyCurve
from dpsco_verify.privacy.whole_run import WholeRun, delta_upper
from dpsco_verify.problems import Hinge

pytestmark = pytest.mark.slow

EPSILON, DELTA, ALPHA, SAMPLES = 0.5, 0.05, 1e-9, 600
N = 8


def release(batch_size, epochs, factor):
    """A mechanism that returns all noisy gradients of a fit to records (x, y) with hinge slopes."""
    plan = noise.plan(n=N, parameters=1, epsilon=EPSILON, delta=DELTA, batch_size=batch_size, epochs=epochs)
    plan = dataclasses.replace(plan, ratio=factor * plan.ratio)

    def mechanism(dataset, size, rng):
        records = np.asarray(dataset, dtype=np.float64)
        problem = Problem(
            rows=records[:, :1],
            norm=1.0,
            targets=records[:, 1:],
            counted=np.isfinite(records[:, 1]),
            slopes=Hinge().score_slope,
            slope_bound=1.0,
            convex_set=L2Ball(np.zeros(1), 0.5),  # margins stay below 1, so a slope is that of the label
            intercept_bound=None,
        )
        source, outputs = SeededSource(np.random.RandomState(rng.integers(2**32))), []
        scale = release_of(problem, plan)
        for _ in range(size):
            transcript = []
            descend(problem, plan, scale, source, transcript=transcript)
            outputs.append(np.ravel(transcript))
        return np.array(outputs)

    return mechanism


OTHERS = [[1.0, 1.0]] * (N - 1)
MIRROR = [[1.0, 1.0], *OTHERS], [[1.0, -1.0], *OTHERS]


@pytest.mark.parametrize(
    ("batch_size", "epochs", "share", "samples"),
    [
        (N, 2, 0.25, SAMPLES),
        (3, 1, 0.25, SAMPLES),
        pytest.param(N, 2, 0.5, 2_000, marks=pytest.mark.long),
        pytest.param(3, 1, 0.25, 2_000, marks=pytest.mark.long),
    ],
)
def test_right_noise_passes_and_a_part_of_it_is_caught(batch_size, epochs, share, samples):
    features = {
        "sum": lambda outputs: np.sum(outputs, axis=1),
        "most": lambda outputs: np.max(outputs, axis=1),
    }
    settings = {"epsilon": EPSILON, "delta": DELTA, "alpha": ALPHA, "samples": samples, "features": features}
    right = audit(release(batch_size, epochs, 1.0), *MIRROR, **settings)
    assert right.verdict != "violated"
    wrong = audit(release(batch_size, epochs, share), *MIRROR, **settings)
    assert wrong.verdict == "violated"


@pytest.mark.parametrize(
    "record",
    [[1e6, -1.0], [np.inf, -1.0], [np.nan, 1.0], [0.0, 1.0], [1.0, np.nan], [-1e308, 1.0]],
    ids=["huge", "infinite", "missing", "constant", "no class", "overflow"],
)
def test_dishonest_records_do_not_violate(record):
    """Against the records that differ most, all on the other side."""
    mechanism = release(N, 2, 1.0)
    pair = [[1.0, 1.0], *OTHERS], [record, *OTHERS]
    found = audit(mechanism, *pair, epsilon=EPSILON, delta=DELTA, alpha=ALPHA, samples=300)
    assert found.verdict != "violated"


@pytest.mark.parametrize("rounded", [True, False])
def test_no_last_bit_tells_of_a_record_and_of_a_sum_that_is_off_the_lattice_it_does(monkeypatch, rounded):
    if not rounded:
        monkeypatch.setattr(descent, "gradient_sum", lambda *rest: gradient_sum(*rest[:-1], 2.0**-60))
    others = [[0.3, 1.0]] * (N - 1)
    pair = [[0.3, 1.0], *others], [[0.7, 1.0], *others]
    settings = {"epsilon": EPSILON, "delta": DELTA, "alpha": ALPHA, "samples": SAMPLES}
    found = audit(release(N, 1, 1.0), *pair, floating_point=True, **settings)
    assert (found.verdict is AuditVerdict.VIOLATED) is not rounded


@pytest.mark.parametrize(("place", "others"), [(0, 1.0), (N - 1, -1.0)])
def test_no_order_of_the_records_violates(place, others):
    """In batches, the record first or last among others that are sorted, all on its side or all on the other."""
    first = np.full((N, 2), [1.0, others])
    second = first.copy()
    second[place, 1] *= -1.0
    found = audit(
        release(3, 1, 1.0), first, second, epsilon=EPSILON, delta=DELTA, alpha=ALPHA, samples=SAMPLES
    )
    assert found.verdict != "violated"


DISHONEST = {
    "huge": ([1e6, 0.0], 0),
    "infinite": ([np.inf, -np.inf], 1),
    "missing": ([np.nan, np.nan], 0),
    "overflow": ([1e308, -1e308], 1),
    "zero": ([0.0, 0.0], 0),
    "another class": ([1.0, 1.0], 7),
    "the only one of its class": ([1.0, 1.0], 2),
    "missing label": ([1.0, 1.0], np.nan),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("record", DISHONEST.values(), ids=DISHONEST)
@pytest.mark.parametrize("batch_size", [40, 3])
def test_all_that_is_no_noise_is_the_same_whatever_a_record_holds(record, batch_size):
    """Nothing is raised or warned of, and every attribute but the noisy ones has the value that it had."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.zeros(40)
    y[:20] = 1.0
    given = {"epsilon": 8.0, "delta": 0.1, "data_norm": 2.0, "batch_size": batch_size, "epochs": 1}
    models = (
        PrivateSGDClassifier(classes=[0, 1, 2], **given),
        PrivateSGDRegressor(target_bounds=(0, 2), **given),
    )
    for model in models:
        seen = []
        for features, label in (([0.5, 0.5], 1), record):
            rows, labels = X.copy(), y.copy()
            rows[7], labels[7] = features, label
            fitted = vars(model.fit(rows, labels))
            assert np.isfinite(fitted.pop("coef_")).all()
            assert np.isfinite(fitted.pop("intercept_")).all()
            seen.append(repr(sorted(fitted.items())))
        assert seen[0] == seen[1]


@pytest.mark.filterwarnings("ignore::dpsco_verify.estimators.PrivacyLeakWarning")
@pytest.mark.filterwarnings("ignore::dpsco_verify.estimators.NoiseWarning")
@pytest.mark.parametrize("batch_size", [300, 10])
def test_a_fit_to_canaries_keeps_its_curve_and_with_a_fiftieth_of_the_noise_does_not(monkeypatch, batch_size):
    """Each record is a canary, along a coordinate of its own, whose label is a coin; its score is the coefficient."""
    n, epsilon, delta = 300, 1.0, 1e-12
    claim = GaussianDP(noise.gaussian_distance(epsilon, delta))
    for share in (1.0, 0.02):
        statement, scores = fitted_to_canaries(monkeypatch, batch_size, share, n, epsilon, delta)
        if share == 1.0 and batch_size < n:
            ratio = statement.sigma / statement.lipschitz
            run = WholeRun(n=n, sigma=ratio, points=statement.points, batch_size=batch_size)
            claim = PrivacyCurve(
                functools.cache(lambda e, run=run: delta_upper(run, e)),
                orders=np.linspace(0.0, epsilon, 3),
                label="the certified curve",
            )
        # What would have been found has no part in it, and asks for many points of the certified curve.
        found = audit_canaries(
            *scores, claim=claim, delta=delta, alpha=1e-9, epsilon_of_interest=3.0 * epsilon
        )
        assert (found.verdict is AuditVerdict.VIOLATED) is (share < 1.0)


def fitted_to_canaries(monkeypatch, batch_size, share, n, epsilon, delta):
    """Fit with a share of the noise; return what it states, and the scores of those that are in and of the others."""

    def less(**given):
        chosen = noise.plan(**given)
        return dataclasses.replace(chosen, ratio=share * chosen.ratio)

    monkeypatch.setattr(base, "plan", less)
    coins = SealedCoins(n, seed=1)
    labels = np.full(n, -1)
    labels[coins.indices()] = 1
    model = PrivateSGDClassifier(
        "hinge",
        epsilon=epsilon,
        delta=delta,
        data_norm=1.0,
        classes=[-1, 1],
        fit_intercept=False,
        batch_size=batch_size,
        epochs=1,
        random_state=3,
    ).fit(np.eye(n), labels)
    return model.privacy_statement_, coins.open(model.coef_[0])


def test_the_systems_numbers_are_normal_and_its_orders_uniform():
    source = SystemSource()
    z = source.rounded_normals((20_000,), 2.0**16) / 2.0**16
    assert stats.kstest(z, "norm").pvalue > 1e-9
    orders = np.array([source.order(3) for _ in range(3_000)])
    counts = np.unique(orders @ [9, 3, 1], return_counts=True)[1]
    assert len(counts) == 6
    assert stats.chisquare(counts).pvalue > 1e-9
