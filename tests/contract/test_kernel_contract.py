"""What callers may count on: the same errors, the same bytes, no compiler where none is needed, no cache needed."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numba
import numpy as np
import pytest

from dpsco_verify.algorithm import (
    Averaging,
    Options,
    RecordedTape,
    StoppingRule,
    record_ensemble,
    run_ensemble,
)
from dpsco_verify.algorithm.kernel import compilation, driver, plan_mirror, plan_run
from dpsco_verify.errors import InputError
from dpsco_verify.execution import SerialExecutor
from dpsco_verify.execution.processes import ProcessExecutor
from dpsco_verify.geometry import AffineSubspace, Box, HalfSpace, L2Ball, LpBall, PNorm, WholeSpace
from dpsco_verify.problems import Linear, Logistic

pytestmark = pytest.mark.slow


GOOD = {
    "loss": Linear(),
    "convex_set": L2Ball(np.zeros(2), 1.0),
    "step_size": 0.1,
    "sigma": 1.0,
    "lipschitz": 1.0,
}


def data(runs=5, n=6, d=2):
    return np.full((runs, n, d), 0.5)


def run(points, *, seed=0, **changes):
    return run_ensemble(points, rng=np.random.default_rng(seed), **(GOOD | changes))


class Own(Linear):
    """A user's loss."""


class OwnBall(L2Ball):
    """A user's set."""


@pytest.mark.parametrize(
    "changes",
    [
        {"loss": Own()},
        {"convex_set": OwnBall(np.zeros(2), 1.0)},
        {"convex_set": LpBall(2, 3.0, 1.0)},
        {"convex_set": AffineSubspace([[1.0, 1.0]], [0.0])},
        {"options": Options(averaging=Averaging.DATA_INDICES)},
    ],
)
def test_what_the_kernel_does_not_know_runs_in_numpy(changes):
    auto, numpy = run(data(), **changes), run(data(), engine="numpy", **changes)
    np.testing.assert_array_equal(auto.outputs, numpy.outputs)
    with pytest.raises(InputError, match='engine="compiled" knows no run'):
        run(data(), engine="compiled", **changes)


def test_a_replayed_tape_runs_in_numpy():
    tape = RecordedTape(np.zeros((1, 5, 1), dtype=np.int64), np.zeros((1, 5, 2)))
    with pytest.raises(InputError, match="record a longer tape"):
        run_ensemble(data(), tape=tape, **GOOD)
    with pytest.raises(InputError, match="tape=RecordedTape"):
        run_ensemble(data(), tape=tape, engine="compiled", **GOOD)


def test_exactly_one_source_of_randomness():
    for engine in ("auto", "numpy"):
        with pytest.raises(InputError, match="exactly one"):
            run_ensemble(data(), engine=engine, **GOOD)


def test_an_engine_that_does_not_exist():
    with pytest.raises(InputError, match="engine='fast'"):
        run(data(), engine="fast")


def spoiled(value, *, at=(4, 5, 1)):
    points = data()
    points[at] = value
    return points


def enormous(x):
    return data() * x


@pytest.mark.parametrize(
    ("points", "changes"),
    [
        (spoiled(math.nan), {}),
        (spoiled(-math.inf), {}),
        (np.broadcast_to(spoiled(math.nan)[4], (5, 6, 2)), {}),
        (spoiled(math.nan), {"lipschitz": 0.01}),
        (spoiled(40.0), {"options": Options(stopping=StoppingRule.ALL_POINTS)}),
        (spoiled(40.0), {"options": Options(stopping=StoppingRule.ALL_POINTS, batch_size=3)}),
        (data(), {"lipschitz": 0.5}),
        (data(), {"lipschitz": math.sqrt(0.5) / (1.0 + 2e-9)}),
        (enormous(1e200), {"lipschitz": 1e300}),
        (data(d=3), {}),
        (data()[0], {}),
        (data(n=1), {}),
        (data(), {"options": Options(batch_size=7)}),
    ],
)
def test_both_engines_refuse_in_the_same_words(points, changes):
    messages = []
    for engine in ("auto", "numpy"):
        with np.errstate(over="ignore"), pytest.raises(InputError) as refused:
            run(points, engine=engine, **changes)
        messages.append(str(refused.value))
    assert messages[0] == messages[1]


@pytest.mark.parametrize("convex_set", [WholeSpace(2), Box([-1, -1], [1, 1]), L2Ball(np.zeros(2), 1.0)])
@pytest.mark.parametrize("eta", [math.nan, math.inf, 1e308])
def test_a_step_out_of_the_doubles_is_refused(convex_set, eta):
    """Both name the entry and its value; which run it is in depends on the draws."""
    for engine in ("compiled", "numpy"):
        with (
            np.errstate(over="ignore", invalid="ignore"),
            pytest.raises(InputError, match=r"is not finite|above 1e\+300"),
        ):
            run(data(), engine=engine, convex_set=convex_set, step_size=lambda t: eta, sigma=10.0)


def test_subgradients_at_the_bound_are_taken():
    for factor in (1.0, 1.0 + 5e-10):
        run(data(), lipschitz=math.sqrt(0.5) / factor, engine="compiled")


def test_a_schedule_is_asked_once_for_each_time_in_order_and_no_further():
    asked = []

    def step_size(t):
        asked.append(t)
        return 1.0 / t

    found = run(data(runs=300), step_size=step_size, engine="compiled")
    assert asked == list(range(1, found.iterations.max() + 1))


def test_points_so_large_that_their_squares_overflow_are_projected():
    chosen = GOOD | {"convex_set": L2Ball([1e240, 0.0], 1e200), "sigma": 1e170, "step_size": 1.0}
    compiled, tape = record_ensemble(data(), rng=np.random.default_rng(0), **chosen)
    np.testing.assert_array_equal(compiled.outputs, run_ensemble(data(), tape=tape, **chosen).outputs)


def test_no_runs():
    found = run(np.zeros((0, 6, 2)), engine="compiled")
    assert found.outputs.shape == (0, 2)
    assert found.iterations.shape == (0,)


def test_data_in_any_layout_and_type():
    points = np.random.default_rng(0).uniform(-0.5, 0.5, size=(6, 2, 5)).transpose(2, 0, 1)
    expected = run(np.ascontiguousarray(points), engine="compiled").outputs
    np.testing.assert_array_equal(run(points, engine="compiled").outputs, expected)
    np.testing.assert_array_equal(run(points.tolist(), engine="compiled").outputs, expected)
    shared = np.broadcast_to(points[0], (5, 6, 2))
    np.testing.assert_array_equal(
        run(shared, engine="compiled").outputs, run(shared.copy(), engine="compiled").outputs
    )


def test_the_data_are_not_changed():
    points = data()
    before = points.copy()
    points.setflags(write=False)
    run(points, engine="compiled")
    np.testing.assert_array_equal(points, before)


def test_workers_and_threads_give_the_same_bytes():
    def submit(executor):
        tasks = [
            executor.submit(
                run_ensemble, data(runs=200), rng=np.random.default_rng(seed), engine="compiled", **GOOD
            )
            for seed in range(4)
        ]
        return [
            (found.outputs.tobytes(), found.iterations.tobytes()) for found in (t.result() for t in tasks)
        ]

    expected = submit(SerialExecutor())
    assert len({outputs for outputs, _ in expected}) == 4
    with ThreadPoolExecutor(4) as threads:
        assert submit(threads) == expected
    with ProcessExecutor(1) as process:
        assert submit(process) == expected


def test_progress_is_reported_and_changes_nothing(monkeypatch):
    reports = []
    monkeypatch.setattr(driver, "_CALL_NUMBERS", 1)
    quiet = run(data(runs=1000), engine="compiled")
    told = run(data(runs=1000), engine="compiled", progress=lambda done, total: reports.append((done, total)))
    np.testing.assert_array_equal(quiet.outputs, told.outputs)
    assert reports[-1] == (1000, 1000)
    assert len(reports) > 3
    assert reports == sorted(reports)


def make_answer(version):
    def answer(x):
        version  # noqa: B018  as in the kernel
        return x + 1

    return answer


def test_without_a_place_to_keep_it_the_kernel_is_compiled_anew(monkeypatch):
    monkeypatch.setattr(numba.core.caching.CacheImpl, "_locator_classes", [])
    assert compilation.EntryPoint(make_answer)(41) == 42


def test_a_full_disk_does_no_harm(monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(numba.core.caching.IndexDataCacheFile, "save", full)
    assert compilation.EntryPoint(make_answer)(41) == 42


def test_a_fault_of_the_code_itself_is_not_hidden():
    def make(version):
        def broken(x):
            return x.nothing

        return broken

    with pytest.raises(numba.TypingError):
        compilation.EntryPoint(make)(41)


def test_the_cache_key_holds_the_kernels_sources(monkeypatch, tmp_path):
    before = compilation.fingerprint()
    for path in Path(compilation.__file__).parent.glob("*.py"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(compilation, "__file__", str(tmp_path / "compilation.py"))
    assert compilation.fingerprint() == before
    with (tmp_path / "projections.py").open("a") as file:
        file.write("\n")
    assert compilation.fingerprint() != before

    keys = set()
    for version in (1, 2):
        dispatcher = numba.njit(cache=True)(make_answer(version))
        dispatcher.compile((numba.int64,))
        keys.add(str(dispatcher._cache._index_key(dispatcher.signatures[0], dispatcher.targetctx.codegen())))
    assert len(keys) == 2


def test_the_half_spaces_slack_is_its_own():
    half_space = HalfSpace([1.0, 2.0, -3.0], 0.5)
    plan = plan_run(loss=Linear(), convex_set=half_space, options=Options(), n=4)
    assert plan.convex_set.numbers[1] == half_space._relative_slack


def test_plans():
    options = Options()
    assert plan_run(loss=Logistic(), convex_set=WholeSpace(3), options=options, n=2**32 - 1) is not None
    assert plan_run(loss=Logistic(), convex_set=WholeSpace(3), options=options, n=2**32) is None
    assert plan_mirror(potential=PNorm(2.0), convex_set=WholeSpace(3)) is None


def test_the_kernel_can_be_compiled_ahead():
    from dpsco_verify.algorithm import __main__ as ahead
    from dpsco_verify.algorithm.kernel import runs

    ahead.main()
    assert runs.run_blocks._compiled is not None
