"""Algorithm 1 and its single step as mechanisms: they are what the oracle does, and audits of them come out right.

Each audit has a level of 1e-6 and a fixed seed; the violated ones are far beyond what is needed to be found.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dpsco_verify.adapters import (
    AlgorithmMechanism,
    SingleStepMechanism,
    paper_claim,
    paper_single_step_claim,
    single_step_claim,
    transcript_claim,
)
from dpsco_verify.algorithm import (
    GeneratorTape,
    Options,
    StoppingRule,
    main_schedule,
    private_sgd,
    record,
    run_ensemble,
    single_step_sigma,
)
from dpsco_verify.auditing import AuditVerdict, audit
from dpsco_verify.errors import InputError
from dpsco_verify.geometry import L2Ball, WholeSpace
from dpsco_verify.privacy.balls import ball, enclose
from dpsco_verify.privacy.single_step import replace_one_delta, zero_out_present_delta, zero_out_upper_bound
from dpsco_verify.problems import Linear

pytestmark = pytest.mark.slow  # audits of whole runs


def algorithm(**changes):
    base = {
        "loss": Linear(),
        "convex_set": L2Ball([0.0, 0.0], 1.0),
        "step_size": 0.3,
        "sigma": 1.5,
        "lipschitz": 1.0,
    }
    return AlgorithmMechanism(**base | changes)


def step(**changes):
    base = {
        "loss": Linear(),
        "convex_set": WholeSpace(1),
        "step_size": 0.5,
        "sigma": 1.0,
        "lipschitz": 1.0,
        "point": [0.2],
    }
    return SingleStepMechanism(**base | changes)


def worst_pair(n):
    """One point's gradient is L in S and -L in S', as all others' are: the worst case of the single step."""
    first, second = np.ones((n, 1)), np.ones((n, 1))
    first[0, 0] = -1.0
    return first, second


DATA = np.array([[0.6, 0.0], [0.0, -0.8], [0.5, 0.5], [-0.9, 0.1], [0.2, 0.2]])


# --- what they do ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch_size", [1, 2])
@pytest.mark.parametrize("step_size", [0.3, lambda t: 0.5 / math.sqrt(t)])
def test_transcripts_are_the_oracles(batch_size, step_size):
    options = Options(batch_size=batch_size)
    mechanism = algorithm(options=options, step_size=step_size, release="transcript", steps=60)
    runs = 20
    tape = record(GeneratorTape(np.random.default_rng(1), runs, 5, 2, batch_size), 60)
    iterates = mechanism.transcripts(DATA, runs, tape=tape)
    tape.position = 0
    for run in range(runs):
        oracle = private_sgd(
            DATA,
            loss=mechanism.loss,
            convex_set=mechanism.convex_set,
            step_size=step_size,
            sigma=1.5,
            lipschitz=1.0,
            tape=tape.of_run(run),
            options=options,
            transcript=True,
        )
        length = len(oracle.transcript.iterates)
        np.testing.assert_array_equal(iterates[run, :length], oracle.transcript.iterates)
        assert np.isnan(iterates[run, length:]).all()


def test_long_transcripts_are_cut():
    whole = algorithm(release="transcript", steps=60)
    cut = algorithm(release="transcript", steps=4)
    tape = record(GeneratorTape(np.random.default_rng(1), 8, 5, 2), 60)
    expected = whole.transcripts(DATA, 8, tape=tape)[:, :5]
    tape.position = 0
    np.testing.assert_array_equal(cut.transcripts(DATA, 8, tape=tape), expected)
    assert algorithm(release="transcript")(DATA, 3, np.random.default_rng(0)).shape == (3, 7, 2)


def test_outputs_are_the_ensembles():
    mechanism = algorithm()
    found = mechanism(DATA, 50, np.random.default_rng(4))
    expected = run_ensemble(
        np.broadcast_to(DATA, (50, 5, 2)),
        loss=mechanism.loss,
        convex_set=mechanism.convex_set,
        step_size=0.3,
        sigma=1.5,
        lipschitz=1.0,
        rng=np.random.default_rng(4),
    ).outputs
    np.testing.assert_array_equal(found, expected)


def test_a_single_step_is_the_first_of_a_run():
    mechanism = step(convex_set=L2Ball([0.0, 0.0], 1.0), point=[0.1, -0.3])
    first = algorithm(step_size=0.5, sigma=1.0, release="transcript", steps=1, initial_point=[0.1, -0.3])
    np.testing.assert_array_equal(
        mechanism(DATA, 30, np.random.default_rng(2)), first(DATA, 30, np.random.default_rng(2))[:, 1]
    )
    seen = step(convex_set=L2Ball([0.0, 0.0], 1.0), point=[0.1, -0.3], seen=range(5))
    noise_only = seen(DATA, 30, np.random.default_rng(2))
    np.testing.assert_array_equal(noise_only, seen(-DATA, 30, np.random.default_rng(2)))


def test_the_step_s_density_integrates_to_one_and_fits_its_samples():
    mechanism = step(seen=(1,), sigma=0.3)
    data = np.array([[-0.9], [0.5], [0.8], [0.1]])
    points = np.linspace(-3.0, 3.0, 60_001)[:, np.newaxis]
    density = np.exp(mechanism.log_density(points, data))
    spacing = points[1, 0] - points[0, 0]
    assert density.sum() * spacing == pytest.approx(1.0, abs=1e-9)
    outputs = mechanism(data, 100_000, np.random.default_rng(8))[:, 0]
    cumulative = np.interp(np.sort(outputs), points[:, 0], np.cumsum(density) * spacing)
    distance = np.abs(cumulative - (np.arange(outputs.size) + 0.5) / outputs.size).max()
    assert distance < 3.5 / math.sqrt(outputs.size)  # Massart: 2 exp(-2·3.5²), a chance of 5e-11


# --- what is claimed ------------------------------------------------------------------------------------------------


def test_the_claims_are_the_exact_curves():
    n, sigma = 16, 2.0

    def high(curve, m=1):
        return enclose(lambda: curve(ball(Fraction(m, n)), ball(0.1), ball(sigma / 0.5)))[1]

    def claimed(relation, m=1):
        return single_step_claim(n=n, sigma=sigma, lipschitz=0.5, relation=relation, batch_size=m).delta(0.1)

    assert claimed("replace-one") == high(replace_one_delta)
    assert claimed("zero-out") == high(zero_out_present_delta)
    assert claimed("zero-out", 4) == high(zero_out_upper_bound, 4)
    assert claimed("zero-out", 4) < claimed("replace-one", 4)


def test_a_doubled_sigma_keeps_the_lemma_s_promise_and_the_paper_s_does_not():
    n, epsilon_tilde, delta = 64, 1.0, 1e-3
    promise = paper_single_step_claim(n=n, epsilon_tilde=epsilon_tilde, delta=delta)
    epsilon, claimed = promise.headline()
    assert (epsilon, claimed) == (pytest.approx((math.e - 1.0) / n), pytest.approx(delta / n))
    sigma = single_step_sigma(lipschitz=1.0, epsilon_tilde=epsilon_tilde, delta=delta)
    assert single_step_claim(n=n, sigma=2.0 * sigma, lipschitz=1.0).delta(epsilon) < claimed
    assert single_step_claim(n=n, sigma=sigma, lipschitz=1.0).delta(epsilon) > claimed


def test_the_schedule_s_promise():
    schedule = main_schedule(
        n=400, dimension=2, diameter=1.0, lipschitz=1.0, epsilon=0.01, delta=1e-4, delta_prime=1e-4
    )
    assert paper_claim(schedule).headline() == (schedule.privacy.epsilon, schedule.privacy.delta)
    useless = main_schedule(
        n=16, dimension=2, diameter=1.0, lipschitz=1.0, epsilon=0.01, delta=0.5, delta_prime=0.1
    )
    with pytest.raises(InputError, match="claims nothing"):
        paper_claim(useless)
    outside = main_schedule(
        n=400,
        dimension=2,
        diameter=1.0,
        lipschitz=1.0,
        epsilon=0.1,
        delta=1e-4,
        delta_prime=1e-4,
        outside_regime="allow",
    )
    with pytest.raises(InputError, match=r"epsilon=0.1 exceeds .*claims nothing"):
        paper_claim(outside)


# --- audits ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("white_box", [False, True])
def test_the_single_step_at_its_exact_curve_is_not_violated(white_box):
    mechanism = step()
    first, second = worst_pair(4)
    claim = single_step_claim(n=4, sigma=1.0, lipschitz=1.0)
    result = audit(
        mechanism,
        first,
        second,
        claim=claim,
        relation="replace-one",
        samples=5_000,
        log_density=mechanism.log_density if white_box else None,
    )
    assert result.verdict is AuditVerdict.NOT_VIOLATED
    assert result.reproducible


def test_the_single_step_beyond_its_claim_is_violated():
    first, second = worst_pair(4)
    too_much = single_step_claim(n=4, sigma=1.4, lipschitz=1.0)
    result = audit(step(), first, second, claim=too_much, relation="replace-one", samples=20_000)
    assert result.verdict is AuditVerdict.VIOLATED
    assert result.reproduce().log_e_value == result.log_e_value


def test_a_transcript_is_not_violated_and_one_with_half_the_noise_is():
    first, second = worst_pair(4)
    claim = transcript_claim(n=4, sigma=2.0, lipschitz=1.0, orders=(0.3, 0.7, 1.2))
    arguments = {"claim": claim, "relation": "replace-one", "samples": 3_000}

    def mechanism(sigma):
        return algorithm(convex_set=WholeSpace(1), sigma=sigma, release="transcript", steps=8)

    assert audit(mechanism(2.0), first, second, **arguments).verdict is AuditVerdict.NOT_VIOLATED
    assert audit(mechanism(0.5), first, second, **arguments).verdict is AuditVerdict.VIOLATED


def test_the_output_is_not_violated():
    first, second = worst_pair(4)
    result = audit(
        algorithm(convex_set=L2Ball([0.0], 1.0), sigma=2.0),
        first,
        second,
        claim=transcript_claim(n=4, sigma=2.0, lipschitz=1.0, stopping=StoppingRule.LOOP),
        samples=3_000,
    )
    assert result.verdict is AuditVerdict.NOT_VIOLATED


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: algorithm(release="everything"), "release='everything' is unknown"),
        (lambda: algorithm(steps=0), "steps=0 is too small"),
        (lambda: step(step_size=-1.0), "step_size=-1.0 is not positive"),
        (lambda: step(seen=(7,))(np.ones((4, 1)), 1, np.random.default_rng(0)), "beyond n=4"),
        (lambda: step(seen=(-1,))(np.ones((4, 1)), 1, np.random.default_rng(0)), "seen=-1 is too small"),
        (lambda: step(point=[math.nan])(np.ones((4, 1)), 1, np.random.default_rng(0)), "not finite"),
        (
            lambda: step(convex_set=L2Ball([0.0], 1.0)).log_density(np.zeros((2, 1)), np.ones((4, 1))),
            "leave log_density out",
        ),
        (lambda: step()(np.full((4, 1), 2.0), 1, np.random.default_rng(0)), "exceeds lipschitz"),
        (lambda: single_step_claim(n=4, sigma=1.0, lipschitz=1.0, relation="add-remove"), "changes n"),
        (lambda: single_step_claim(n=4, sigma=1.0, lipschitz=1.0, batch_size=5), "exceeds n=4"),
        (lambda: single_step_claim(n=4, sigma=0.0, lipschitz=1.0), "sigma=0.0 is not positive"),
        (lambda: transcript_claim(n=1, sigma=1.0, lipschitz=1.0), "n=1 is too small"),
    ],
)
def test_bad_arguments(make, message):
    with pytest.raises(InputError, match=message):
        make()
