"""What `check_implementation` takes, refuses and reports."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from dpsco_verify.algorithm import conformance
from dpsco_verify.algorithm.conformance import (
    CHECKS,
    ConformanceError,
    ObservedRun,
    Oracle,
    check_implementation,
)
from dpsco_verify.auditing import AuditVerdict
from dpsco_verify.errors import InputError
from dpsco_verify.faults.algorithm import PlainRun
from dpsco_verify.faults.algorithm.noise import half

QUICK = {"effort": 1e-9, "checks": ["initial-point", "average", "noise-scale"]}


class Changed:
    """The plain run with its answer, or its data, changed."""

    def __init__(self, change=lambda run: run, data=lambda data: data):
        self.change, self.data = change, data

    def __call__(self, data, rng, **parameters):
        run = PlainRun()(data, rng, **parameters)
        self.data(data)
        return self.change(run)


def test_the_names_that_are_handed_on():
    assert conformance.__all__ == [
        "CHECKS",
        "Check",
        "ConformanceError",
        "ConformanceReport",
        "Finding",
        "Implementation",
        "ObservedRun",
        "Oracle",
        "check_implementation",
    ]


def test_ids_are_unique_and_told_as_promised():
    ids = [check.id for check in CHECKS]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", name) for name in ids)


def _spoil(array):
    array[0] = 0.0


@pytest.mark.parametrize(
    ("implementation", "message"),
    [
        (Changed(lambda run: None), "returned NoneType, which is no observed run"),
        (Changed(lambda run: replace(run, iterates=run.iterates[:1])), "holds no step"),
        (Changed(lambda run: replace(run, iterates=run.iterates[:, :-1])), "iterates.shape="),
        (Changed(lambda run: replace(run, iterates=run.iterates * np.nan)), "is not finite"),
        (Changed(lambda run: replace(run, output=run.output[:-1])), "output.shape="),
        (Changed(lambda run: replace(run, draws=run.draws[:-1])), "draws of type int64"),
        (Changed(lambda run: replace(run, draws=run.draws * 0.5)), "draws of type float64"),
        (Changed(lambda run: replace(run, draws=run.draws + 1)), "count points from 0"),
        (Changed(data=_spoil), "changed the data"),
    ],
)
def test_what_is_no_run_is_an_error_that_names_the_call(implementation, message):
    with pytest.raises(ConformanceError, match=re.escape(message)) as raised:
        check_implementation(implementation, **QUICK, name="mine")
    assert re.search(r"run \d+ of mine on the problem '[^']+'", str(raised.value))


@pytest.mark.parametrize("error", [ZeroDivisionError, ValueError])
def test_what_raises_is_an_error_that_names_the_call(error):
    def mine(data, rng, **parameters):
        raise error("so it is")

    with pytest.raises(ConformanceError, match=f"run 1 of mine .* raised {error.__name__}: so it is"):
        check_implementation(mine, **QUICK)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"alpha": 0.0}, "alpha=0.0"),
        ({"alpha": 1.0}, "alpha=1.0"),
        ({"seed": -1}, "seed=-1"),
        ({"effort": 0.0}, "effort=0.0"),
        ({"checks": ["nonsense"]}, "holds no known check"),
        ({"checks": []}, "holds no known check"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(InputError, match=re.escape(message)):
        check_implementation(PlainRun(), **arguments)
    with pytest.raises(InputError, match="is not callable"):
        check_implementation(3)


def test_a_report_says_what_was_found_and_what_would_have_been():
    report = check_implementation(PlainRun(), **QUICK)
    assert report.verdict is AuditVerdict.NOT_VIOLATED
    assert report.summary == "PlainRun passes 3 checks of Algorithm 1 at level 1e-06"
    assert "noise-scale: not_violated" in str(report)
    assert "would find: a standard deviation below" in str(report)
    assert report.failures == ()


def test_a_report_of_a_fault_names_the_check_and_the_numbers():
    report = check_implementation(PlainRun(noise=half), **QUICK, name="mine")
    assert report.verdict is AuditVerdict.VIOLATED
    assert [finding.check for finding in report.failures] == ["noise-scale"]
    assert re.search(
        r"mine is not Algorithm 1, with confidence 1 − 1e-06: noise-scale \(.* 0\.\d+ times", report.summary
    )
    assert report.finding("average").verdict is AuditVerdict.NOT_VIOLATED


def test_what_cannot_be_read_is_undecided_not_passed():
    def loud(data, rng, **parameters):
        return PlainRun()(data, rng, **(parameters | {"sigma": 2000.0 * parameters["sigma"]}))

    report = check_implementation(loud, effort=0.05, checks=["average", "repeat-draws"])
    assert report.verdict is AuditVerdict.UNDECIDED
    assert "could not judge" in report.summary


@pytest.mark.slow
def test_levels_sum_to_at_most_alpha_and_exact_checks_take_none():
    report = check_implementation(PlainRun(), alpha=1e-3, effort=0.1)
    assert sum(finding.alpha for finding in report.findings) <= 1e-3
    exact = {finding.check for finding in report.findings if finding.alpha == 0.0}
    assert exact == {"initial-point", "iterates-in-set"} == {check.id for check in CHECKS if check.exact}


def test_the_same_seed_gives_the_same_report_and_another_seed_another():
    first, second, other = (check_implementation(PlainRun(), **QUICK, seed=seed) for seed in (5, 5, 6))
    assert first == second
    assert first.findings != other.findings


def test_an_implementation_without_batches_is_judged_on_the_rest():
    def single(data, rng, *, loss, convex_set, step_size, sigma, lipschitz, initial_point):
        return PlainRun()(
            data,
            rng,
            loss=loss,
            convex_set=convex_set,
            step_size=step_size,
            sigma=sigma,
            lipschitz=lipschitz,
            initial_point=initial_point,
        )

    ids = [check.id for check in CHECKS if check.id != "single-step-privacy"]
    report = check_implementation(single, batched=False, effort=0.1, checks=ids)
    assert report.verdict is AuditVerdict.NOT_VIOLATED
    assert dict(report.skipped) == dict.fromkeys(
        ["batch-mean", "batch-clipping"], "the implementation takes no batches"
    )


def test_draws_need_not_be_told():
    silent = Changed(lambda run: ObservedRun(iterates=run.iterates.tolist(), output=run.output.tolist()))
    report = check_implementation(silent, effort=0.1, checks=["uniform-draws", "reported-draws", "average"])
    assert report.verdict is AuditVerdict.NOT_VIOLATED
    assert report.skipped == (("reported-draws", "the implementation does not tell its draws"),)


def test_draws_that_are_told_wrongly_are_found():
    liar = Changed(lambda run: replace(run, draws=run.draws[::-1]))
    report = check_implementation(liar, effort=0.1, checks=["reported-draws"])
    assert report.verdict is AuditVerdict.VIOLATED


@pytest.mark.slow
def test_single_precision_is_good_enough():
    single = Changed(
        lambda run: replace(
            run, iterates=run.iterates.astype(np.float32), output=run.output.astype(np.float32)
        )
    )
    ids = [check.id for check in CHECKS if check.id != "single-step-privacy"]
    report = check_implementation(single, effort=0.25, checks=ids)
    assert report.verdict is AuditVerdict.NOT_VIOLATED, str(report)


def test_refused_outliers_pass_and_other_refusals_do_not():
    report = check_implementation(Oracle(), checks=["clipping", "batch-clipping"])
    assert report.verdict is AuditVerdict.NOT_VIOLATED
    assert "16 of 16 runs were refused" in report.finding("clipping").detail

    def refuses_all(data, rng, **parameters):
        raise InputError("never")

    with pytest.raises(ConformanceError, match="raised InputError: never"):
        check_implementation(refuses_all, checks=["gradient"])


def test_an_implementation_that_takes_no_batches_may_require_their_size():
    def mine(data, rng, *, batch_size, **parameters):
        assert batch_size == 1
        return PlainRun()(data, rng, batch_size=batch_size, **parameters)

    report = check_implementation(mine, batched=False, effort=0.05, checks=["initial-point"])
    assert report.verdict is AuditVerdict.NOT_VIOLATED


@pytest.mark.slow
def test_the_detail_of_the_stopping_rule_lists_wrong_runs_alone():
    def early(data, rng, **parameters):
        run = PlainRun()(data, rng, **parameters)
        return replace(run, iterates=run.iterates[:-1], draws=run.draws[:-1]) if rng.random() < 0.5 else run

    detail = check_implementation(early, effort=0.2, checks=["stopping-rule"]).failures[0].detail
    told, wrong = (
        re.match(r"(\d+) of \d+ runs stop wrongly \((.*)\)$", detail).group(2),
        int(detail.split()[0]),
    )
    assert sum(int(number) for number in re.findall(r"(\d+) at", told)) == wrong > 0
    for part in told.split("; "):
        assert part.count(f"{re.search(r'where (.*) is right', part).group(1)}") == 1
    right = check_implementation(PlainRun(), effort=0.2, checks=["stopping-rule"]).findings[0].detail
    assert re.fullmatch(r"0 of \d+ runs stop wrongly", right)
