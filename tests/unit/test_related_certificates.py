"""The certificates about related systems prove what they say, by other routes too, and nothing that is not so."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import msgspec
import numpy as np
import pytest
from scipy import stats

from dpsco_verify.evidence.checker import Rejected, issue
from dpsco_verify.geometry import Box
from dpsco_verify.ledger.installed import installed_ledger
from dpsco_verify.papers.bassily2014.noisy_sgd_erm.certificates import NoisySgdViolation
from dpsco_verify.papers.bassily2019.minibatch.certificates import (
    MinibatchViolation,
    SmoothedMinibatchViolation,
)
from dpsco_verify.papers.chaudhuri2011.objective_perturbation.certificates import ObjectivePerturbationLoss
from dpsco_verify.papers.chaudhuri2011.output_perturbation.certificates import (
    OutputPerturbationRate,
    OutputPerturbationViolation,
)
from dpsco_verify.papers.feldman2020.iteration_sgd.certificates import (
    IterationBatches,
    IterationStepViolation,
)
from dpsco_verify.papers.feldman2020.phased.certificates import PhasedErmNoise, PhasedSgdNoise
from dpsco_verify.problems import Linear
from dpsco_verify.related import PrivacyBudget, Task
from dpsco_verify.related.minibatch_sgd import MinibatchSgd

pytestmark = pytest.mark.slow

MINIBATCH = {"n": 150, "dimension": 20, "epsilon": "1", "delta": "1/1000000", "threshold": "22"}
STEPS = {
    "dimension": 10_000,
    "factor": "10",
    "epsilon": "1",
    "delta": "1/1000000",
    "threshold": "7/20",
}
LARGE = MINIBATCH | {"n": 1000, "dimension": 1, "epsilon": "5", "threshold": "145"}
OUTPUT = {"n": 100, "regularisation": "1/10", "epsilon": "1"}

CERTIFICATES = {
    "output": (
        "output-perturbation-privacy",
        "unit-lipschitz",
        OutputPerturbationRate(**OUTPUT, below="199/100"),
    ),
    "output-violation": (
        "output-perturbation-privacy",
        "any-lipschitz",
        OutputPerturbationViolation(**OUTPUT, lipschitz="2"),
    ),
    "objective": (
        "objective-perturbation-privacy",
        "printed",
        ObjectivePerturbationLoss(curvature="1/10", epsilon="1"),
    ),
    "phased-sgd": ("phased-sgd-privacy", "printed", PhasedSgdNoise(points=1000, below="199/100")),
    "phased-erm": (
        "phased-erm-privacy",
        "printed",
        PhasedErmNoise(n=1000, lipschitz="1", step_size="1/100"),
    ),
    "iteration": (
        "iteration-sgd-privacy",
        "printed",
        IterationBatches(dimension=1, kappa="1/100", steps=1, below="199/100"),
    ),
    "iteration-step": ("iteration-sgd-privacy", "any-step-size", IterationStepViolation(**STEPS)),
    "noisy-sgd": (
        "noisy-sgd-erm-privacy",
        "every-epsilon",
        NoisySgdViolation(n=2, epsilon="4000", delta="1/1000000", threshold="1/2"),
    ),
    "minibatch": ("minibatch-sgd-privacy", "output-before", MinibatchViolation(**MINIBATCH)),
    "minibatch-after": (
        "minibatch-sgd-privacy",
        "output-after",
        MinibatchViolation(n=80, dimension=10, epsilon="1", delta="1/1000000", threshold="18"),
    ),
    "minibatch-large": ("minibatch-sgd-privacy", "every-epsilon", MinibatchViolation(**LARGE)),
    "smoothed": (
        "smoothed-minibatch-sgd-privacy",
        "noise-for-l",
        SmoothedMinibatchViolation(**MINIBATCH),
    ),
}


def as_tree(name):
    return json.loads(msgspec.json.encode(issue(*CERTIFICATES[name])))


def accepted(tree):
    try:
        kinds = installed_ledger().kinds
        kinds.check(kinds.decode(json.dumps(tree).encode()))
    except Rejected:
        return False
    return True


def leaves(tree, path=()):
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from leaves(value, (*path, key))
        else:
            yield (*path, key), value


def tampered(value):
    if isinstance(value, int):
        yield from (value + 1, value - 1, -value, 0, float(value), str(value), None, True)
        return
    yield from ("", "NaN", "1e3", value + " ", None, 1)
    for position, character in enumerate(value):
        if character.isdigit():
            yield value[:position] + str((int(character) + 1) % 10) + value[position + 1 :]


@pytest.mark.parametrize("name", CERTIFICATES)
def test_accepted_as_issued_and_rejected_with_any_field_changed_or_missing(name):
    tree = as_tree(name)
    assert accepted(tree)
    for path, original in list(leaves(tree)):
        parent = tree
        for key in path[:-1]:
            parent = parent[key]
        for value in tampered(original):
            if value == original and type(value) is type(original):
                continue
            parent[path[-1]] = value
            assert not accepted(tree), f"{path} = {value!r} instead of {original!r} was accepted"
        del parent[path[-1]]
        assert not accepted(tree), f"{path} is missing and was not missed"
        parent[path[-1]] = original
    assert accepted(tree)


def test_every_kind_of_the_related_papers_is_tried():
    tried = {type(witness) for _, _, witness in CERTIFICATES.values()}
    ledger = installed_ledger()
    papers = {ledger.find([claim])[0].paper for claim, _, _ in CERTIFICATES.values()}
    assert len(papers) == 4
    assert tried == {kind for paper in papers for kind in ledger.paper(paper).witness_kinds}


@pytest.mark.parametrize(
    ("claim", "reading", "witness", "reason"),
    [
        (
            "output-perturbation-privacy",
            "unit-lipschitz",
            OutputPerturbationRate(**OUTPUT, below="2"),
            "outside",
        ),
        (
            "output-perturbation-privacy",
            "any-lipschitz",
            OutputPerturbationViolation(**OUTPUT, lipschitz="1"),
            "undecided|false",
        ),
        (
            "output-perturbation-privacy",
            "unit-lipschitz",
            OutputPerturbationViolation(**OUTPUT, lipschitz="2"),
            "is none of",
        ),
        (
            "output-perturbation-privacy",
            "any-lipschitz",
            OutputPerturbationViolation(**OUTPUT, lipschitz="-2"),
            "positive",
        ),
        (
            "objective-perturbation-privacy",
            "printed",
            ObjectivePerturbationLoss(curvature="1", epsilon="1"),
            "first case",
        ),
        (
            "objective-perturbation-privacy",
            "printed",
            ObjectivePerturbationLoss(curvature="0", epsilon="1"),
            "positive",
        ),
        ("phased-sgd-privacy", "printed", PhasedSgdNoise(points=100, below="199/100"), "outside"),
        ("phased-erm-privacy", "printed", PhasedSgdNoise(points=1000, below="199/100"), "is not"),
        (
            "phased-erm-privacy",
            "printed",
            PhasedErmNoise(n=10, lipschitz="0", step_size="1"),
            "positive",
        ),
        (
            "iteration-sgd-privacy",
            "printed",
            IterationBatches(dimension=1, kappa="1/100", steps=2, below="199/100"),
            "no integer",
        ),
        (
            "iteration-sgd-privacy",
            "printed",
            IterationBatches(dimension=1, kappa="1/100", steps=1, below="1999/1000"),
            "false|undecided",
        ),
        (
            "iteration-sgd-privacy",
            "any-step-size",
            IterationStepViolation(**STEPS | {"factor": "2"}),
            "above 2",
        ),
        (
            "iteration-sgd-privacy",
            "any-step-size",
            IterationStepViolation(**STEPS | {"factor": "5/2"}),
            "false",
        ),
        (
            "iteration-sgd-privacy",
            "any-step-size",
            IterationStepViolation(**STEPS | {"threshold": "3/4"}),
            "outside",
        ),
        (
            "iteration-sgd-privacy",
            "any-step-size",
            IterationStepViolation(**STEPS | {"dimension": 4}),
            "false",
        ),
        (
            "noisy-sgd-erm-privacy",
            "every-epsilon",
            NoisySgdViolation(n=2, epsilon="1", delta="1/1000000", threshold="1/2"),
            "false",
        ),
        ("minibatch-sgd-privacy", "output-before", MinibatchViolation(**LARGE), "above 1"),
        ("minibatch-sgd-privacy", "output-after", MinibatchViolation(**MINIBATCH), "T=2 is not 1"),
        (
            "minibatch-sgd-privacy",
            "output-before",
            MinibatchViolation(**MINIBATCH | {"delta": "1/1000"}),
            "above 1/n²",
        ),
        ("minibatch-sgd-privacy", "every-epsilon", MinibatchViolation(**MINIBATCH), "below 100"),
        ("minibatch-sgd-privacy", "output-before", MinibatchViolation(**MINIBATCH | {"n": 20}), "below 1"),
        (
            "minibatch-sgd-privacy",
            "output-before",
            MinibatchViolation(**MINIBATCH | {"n": 1000}),
            "is not 2",
        ),
        (
            "minibatch-sgd-privacy",
            "output-before",
            MinibatchViolation(**MINIBATCH | {"delta": "1"}),
            "outside",
        ),
        (
            "minibatch-sgd-privacy",
            "output-before",
            MinibatchViolation(**MINIBATCH | {"threshold": "54"}),
            "outside W",
        ),
        (
            "minibatch-sgd-privacy",
            "output-before",
            MinibatchViolation(**MINIBATCH | {"threshold": "10"}),
            "false",
        ),
        ("smoothed-minibatch-sgd-privacy", "every-epsilon", SmoothedMinibatchViolation(**LARGE), "none of"),
    ],
)
def test_what_proves_nothing_is_rejected(claim, reading, witness, reason):
    with pytest.raises(Rejected, match=reason):
        issue(claim, reading, witness)


def test_the_last_iterate_by_simulation():
    """At a δ close to 1 the printed noise is small beside ε, and samples see both sides."""
    n, sigma, threshold, runs = 2, 1.0, 0.5, 40_000
    epsilon = n * math.sqrt(32 * math.log(n / 0.99) * -math.log(0.99)) / sigma
    witness = NoisySgdViolation(
        n=n, epsilon=str(Fraction(epsilon)), delta="99/100", threshold=str(Fraction(threshold))
    )
    rng = np.random.default_rng(0)
    seen = []
    for differing in (1.0, -1.0):
        w = np.ones(runs)
        for t in range(1, n * n):
            gradient = n * np.where(rng.random(runs) < 1 / n, differing, -1.0)
            step = 1 / math.sqrt(t * (n * n + sigma * sigma))
            w = np.clip(w - step * (gradient + sigma * rng.standard_normal(runs)), 0.0, 1.0)
        seen.append(float(np.mean(w < 1 - threshold)))
    gap = float(witness.sides("every-epsilon")[0].mid())
    assert 0.2 < gap <= seen[0] - math.exp(epsilon) * seen[1] + 5 * (1 + math.exp(epsilon)) / math.sqrt(runs)


def test_the_mini_batch_instance_by_direct_summation():
    """The first step's law is a binomial mixture of normals, which scipy sums as well."""
    n, epsilon, log_term = 150, 1.0, math.log(1e6)
    steps = int(min(n / 8, (n * epsilon) ** 2 / (32 * 20 * log_term)))
    assert steps == 2
    batch = math.ceil(n * math.sqrt(epsilon / (4 * steps)))
    sigma = math.sqrt(8 * steps * log_term) / (n * epsilon)
    k = np.arange(batch + 1)
    weights = stats.binom.pmf(k, batch, 1 / n)
    first = float(weights @ stats.norm.sf(22.0, loc=2.0 * k, scale=batch * sigma))
    gap = first - math.e * stats.norm.sf(22.0, scale=batch * sigma)
    assert float(issue(*CERTIFICATES["minibatch"]).left) == pytest.approx(gap, rel=1e-9)


def test_the_mini_batch_instance_is_what_the_implementation_does():
    """On the data sets of the certificate the output crosses its threshold as often as the closed form says.

    The event {output < c} with c for a threshold of 2, where both probabilities are large: 5,000 runs on each data
    set, so a standard error below 0.0071, and a difference of 0.043 is 6 of them (false alarm below 1e-8 for both).
    """
    n, d = 150, 20
    task = Task(Linear(), Box(np.zeros(d), np.r_[1.0, np.full(d - 1, 1e-9)]), 1.0)
    budget, system = PrivacyBudget(1.0, 1e-6), MinibatchSgd()
    figures = system.calibrate(task, n, budget).figures
    assert (figures["T"], figures["m"]) == (2.0, 54.0)
    data = np.zeros((2, n, d))
    data[:, :, 0] = 1.0  # gradients −1
    data[0, 0, 0] = -1.0
    batch, threshold = 54, 2.0
    k = np.arange(batch + 1)
    scale = batch * figures["σ"]
    exact = (
        float(stats.binom.pmf(k, batch, 1 / n) @ stats.norm.sf(threshold, loc=2.0 * k, scale=scale)),
        stats.norm.sf(threshold, scale=scale),
    )
    end = (1.0 - threshold / batch) * figures["η"] / 2.0
    for sample, wanted in zip(data, exact, strict=True):
        runs = np.broadcast_to(sample, (5_000, n, d))
        solution = system.fit(runs, task=task, budget=budget, rng=np.random.default_rng(1)).solution
        assert abs(np.mean(solution[:, 0] < end) - wanted) < 0.043


def test_the_instance_with_large_steps_by_simulation():
    """The two laws of ``−w₃`` behave as the certificate has them, clip and Huber's slope included.

    4·10⁵ pairs at a threshold where the event is common: the difference of the two frequencies has a standard error
    below 1e-3, and the closed form lies within 6 of those (false alarm 2e-9).
    """
    rng = np.random.default_rng(7)
    d, factor, runs = 10_000, 10.0, 400_000
    log_term = math.log(1e6)
    kappa = math.sqrt(2 * log_term + 2) - math.sqrt(2 * log_term)
    batch = math.ceil(2 * math.sqrt(d) / (kappa * math.sqrt(2.0)))
    edge = math.sqrt(0.5)

    def run(sign):
        w = np.clip(sign / batch + rng.standard_normal(runs) / math.sqrt(d), -edge, edge)
        slope = np.clip(factor * w, -1.0, 1.0)
        return np.clip(w - slope + rng.standard_normal(runs) / math.sqrt(d), -edge, edge)

    scale = math.sqrt(((factor - 1) ** 2 + 1) / d)
    shift = (factor - 1) / batch
    threshold = 0.05
    seen = np.mean(run(1.0) < -threshold) - np.mean(run(-1.0) < -threshold)
    exact = stats.norm.sf((threshold - shift) / scale) - stats.norm.sf((threshold + shift) / scale)
    assert abs(seen - exact) < 6e-3


def test_the_objective_instance_attains_its_loss():
    """A Huber loss at the edge of its curvature against one beyond: ε' + log(1 + x) in closed form."""
    n, lam, curvature, epsilon = 10, 1.0, 1.0, 1.0
    x = curvature / (n * lam)
    prime = epsilon - 2 * math.log1p(x)
    # At some w the other points are flat, n λ w + gradient = −b; the differing gradients are −1 and 1.
    w = 0.2
    b, b_prime = -(n * lam * w - 1.0), -(n * lam * w + 1.0)
    loss = prime / 2 * (abs(b_prime) - abs(b)) + math.log((n * lam + curvature) / (n * lam))
    assert loss == pytest.approx(prime + math.log1p(x), rel=1e-12)
    assert float(
        issue(
            "objective-perturbation-privacy",
            "printed",
            ObjectivePerturbationLoss(curvature="1/10", epsilon="1"),
        ).right
    ) == pytest.approx(loss, rel=1e-12)
