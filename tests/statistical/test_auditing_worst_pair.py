"""The search for the worst pair: finds pairs that only extreme data give, shrinks them, repeats itself, keeps quiet.

The scores are estimates from samples of fixed seeds, so each test is deterministic: it has no false alarms. The margins
say by how much what is asserted holds.
"""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from dpsco_verify.auditing.pairs import Relation, require_neighbours
from dpsco_verify.auditing.records import same_data
from dpsco_verify.auditing.worst_pair import WorstPair, search_worst_pair
from dpsco_verify.errors import InputError
from dpsco_verify.strategies import neighbouring_arrays, neighbouring_lists, neighbouring_tables

pytestmark = pytest.mark.slow  # searches, each of many small audits

EPSILON = 1.0
SAMPLES = 2000
RUNS = 3.0
"""How many standard errors are taken off an estimate: noise alone seldom makes a positive score."""


def excess(mechanism):
    """Return a score: the estimated largest P(E|d) - e^eps P(E|d') over half-lines E, either order, less 3 errors."""

    def score(d, d_prime):
        outputs = [mechanism(data, SAMPLES, np.random.default_rng(i)) for i, data in enumerate((d, d_prime))]
        cuts = np.quantile(np.concatenate(outputs), np.linspace(0.02, 0.98, 25))
        above, above_prime = (np.mean(x[:, None] > cuts, axis=0) for x in outputs)
        events = [(above, above_prime), (1 - above, 1 - above_prime)]
        both = [pair for p, q in events for pair in ((p, q), (q, p))]
        factor = math.exp(EPSILON)
        variance = [(p * (1 - p) + factor**2 * q * (1 - q)) / SAMPLES for p, q in both]
        return max(
            float(np.max(p - factor * q - RUNS * np.sqrt(v)))
            for (p, q), v in zip(both, variance, strict=True)
        )

    return score


def laplace_sum(data, size, rng, *, clip=True):
    total = np.clip(data, 0.0, 1.0).sum() if clip else data.sum()
    return total + rng.laplace(scale=1.0 / EPSILON, size=size)


def sum_that_forgot_to_clip(data, size, rng):
    return laplace_sum(data, size, rng, clip=False)


def bounded_mean(data, size, rng):
    """Replace-one sensitivity 1/n, but at least 2 records are assumed: wrong for one record alone."""
    clipped = np.clip(data, 0.0, 1.0)
    return clipped.mean() + rng.laplace(scale=1.0 / (EPSILON * max(len(data), 2)), size=size)


MOSTLY_SMALL = st.floats(0.0, 1.0) | st.floats(0.0, 50.0)


@pytest.mark.parametrize(
    ("relation", "seed"), [("replace-one", 0), pytest.param("add-remove", 1, marks=pytest.mark.long)]
)
def test_an_outlier_is_found_and_shrunk_to_one_record(relation, seed):
    """Clipping was forgotten: data within [0, 1] keep the claim, and only a record beyond breaks it."""
    strategy = neighbouring_arrays(relation, elements=MOSTLY_SMALL)
    found = search_worst_pair(strategy, excess(sum_that_forgot_to_clip), seed=seed)
    require_neighbours(found.d, found.d_prime, relation)
    assert max(len(found.d), len(found.d_prime)) == 1
    assert abs(found.d.sum() - found.d_prime.sum()) > 2.0
    # Shifted by s, the events' largest excess is 1 - e^((1 - s)/2): beyond 0.8 from s = 4.3 on.
    assert found.score > 0.8
    assert max(found.d.max(initial=0.0), found.d_prime.max(initial=0.0)) < 20.0  # no larger than need be


def test_what_keeps_its_claim_has_no_bad_pair():
    """The same search on the mechanism that does clip: it would show the score's own false alarms."""
    strategy = neighbouring_arrays("replace-one", elements=MOSTLY_SMALL)
    found = search_worst_pair(strategy, excess(laplace_sum), seed=0)
    assert found.score <= 0.0
    assert found.examples == 100


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_the_only_bad_data_sets_are_those_of_one_record(seed):
    """One record, from near 0 to near 1: a loss of up to 2 eps, excess 1 - e^(-1/2) = 0.39, less 0.15 of errors."""
    strategy = neighbouring_arrays("replace-one", elements=st.floats(0.0, 1.0))
    found = search_worst_pair(strategy, excess(bounded_mean), seed=seed)
    assert len(found.d) == len(found.d_prime) == 1
    assert abs(found.d[0] - found.d_prime[0]) > 0.8
    assert found.score > 0.15


def test_the_search_can_fail():
    """Where the outlier cannot be drawn, the same search finds nothing: what is found above is due to the data."""
    strategy = neighbouring_arrays("replace-one", elements=st.floats(0.0, 1.0))
    assert search_worst_pair(strategy, excess(sum_that_forgot_to_clip), seed=0).score <= 0.0


def test_the_target_leads_to_what_chance_does_not_find():
    """Of 400 numbers up to a million, the closest to a given one is some 2,500 away; the score leads to it."""
    strategy = neighbouring_lists("add-remove", st.integers(0, 10**6), max_records=1)

    def closeness(d, d_prime):
        return 1e6 - abs(sum(d) + sum(d_prime) - 654_321)

    found = search_worst_pair(strategy, closeness, seed=0, max_examples=400, max_shrinks=0)
    assert found.score >= 1e6 - 10


def test_the_kept_part_of_the_best_score_is_nine_tenths():
    strategy = neighbouring_arrays("add-remove", elements=st.floats(0.0, 100.0), max_records=1)
    scores = []

    def score(d, d_prime):
        scores.append(float(abs(d.sum() - d_prime.sum())))
        return scores[-1]

    found = search_worst_pair(strategy, score, seed=0, max_shrinks=1000)
    best = max(scores[:100])
    assert 0.9 * best <= found.score <= best
    assert found.score == math.ceil(0.9 * best)  # and the simplest number of those


def outcome(found):
    return repr((found.d, found.d_prime, found.score, found.examples))


def outlier(d, d_prime):
    return float(abs(np.sum(d) - np.sum(d_prime))) - 1.0


@pytest.mark.parametrize(
    "relation",
    ["replace-one", *(pytest.param(other, marks=pytest.mark.long) for other in ("add-remove", "zero-out"))],
)
def test_the_same_seed_gives_the_same_pair(relation):
    strategy = neighbouring_arrays(relation, record_shape=2, special_values=False)
    first, second, other = (search_worst_pair(strategy, outlier, seed=s, max_examples=12) for s in (3, 3, 4))
    assert outcome(first) == outcome(second)
    assert outcome(first) != outcome(other)


def test_no_pair_is_accepted_and_then_judged_again():
    """A mechanism with a randomness of its own may score the same pair badly once, and well the next time."""
    seen = []

    def score(d, d_prime):
        again = any(same_data(pair, (d, d_prime)) for pair in seen)
        seen.append((d, d_prime))
        return -1.0 if again else outlier(d, d_prime)

    found = search_worst_pair(
        neighbouring_arrays("replace-one", special_values=False), score, max_examples=40
    )
    assert found.score == outlier(found.d, found.d_prime) > 1.0
    assert sum(same_data(pair, (found.d, found.d_prime)) for pair in seen) == 1
    assert len(found.d) == 1


def test_effort_is_bounded():
    calls = []

    def score(d, d_prime):
        calls.append(None)
        return outlier(d, d_prime)

    for shrinks in (0, 1, 7, 50):
        calls.clear()
        found = search_worst_pair(
            neighbouring_arrays("replace-one", special_values=False),
            score,
            max_examples=30,
            max_shrinks=shrinks,
        )
        assert found.examples == len(calls) <= 30 + shrinks
        assert found.score >= 0.9 * (1.0 + found.score) - 1.0
    assert isinstance(found, WorstPair)


def test_scores_without_bounds():
    strategy = neighbouring_lists("replace-one", st.integers(0, 100))
    none = search_worst_pair(strategy, lambda d, d_prime: -math.inf)
    assert none.score == -math.inf
    require_neighbours(none.d, none.d_prime, "replace-one")
    top = search_worst_pair(
        strategy, lambda d, d_prime: math.inf if max(d) > 20 else -math.inf, max_shrinks=500
    )
    assert top.score == math.inf
    assert top.d == [21]


def test_what_the_score_raises_is_raised_as_it_is_and_at_once():
    calls = []

    def broken(d, d_prime):
        calls.append(None)
        if max(d) > 3:
            raise LookupError("mechanism fails on 4") from KeyError("cause")
        return 0.0

    with pytest.raises(LookupError, match="^'?mechanism fails on 4'?$") as caught:
        search_worst_pair(neighbouring_lists("replace-one", st.integers(0, 9)), broken)
    assert isinstance(caught.value.__cause__, KeyError)
    assert not getattr(caught.value, "__notes__", [])
    before = len(calls)
    with pytest.raises(LookupError):
        search_worst_pair(neighbouring_lists("replace-one", st.integers(0, 9)), broken)
    assert len(calls) == 2 * before  # the first failure ended the search


@pytest.mark.parametrize("kind", [AssertionError, SystemExit, KeyboardInterrupt, RecursionError])
def test_errors_of_any_kind_come_through(kind):
    def broken(d, d_prime):
        raise kind("said")

    with pytest.raises(kind, match="said"):
        search_worst_pair(neighbouring_lists("replace-one", st.integers(0, 9)), broken)


def test_what_fails_while_it_shrinks_is_raised_too():
    calls = []

    def broken(d, d_prime):
        calls.append(None)
        if len(calls) > 105:
            raise LookupError("late")
        return outlier(d, d_prime)

    with pytest.raises(LookupError, match="late"):
        search_worst_pair(neighbouring_arrays("replace-one", special_values=False), broken)


def test_errors_in_the_strategy_come_through():
    def fails(value):
        raise LookupError("in the strategy")

    with pytest.raises(LookupError, match="in the strategy"):
        search_worst_pair(st.integers().map(fails), outlier)


@pytest.mark.parametrize(
    ("strategy", "score", "options", "said"),
    [
        ([([1], [2])], outlier, {}, r"strategy=\[\(\[1\], \[2\]\)\] is not a Hypothesis strategy"),
        (st.integers(), outlier, {}, "strategy drew 0, which is not a pair"),
        (st.nothing(), outlier, {}, "strategy yields no pair"),
        (st.integers().filter(lambda _: False), outlier, {}, "strategy yields no pair"),
        (st.tuples(st.lists(st.text()), st.lists(st.text())), None, {}, "score=None is not callable"),
        (st.tuples(st.none(), st.none()), lambda d, d_prime: math.nan, {}, "score=nan"),
        (
            st.tuples(st.none(), st.none()),
            lambda d, d_prime: 0.0,
            {"max_examples": 0},
            "max_examples=0 is too small",
        ),
        (
            st.tuples(st.none(), st.none()),
            lambda d, d_prime: 0.0,
            {"max_shrinks": -1},
            "max_shrinks=-1 is too small",
        ),
        (
            st.tuples(st.none(), st.none()),
            lambda d, d_prime: 0.0,
            {"seed": 0.5},
            "seed=0.5 is not an integer",
        ),
    ],
)
def test_what_cannot_be_searched_is_refused(strategy, score, options, said):
    with pytest.raises(InputError, match=said):
        search_worst_pair(strategy, score, **options)


def test_a_strategy_with_few_pairs_is_searched_to_its_end():
    pairs = [([n], [0]) for n in (1, 4, 2)]
    found = search_worst_pair(st.sampled_from(pairs), outlier, seed=0)
    assert (found.d, found.d_prime) == ([4], [0])


def plain_search():
    return outcome(
        search_worst_pair(
            neighbouring_arrays("replace-one", special_values=False), outlier, seed=11, max_examples=12
        )
    )


def test_it_works_within_another_property():
    """With the result that it has outside; the health check for nested tests is not even asked."""
    alone, seen = plain_search(), []

    @settings(database=None, max_examples=3, suppress_health_check=[])
    @given(st.integers(0, 100))
    def outer(number):
        assume(number % 7)
        seen.append(plain_search())

    outer()
    assert len(seen) >= 2
    assert set(seen) == {alone}


def test_it_works_within_its_own_score():
    def score(d, d_prime):
        return float(len(plain_search())) + outlier(d, d_prime)

    found = search_worst_pair(
        neighbouring_arrays("replace-one", special_values=False), score, max_examples=2, max_shrinks=1
    )
    assert found.score > 0.0


def test_the_settings_of_the_profile_do_not_matter():
    expected = plain_search()
    usual = settings.get_current_profile_name()
    settings.register_profile("odd", derandomize=True, max_examples=1, phases=[Phase.explicit], deadline=1)
    try:
        settings.load_profile("odd")
        assert plain_search() == expected
    finally:
        settings.load_profile(usual)


def test_searches_in_two_threads_do_not_disturb_each_other():
    expected, found = plain_search(), []
    threads = [threading.Thread(target=lambda: found.append(plain_search())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected, expected]


def test_numpy_keeps_its_error_state():
    def overflows(d, d_prime):
        return float(np.float64(1e308) * np.float64(10.0))

    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        search_worst_pair(neighbouring_arrays("replace-one", special_values=False), overflows)


PROGRAM = """
    import sys
    import numpy as np
    from hypothesis import strategies as st
    from dpsco_verify.auditing.worst_pair import search_worst_pair
    from dpsco_verify.strategies import neighbouring_lists
    {extra}
    strategy = neighbouring_lists("replace-one", st.text() | st.integers() | st.floats())
    tried = []
    def score(d, d_prime):
        tried.append((d, d_prime))
        return float(len(d))
    found = search_worst_pair(strategy, score, seed=5, max_examples=60)
    sys.stderr.write(ascii((found, tried)))
"""


def run(folder, extra="", **variables):
    return subprocess.run(  # noqa: S603  the interpreter that runs the test
        [sys.executable, "-W", "error", "-c", textwrap.dedent(PROGRAM).format(extra=extra)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **variables},
        capture_output=True,
        text=True,
        check=True,
    )


@pytest.mark.long
def test_other_processes_find_the_same_pair_and_leave_nothing_behind(tmp_path):
    """Also where a module of the user's with constants of its own is loaded, which Hypothesis would draw from."""
    module = "\n".join(f"X{i} = {1000 + i}; Y{i} = 'constant {i}'" for i in range(200))
    (tmp_path / "mine.py").write_text(module)
    beside = run(tmp_path, extra="sys.path.insert(0, '.'); sys.dont_write_bytecode = True; import mine")
    strategy = neighbouring_lists("replace-one", st.text() | st.integers() | st.floats())
    tried = []

    def score(d, d_prime):
        tried.append((d, d_prime))
        return float(len(d))

    found = search_worst_pair(strategy, score, seed=5, max_examples=60)
    assert beside.stderr == ascii((found, tried))
    assert beside.stdout == ""
    assert [path.name for path in tmp_path.iterdir()] == ["mine.py"]


def test_it_keeps_quiet(capfd):
    search_worst_pair(neighbouring_arrays("replace-one", special_values=False), outlier, max_examples=20)
    with pytest.raises(ZeroDivisionError):
        search_worst_pair(neighbouring_arrays("replace-one", special_values=False), lambda d, d_prime: 1 / 0)
    assert capfd.readouterr() == ("", "")


def test_it_leaves_the_place_of_hypothesis_and_its_constants_as_they_were():
    from hypothesis.configuration import storage_directory
    from hypothesis.internal.conjecture import providers

    before = storage_directory("x").path, providers._get_local_constants
    inside = []

    def score(d, d_prime):
        inside.append((storage_directory("x").path, providers._get_local_constants))
        return 0.0

    search_worst_pair(neighbouring_arrays("replace-one", special_values=False), score, max_examples=2)
    assert (storage_directory("x").path, providers._get_local_constants) == before
    assert inside[0][0] != before[0]
    assert inside[0][1] is not before[1]
    assert not inside[0][0].parent.exists()


@pytest.fixture
def interruptible():
    """Where this process was started in the background it ignores interrupts, and so would Python."""
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, previous)


@pytest.mark.usefixtures("interruptible")
def test_it_can_be_interrupted():
    """Ctrl-C while a score is computed: raised at once, and the search has ended soon after."""
    calls = []

    def slow(d, d_prime):
        calls.append(None)
        if len(calls) == 3:
            os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
        return 0.0

    with pytest.raises(KeyboardInterrupt):
        search_worst_pair(neighbouring_arrays("replace-one", special_values=False), slow, max_examples=10_000)
    made = len(calls)
    assert made < 100
    time.sleep(0.1)
    assert len(calls) == made


def test_tables_are_searched_too():
    strategy = neighbouring_tables("add-remove", {"age": st.integers(0, 120), "name": st.text(max_size=2)})
    found = search_worst_pair(
        strategy, lambda d, d_prime: float(abs(d["age"].sum() - d_prime["age"].sum())) - 60.0, max_examples=60
    )
    require_neighbours(found.d, found.d_prime, "add-remove")
    assert max(len(found.d), len(found.d_prime)) == 1
    assert found.score > 0


@given(data=st.data())
@settings(max_examples=5, suppress_health_check=list(HealthCheck))
def test_only_pairs_of_the_strategy_come_out(data):
    relation = data.draw(st.sampled_from([relation.value for relation in Relation]))
    weights = data.draw(st.lists(st.floats(-1.0, 1.0), min_size=3, max_size=3))

    def score(d, d_prime):
        require_neighbours(d, d_prime, relation)
        return weights[0] * len(d) + weights[1] * np.sum(d) + weights[2] * np.sum(d_prime)

    found = search_worst_pair(neighbouring_arrays(relation, special_values=False), score, max_examples=20)
    require_neighbours(found.d, found.d_prime, relation)
    assert found.score == score(found.d, found.d_prime)
