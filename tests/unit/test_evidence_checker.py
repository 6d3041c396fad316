"""The checker accepts what is proven, and nothing that has been tampered with."""

from __future__ import annotations

import ast
import json
import sys
from fractions import Fraction
from pathlib import Path

import flint
import msgspec
import pytest

import dpsco_verify.evidence.checker as checker_package
from dpsco_verify import papers
from dpsco_verify.evidence.checker import (
    Draw,
    EventEvidence,
    Evidence,
    Kinds,
    MeanEvidence,
    Rational,
    Rejected,
    Shows,
    Unreadable,
    WholeRunPrivacy,
    Witness,
    ball,
    concentrated,
    evaluate,
    issue,
)
from dpsco_verify.ledger.installed import installed_ledger
from dpsco_verify.ledger.ledger import _ForChecker as ForChecker
from dpsco_verify.papers.arora2020.azuma_step.certificates import AzumaMismatch, AzumaRepair
from dpsco_verify.papers.arora2020.bregman_dual.certificates import BregmanDualConstant, BregmanDualTight
from dpsco_verify.papers.arora2020.composition.certificates import CompositionViolation
from dpsco_verify.papers.arora2020.dual_norm.certificates import DualNormSign
from dpsco_verify.papers.arora2020.duality.certificates import DualityConstant, DualityEntropyViolation
from dpsco_verify.papers.arora2020.exp_linear.certificates import ExpLinear
from dpsco_verify.papers.arora2020.fresh_sum.certificates import FreshSumInstance, FreshSumViolation
from dpsco_verify.papers.arora2020.gradient_queries.certificates import GradientQueries
from dpsco_verify.papers.arora2020.kl_bound.certificates import KlConstant
from dpsco_verify.papers.arora2020.output.certificates import OutputDefined
from dpsco_verify.papers.arora2020.privacy.certificates import PrivacyRange
from dpsco_verify.papers.arora2020.rate.certificates import RateConstant
from dpsco_verify.papers.arora2020.regret.certificates import (
    RegretConstant,
    RegretDriftViolation,
    RegretVarianceViolation,
)
from dpsco_verify.papers.arora2020.regret_osmd.certificates import OsmdLiteralViolation
from dpsco_verify.papers.arora2020.risk.certificates import RiskConstants, RiskDriftViolation
from dpsco_verify.papers.arora2020.single_step.certificates import STEP as STEP_NAME
from dpsco_verify.papers.arora2020.single_step.certificates import SingleStepRepair, SingleStepViolation
from dpsco_verify.papers.arora2020.stopping_mean.certificates import (
    StoppingMeanConstant,
    StoppingMeanUnbounded,
)
from dpsco_verify.papers.arora2020.stopping_tail.certificates import (
    StoppingTailExponent,
    StoppingTailViolation,
)
from dpsco_verify.papers.arora2020.tail_integral.certificates import (
    McDiarmidGap,
    TailIntegralExponent,
    TailIntegralViolation,
)
from dpsco_verify.papers.arora2020.utility.certificates import (
    EXCESS,
    UtilityConstant,
    UtilityDriftViolation,
    UtilityVarianceViolation,
)
from dpsco_verify.privacy.claims import ZeroConcentratedDP
from dpsco_verify.store import null_name

decode = installed_ledger().kinds.decode

STEP = {
    "n": 16,
    "m": 1,
    "fresh": 16,
    "g": "1",
    "g_prime": "-1",
    "h": "-1",
    "epsilon_tilde": "4",
    "delta": "1/2",
    "threshold": "2/5",
}
BATCH = STEP | {"m": 2, "fresh": 1, "h": "0", "epsilon_tilde": "3", "delta": "9/10", "threshold": "5/8"}

WHOLE_RUN = {
    "n": 100,
    "points": 51,
    "batch_size": 1,
    "epochs": 1,
    "relation": "replace-one",
    "mu": "1",
    "epsilon": "1/2",
    "delta": "1/1000",
    "theta": "1/8",
    "step": "1/2",
    "below": 60,
    "above": 120,
    "size": 512,
    "reach": 200,
    "narrow": None,
}

UTILITY_NULL = null_name(
    EXCESS,
    {
        "c": 2.5,
        "instance": "drift",
        "n": 16,
        "σ/L": 0.1,
        "noise": "covariance-sigma-squared",
        "D bounds norms": False,
        "w₁": "far",
    },
)
STEP_NULL = null_name(
    STEP_NAME,
    {
        "n": 16,
        "m": 2,
        "fresh": 1,
        "g": "1",
        "g'": "-1",
        "h": "0",
        "σ over the lemma's": 2.0,
        "ε̃": 1.0,
        "δ of the lemma": 0.05,
    },
)
DRAW = Draw(profile="quick", seed="0", papers=tuple(entry.paper.id for entry in installed_ledger().papers))

CERTIFICATES = {
    "whole-run": ("own:whole-run", "replace-one", WholeRunPrivacy(**WHOLE_RUN)),
    "osmd": ("regret-osmd", "literal", OsmdLiteralViolation(slope="10", step_size="1")),
    "regret": ("regret", "diameter", RegretConstant(constant="2")),
    "regret-drift": (
        "regret",
        "norm-arbitrary",
        RegretDriftViolation(n=16, sigma="1/1000", constant="2"),
    ),
    "regret-variance": (
        "regret",
        "diameter-variance-sigma",
        RegretVarianceViolation(n=400, lipschitz="1/1000000", sigma="1/1000000", constant="2"),
    ),
    "bregman": ("bregman-dual", "literal", BregmanDualConstant(constant="1")),
    "bregman-tight": (
        "bregman-dual",
        "tight",
        BregmanDualTight(p="3/2", step="1/1000", constant="49999/100000"),
    ),
    "euclidean": ("duality", "euclidean", DualityConstant(p="2", step="1/1000", above="100001/100000")),
    "p-norm": ("duality", "p-norm", DualityConstant(p="3/2", step="1/1000", above="100001/200000")),
    "simplex": ("duality", "entropy-simplex", DualityConstant(p="1", step="1/1000", above="100001/100000")),
    "orthant": ("duality", "entropy-unrestricted", DualityEntropyViolation(y="2", step="1")),
    "all-points": ("stopping-tail", "all-points", StoppingTailViolation(n=16, points=16, draws=32)),
    "counter": ("stopping-tail", "all-points-counter", StoppingTailViolation(n=20, points=20, draws=39)),
    "exponent": ("stopping-tail", "loop", StoppingTailExponent(from_n=16)),
    "replace-one": ("single-step", "replace-one", SingleStepViolation(**STEP)),
    "minibatch": ("single-step", "replace-one-minibatch", SingleStepViolation(**BATCH)),
    "zero-out": (
        "single-step",
        "zero-out",
        SingleStepViolation(
            **STEP | {"n": 64, "fresh": 64, "g_prime": "0", "delta": "3/10", "threshold": "3/4"}
        ),
    ),
    "repair": ("single-step", "corrected", SingleStepRepair(epsilon_max="157/125", delta_max="81/100")),
    "composition": (
        "composition",
        "literal",
        CompositionViolation(
            n=16,
            tau=1,
            epsilon_tilde="157/125",
            delta="99/100",
            delta_prime="1/1000000",
            threshold="1/8",
        ),
    ),
    "privacy": ("privacy", "bounded-n", PrivacyRange(n_max="100000000000000000000", split="4")),
    "privacy-output": ("privacy", "printed-output", PrivacyRange(n_max="1000000", split="4")),
    "rate": ("rate", "upper", RateConstant(constant="188/5")),
    "risk": ("risk", "diameter", RiskConstants(first="5", second="20")),
    "risk-drift": ("risk", "norm-arbitrary", RiskDriftViolation(n=10_000, scale="1/2", delta="9/10")),
    "constant": ("utility", "diameter", UtilityConstant(constant="5/2")),
    "drift": ("utility", "norm-arbitrary", UtilityDriftViolation(n=25, sigma="1/1000")),
    "variance": (
        "utility",
        "diameter-variance-sigma",
        UtilityVarianceViolation(n=400, lipschitz="1/1000000", sigma="1/1000000"),
    ),
    "mean": (
        "utility",
        "diameter",
        MeanEvidence(
            null_hypothesis=UTILITY_NULL,
            low="0",
            bound="5/2",
            alpha="1/1000000000",
            bets=("1/8", "1/4", "3/8"),
            observations=("10", "21/2", "9", "10", "43/4", "11") * 3,
        ),
    ),
    "event": (
        "single-step",
        "corrected",
        EventEvidence(
            null_hypothesis=STEP_NULL,
            epsilon="1/2",
            delta="1/100",
            alpha="1/1000000000",
            bets=("1/16", "1/8", "1/4"),
            both=3,
            first_only=160,
            second_only=7,
            neither=100,
        ),
    ),
    "exp-linear": ("exp-linear", "literal", ExpLinear(factor="2", end="157/125")),
    "azuma": (
        "azuma-step",
        "literal",
        AzumaMismatch(epsilon_0="1/2", delta_prime="1/1000", tau=32),
    ),
    "azuma-repair": ("azuma-step", "corrected", AzumaRepair(root="2")),
    "kl": ("kl-bound", "literal", KlConstant(constant="1")),
    "dual-norm": ("dual-norm", "literal", DualNormSign(h=("3", "4"), w=("-3/5", "-4/5"))),
    "mean-constant": ("stopping-mean", "loop", StoppingMeanConstant(constant="197/250")),
    "mean-counter": ("stopping-mean", "text-counter", StoppingMeanConstant(constant="781/1000")),
    "mean-unbounded": ("stopping-mean", "all-points", StoppingMeanUnbounded(constant=1000, doublings=2000)),
    "tail-rate": ("tail-integral", "literal", TailIntegralExponent(rate="1/16")),
    "tail-violation": ("tail-integral", "all-points", TailIntegralViolation(n=16, t=32)),
    "tail-derivation": ("tail-integral", "derivation", McDiarmidGap(horizon="3")),
    "queries": ("gradient-queries", "loop", GradientQueries(constant="1001/1000")),
    "output": ("output", "corrected", OutputDefined(n=4, draws=(4, 4, 3, 4, 1))),
    "fresh-sum": ("fresh-sum", "literal", FreshSumViolation(n=16, level="1")),
    "fresh-sum-instance": ("fresh-sum", "corrected", FreshSumInstance(n=10, step="1/4")),
}


def as_tree(name):
    claim, reading, witness = CERTIFICATES[name]
    draw = DRAW if isinstance(witness, Evidence) else msgspec.UNSET
    return json.loads(msgspec.json.encode(issue(claim, reading, witness, draw)))


def accepted(tree):
    try:
        installed_ledger().kinds.check(decode(json.dumps(tree).encode()))
    except Rejected:
        return False
    return True


@pytest.mark.parametrize("name", CERTIFICATES)
def test_what_is_proven_is_accepted(name):
    assert accepted(as_tree(name))


def leaves(tree, path=()):
    """Yield every path to a value that is no table; of a list's values that to the first three, and to the last."""
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        if isinstance(tree, list) and 3 <= key < len(tree) - 1:
            continue
        if isinstance(value, dict | list):
            yield from leaves(value, (*path, key))
        else:
            yield (*path, key)


def at(tree, path):
    for key in path:
        tree = tree[key]
    return tree


def tampered(value):
    """Yield values that mean something else."""
    if value is None:
        yield from ("", 0, False, {}, [])
        return
    if isinstance(value, int):
        yield from (value + 1, value - 1, -value, 0 if value else 5, float(value), str(value), None, True)
        return
    yield from ("", "NaN", "Infinity", "-inf", "1e3", value + " ", None, 1, float("1e308"))
    digits = [position for position, character in enumerate(value) if character.isdecimal()]
    for position, character in enumerate(value):
        # Of a long number the ends.
        if position in {*digits[:3], *digits[-3:]}:
            yield value[:position] + str((int(character) + 1) % 10) + value[position + 1 :]
            yield value[:position] + value[position + 1 :]
    if value.lstrip("-") != value or value[:1].isdigit():
        yield value.removeprefix("-") if value.startswith("-") else f"-{value}"


def same_number(a, b):
    """Whether two texts write the same number, so that nothing was changed."""
    return a == b and type(a) is type(b)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=[pytest.mark.long] * (one == "whole-run")) for one in CERTIFICATES]
)
def test_every_field_tampered_with_is_rejected(name):
    tree = as_tree(name)
    tried = 0
    for path in list(leaves(tree)):
        original = at(tree, path)
        if path[0] == "draw" and path[1] != "papers":
            continue  # which run drew is what a certificate cannot show
        for value in tampered(original):
            if same_number(value, original):
                continue
            parent = at(tree, path[:-1])
            parent[path[-1]] = value
            assert not accepted(tree), f"{path} = {value!r} instead of {original!r} was accepted"
            parent[path[-1]] = original
            tried += 1
    assert tried > 20
    assert accepted(tree)


@pytest.mark.parametrize("name", CERTIFICATES)
def test_a_missing_or_an_extra_field_is_rejected(name):
    tree = as_tree(name)
    for path in list(leaves(tree)):
        if isinstance(path[-1], int):
            continue  # an observation left out is another witness
        parent = at(tree, path[:-1])
        value = parent.pop(path[-1])
        assert not accepted(tree), f"{path} is missing and was not missed"
        parent[path[-1]] = value
    tree["witness"]["extra"] = 1
    assert not accepted(tree)


def test_swapped_directions_and_sides_are_rejected():
    tree = as_tree("replace-one")
    witness = tree["witness"]
    witness["g"], witness["g_prime"] = witness["g_prime"], witness["g"]
    assert not accepted(tree)
    tree = as_tree("constant")
    tree["left"], tree["right"] = tree["right"], tree["left"]
    assert not accepted(tree)


@pytest.mark.parametrize(
    ("reading", "changes", "reason"),
    [
        ("replace-one", {"g_prime": "1"}, "not neighbours"),
        ("replace-one", {"g": "3/2"}, "longer than L"),
        ("replace-one", {"h": "-2"}, "longer than L"),
        ("zero-out", {}, "not a zero-out pair"),
        ("replace-one", {"m": 2}, "does not fit reading"),
        ("replace-one-minibatch", {}, "does not fit reading"),
        ("replace-one", {"fresh": 17}, "at most n"),
        ("replace-one", {"fresh": 1}, "there are none"),
        ("replace-one", {"delta": "1"}, r"outside \(0, 1\)"),
        ("replace-one", {"epsilon_tilde": "0"}, "not positive"),
        ("replace-one", {"epsilon_tilde": "1/10"}, "inequality is false"),
        ("replace-one", {"delta": "2/4"}, "lowest terms"),
    ],
)
def test_witnesses_that_are_none(reading, changes, reason):
    with pytest.raises(Rejected, match=reason):
        issue("single-step", reading, SingleStepViolation(**STEP | changes))


@pytest.mark.parametrize(
    ("claim", "reading", "witness"),
    [
        ("stopping-tail", "all-points", StoppingTailViolation(n=16, points=9, draws=32)),
        ("stopping-tail", "all-points", StoppingTailViolation(n=16, points=16, draws=31)),
        ("stopping-tail", "all-points", StoppingTailViolation(n=15, points=15, draws=30)),
        ("stopping-tail", "loop", StoppingTailViolation(n=16, points=16, draws=32)),
        ("stopping-tail", "all-points", StoppingTailExponent(from_n=16)),
        ("stopping-tail", "loop", StoppingTailExponent(from_n=17)),
        ("single-step", "corrected", SingleStepRepair(epsilon_max="157/125", delta_max="9/10")),
        ("single-step", "corrected", SingleStepRepair(epsilon_max="3", delta_max="1/2")),
        (
            "composition",
            "literal",
            CompositionViolation(
                n=16, tau=1, epsilon_tilde="157/125", delta="1/2", delta_prime="1/1000000", threshold="1/8"
            ),
        ),
        (
            "composition",
            "literal",
            CompositionViolation(
                n=16, tau=1, epsilon_tilde="2", delta="99/100", delta_prime="1/1000000", threshold="1/8"
            ),
        ),
        ("privacy", "bounded-n", PrivacyRange(n_max=str(10**26), split="4")),
        ("privacy", "bounded-n", PrivacyRange(n_max="15", split="4")),
        ("privacy", "printed-output", PrivacyRange(n_max=str(10**7), split="4")),
        ("privacy", "printed-output", PrivacyRange(n_max=str(10**5), split="4")),
        ("privacy", "bounded-n", PrivacyRange(n_max="100", split="1")),
        ("privacy", "bounded-n", PrivacyRange(n_max="100", split="9")),
        ("privacy", "literal", PrivacyRange(n_max="100", split="4")),
        ("rate", "upper", RateConstant(constant="75/2")),
        ("rate", "measured-n", RateConstant(constant="188/5")),
        ("risk", "norm-arbitrary", RateConstant(constant="188/5")),
        ("risk", "diameter", RiskConstants(first="5", second="13")),
        ("risk", "diameter", RiskConstants(first="1", second="20")),
        ("risk", "norm-arbitrary", RiskConstants(first="5", second="20")),
        ("risk", "norm-arbitrary", RiskDriftViolation(n=10_000, scale="1", delta="9/10")),
        ("risk", "norm-arbitrary", RiskDriftViolation(n=100, scale="1/2", delta="9/10")),
        ("risk", "norm-arbitrary", RiskDriftViolation(n=10**9, scale="1/2", delta="1/1000000")),
        ("risk", "diameter", RiskDriftViolation(n=10_000, scale="1/2", delta="9/10")),
        ("utility", "diameter", UtilityConstant(constant="8/5")),
        ("regret-osmd", "literal", OsmdLiteralViolation(slope="1", step_size="1")),
        ("regret-osmd", "literal", OsmdLiteralViolation(slope="-10", step_size="1")),
        ("regret-osmd", "corrected", OsmdLiteralViolation(slope="10", step_size="1")),
        ("regret", "diameter", RegretConstant(constant="5/4")),
        ("regret", "norm-arbitrary", RegretConstant(constant="2")),
        ("regret", "diameter-variance-sigma", RegretConstant(constant="2")),
        ("regret", "diameter", RegretDriftViolation(n=16, sigma="0", constant="2")),
        ("regret", "norm-arbitrary", RegretDriftViolation(n=16, sigma="10", constant="2")),
        ("regret", "norm-arbitrary", RegretDriftViolation(n=3, sigma="0", constant="2")),
        (
            "regret",
            "diameter-variance-sigma",
            RegretVarianceViolation(n=100, lipschitz="1", sigma="1", constant="2"),
        ),
        ("bregman-dual", "literal", BregmanDualConstant(constant="1/2")),
        ("bregman-dual", "tight", BregmanDualTight(p="3/2", step="1/1000", constant="1/2")),
        ("bregman-dual", "tight", BregmanDualTight(p="2", step="1/1000", constant="2/5")),
        ("duality", "euclidean", DualityConstant(p="2", step="1/1000", above="1")),
        ("duality", "p-norm", DualityConstant(p="2", step="1/1000", above="2")),
        ("duality", "entropy-simplex", DualityConstant(p="3/2", step="1/1000", above="2")),
        ("duality", "p-norm", DualityConstant(p="3/2", step="1", above="2")),
        ("duality", "entropy-unrestricted", DualityEntropyViolation(y="0", step="1")),
        ("duality", "entropy-unrestricted", DualityEntropyViolation(y="2", step="0")),
        ("utility", "norm-arbitrary", UtilityConstant(constant="5/2")),
        ("utility", "diameter-variance-sigma", UtilityConstant(constant="5/2")),
        ("utility", "norm-arbitrary", UtilityDriftViolation(n=25, sigma="10")),
        ("utility", "diameter", UtilityDriftViolation(n=25, sigma="0")),
        ("utility", "diameter-variance-sigma", UtilityVarianceViolation(n=100, lipschitz="1", sigma="1")),
        ("exp-linear", "literal", ExpLinear(factor="2", end="63/50")),
        ("exp-linear", "literal", ExpLinear(factor="2", end="5/4")),
        ("exp-linear", "literal", ExpLinear(factor="21/10", end="157/125")),
        ("azuma-step", "literal", AzumaMismatch(epsilon_0="1", delta_prime="1/2", tau=1)),
        ("azuma-step", "literal", AzumaMismatch(epsilon_0="0", delta_prime="1/2", tau=1)),
        ("azuma-step", "literal", AzumaMismatch(epsilon_0="1/2", delta_prime="1", tau=1)),
        ("azuma-step", "corrected", AzumaRepair(root="3/2")),
        ("azuma-step", "literal", AzumaRepair(root="2")),
        ("kl-bound", "literal", KlConstant(constant="1/2")),
        ("kl-bound", "literal", KlConstant(constant="2")),
        ("dual-norm", "literal", DualNormSign(h=("3", "4"), w=("3/5", "4/5"))),
        ("dual-norm", "literal", DualNormSign(h=("3", "4"), w=("-1", "-1"))),
        ("dual-norm", "literal", DualNormSign(h=("3", "4"), w=("-1",))),
        ("stopping-mean", "loop", StoppingMeanConstant(constant="787/1000")),
        ("stopping-mean", "all-points", StoppingMeanConstant(constant="1000")),
        ("stopping-mean", "loop", StoppingMeanUnbounded(constant=1, doublings=2)),
        ("stopping-mean", "all-points", StoppingMeanUnbounded(constant=2, doublings=3)),
        ("tail-integral", "literal", TailIntegralExponent(rate="1/20")),
        ("tail-integral", "literal", TailIntegralExponent(rate="51/500")),
        ("tail-integral", "literal", TailIntegralExponent(rate="1/2")),
        ("tail-integral", "literal", TailIntegralViolation(n=16, t=32)),
        ("tail-integral", "all-points", TailIntegralViolation(n=16, t=31)),
        ("tail-integral", "all-points", TailIntegralViolation(n=16, t=2000)),
        ("tail-integral", "all-points", TailIntegralViolation(n=8, t=20)),
        ("tail-integral", "derivation", McDiarmidGap(horizon="1")),
        ("tail-integral", "derivation", McDiarmidGap(horizon="11/5")),
        ("gradient-queries", "loop", GradientQueries(constant="1")),
        ("output", "corrected", OutputDefined(n=4, draws=(4, 4, 3, 4))),
        ("output", "corrected", OutputDefined(n=4, draws=(4, 3, 1, 2))),
        ("output", "corrected", OutputDefined(n=4, draws=(5, 3, 1))),
        ("output", "literal", OutputDefined(n=4, draws=(4, 3, 1))),
        ("fresh-sum", "literal", FreshSumViolation(n=2, level="1")),
        ("fresh-sum", "literal", FreshSumViolation(n=16, level="-1")),
        ("fresh-sum", "corrected", FreshSumViolation(n=16, level="1")),
        ("own:whole-run", "replace-one", WholeRunPrivacy(**WHOLE_RUN | {"delta": "1/1000000000"})),
        ("own:whole-run", "replace-one", WholeRunPrivacy(**WHOLE_RUN | {"mu": "4"})),
        ("own:whole-run", "replace-one", WholeRunPrivacy(**WHOLE_RUN | {"points": 100})),
        ("own:whole-run", "zero-out", WholeRunPrivacy(**WHOLE_RUN)),
        ("fresh-sum", "corrected", FreshSumInstance(n=10, step="0")),
        ("fresh-sum", "corrected", FreshSumInstance(n=10, step="2")),
    ],
)
def test_witnesses_of_something_else_are_rejected(claim, reading, witness):
    with pytest.raises(Rejected):
        issue(claim, reading, witness)


def test_too_little_evidence_is_rejected():
    _, _, mean = CERTIFICATES["mean"]
    with pytest.raises(Rejected, match="inequality is false"):
        issue("utility", "diameter", msgspec.structs.replace(mean, observations=("3", "0")))
    with pytest.raises(Rejected, match="not admissible"):
        issue("utility", "diameter", msgspec.structs.replace(mean, bets=("2/5",)))
    with pytest.raises(Rejected, match="below low"):
        issue("utility", "diameter", msgspec.structs.replace(mean, observations=("-1",)))


@pytest.mark.parametrize("data", [b"", b"{", b"\xff\xfe", b"not json"])
def test_what_is_no_json_is_unreadable(data):
    with pytest.raises(Unreadable):
        decode(data)


@pytest.mark.parametrize("data", [b"{}", b"[]", b"3", b'{"schema": 1}', b'{"schema": 2}'])
def test_what_is_no_certificate_is_rejected(data):
    with pytest.raises(Rejected):
        decode(data)


def checked_files():
    """The checker's own files, and those beside the statements in which its kinds of witnesses stand."""
    own = sorted(Path(checker_package.__file__).parent.glob("*.py"))
    (folder,) = papers.__path__
    kinds = sorted(Path(folder).glob("*/*/certificates.py"))
    assert len(own) > 5
    assert len(kinds) > 20
    return own + kinds


@pytest.mark.parametrize("file", checked_files(), ids=lambda file: "-".join(file.parts[-3:]))
def test_the_checker_is_independent(file):
    """It imports the standard library, python-flint, msgspec and itself; each of its files can be read at one go."""
    source = file.read_text(encoding="utf-8")
    assert len(source.splitlines()) < 300
    for node in ast.walk(ast.parse(source)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            names = [node.module]
        for name in names:
            top = name.split(".")[0]
            own = name.startswith("dpsco_verify.evidence.checker")
            of_a_kind = name.startswith("dpsco_verify.papers.") and name.endswith(".certificates")
            assert own or of_a_kind or top in {"flint", "msgspec"} or top in sys.stdlib_module_names, name
            assert own or not of_a_kind or file.name == "certificates.py", name


def test_every_kind_of_the_paper_is_tried():
    of_the_core = {MeanEvidence, EventEvidence, WholeRunPrivacy}
    tried = {type(witness) for _, _, witness in CERTIFICATES.values()}
    assert tried == {*installed_ledger().paper("arora2020").witness_kinds, *of_the_core}


def declared(**changes):
    """A kind of witness with everything that it has to say, but for `changes`; None takes one away."""
    said = {
        "claim_id": "utility",
        "readings": {"diameter": 1},
        "shows": Shows.CERTIFIES,
        "over": "everything",
        "argument": "",
        "sides": lambda self, reading: (flint.arb(2), flint.arb(1), "2 > 1"),
    } | changes
    return type(Witness)("Said", (Witness,), {k: v for k, v in said.items() if v is not None}, frozen=True)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"sides": None}, "has no checker"),
        ({"shows": None}, "does not say what it shows"),
        ({"argument": None}, "which argument it needs"),
        ({"readings": None}, "speaks of no reading"),
        ({"claim_id": None}, "speaks of no reading"),
        ({"over": None}, "over which range"),
        ({"shows": {"other": Shows.REFUTES}}, "says nothing about reading='diameter'"),
        ({"claim_id": "no-such-claim"}, "is no claim"),
        ({"readings": {"no-such-reading": 1}}, "is no claim"),
    ],
)
def test_a_kind_says_what_it_decides(changes, reason):
    claims = ForChecker(installed_ledger())
    assert (
        Kinds([declared()], claims).check(issue("utility", "diameter", declared()())).scope == "computation"
    )
    with pytest.raises(Rejected, match=reason):
        Kinds([declared(**changes)], claims)


@pytest.mark.slow
@pytest.mark.parametrize("rho", [pytest.param(0.0174689, marks=pytest.mark.long), 0.2])
def test_what_a_concentrated_claim_implies_is_what_the_exact_conversion_says(rho):
    """Against the package's own conversion, which finds the region of two coins in doubles."""
    tried = 0
    claim = ZeroConcentratedDP(rho)
    implies = concentrated(lambda: ball(Fraction(rho)))
    for epsilon in claim.orders()[::3]:
        delta = claim.delta(epsilon)
        if not 1e-12 < delta < 1 or epsilon == 0:
            continue
        tried += 1
        assert implies({}, Fraction(epsilon), Fraction(delta) * (1 + Fraction(1, 2**50))), epsilon
        assert not implies({}, Fraction(epsilon), Fraction(delta) * Fraction(999, 1000)), epsilon
    assert tried > 2


def test_a_number_in_a_certificate_has_at_most_400_characters():
    assert msgspec.convert("1" * 400, Rational) == "1" * 400
    with pytest.raises(msgspec.ValidationError, match="400"):
        msgspec.convert("1" * 401, Rational)


def test_a_bound_that_is_not_seen_is_told_without_its_radius():
    with pytest.raises(Rejected, match=r"^2 x is not seen to be above exp\(x\) - 1 below [0-9.]+$"):
        evaluate(ExpLinear(factor="2", end="63/50"), "exp-linear", "literal")
