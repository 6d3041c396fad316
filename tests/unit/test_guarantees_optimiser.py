"""A private optimiser on the bank: the right one passes, each fault is caught, bad input is one sentence."""

import math
import sys

import numpy as np
import pytest

from benchmarks.optimisers import ONE_PASS, checked_full_batch, checked_one_pass, noise, one_pass
from dpsco_verify.auditing import AuditVerdict
from dpsco_verify.auditing.mechanism import MechanismError
from dpsco_verify.auditing.program import Program
from dpsco_verify.errors import InputError
from dpsco_verify.evidence.exit_code import ExitCode
from dpsco_verify.guarantees import FunctionError
from dpsco_verify.guarantees.optimiser import BANK, check_optimiser
from dpsco_verify.guarantees.optimiser.bank import LOSSES
from dpsco_verify.guarantees.optimiser.neighbours import candidates
from dpsco_verify.guarantees.optimiser.systems import check_system

PASS, FAIL, OPEN = AuditVerdict.NOT_VIOLATED, AuditVerdict.VIOLATED, AuditVerdict.UNDECIDED


def check(fault="", checked=checked_one_pass, **options):
    settings = {"problems": ("drift", "still"), "sizes": (200, 1000), "samples": 3000}
    return checked(fault, **(settings | options))


@pytest.mark.slow
def test_the_right_optimiser_keeps_all_claims_and_its_report_says_what_was_looked_at():
    report = check(sizes=(200,), invariances=("permutation", "scaling", "rotation"))
    assert report.verdict is PASS
    assert report.exit_code is ExitCode.AS_EXPECTED
    assert [r.kind for r in report.results] == [
        "deterministic_given_seed",
        "risk",
        "in_set",
        "privacy",
        "permutation",
        "scaling",
        "rotation",
    ]
    assert sum(r.alpha for r in report.results) <= report.alpha
    assert all(r.detectable for r in report.results)
    assert len(report.trials) == 2
    text = str(report)
    assert "drift" in text
    assert "ratio" in text
    (axes,) = report.plot().axes
    assert len(axes.lines) == 1 + len({t.problem for t in report.trials})
    with pytest.raises(TypeError, match="report.verdict"):
        assert report


FAULTS = (
    "noise halved",
    "step ten times too large",
    "no clipping",
    "last iterate",
    "read in order",
    "no projection",
    "one half before the other",
    "seed ignored",
    "noise kept from the first call",
    "noise scaled with D",
    "clipped by coordinates",
)
"""The others are as long in ``python -m benchmarks.optimisers``."""
ONE_FOR_EACH_CLAIM = ("noise halved", "last iterate", "read in order", "no projection", "seed ignored")


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault",
    [pytest.param(one, marks=[] if one in ONE_FOR_EACH_CLAIM else pytest.mark.long) for one in FAULTS],
)
def test_each_fault_is_caught_by_its_claim(fault):
    """Privacy, the longest to check, where it is what breaks."""
    report = check(fault, samples=5000, **({} if ONE_PASS[fault] == "privacy" else {"privacy": False}))
    assert report.exit_code is ExitCode.NOT_AS_EXPECTED
    broken = [r.kind for r in report.results if r.verdict is FAIL]
    assert ONE_PASS[fault] in broken
    assert report.result(ONE_PASS[fault]).counterexample in report.summary


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "verdict"), [pytest.param("", PASS, marks=pytest.mark.long), ("clipped after averaging", FAIL)]
)
def test_gradients_that_are_averaged_before_they_are_clipped_show_among_many_records(fault, verdict):
    report = check(fault, checked=checked_full_batch, risk=None, invariances=(), samples=2000)
    assert report.result("privacy").verdict is verdict


def plain(data, L, D, epsilon, delta, rng, loss, convex_set):
    return one_pass(data[np.newaxis], L, D, epsilon, delta, rng, loss, convex_set)[0]


@pytest.mark.slow
def test_gradients_are_counted():
    settings = {"problems": ("still",), "sizes": (5,), "privacy": False, "invariances": ()}
    for claimed, verdict in ((5, PASS), (4.5, FAIL)):
        report = check_optimiser(plain, gradient_queries=lambda n, *_, c=claimed: c, **settings)
        assert report.result("gradient_queries").verdict is verdict
    assert "a run asked for 5 gradients" in report.result("gradient_queries").counterexample


@pytest.mark.slow
def test_a_fit_without_a_loss_says_which_it_is_for():
    def mean(data, L, D, epsilon, delta, rng):
        n, d = data.shape
        w = data.sum(axis=0) / n + rng.normal(0.0, L * noise(epsilon, delta) / n, d)
        return w * min(1.0, D / 2.0 / np.linalg.norm(w))

    with pytest.raises(InputError, match="does not say what mean minimises"):
        check_optimiser(mean)
    report = check_optimiser(mean, losses=("Linear",), sizes=(20,), outliers=False, samples=1000)
    assert report.verdict is PASS
    assert {t.problem for t in report.trials} == {
        "drift",
        "linear-signs-1",
        "linear-signs-5",
        "linear-signs-20",
    }


@pytest.mark.slow
def test_what_it_refuses_leaves_it_undecided():
    def refuses(data, L, D, epsilon, delta, rng, loss):
        raise ValueError("no data are good enough")

    report = check_optimiser(refuses, risk=lambda *_: 0.1, problems=("drift",))
    assert report.exit_code is ExitCode.UNDECIDED
    assert "no data are good enough" in dict(report.skipped)["risk"]
    with pytest.raises(InputError, match="risk=None"):
        report.plot()
    assert {kind for kind, _ in report.skipped} == {
        "deterministic_given_seed",
        "risk",
        "privacy",
        "permutation",
    }
    vacuous = check(risk=lambda *_: 5.0, privacy=False, invariances=(), sizes=(10,))
    assert vacuous.verdict is OPEN
    assert "at least LD" in vacuous.skipped[0][1]


PROGRAM = """
import json, random, sys
for line in sys.stdin:
    asked = json.loads(line)
    told, rng = asked["dataset"], random.Random(asked["seed"])
    assert told["loss"] == "linear" and told["set"]["kind"] == "l2-ball"
    data, n, d = told["data"], len(told["data"]), told["set"]["center"].__len__()
    for _ in range(asked["size"]):
        w = [sum(z[j] for z in data) / n + rng.gauss(0.0, 10.0 * told["L"] / n) for j in range(d)]
        norm = sum(x * x for x in w) ** 0.5
        print(json.dumps([FACTOR * x * told["D"] / 2.0 / norm for x in w]))
    sys.stdout.flush()
"""


@pytest.mark.slow
@pytest.mark.parametrize(("factor", "verdict"), [("1.0", PASS), ("1.5", FAIL)])
def test_a_program_in_any_language_goes_through(tmp_path, factor, verdict):
    (tmp_path / "fit.py").write_text(PROGRAM.replace("FACTOR", factor), encoding="utf-8")
    with Program([sys.executable, str(tmp_path / "fit.py")]) as program:
        report = check_optimiser(
            program,
            losses=("Linear",),
            problems=("drift", "linear-signs-5"),
            sizes=(20,),
            samples=1000,
            outliers=False,
            name="fit.py",
            **({} if verdict is PASS else {"privacy": False}),
        )
    assert report.result("in_set").verdict is verdict
    assert verdict is FAIL or report.result("privacy").verdict is PASS
    assert report.result("deterministic_given_seed").verdict is PASS


BAD = {
    "raised ZeroDivisionError": lambda data, L, D, e, delta, rng, loss: 1 / 0,
    "returned nan": lambda data, L, D, e, delta, rng, loss: [math.nan],
    "returned an array of shape": lambda data, L, D, e, delta, rng, loss: np.zeros(7),
    "returned a value of type": lambda data, L, D, e, delta, rng, loss: "w",
    "changed the data": lambda data, L, D, e, delta, rng, loss: data.fill(0.0) or [0.0],
    "did not return within time_limit": lambda data, L, D, e, delta, rng, loss: __import__("time").sleep(9),
}


@pytest.mark.parametrize("said", BAD)
def test_bad_optimisers_are_one_sentence(said):
    with pytest.raises((FunctionError, MechanismError), match=said) as error:
        check_optimiser(BAD[said], problems=("drift",), time_limit=0.2)
    assert "\n" not in str(error.value)


@pytest.mark.slow
def test_bad_claims_and_names_are_one_sentence():
    for match, options in {
        "risk on drift with n = 20, d = 1=-1": {"risk": lambda *_: -1},
        "=nan": {"risk": lambda *_: math.nan},
        "=inf": {"risk": lambda *_: math.inf},
        "gradient_queries on drift": {"gradient_queries": lambda *_: 0, "batched": False},
        "privacy='much'": {"privacy": lambda *_: "much"},
        "epsilon=-1": {"privacy": lambda *_: (-1, 0)},
        "problems='nowhere'": {"problems": ("nowhere",)},
        "losses='Square'": {"losses": ("Square",)},
        "has the loss EuclideanDistance": {"problems": ("still",), "losses": ("Linear",)},
        "invariances='reflection'": {"invariances": ("reflection",)},
        "sizes=0": {"sizes": (0,)},
        "audit_at=0": {"audit_at": (0, 0.01)},
    }.items():
        settings = {"problems": ("drift",), "gradient_queries": None, **options}
        fit = one_pass if settings.get("batched", True) else plain
        with pytest.raises(InputError, match=match):
            check_optimiser(fit, **({"batched": True, "risk": None, "sizes": (20,)} | settings))
    with pytest.raises(InputError, match="over a ball about 0"):
        check_optimiser(lambda *_: None, losses=("Linear",), problems=("simplex-linear",))
    with pytest.raises(InputError, match="is not callable"):
        check_optimiser(3)
    with pytest.raises(InputError, match="have no neighbouring data sets"):
        next(candidates(("EuclideanDistance",), any_set=False))


@pytest.mark.slow
def test_what_few_outputs_leave_undecided_is_decided_by_more():
    result = check(samples=250, sizes=(200,), risk=None, invariances=()).result("privacy")
    assert result.verdict is PASS
    assert result.samples > 2 * 250 * 12  # on the pairs of twelve groups


@pytest.mark.long
def test_what_few_runs_or_outputs_of_systems_leave_undecided_is_decided_by_more():
    """Nearly all outputs of the batches lie at W's border; the other's bound is near LD, which little exceeds."""
    nothing = {"problems": ["drift"], "sizes": [100], "invariances": ()}
    rare = check_system("estimator-batches", risk=None, **nothing).result("privacy")
    assert (rare.verdict, rare.samples > 80_000) == (AuditVerdict.NOT_VIOLATED, True)
    near = check_system(
        "smoothed-minibatch-sgd-2l",
        privacy=False,
        problems=["simplex-linear"],
        sizes=[1000],
        invariances=(),
        deterministic_given_seed=False,
    ).result("risk")
    assert (near.verdict, near.samples) == (AuditVerdict.NOT_VIOLATED, 800)


@pytest.mark.slow
def test_systems_go_through():
    report = check_system("output-perturbation", sizes=(30,), problems=("logistic",), risk=None, samples=1000)
    assert report.verdict is PASS
    with pytest.raises(InputError, match="system='nothing'"):
        check_system("nothing")


@pytest.mark.long
def test_a_system_on_the_simplex_goes_through():
    simplex = check_system(
        "private-mirror-descent-entropic", sizes=(30,), problems=("simplex-linear",), samples=500
    )
    assert FAIL not in {r.verdict for r in simplex.results}
    assert simplex.result("privacy").samples > 0


@pytest.mark.slow
def test_the_bank_names_every_loss_and_says_why_each_problem_is_hard():
    assert {one.loss_name for one in BANK.values()} == set(LOSSES)
    assert all(one.why for one in BANK.values())
    assert BANK["still"].minimum.value == 0.0
    assert BANK["still"].minimum.gap < 1e-12


@pytest.mark.slow
def test_privacy_is_undecided_where_one_number_of_records_could_show_nothing():
    def shares_one_record(data, L, D, epsilon, delta, rng):
        kept = np.zeros(data.shape[0]) if data.shape[1] > 1 else data[:, 0, 0] / L
        noisy = D * (kept + noise(epsilon, delta) * rng.standard_normal(kept.size))
        return noisy.clip(-D / 2, D / 2)[:, None]

    def claim(n, *_):
        return (1.0, 0.01) if n == 1 else (1e-3, 0.0)

    settings = {"losses": ("Linear",), "problems": ("drift",), "batched": True, "invariances": ()}
    report = check_optimiser(shares_one_record, privacy=claim, samples=1000, outliers=False, **settings)
    assert report.result("privacy").verdict is OPEN
    assert "(0.001, 0)-DP" in report.result("privacy").claim
    assert report.exit_code is ExitCode.UNDECIDED
    both = check_optimiser(shares_one_record, samples=1000, outliers=False, **settings)
    assert both.result("privacy").verdict is PASS


@pytest.mark.slow
def test_data_sets_that_are_refused_at_random_or_for_their_records_are_told():
    def of_two_classes(data, L, D, epsilon, delta, rng, loss, convex_set):
        if data.shape[0] == 20 and rng.random() < 0.01:
            raise ValueError("bad luck")
        if np.unique(data[:, -1]).size < 2:
            raise ValueError("one class")
        return plain(data, L, D, epsilon, delta, rng, loss, convex_set)

    report = check_optimiser(
        of_two_classes,
        losses=("Hinge",),
        problems=("hinge",),
        sizes=(20,),
        samples=500,
        risk=lambda *_: 0.2,
        invariances=(),
        outliers=False,
    )
    assert report.result("deterministic_given_seed").verdict is PASS
    told = dict(report.skipped)
    assert "hinge with n = 20, d = 10 (bad luck)" in told["risk"]
    # With two records of one class it raises, and with two of two classes it does not: that is no privacy.
    assert report.result("privacy").verdict is FAIL
    assert "an exception (RefusedError)" in report.result("privacy").counterexample
