"""The audit of a mechanism: arguments, verdicts, what a result holds, and that it can be repeated."""

import math

import numpy as np
import pytest
from hypothesis import strategies as st

from dpsco_verify.auditing import AuditVerdict, MechanismError, audit, per_call
from dpsco_verify.auditing.bounds import delta_lower_bound, epsilon_lower_bound, log_wealth_against
from dpsco_verify.auditing.one_pair import _rounds
from dpsco_verify.auditing.outputs import encode
from dpsco_verify.errors import InputError
from dpsco_verify.evidence.checker import issue
from dpsco_verify.inference import CellCounts, PrivacyEventTest
from dpsco_verify.inference.bets import bet_fractions
from dpsco_verify.privacy.claims import ApproximateDP, PureDP


def laplace(epsilon):
    def mechanism(dataset, size, rng):
        return np.sum(dataset) + rng.laplace(scale=1 / epsilon, size=size)

    return mechanism


def test_a_violation_is_found_with_a_witness_that_says_what_was_seen():
    result = audit(laplace(3.0), [0.0], [1.0], epsilon=1.0, relation="replace-one", name="a sum")
    assert result.verdict is AuditVerdict.VIOLATED
    assert result.mechanism == "a sum"
    assert result.order == 1.0
    assert result.delta_at_order == 0.0
    assert 1.0 < result.epsilon_lower <= 3.0
    assert 0.0 < result.delta_lower <= 1.0 - math.exp((1.0 - 3.0) / 2)
    assert result.mdv is None
    assert result.p_value <= 1e-6
    assert result.log_e_value >= math.log(1e6) - 1e-9
    assert result.samples_to_decision <= result.samples <= 10_000
    witness = result.witness
    assert witness.frequency > math.e * witness.frequency_neighbour
    assert witness.occurrences == round(witness.frequency * witness.samples)
    assert (witness.d, witness.d_prime) == (([1.0], [0.0]) if witness.swapped else ([0.0], [1.0]))
    # The event can be asked about outputs, and is likelier on witness.d by as much as was said.
    fresh = [
        encode(laplace(3.0)(data, 20_000, np.random.default_rng(7)), 20_000)
        for data in (witness.d, witness.d_prime)
    ]
    first, second = (float(np.mean(witness.contains(outputs))) for outputs in fresh)
    assert first == pytest.approx(witness.frequency, abs=0.05)
    assert second == pytest.approx(witness.frequency_neighbour, abs=0.05)
    assert "a sum violates 1-DP" in result.summary
    assert witness.event in result.summary


def test_the_counts_of_a_violation_make_a_certificate_that_the_checker_accepts():
    from fractions import Fraction

    from dpsco_verify.evidence.checker.statistical import EventEvidence

    result = audit(laplace(3.0), 0.0, 1.0, epsilon=1.0)
    counts = result.witness.decision_counts
    largest = Fraction(1) / Fraction(math.nextafter(math.e, 3.0))
    witness = EventEvidence(
        null_hypothesis="any",
        epsilon="1",
        delta="0",
        alpha=str(Fraction(result.witness.alpha)),
        bets=tuple(str(Fraction(f) * largest) for f in result.witness.fractions),
        both=counts.n11,
        first_only=counts.n10,
        second_only=counts.n01,
        neither=counts.n00,
    )
    assert issue("mechanism", "pair", witness).left > "1"


@pytest.mark.slow
def test_a_mechanism_at_its_claim_is_not_violated_and_says_what_would_have_been_found():
    result = audit(laplace(1.0), [0.0], [1.0], epsilon=1.0)
    assert result.verdict is AuditVerdict.NOT_VIOLATED
    assert 1.05 < result.mdv.epsilon < 1.5
    assert result.mdv.power == 0.9
    assert result.mdv.delta == result.mdv.delta_excess
    assert result.epsilon_lower <= 1.0
    assert result.delta_lower == 0.0
    assert f"ε ≥ {result.mdv.epsilon:.4g}" in result.summary
    assert result.samples == 10_000


@pytest.mark.slow
def test_an_audit_that_could_not_see_what_matters_is_undecided():
    result = audit(laplace(1.0), [0.0], [1.0], epsilon=1.0, epsilon_of_interest=1.05)
    assert result.verdict is AuditVerdict.UNDECIDED
    assert "undecided" in result.summary
    seen = audit(laplace(1.0), [0.0], [1.0], epsilon=1.0, epsilon_of_interest=2.0)
    assert seen.verdict is AuditVerdict.NOT_VIOLATED


def test_an_audit_that_could_see_nothing_is_undecided():
    # At e^8 no event of 64 samples can reach the level.
    result = audit(laplace(8.0), [0.0], [1.0], epsilon=8.0, samples=64)
    assert result.verdict is AuditVerdict.UNDECIDED
    assert result.mdv is None
    assert "give more samples" in result.summary


@pytest.mark.slow
def test_the_same_audit_gives_the_same_result_and_another_seed_another_one():
    result = audit(laplace(1.5), [0.0], [1.0], epsilon=1.0, seed=5)
    again = result.reproduce()
    assert again.witness.counts == result.witness.counts
    assert again.summary == result.summary
    assert (again.log_e_value, again.samples, again.verdict) == (
        result.log_e_value,
        result.samples,
        result.verdict,
    )
    other = audit(laplace(1.5), [0.0], [1.0], epsilon=1.0, seed=6)
    assert other.witness.counts != result.witness.counts


def test_both_directions_are_looked_at():
    def one_sided(dataset, size, rng):
        present = rng.random(size) < (0.2 if dataset else 0.0)
        return present.astype(float)

    for pair, swapped in ((([], [1]), True), (([1], []), False)):
        result = audit(one_sided, *pair, epsilon=1.0, delta=0.01, relation="add-remove")
        assert result.verdict is AuditVerdict.VIOLATED
        assert result.witness.swapped is swapped
        assert result.witness.d == [1]


@pytest.mark.slow
def test_pairs_share_the_level_and_the_worst_is_shown():
    pairs = [([0.0], [0.5]), ([0.0], [3.0]), ([0.0], [1.0])]
    result = audit(laplace(1.0), pairs=pairs, epsilon=1.0)
    assert result.verdict is AuditVerdict.VIOLATED
    assert result.pairs == 3
    assert 3.0 in (*result.witness.d, *result.witness.d_prime)
    assert result.witness.alpha <= 1e-6 / 3
    held = audit(laplace(1.0), pairs=pairs[::2], epsilon=1.0)
    assert held.verdict is AuditVerdict.NOT_VIOLATED
    assert held.reproduce().summary == held.summary


@pytest.mark.slow
def test_a_strategy_is_searched_for_the_worst_pair():
    from hypothesis import strategies as st

    def forgot_to_clip(dataset, size, rng):
        return np.sum(dataset) + rng.laplace(size=size)

    values = st.floats(0.0, 10.0)
    strategy = st.tuples(st.lists(values, min_size=1, max_size=3), values).map(
        lambda drawn: (drawn[0], [drawn[1], *drawn[0][1:]])
    )
    result = audit(forgot_to_clip, pairs=strategy, epsilon=1.0, pair_examples=60)
    assert result.verdict is AuditVerdict.VIOLATED
    assert abs(sum(result.witness.d) - sum(result.witness.d_prime)) > 1.0
    bounded = audit(
        lambda dataset, size, rng: np.sum(np.clip(dataset, 0, 1)) + rng.laplace(size=size),
        pairs=strategy,
        epsilon=1.0,
        pair_examples=12,
    )
    assert bounded.verdict is not AuditVerdict.VIOLATED


@pytest.mark.slow
def test_a_log_density_is_used_where_there_is_one():
    # Two thirds of the noise is common to both data sets; the sum of many weak coordinates is what tells them apart.
    def mechanism(dataset, size, rng):
        return dataset * np.resize([1.0, -1.0], 40) + 4.0 * rng.standard_normal((size, 40))

    def log_density(outputs, dataset):
        return -0.5 * np.sum((outputs - dataset * np.resize([1.0, -1.0], 40)) ** 2, axis=1) / 16.0

    result = audit(mechanism, 0.0, 1.0, epsilon=0.5, log_density=log_density, classifier="none")
    assert result.verdict is AuditVerdict.VIOLATED
    assert "log-likelihood ratio" in result.witness.event
    with pytest.raises(InputError, match="log_density returned shapes"):
        audit(mechanism, 0.0, 1.0, epsilon=0.5, log_density=lambda outputs, dataset: 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("classifier", ["built-in", "boosting"])
def test_a_likelihood_ratio_is_learned(classifier):
    # Both marginals are the same on both data sets; the product is not.
    def mechanism(dataset, size, rng):
        x = rng.standard_normal((size, 2))
        x[:, 1] = np.where(dataset, 1.0, -1.0) * np.sign(x[:, 0]) * np.abs(x[:, 1])
        return x

    result = audit(mechanism, 0, 1, epsilon=0.2, classifier=classifier, features={})
    assert result.verdict is AuditVerdict.VIOLATED


@pytest.mark.slow
def test_a_users_own_feature_is_looked_at():
    def parity(dataset, size, rng):
        return 2 * rng.integers(0, 1 << 40, size=size) + dataset

    blind = audit(parity, 0, 1, epsilon=1.0)
    assert blind.verdict is not AuditVerdict.VIOLATED
    seeing = audit(parity, 0, 1, epsilon=1.0, features={"parity": lambda outputs: outputs % 2})
    assert seeing.verdict is AuditVerdict.VIOLATED
    assert "parity" in seeing.witness.event
    with pytest.raises(InputError, match=r"features\['parity'\] returned shape"):
        audit(parity, 0, 1, epsilon=1.0, features={"parity": lambda outputs: 0.0})


@pytest.mark.slow
def test_the_bits_of_floating_point_outputs_are_noted_and_judged_on_demand():
    noted = audit(laplace(1.0), [0.0], [1.0], epsilon=1.0)
    assert noted.verdict is AuditVerdict.NOT_VIOLATED
    assert "lowest bit" in noted.notes[0]
    judged = audit(laplace(1.0), [0.0], [1.0], epsilon=1.0, floating_point=True)
    assert judged.verdict is AuditVerdict.VIOLATED
    on_a_grid = audit(
        lambda dataset, size, rng: np.round((np.sum(dataset) + rng.laplace(size=size)) * 1024) / 1024,
        [0.0],
        [1.0],
        epsilon=1.0,
        floating_point=True,
    )
    assert on_a_grid.verdict is AuditVerdict.NOT_VIOLATED


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"epsilon": None}, "nothing is claimed"),
        ({"epsilon": -1.0}, "epsilon=-1.0"),
        ({"epsilon": math.nan}, "NaN"),
        ({"delta": 1.0}, "delta=1.0"),
        ({"claim": PureDP(1.0)}, "both given"),
        ({"epsilon": None, "claim": 3}, "not a privacy claim"),
        ({"alpha": 0.0}, "alpha=0.0"),
        ({"samples": 10}, "samples=10"),
        ({"samples": 1e4}, "samples=10000.0"),
        ({"relation": "neighbours"}, "relation='neighbours' is unknown"),
        ({"time_limit": 0.0}, "time_limit=0.0"),
        ({"classifier": "forest"}, "classifier='forest'"),
        ({"seed": -1}, "seed=-1"),
        ({"epsilon_of_interest": math.inf}, "epsilon_of_interest"),
        ({"pairs": [([0.0], [1.0])]}, "give one of the two"),
    ],
)
def test_bad_arguments_are_refused_in_one_sentence(arguments, reason):
    with pytest.raises(InputError, match=reason) as told:
        audit(laplace(1.0), [0.0], [1.0], **{"epsilon": 1.0, **arguments})
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("pairs", [[], [1, 2], 5, [([0.0],)]])
def test_what_holds_no_pairs_is_refused(pairs):
    with pytest.raises(InputError, match="pair"):
        audit(laplace(1.0), pairs=pairs, epsilon=1.0)


def test_a_pair_that_is_no_neighbour_is_refused():
    with pytest.raises(InputError, match="d"):
        audit(laplace(1.0), [0.0, 0.0], [1.0, 1.0], epsilon=1.0, relation="replace-one")


def test_a_data_set_that_is_missing_is_bad_input():
    with pytest.raises(InputError, match="^d and d_prime are missing"):
        audit(laplace(1.0), epsilon=1.0)
    with pytest.raises(InputError, match="^d_prime is missing"):
        audit(laplace(1.0), [1.0, 2.0], epsilon=1.0)
    with pytest.raises(InputError, match="^d is missing"):
        audit(laplace(1.0), d_prime=[1.0, 2.0], epsilon=1.0)
    with pytest.raises(InputError, match="both given"):
        audit(laplace(1.0), None, pairs=[([0.0], [1.0])], epsilon=1.0)


@pytest.mark.slow
def test_none_may_be_a_data_set():
    def absent(dataset, size, rng):
        return (dataset is not None) + rng.laplace(scale=1.0, size=size)

    assert audit(absent, None, [1], epsilon=1.0, samples=3000).verdict is AuditVerdict.NOT_VIOLATED


def never(dataset, size, rng):
    raise AssertionError("nothing may be drawn on equal data sets")


@pytest.mark.parametrize("relation", [None, "replace-one", "add-remove"])
def test_equal_data_sets_are_bad_input(relation):
    with pytest.raises(InputError, match="^d and d_prime are the same data set"):
        audit(never, [0.0, 1.0], [0.0, 1.0], epsilon=0.01, relation=relation)
    neighbours = ([0.0, 1.0], [0.0] if relation == "add-remove" else [0.0, 2.0])
    with pytest.raises(InputError, match=r"^pairs\[1\]: d and d_prime are the same data set"):
        audit(never, pairs=[neighbours, ([1.0], [1.0])], epsilon=0.01, relation=relation)


def test_a_strategy_of_equal_data_sets_is_bad_input():
    some = st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=1)
    with pytest.raises(InputError, match="drew .* pairs, all of equal data sets"):
        audit(never, pairs=some.map(lambda d: (d, list(d))), epsilon=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("relation", [None, "replace-one"])
def test_equal_data_sets_of_a_strategy_are_passed_over(relation):
    def guarded(dataset, size, rng):
        return laplace(4.0)(dataset, size, rng)

    some = st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=1)
    result = audit(guarded, pairs=st.tuples(some, some), epsilon=1.0, relation=relation, samples=3000)
    assert result.verdict is AuditVerdict.VIOLATED
    assert {result.witness.d[0], result.witness.d_prime[0]} == {0.0, 1.0}


@pytest.mark.slow
def test_a_strategy_whose_pairs_differ_in_nothing_that_shows_is_judged_on_two_that_differ():
    def blind(dataset, size, rng):
        return rng.laplace(size=size)

    some = st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=1)
    result = audit(blind, pairs=st.tuples(some, some), epsilon=1.0, samples=3000)
    assert result.witness.d != result.witness.d_prime


@pytest.mark.slow
def test_a_result_says_which_relation_its_pair_seems_to_have():
    result = audit(laplace(1.0), [5.0], [6.0], epsilon=1.0, samples=3000)
    assert result.neighbours == "no relation was given; the pair seems to be replace-one"
    assert result.summary.endswith(f"; {result.neighbours}")
    given = audit(laplace(1.0), [5.0], [6.0], epsilon=1.0, samples=3000, relation="replace-one")
    assert given.neighbours is None
    assert "relation" not in given.summary
    assert (given.verdict, given.p_value, given.witness.counts) == (
        result.verdict,
        result.p_value,
        result.witness.counts,
    )


@pytest.mark.slow
def test_strangers_are_judged_and_called_so():
    result = audit(laplace(1.0), [0.0] * 4, [1.0] * 4, epsilon=1.0, samples=3000)
    assert result.verdict is AuditVerdict.VIOLATED
    assert "not neighbours under replace-one, add-remove or zero-out: all 4 records differ" in result.summary
    assert result.notes == ()
    pairs = [([0.0] * 4, [0.1] * 4), ([0.0], [5.0])]
    listed = audit(laplace(1.0), pairs=pairs, epsilon=1.0, samples=3000)
    assert listed.neighbours == "no relation was given; the pair seems to be replace-one and zero-out"
    (note,) = listed.notes
    assert note.startswith("pairs[0]: no relation was given, and the data sets are not neighbours")
    assert note.endswith("all 4 records differ")


def test_a_mechanism_error_is_an_input_error():
    with pytest.raises(InputError):
        audit(per_call(lambda dataset: object()), [0.0], [1.0], epsilon=1.0)
    assert issubclass(MechanismError, InputError)


def test_the_bounds_are_what_the_test_rejects():
    counts = CellCounts(n11=600, n10=2400, n01=200, n00=1800)
    fractions = bet_fractions(depth=14)
    delta = delta_lower_bound(counts, epsilon=1.0, alpha=0.01, fractions=fractions)
    epsilon = epsilon_lower_bound(counts, delta=0.0, alpha=0.01, fractions=fractions)
    for factor, rejected in ((0.999, True), (1.001, False)):
        for order, level in ((1.0, delta * factor), (epsilon * factor, 0.0)):
            test = PrivacyEventTest(epsilon=order, delta=level, alpha=0.01, fractions=fractions)
            assert test.update_counts(counts).rejected is rejected
    wealth = log_wealth_against(counts, epsilon=1.0, delta=delta, fractions=fractions)
    assert wealth == pytest.approx(math.log(100.0), abs=1e-3)
    nothing = CellCounts(n11=0, n10=0, n01=50, n00=50)
    assert delta_lower_bound(nothing, epsilon=1.0, alpha=0.01, fractions=fractions) == 0.0
    assert epsilon_lower_bound(nothing, delta=0.0, alpha=0.01, fractions=fractions) == 0.0


def test_the_rounds_use_the_samples_and_the_level_and_no_more():
    for samples in (64, 1000, 9999, 10_000, 123_456, 1_000_000):
        rounds = _rounds(samples)
        assert rounds[-1].searched + sum(r.confirmed for r in rounds) == samples
        assert math.fsum(r.weight for r in rounds) == pytest.approx(1.0)
        assert all(r.confirmed > 0 and r.searched > 0 for r in rounds)
        assert [r.searched for r in rounds] == sorted(r.searched for r in rounds)


@pytest.mark.slow
def test_a_claim_object_is_taken():
    result = audit(laplace(1.0), [0.0], [1.0], claim=ApproximateDP(0.0, 1.0 - math.exp(-0.5)))
    assert result.verdict is AuditVerdict.NOT_VIOLATED
    assert result.order == 0.0
