"""Whoever forges certificates gets nothing accepted that is false, weaker than the verdict, or about something else.

From a certificate of each kind that a quick run has, by night from all, and from evidence of each kind, every field is
weakened, strengthened, swapped with that of another claim, made NaN, huge, a string, or removed. A forger is given the
checker's own arithmetic: words and sides are issued anew, wherever the inequality holds, so that the binding alone
stands between the forgery and its acceptance.
"""

from __future__ import annotations

import functools
import json
import re
import time
from fractions import Fraction

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsco_verify.evidence import Verdict
from dpsco_verify.evidence.checker import (
    AccumulatedEventEvidence,
    AccumulatedMeanEvidence,
    Draw,
    EventAtOnce,
    EventEvidence,
    EventRun,
    MeanEvidence,
    MeanRun,
    OwnMechanismAtOnce,
    OwnMechanismEvidence,
    Rejected,
    Unreadable,
    issue,
)
from dpsco_verify.evidence.checker import certificate as certificate_module
from dpsco_verify.evidence.checker import kinds as kinds_module
from dpsco_verify.evidence.checker.whole_run import LARGEST_GRID, LARGEST_LAW
from dpsco_verify.evidence.checker.witness import kind_of
from dpsco_verify.ledger.installed import installed_ledger
from dpsco_verify.papers.arora2020.single_step.certificates import STEP
from dpsco_verify.papers.arora2020.utility.certificates import EXCESS
from dpsco_verify.privacy.whole_run import calibrate
from dpsco_verify.store import null_name

LEDGER = installed_ledger()
KINDS = LEDGER.kinds
SECONDS = 1.0
"""What a refusal may take of a processor: a requirement, not a measurement."""

PAPERS = tuple(entry.paper.id for entry in LEDGER.papers)
DRAW = Draw(profile="quick", seed="0", papers=PAPERS)


@pytest.fixture(scope="module", autouse=True)
def _evaluated_once():
    """What issues a forgery and what checks it ask for the sides of the same witness."""
    evaluate = certificate_module.evaluate

    @functools.lru_cache(maxsize=1)
    def tried(*asked):
        try:
            return evaluate(*asked), None
        except Rejected as reason:
            return None, reason

    def evaluated(*asked):
        sides, reason = tried(*asked)
        if reason is not None:
            raise reason
        return sides

    with pytest.MonkeyPatch.context() as patch:
        for module in (certificate_module, kinds_module):
            patch.setattr(module, "evaluate", evaluated)
        yield


def utility_null(**changes):
    place = {"c": 2.5, "instance": "drift", "n": 16, "σ/L": 0.1, "noise": "covariance-sigma-squared"}
    return null_name(EXCESS, place | {"D bounds norms": False, "w₁": "far"} | changes)


def step_null(**changes):
    place = {"n": 16, "m": 2, "fresh": 1, "g": "1", "g'": "-1", "h": "0", "σ over the lemma's": 2.0}
    return null_name(STEP, place | {"ε̃": 1.0, "δ of the lemma": 0.05} | changes)


COUNTS = {"bets": ("1/16", "1/8", "1/4"), "both": 3, "first_only": 160, "second_only": 7, "neither": 100}
AT_ONCE = {"samples": 270, "first": 163, "second": 10, "first_weight": "1/4", "second_weight": "1/2"}
# At what is claimed and no more, so that everything that is weaker is weaker than the claim.
EVENT = {
    "null_hypothesis": step_null(),
    "epsilon": "537/2500",
    "delta": "6251/1000000",
    "alpha": str(Fraction(LEDGER.error_budget.share("single-step/corrected").alpha)),
}
MEAN = {
    "null_hypothesis": utility_null(),
    "bound": "5/2",
    "alpha": str(Fraction(LEDGER.error_budget.share("utility/diameter").alpha)),
}
BETS = ("1/8", "1/4", "3/8")

EVIDENCE = {
    "mean": (
        "utility",
        "diameter",
        MeanEvidence(**MEAN, low="0", bets=BETS, observations=("10", "21/2") * 9),
    ),
    "event": ("single-step", "corrected", EventEvidence(**EVENT, **COUNTS)),
    "means": (
        "utility",
        "diameter",
        AccumulatedMeanEvidence(
            **MEAN,
            runs=tuple(
                MeanRun(profile="quick", seed=seed, low="0", bets=BETS, values=("10", "21/2"), counts=(4, 5))
                for seed in ("3", "4")
            ),
        ),
    ),
    "events": (
        "single-step",
        "corrected",
        AccumulatedEventEvidence(
            **EVENT,
            runs=tuple(EventRun(profile="quick", seed=s, **COUNTS | {"first_only": 90}) for s in ("3", "4")),
        ),
    ),
    "at once": ("single-step", "corrected", EventAtOnce(**EVENT, **AT_ONCE)),
    "own, at once": (
        "own:laplace",
        "1-DP",
        OwnMechanismAtOnce(
            **EVENT | {"null_hypothesis": "laplace: 1-DP", "epsilon": "1", "alpha": "1/20"}, **AT_ONCE
        ),
    ),
    "own": (
        "own:laplace",
        "1-DP",
        OwnMechanismEvidence(
            **EVENT | {"null_hypothesis": "laplace: 1-DP", "epsilon": "1", "alpha": "1/20"}, **COUNTS
        ),
    ),
}


def evidence(name):
    claim, reading, witness = EVIDENCE[name]
    return issue(claim, reading, witness, msgspec.UNSET if name.startswith("own") else DRAW)


def timed(data):
    """Return what the checker decides about a file, None if it refuses, in one line and within a second."""
    started = time.process_time()
    try:
        found = KINDS.check(KINDS.decode(data))
    except (Rejected, Unreadable) as reason:
        found, lines = None, str(reason).splitlines()
    else:
        lines = str(found).splitlines()
    assert len(lines) == 1
    assert time.process_time() - started < SECONDS, data[:400]
    return found


def forged(tree):
    """Return what the checker decides about a certificate whose words and sides are issued anew, if they can be."""
    data = json.dumps(tree, ensure_ascii=False).encode()
    started = time.process_time()
    try:
        one = KINDS.decode(data)
        data = msgspec.json.encode(issue(one.claim, one.reading, one.witness, one.draw))
    except (Rejected, Unreadable):
        pass
    assert time.process_time() - started < SECONDS, data[:400]
    return timed(data)


def tree_of(certificate):
    return json.loads(msgspec.json.encode(certificate))


# What is weaker, by kind and field: the direction that says less than the reading's verdict.
MORE, LESS = 1, -1
WEAKER = {
    "azuma-repair": {"root": (MORE, LESS)},
    "bregman-dual-constant": {"constant": (MORE,)},
    "bregman-dual-tight": {"constant": (LESS,)},
    "duality-constant": {"above": (MORE,)},
    "exp-linear": {"factor": (MORE,), "end": (LESS,)},
    "gradient-queries": {"constant": (MORE,)},
    "kl-constant": {"constant": (MORE,)},
    "privacy-range": {"n_max": (LESS,)},
    "rate-constant": {"constant": (MORE,)},
    "regret-constant": {"constant": (MORE,)},
    "regret-drift-violation": {"constant": (LESS,)},
    "regret-variance-violation": {"constant": (LESS,)},
    "risk-constants": {"first": (MORE,), "second": (MORE,)},
    "single-step-repair": {"epsilon_max": (LESS,), "delta_max": (LESS,)},
    "stopping-mean-constant": {"constant": (MORE,)},
    "stopping-mean-unbounded": {"constant": (LESS,)},
    "stopping-tail-exponent": {"from_n": (MORE,)},
    "tail-integral-exponent": {"rate": (LESS,)},
    "utility-constant": {"constant": (MORE,)},
    "iteration-batches": {"below": (LESS,)},
    "output-perturbation-rate": {"below": (LESS,)},
    "phased-sgd-noise": {"below": (LESS,)},
    "randomised-response-ratio": {"below": (LESS,)},
    "laplace-scale": {"scale": (MORE,), "below": (LESS,)},
    "laplace-accuracy-factor": {"factor": (MORE,), "below": (LESS,)},
    "noisy-max-scale": {"scale": (MORE,), "below": (LESS,)},
    "arg-max-rate": {"rate": (LESS,), "above": (MORE,)},
    "exponential-factor": {"factor": (MORE,), "below": (LESS,)},
    "exponential-utility-factor": {"factor": (MORE,), "below": (LESS,)},
    "basic-composition-sums": {"factor": (MORE,), "below": (LESS,)},
    "advanced-composition-constants": {"spread": (MORE,), "drift": (MORE,)},
    "corollary-range": {"delta_max": (LESS,)},
    "gaussian-range": {"factor": (MORE,), "epsilon_max": (LESS,)},
    "threshold-scales": {"threshold": (MORE,), "query": (MORE,), "below": (LESS,)},
    "threshold-accuracy-factor": {"factor": (MORE,)},
    "sparse-pure-scale": {"factor": (MORE,), "below": (LESS,)},
    "sparse-range": {"epsilon_max": (LESS,), "delta_max": (LESS,)},
    "mean-evidence": {"bound": (LESS,), "alpha": (MORE,), "low": (MORE,)},
    "accumulated-mean-evidence": {"bound": (LESS,), "alpha": (MORE,)},
    "event-evidence": {"epsilon": (LESS,), "delta": (LESS,), "alpha": (MORE,)},
    "accumulated-event-evidence": {"epsilon": (LESS,), "delta": (LESS,), "alpha": (MORE,)},
}


INSTANCES = {
    "example-composition",  # whose parts are the reading's, or any of a range
    "fresh-sum-instance",
    "output-defined",
    "objective-perturbation-loss",
    "phased-erm-noise",
}
"""Kinds that certify with an instance, in which nothing is weaker than in another."""

ON_AN_INSTANCE = (
    "fresh-sum/corrected",
    "duality/euclidean",
    "duality/p-norm",
    "duality/entropy-simplex",
    "phased-sgd-privacy/printed",
    "phased-erm-privacy/printed",
    "output-perturbation-privacy/unit-lipschitz",
    "objective-perturbation-privacy/printed",
    "iteration-sgd-privacy/printed",
    "azuma-step/corrected",
    "kl-bound/literal",
    "output/corrected",
)


def moved(value, direction):
    """Yield values on one side of `value`, near and far."""
    if isinstance(value, int):
        steps = [
            value + direction,
            2 * value if direction == MORE else value // 2,
            10**12 if direction == MORE else 1,
        ]
        yield from (step for step in steps if step != value)
        return
    number = Fraction(value)
    near = abs(number) / 1000 or Fraction(1, 1000)
    for step in (near, abs(number) or Fraction(1), Fraction(10) ** 6, Fraction(10) ** 300):
        yield str(number + direction * step)
    if number > 0 and direction == LESS:
        yield str(number / 10)
        yield str(number / 10**200)


def is_number(value):
    if isinstance(value, str):
        return re.fullmatch(r"-?[0-9]+(/[1-9][0-9]*)?", value) is not None
    return isinstance(value, int) and not isinstance(value, bool)


def paths(tree, path=()):
    """Yield the path of every field and of every element, outermost first; of long lists the first and the last."""
    for key, value in (
        tree.items() if isinstance(tree, dict) else list(enumerate(tree))[:: len(tree) - 1 or 1]
    ):
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from paths(value, (*path, key))


def replaced(tree, path, value):
    copy = json.loads(json.dumps(tree))
    parent = copy
    for key in path[:-1]:
        parent = parent[key]
    if value is REMOVED:
        del parent[path[-1]]
    else:
        parent[path[-1]] = value
    return copy


def at(tree, path):
    for key in path:
        tree = tree[key]
    return tree


REMOVED = object()
STRANGE = [
    *(
        None,
        True,
        "",
        "x",
        "NaN",
        "nan",
        "inf",
        "-inf",
        "1e9",
        "0x10",
        "1/0",
        "2/4",
        "٣",
        float("nan"),
        float("inf"),
    ),
    *(
        1e308,
        -1,
        0,
        10**12,
        10**12 + 1,
        10**30,
        "9" * 399,
        "-" + "9" * 399,
        "1/" + "9" * 397,
        "9" * 500,
        [],
        {},
        REMOVED,
    ),
    [["1"]],
    ["1"] * 5000,
    [1] * 5000,
]


def forge_all(certificate):
    """Try every forgery of a certificate, and return how many were tried."""
    tree = tree_of(certificate)
    honest = timed(msgspec.json.encode(certificate))
    assert honest is not None
    witness, tried = tree["witness"], 0
    kind = witness["kind"]
    weaker = WEAKER.get(kind, {})
    for name, directions in weaker.items():
        for direction in directions:
            for value in moved(witness[name], direction):
                assert forged(replaced(tree, ("witness", name), value)) is None, (kind, name, value)
                tried += 1
    for path in list(paths(tree)):
        value = at(tree, path)
        strange = list(STRANGE)
        if is_number(value):
            strange += [*moved(value, MORE), *moved(value, LESS)]
        for other in strange:
            if type(other) is type(value) and other == value:
                continue
            found = forged(replaced(tree, path, other))
            tried += 1
            if found is None:
                continue
            # Accepted: then it is as strong as the honest one and about the same; another true place is a witness too.
            if not kind.startswith("own-"):  # which bears the names that its owner gives it
                assert (found.claim, found.reading) == (honest.claim, honest.reading), (path, other)
            assert (found.shows, found.scope) == (honest.shows, honest.scope), (path, other)
            assert found.over == honest.over or honest.shows == "refutes", (path, other)
    return tried


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [name if name != "own, at once" else pytest.param(name, marks=pytest.mark.long) for name in EVIDENCE],
)
def test_evidence_is_bound(name):
    assert forge_all(evidence(name)) > 300


@pytest.mark.parametrize("name", EVIDENCE)
def test_the_line_says_all_of_it(name):
    said = str(timed(msgspec.json.encode(evidence(name))))
    claim, reading, witness = EVIDENCE[name]
    assert said.startswith(f"refutes {claim}/{reading}")
    assert f"alpha = {float(Fraction(witness.alpha)):.12g}" in said
    assert witness.null_hypothesis in said
    if isinstance(witness, MeanEvidence | AccumulatedMeanEvidence):
        assert "mean <= 2.5" in said
    else:
        assert f"delta = {float(Fraction(witness.delta)):.12g}" in said
        assert f"epsilon = {float(Fraction(witness.epsilon)):.12g}" in said
    assert "not in the certificate: that these" in said
    if name.startswith("own"):
        assert "no paper's claim" in said
    else:
        seeds = [seed for _, seed in witness.drawn] or ["0"]
        for seed in seeds:
            assert f"dpsco-verify audit --profile quick --seed {seed} " in said
        assert f"--select {claim}/{reading}" in said


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in EVIDENCE if not name.startswith("own")])
def test_evidence_speaks_of_no_other_reading(name):
    _, _, witness = EVIDENCE[name]
    own = EVIDENCE[name][:2]
    keys = [(claim.statement.id, claim.reading.id) for claim in LEDGER.claims]
    for claim, reading in [
        *keys,
        ("no-such-claim", "printed"),
        ("utility", "no-such-reading"),
        ("own:x", "y"),
    ]:
        if (claim, reading) == own:
            continue
        with pytest.raises(Rejected):
            KINDS.check(issue(claim, reading, witness, DRAW))


@pytest.mark.parametrize(
    ("name", "changes", "reason"),
    [
        ("mean", {"null_hypothesis": "anything at all"}, "which this reading admits"),
        ("mean", {"null_hypothesis": utility_null(instance="mine")}, "outside of what this reading admits"),
        ("mean", {"null_hypothesis": utility_null(n=1)}, "outside of what this reading admits"),
        ("mean", {"null_hypothesis": utility_null(c=0.1)}, "outside of what this reading admits"),
        ("mean", {"null_hypothesis": utility_null(more=1)}, "other parameters"),
        ("mean", {"null_hypothesis": utility_null().replace("{", "{ ")}, "not written as its one name"),
        ("mean", {"bound": "0", "low": "-1"}, "below 2.5"),
        ("mean", {"low": "1"}, "observations can be lower"),
        ("mean", {"alpha": "999/1000", "observations": ("10",)}, "share of the error budget"),
        ("event", {"epsilon": "0", "delta": "0"}, "does not imply"),
        ("event", {"null_hypothesis": step_null(ε̃=1e-9)}, ""),
        ("event", {"null_hypothesis": step_null(**{"σ over the lemma's": 1.0})}, "outside of what"),
        ("event", {"null_hypothesis": step_null(**{"δ of the lemma": 0.9})}, "outside of what"),
        ("event", {"null_hypothesis": step_null(m=17)}, "does not imply"),
        ("event", {"alpha": "1/1000"}, "share of the error budget"),
        ("at once", {"epsilon": "0", "delta": "0"}, "does not imply"),
        ("at once", {"alpha": "1/1000"}, "share of the error budget"),
    ],
)
def test_what_evidence_was_accepted_for(name, changes, reason):
    """Kinds of forgery that passed once; the sixth of the events is one that is true, since a smaller ε is claimed."""
    claim, reading, witness = EVIDENCE[name]
    one = issue(claim, reading, msgspec.structs.replace(witness, **changes), DRAW)
    if not reason:
        assert KINDS.check(one)
        return
    with pytest.raises(Rejected, match=reason):
        KINDS.check(one)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"samples": 162}, "more than samples"),
        ({"second_weight": "0"}, "outside"),
        ({"first_weight": "1001"}, "outside"),
        ({"first": 40}, "inequality is false"),
        ({"second": 100}, "inequality is false"),
        ({"second_weight": "1/100"}, "inequality is false"),
        # The same frequencies of a tenth of the runs show less.
        ({"samples": 27, "first": 16, "second": 1}, "inequality is false"),
    ],
)
def test_counts_looked_at_once_show_no_more_than_they_do(changes, reason):
    claim, reading, witness = EVIDENCE["at once"]
    with pytest.raises(Rejected, match=reason):
        issue(claim, reading, msgspec.structs.replace(witness, **changes), DRAW)


@pytest.mark.parametrize("papers", [(), ("no-such-paper",), ("feldman2020",)])
def test_the_share_is_that_of_the_papers_of_the_run(papers):
    claim, reading, witness = EVIDENCE["mean"]
    data = msgspec.json.encode(issue(claim, reading, witness, msgspec.structs.replace(DRAW, papers=papers)))
    assert timed(data) is None


def test_a_run_of_one_paper_has_a_larger_share_and_its_evidence_is_accepted():
    claim, reading, witness = EVIDENCE["mean"]
    (alone,) = [p for p in PAPERS if p == "arora2020"]
    share = Fraction(LEDGER.only([alone]).error_budget.share(f"{claim}/{reading}").alpha)
    assert share > Fraction(LEDGER.error_budget.share(f"{claim}/{reading}").alpha)
    large = msgspec.structs.replace(witness, alpha=str(share))
    decided = KINDS.check(issue(claim, reading, large, msgspec.structs.replace(DRAW, papers=(alone,))))
    assert f"--paper {alone} --select" in str(decided)
    with pytest.raises(Rejected, match="share of the error budget"):
        KINDS.check(issue(claim, reading, large, DRAW))


def test_a_gates_certificate_never_passes_for_a_papers_claim():
    _, _, witness = EVIDENCE["own"]
    with pytest.raises(Rejected, match="does not fit kind"):
        issue("single-step", "corrected", witness)
    claim, reading, event = EVIDENCE["event"]
    with pytest.raises(Rejected, match="does not fit kind"):
        issue(f"own:{claim}", reading, event)
    assert "/" not in "".join(claim.statement.id for claim in LEDGER.claims)
    assert not any(claim.statement.id.startswith("own:") for claim in LEDGER.claims)


def test_one_fresh_draw_of_half_of_a_trillion_is_judged_at_once():
    """It never ended: the weights of the mixture were computed as binomial coefficients of n."""
    large = {"n": 10**12, "m": 10**12 // 2, "fresh": 1, "g": "1", "g_prime": "-1", "h": "0"}
    tree = {
        "schema": 2,
        "claim": "single-step",
        "reading": "replace-one-minibatch",
        "inequality": "",
        "left": "1",
        "right": "0",
        "witness": {"kind": "single-step-violation", **large}
        | {"epsilon_tilde": "1", "delta": "1/2", "threshold": "1"},
    }
    for fresh in (1, 2, 3000, 10**6, 10**12 // 2, 10**12):
        tree["witness"]["fresh"] = fresh
        tree["witness"]["h"] = "0" if fresh == 1 else "-1"
        assert timed(json.dumps(tree).encode()) is None
        forged(tree)


@pytest.mark.slow
@pytest.mark.parametrize("below", [pytest.param(1, marks=pytest.mark.long), LARGEST_LAW // 2])
def test_the_largest_convolution_is_judged_at_once(below):
    """Up to 2¹⁸ points it took three seconds, and twice that where the first precision did not decide."""
    tree = tree_of(calibrate(n=10**6, epsilon=1e-3, delta=1e-6).certificate)
    largest = {"size": LARGEST_GRID, "reach": LARGEST_GRID, "below": below, "above": LARGEST_LAW - below}
    for changes in (largest, largest | {"below": below + 1}):
        forged(replaced(tree, ("witness",), tree["witness"] | changes))


@pytest.mark.slow
@pytest.mark.parametrize(
    "factors",
    [
        ("0", "9/10", "2"),
        pytest.param(("1/1000000", "1/2", "11/10", "1000000", "-1"), marks=pytest.mark.long),
    ],
)
def test_no_choice_of_a_narrow_law_proves_less_noise(factors):
    """Its κ, touch, foot and bounds may be anything: what is accepted is true, and here it would be false."""
    tree = tree_of(calibrate(n=1000, epsilon=0.03, delta=1e-6).certificate)
    assert tree["witness"]["narrow"] is not None
    tree["witness"]["delta"] = "1/2000000"
    for name in ("kappa", "touch", "lowest", "turn", "top", "foot"):
        value = Fraction(tree["witness"]["narrow"][name])
        for factor in factors:
            changed = str(value * Fraction(factor))
            assert forged(replaced(tree, ("witness", "narrow", name), changed)) is None, name


@given(data=st.binary(max_size=300))
@settings(deadline=None)
def test_what_is_no_certificate_is_refused(data):
    assert timed(data) is None


def test_a_file_that_is_too_long_is_refused_before_it_is_read():
    assert timed(b" " * 50_000_001) is None


@pytest.mark.slow
def test_evidence_that_is_too_long_is_refused_before_it_is_evaluated():
    tree = tree_of(evidence("mean"))
    tree["witness"]["observations"] = [f"10/{2 * k + 3}" for k in range(400_000)]
    assert timed(json.dumps(tree).encode()) is None


def require_swaps_refused(certificates):
    """A witness under another claim's name is refused, but for kinds that speak of both readings and do for both."""
    trees = [tree_of(one) for one in certificates]
    names = {(tree["claim"], tree["reading"]) for tree in trees}
    for tree, one in zip(trees, certificates, strict=True):
        kind = type(one.witness)
        for claim, reading in names - {(tree["claim"], tree["reading"])}:
            found = forged(tree | {"claim": claim, "reading": reading})
            assert found is None or (claim == kind.claim_id and reading in kind.readings), (
                tree,
                claim,
                reading,
            )
        for name in ("inequality", "left", "right"):
            other = next(other for other in trees if other[name] != tree[name])
            assert timed(json.dumps(tree | {name: other[name]}).encode()) is None


def test_nothing_is_accepted_under_anothers_name():
    require_swaps_refused([evidence(name) for name in EVIDENCE])


def certificates_of(run):
    """Return the certificates of a run, of which every reading that is expected to has one."""
    wanted = {Verdict.CERTIFIED, Verdict.REFUTED}
    claims = {claim.key for claim in LEDGER.claims if LEDGER.expectations[claim.key].expected in wanted}
    found = [KINDS.decode(run.certificates[f.certificate]) for f in run.record.claims if f.key in claims]
    assert len(found) == len(claims) >= 64
    return found


def nothing_in_them_can_be_forged(found):
    assert sum(forge_all(one) for one in found) > 100 * len(found)


LENGTHY = ("exp-linear", "gaussian-range", "risk-drift-violation")
"""Kinds whose check takes as long as that of ten others: they add up to thousands of balls."""


def one_of_each_kind(found):
    kinds = {kind_of(type(one.witness).__name__): one for one in found}
    assert set(LENGTHY) < set(kinds)
    return [one for kind, one in kinds.items() if kind not in LENGTHY]


def everything_that_can_be_weaker_was_weakened(found):
    """A kind that certifies has a constant or a range to be weaker in, or says everything with its instance."""
    certifying = {type(one.witness) for one in found if KINDS.check(one).shows == "certifies"}
    assert {kind_of(kind.__name__) for kind in certifying} - set(WEAKER) <= INSTANCES


def what_rests_on_an_argument_says_so(found):
    decided = {f"{one.claim}/{one.reading}": KINDS.check(one) for one in found}
    for key in ON_AN_INSTANCE:
        assert decided[key].scope == "argument", key
        assert "not in the certificate" in str(decided[key])
    for key in ("exp-linear/literal", "stopping-mean/loop", "stopping-tail/all-points"):
        assert decided[key].scope == "computation"


@pytest.mark.slow
def test_the_certificates_of_a_run(quick_run):
    """One test, so that one worker alone waits for the run."""
    found = certificates_of(quick_run)
    nothing_in_them_can_be_forged(one_of_each_kind(found))
    require_swaps_refused(found)
    everything_that_can_be_weaker_was_weakened(found)
    what_rests_on_an_argument_says_so(found)


@pytest.mark.long
def test_none_of_the_certificates_of_a_run_can_be_forged(quick_run):
    nothing_in_them_can_be_forged(certificates_of(quick_run))
