"""The museum itself: its exhibits are well formed, its budget is one, and its rows tell a miss from a catch."""

from __future__ import annotations

import dataclasses
import math
import pickle

import msgspec
import numpy as np
import pytest

from dpsco_verify.auditing import AuditVerdict, require_neighbours
from dpsco_verify.errors import InputError
from dpsco_verify.faults import (
    EXHIBITS,
    Exhibit,
    ExhibitKind,
    Judgement,
    museum_record,
    quick_exhibits,
    run_museum,
)
from dpsco_verify.faults.algorithm import noise
from dpsco_verify.faults.algorithm.run import State
from dpsco_verify.faults.exhibits import EDGES, STRUCTURED

MECHANISMS = [exhibit for exhibit in EXHIBITS if isinstance(exhibit, Exhibit)]
FAULTS = [exhibit for exhibit in MECHANISMS if exhibit.kind is ExhibitKind.FAULT]
CONTROLS = [exhibit for exhibit in MECHANISMS if exhibit.kind is ExhibitKind.CONTROL]
TIGHT = {
    "control-laplace",
    "control-laplace-epsilon-0",
    "control-gaussian",
    "control-gradient-step",
}
"""Controls whose δ at the claimed ε is the claimed one and not 0."""


@dataclasses.dataclass(frozen=True)
class Stub:
    """An exhibit that says what it is told to say, and keeps the level that it was given."""

    id: str
    verdict: AuditVerdict = AuditVerdict.VIOLATED
    kind: ExhibitKind = ExhibitKind.FAULT
    title: str = "a stub"
    source: str = "here"
    truth: str = "none"
    cost: float = 0.1
    slow: bool = False
    seen: list = dataclasses.field(default_factory=list)

    def judge(self, *, alpha, seed):
        self.seen.append((alpha, seed))
        return Judgement(verdict=self.verdict, caught_by="its word", samples=7)


def test_every_row_of_the_list_of_bugs_is_there():
    ids = {exhibit.id for exhibit in MECHANISMS}
    assert ids >= {"threshold-release", "sum-of-squares", "naive-laplace", "noisy-max-value", "batch-clip"}
    assert ids >= {"unclipped-path", "wrong-norm", "length-of-output", "nan-when-empty"}
    assert ids >= {f"sparse-vector-{number}" for number in (3, 4, 5, 6)}
    assert ids >= {f"laplace-{epsilon}" for epsilon in ("1.1", "1.25", "1.5", "2")}
    assert ids >= {
        f"control-{name}"
        for name in (
            "laplace",
            "gaussian",
            "discrete-laplace",
            "randomised-response",
            "exponential",
            "permute-and-flip",
            "noisy-max",
            "sparse-vector-1",
            "sparse-vector-2",
            "grid-laplace",
            "laplace-epsilon-0",
        )
    }


def raises(mechanism, data):
    try:
        mechanism(data, 1, np.random.default_rng(1))
    except ValueError:
        return True
    return False


def counterparts():
    """The faults that stand beside their right counterparts."""
    by_id = {exhibit.id: exhibit for exhibit in MECHANISMS}
    return [(e, by_id[f"control-{e.id}"]) for e in (*STRUCTURED, *EDGES) if f"control-{e.id}" in by_id]


@pytest.mark.parametrize(("fault", "control"), counterparts(), ids=lambda exhibit: exhibit.id)
def test_a_counterpart_differs_in_one_thing(fault, control):
    assert (fault.kind, control.kind) == (ExhibitKind.FAULT, ExhibitKind.CONTROL)
    assert fault.pairs is control.pairs
    assert fault.claim is control.claim
    one, other = (dataclasses.asdict(exhibit.mechanism) for exhibit in (fault, control))
    assert type(fault.mechanism) is type(control.mechanism)
    assert sum(one[name] != other[name] for name in one) == 1


def test_the_kinds_found_in_public_reports_have_their_counterparts():
    names = {fault.id for fault, _ in counterparts()}
    assert names == {
        *(
            "order-of-groups",
            "keys-of-groups",
            "groups-as-text",
            "shared-noise",
            "running-sums",
            "hashed-bits",
        ),
        *("nan-past-a-clamp", "wrapped-sum", "saturating-order", "many-contributions", "crash-on-empty"),
        *("one-sided-exception", "drawn-anew"),
    }


def test_the_law_of_noise_drawn_anew_is_that_of_the_reported_figure():
    """By quadrature of both densities, ε = 1.3799 at the ends."""
    x = (np.arange(200_000) + 0.5) / 100_000
    p, q = (np.exp(-np.abs(x - centre)) for centre in (0.0, 1.0))
    p, q = p / p.mean(), q / q.mean()
    assert np.log(p / q).max() == pytest.approx(1.3799, abs=1e-4)
    exact = next(e for e in FAULTS if e.id == "drawn-anew").true_delta()
    assert exact == pytest.approx(np.maximum(p - np.e * q, 0.0).mean(), rel=1e-6)


def test_ids_are_unique():
    assert len({exhibit.id for exhibit in EXHIBITS}) == len(EXHIBITS)


@pytest.mark.parametrize("exhibit", MECHANISMS, ids=lambda exhibit: exhibit.id)
def test_an_exhibit_is_well_formed(exhibit):
    for pair in exhibit.pairs:
        require_neighbours(*pair, exhibit.neighbours)
    copied = pickle.loads(pickle.dumps(exhibit))  # noqa: S301  our own
    returns = [data for data in exhibit.pairs[0] if not raises(exhibit.mechanism, data)]
    assert len(returns) == (1 if exhibit.id in {"crash-on-empty", "one-sided-exception"} else 2)
    for data in returns:
        first = exhibit.mechanism(data, 3, np.random.default_rng(1))
        second = copied.mechanism(data, 3, np.random.default_rng(1))
        assert len(first) == len(second) == 3
        assert repr(first) == repr(second)
        assert len(exhibit.mechanism(data, 1, np.random.default_rng(1))) == 1
    wanted = AuditVerdict.VIOLATED if exhibit.kind is ExhibitKind.FAULT else AuditVerdict.NOT_VIOLATED
    assert exhibit.kind.expected is wanted


@pytest.mark.parametrize("exhibit", FAULTS, ids=lambda exhibit: exhibit.id)
def test_a_fault_breaks_its_claim_by_the_exact_law(exhibit):
    if exhibit.id == "naive-laplace":
        assert exhibit.true_delta is None  # its law is on the bits; see the statistical tests
        return
    order = exhibit.claim.orders()[0]
    assert exhibit.true_delta() > 1.5 * exhibit.claim.delta(order) + 1e-3


@pytest.mark.parametrize("exhibit", CONTROLS, ids=lambda exhibit: exhibit.id)
def test_a_control_keeps_its_claim_by_the_exact_law(exhibit):
    order = exhibit.claim.orders()[0]
    claimed = exhibit.claim.delta(order)
    assert exhibit.true_delta() <= claimed * (1 + 1e-9) + 1e-13
    if exhibit.id in TIGHT and claimed > 0:
        assert exhibit.true_delta() == pytest.approx(claimed, rel=1e-6)


def test_the_reported_number_of_the_threshold_row():
    exhibit = next(e for e in FAULTS if e.id == "threshold-release")
    assert exhibit.true_delta() == pytest.approx(0.013390, abs=5e-7)
    assert exhibit.claim.delta(1.0) == pytest.approx(0.004926, abs=5e-7)


def test_the_budget_is_split_before_anything_is_judged():
    stubs = [Stub(f"s-{number}") for number in range(7)]
    run_museum(stubs, error_budget=1e-3)
    levels = [stub.seen[0][0] for stub in stubs]
    assert sum(levels) <= 1e-3
    assert levels == pytest.approx([1e-3 / 7] * 7)
    assert len({stub.seen[0][1] for stub in stubs}) == 7  # a seed of its own for each
    again = [Stub(f"s-{number}") for number in (3, 1)]
    run_museum(again, error_budget=1e-3)
    assert [stub.seen[0][1] for stub in again] == [stubs[3].seen[0][1], stubs[1].seen[0][1]]
    run_museum(again, error_budget=1e-3, seed=5)
    assert again[0].seen[1][1] != again[0].seen[0][1]


def test_rows_come_in_the_order_given_and_tell_a_miss():
    missed = Stub("missed", verdict=AuditVerdict.NOT_VIOLATED)
    accused = Stub("accused", kind=ExhibitKind.CONTROL)
    undecided = Stub(
        "undecided",
        verdict=AuditVerdict.UNDECIDED,
        kind=ExhibitKind.CONTROL,
    )
    rows = run_museum([Stub("z"), missed, accused, Stub("a", cost=9.0), undecided])
    assert [row.exhibit.id for row in rows] == ["z", "missed", "accused", "a", "undecided"]
    assert [row.as_expected for row in rows] == [True, False, False, True, False]
    assert (
        museum_record(rows, error_budget=1e-6).headline == "2 of 3 faults caught, 0 of 2 controls left alone"
    )


@pytest.mark.slow
def test_the_record_has_all_rows_and_is_the_same_but_for_its_times():
    exhibits = [Stub("stub"), *(e for e in EXHIBITS if e.id in {"laplace-2", "control-laplace"})]
    record, again = (museum_record(run_museum(exhibits), error_budget=1e-6) for _ in range(2))
    assert [exhibit.id for exhibit in record.exhibits] == ["stub", "laplace-2", "control-laplace"]
    assert [msgspec.structs.replace(e, seconds=0.0) for e in record.exhibits] == [
        msgspec.structs.replace(e, seconds=0.0) for e in again.exhibits
    ]
    assert record.exhibits[0].true_delta is None
    assert record.exhibits[0].claim is None
    assert record.exhibits[1].true_delta == pytest.approx(1 - np.exp(-0.5))
    assert record.exhibits[1].claim == "1-DP"
    assert record.as_expected


def test_bad_arguments():
    with pytest.raises(InputError, match="is empty"):
        run_museum([])
    with pytest.raises(InputError, match="hold an id twice"):
        run_museum([Stub("one"), Stub("one")])
    with pytest.raises(InputError, match="total=0"):
        run_museum([Stub("one")], error_budget=0.0)


def test_an_exhibit_that_cannot_be_judged_is_no_catch():
    class Broken(Stub):
        def judge(self, *, alpha, seed):
            raise InputError("the mechanism raised")

    with pytest.raises(InputError, match="the mechanism raised"):
        run_museum([Broken("broken")])


def test_the_quick_profile_leaves_out_the_slow_ones():
    quick = quick_exhibits()
    assert 0 < len(quick) < len(EXHIBITS)
    assert not any(exhibit.slow for exhibit in quick)
    assert {exhibit.kind for exhibit in quick} == set(ExhibitKind)


def test_the_quick_profile_shortens_large_controls_and_no_fault():
    whole = {exhibit.id: exhibit for exhibit in EXHIBITS}
    shorter = {e.id: e for e in quick_exhibits() if e is not whole[e.id]}
    assert shorter
    assert {exhibit.kind for exhibit in shorter.values()} == {ExhibitKind.CONTROL}
    assert all(5_000 <= e.samples == whole[id_].samples // 4 for id_, e in shorter.items())


@pytest.mark.long  # starts worker processes
def test_two_workers_give_the_same_rows():
    chosen = [e for e in EXHIBITS if e.id in {"laplace-2", "nan-when-empty", "control-noisy-max"}]
    alone, together = run_museum(chosen, seed=3), run_museum(chosen, seed=3, jobs=2)
    key = [(row.exhibit.id, row.verdict, row.caught_by, row.samples) for row in alone]
    assert key == [(row.exhibit.id, row.verdict, row.caught_by, row.samples) for row in together]


def test_wrong_noises_by_hand():
    """ξ is drawn as N(0, σ²I); what is wrong with each is what its name says."""

    def state(*noises):
        return State(
            data=np.zeros((4, 1)),
            rng=np.random.default_rng(3),
            loss=None,
            convex_set=None,
            step_size=0.1,
            sigma=4.0,
            lipschitz=1.0,
            initial_point=np.zeros(2),
            batch_size=1,
            iterates=[np.zeros(2)],
            noises=[np.asarray(each, dtype=float) for each in noises],
        )

    z, first, last = np.random.default_rng(3).standard_normal(2), (1.0, 2.0), (3.0, 5.0)
    for wrong, given, expected in (
        (noise.half, state(), 2 * z),
        (noise.sigma_as_variance, state(), 2 * z),
        (noise.variance_as_scale, state(), 16 * z),
        (noise.reused, state(), 4 * z),
        (noise.reused, state(first, last), first),
        (noise.cancelling, state(first, last), 4 * z),
        (noise.cancelling, state(last), (-3.0, -5.0)),
        (noise.correlated, state(), 4 * z),
        (noise.correlated, state(first, last), np.divide(last, 2) + math.sqrt(0.75) * 4 * z),
    ):
        assert wrong(given, [0]) == pytest.approx(expected)
    assert noise.none_on_repeats(state(), [0]) == pytest.approx(4 * z)
    assert noise.none_on_repeats(state(), []).tolist() == [0.0, 0.0]
