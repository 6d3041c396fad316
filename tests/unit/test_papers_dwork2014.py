"""Dwork and Roth 2014: closed forms against quadrature and enumeration, and every certificate forged in each field."""

import ast
import itertools
import math
import re
from fractions import Fraction
from pathlib import Path

import flint
import mpmath as mp
import msgspec
import pytest
from scipy import optimize, special, stats

import dpsco_verify.papers.dwork2014 as package
from dpsco_verify.evidence.checker import Rejected, evaluate, issue
from dpsco_verify.ledger.installed import installed_ledger
from dpsco_verify.papers.dwork2014.composition import certificates as composition
from dpsco_verify.papers.dwork2014.composition.figures import advanced_epsilon, advanced_figures, exact_delta
from dpsco_verify.papers.dwork2014.gaussian import certificates as gaussian
from dpsco_verify.papers.dwork2014.gaussian import statement as gaussian_statement
from dpsco_verify.papers.dwork2014.noisy_max.certificates import behind
from dpsco_verify.papers.dwork2014.paper import PAPER
from dpsco_verify.papers.dwork2014.sparse_vector import certificates as sparse

WITNESSES = {
    claim.key: claim.statement.witness(claim.reading)
    for claim in PAPER.claims
    if claim.statement.witness(claim.reading) is not None
}

FORGED = {
    "randomised-response/printed": {
        "lie": ["0", "1", "1/3"],
        "yes": ["0", "1", "1/3"],
        "below": ["0", "11/10"],
    },
    "laplace-mechanism/printed": {
        "scale": ["9/10", "2"],
        "below": ["0", "1", "-1"],
        "epsilon": ["0", "101"],
    },
    "laplace-accuracy/printed": {
        "factor": ["9/10", "2"],
        "below": ["0", "1"],
        "dimension": [10**7, 1000],
        "delta": ["0", "1"],
    },
    "report-noisy-max/printed": {
        "scale": ["9/10", "2"],
        "below": ["0", "1"],
        "epsilon": ["0", "101"],
        "gap": [1, 10**7],
    },
    "report-noisy-max/general": {"epsilon": ["0", "101"], "gap": [1, 10**7]},
    "exponential-mechanism/printed": {
        "factor": ["1", "3"],
        "below": ["0", "2"],
        "epsilon": ["0", "101"],
        "size": [1, 2],
    },
    "exponential-utility/printed": {
        "factor": ["1", "3"],
        "below": ["0", "2"],
        "size": [1, 2],
        "optimal": [1000, 500],
        "excess": ["0", "-1", "10000000"],
    },
    "one-sided-noisy-arg-max/first-printing": {"epsilon": ["0", "101"], "gap": [10**7]},
    "one-sided-noisy-arg-max/later-printing": {
        "rate": ["1", "1/4"],
        "above": ["1/2", "101"],
        "epsilon": ["0", "101"],
        "gap": [1, 10**7],
    },
    "basic-composition/printed": {
        "factor": ["9/10", "2"],
        "below": ["0", "1"],
        "mechanisms": [1, 10**7],
        "delta": ["0", "1/5"],
    },
    "advanced-composition/bounded-delta-prime": {
        "spread": ["1", "3"],
        "drift": ["0", "1/2", "2"],
    },
    "advanced-composition-corollary/printed": {
        "mechanisms": [1001, 8],
        "agree": [17, 16],
        "epsilon": ["0", "1"],
        "delta": ["0", "1", "1/2"],
    },
    "advanced-composition-corollary/bounded-delta-prime": {"delta_max": ["1/2", "1", "9/10"]},
    "composition-example/sufficient": {"parts": [800, 802, 1000]},
    "composition-example/tight": {"parts": [715, 801, 900]},
    "gaussian-mechanism/printed": {
        "factor": ["1", "2", "101/100"],
        "epsilon_max": ["1/2", "11", "4"],
        "reach": ["1/2", "11"],
        "steps": [10_001, 1],
    },
    "gaussian-mechanism/wider-range": {
        "factor": ["1", "2", "6/5"],
        "epsilon_max": ["1", "11", "19/5"],
        "reach": ["1/2", "11", "1"],
        "steps": [10_001, 100],
    },
    "gaussian-mechanism/every-epsilon": {
        "epsilon": ["1/2", "1001", "8"],
        "delta": ["0", "1", "1/100"],
        "c_squared": ["0", "23", "30", "10001"],
    },
    "above-threshold/printed": {
        "threshold": ["1", "4"],
        "query": ["2", "8"],
        "below": ["0", "1"],
        "epsilon": ["0", "101"],
        "queries": [1, 10**7],
    },
    "above-threshold/half-query-noise": {"epsilon": ["0", "101"], "queries": [1, 10**7]},
    "above-threshold/monotone": {
        "threshold": ["1", "4"],
        "query": ["1", "4"],
        "below": ["0", "1"],
        "epsilon": ["0", "101"],
        "queries": [1, 10**7],
    },
    "above-threshold-accuracy/printed": {"factor": ["3", "9"]},
    "sparse-vector/pure": {
        "factor": ["1", "4"],
        "below": ["0", "1"],
        "epsilon": ["0", "101"],
        "rounds": [10**7],
        "queries": [1, 10**7],
    },
    "sparse-vector/approximate": {
        "rounds": [1460, 10_001, 4000],
        "agree": [2001, 1300, 1900],
        "offset": ["-1/10", "11/10", "1"],
        "epsilon": ["0", "10000000", "1000"],
        "delta": ["0", "1", "1/100"],
    },
    "sparse-vector/bounded": {"epsilon_max": ["1/2", "101", "2"], "delta_max": ["1/2", "1", "9/10"]},
    "sparse-vector/numeric": {
        "rounds": [10**12],
        "epsilon": ["0", "2", "1/10"],
        "delta": ["0", "1", "1/100"],
    },
    "sparse-vector/numeric-with-epsilon": {"epsilon_max": ["1/2", "101", "10"], "delta_max": ["1/2", "2"]},
}


def test_every_witness_is_forged_in_each_field():
    assert {key: set(fields) for key, fields in FORGED.items()} == {
        key: set(witness.__struct_fields__) for key, witness in WITNESSES.items()
    }
    assert {type(witness) for witness in WITNESSES.values()} == set(PAPER.witness_kinds)


@pytest.mark.parametrize(
    ("key", "name", "value"),
    [(k, n, v) for k, fields in FORGED.items() for n, values in fields.items() for v in values],
)
def test_a_forged_field_is_refused(key, name, value):
    with pytest.raises(Rejected):
        evaluate(msgspec.structs.replace(WITNESSES[key], **{name: value}), *key.split("/"))


def refusal(key, name, value):
    """Return in which words a witness with another value of a field is refused; "" if it is not."""
    try:
        evaluate(msgspec.structs.replace(WITNESSES[key], **{name: value}), *key.split("/"))
    except Rejected as error:
        return str(error)
    return ""


@pytest.mark.slow
def test_ranges_end_where_their_refusals_say():
    """An end is itself in a range that is printed with a bracket there, and outside of one with a parenthesis."""
    ends = 0
    for key, name in ((key, name) for key, fields in FORGED.items() for name in fields):
        said = re.compile(rf"{name}=\S+ is outside ([\[(])([^ ,]+), ([^ ,]+)([\])])")
        refused = filter(None, (said.search(refusal(key, name, value)) for value in FORGED[key][name]))
        for low, first, last, high in {found.groups() for found in refused}:
            kind = int if isinstance(getattr(WITNESSES[key], name), int) else str
            for bracket, end, beyond in ((low, first, -1), (high, last, 1)):
                base, _, power = end.partition("^")
                number = Fraction(base) ** int(power or 1)
                at_end = refusal(key, name, kind(number))
                assert bool(said.search(at_end)) == (bracket in "()"), (key, name, end)
                assert said.search(refusal(key, name, kind(number + beyond))), (key, name, number + beyond)
                ends += 1
    assert ends > 60


@pytest.mark.parametrize("key", WITNESSES)
def test_a_certificate_reads_back_and_speaks_of_its_reading_alone(key):
    claim, reading = key.split("/")
    certificate = issue(claim, reading, WITNESSES[key])
    kinds = installed_ledger().kinds
    assert kinds.check(kinds.decode(msgspec.json.encode(certificate)))
    for forged in (
        msgspec.structs.replace(certificate, left=certificate.right, right=certificate.left),
        msgspec.structs.replace(certificate, reading="of-its-own"),
        msgspec.structs.replace(certificate, claim="of-its-own"),
    ):
        with pytest.raises(Rejected):
            kinds.check(forged)


def test_the_same_witness_proves_no_other_reading():
    for key, other in itertools.permutations(WITNESSES, 2):
        claim, reading = other.split("/")
        if claim == key.split("/")[0] and type(WITNESSES[key]) is type(WITNESSES[other]):
            continue
        with pytest.raises(Rejected):
            evaluate(WITNESSES[key], claim, reading)
    for key, other in (
        ("composition-example/tight", "composition-example/sufficient"),
        ("composition-example/sufficient", "composition-example/tight"),
        ("gaussian-mechanism/printed", "gaussian-mechanism/wider-range"),
        ("above-threshold/printed", "above-threshold/monotone"),
        ("above-threshold/monotone", "above-threshold/printed"),
        ("sparse-vector/bounded", "sparse-vector/numeric-with-epsilon"),
    ):
        with pytest.raises(Rejected):
            evaluate(WITNESSES[key], *other.split("/"))


def test_certificates_import_the_checker_alone():
    for path in Path(package.__file__).parent.glob("*/certificates.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module.startswith("dpsco_verify"):
                assert node.module == "dpsco_verify.evidence.checker" or node.module.endswith(".certificates")


def laplace_density(x, scale):
    return mp.e ** (-abs(x) / scale) / (2 * scale)


def laplace_above(x, scale):
    return mp.e ** (-x / scale) / 2 if x >= 0 else 1 - mp.e ** (x / scale) / 2


@pytest.mark.parametrize("gap", [0, 1, 3.5])
def test_the_count_behind_wins_by_quadrature(gap):
    exact = mp.quad(lambda x: laplace_density(x, 1) * laplace_above(x + gap, 1), [-mp.inf, -gap, 0, mp.inf])
    assert float(behind(Fraction(gap))) == pytest.approx(float(exact), rel=1e-9)


@pytest.mark.parametrize("x", [0, 1, 7.25])
def test_a_query_is_misjudged_by_quadrature(x):
    exact = mp.quad(lambda r: laplace_density(r, 2) * laplace_above(x + r, 4), [-mp.inf, -x, 0, mp.inf])
    assert float(sparse.misjudged(flint.arb(x))) == pytest.approx(float(exact), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("threshold", "query", "moved"), [(2, 4, 2), (2, 2, 2), (2, 2, 1), (Fraction(19, 10), Fraction(19, 5), 2)]
)
@pytest.mark.parametrize("k", [3, pytest.param(12, marks=pytest.mark.long)])
def test_a_streams_probabilities_are_bounded_on_the_right_side(threshold, query, moved, k):
    epsilon = Fraction(1, 2)
    t, q = float(threshold / epsilon), float(query / epsilon)

    def stream(first, last):
        return mp.quad(
            lambda r: (
                laplace_density(r, t) * (1 - laplace_above(r - first, q)) ** k * laplace_above(r - last, q)
            ),
            [-mp.inf, 0, 1, mp.inf],
        )

    on_d, on_other = sparse.stops(Fraction(threshold), Fraction(query), moved, epsilon, k)
    low, high = stream(0, moved - 1), stream(1, 0)
    assert 0 < on_d <= low
    assert high <= on_other
    assert float(high) == pytest.approx(float(on_other), rel=2.0 ** (2 - k / 3))


@pytest.mark.slow
def test_the_accuracy_of_a_short_stream_by_quadrature():
    # Two queries just below T − α and one just above T + α, the worst; α is half of the theorem's.
    beta, k, epsilon = 0.2, 3, 1.0
    alpha = 4 * (math.log(k) + math.log(2 / beta)) / epsilon
    right = mp.quad(
        lambda r: (
            laplace_density(r, 2) * (1 - laplace_above(r + alpha, 4)) ** 2 * laplace_above(r - alpha, 4)
        ),
        [-mp.inf, -alpha, 0, alpha, mp.inf],
    )
    assert beta / 10 < 1 - right <= beta / 3


@pytest.mark.parametrize("total", [Fraction(0), Fraction(1, 3), Fraction(9, 10)])
def test_the_exact_composition_by_enumeration(total):
    k, epsilon = 5, 0.4
    p = math.exp(epsilon) / (1 + math.exp(epsilon))
    delta = 0.0
    for answers in itertools.product((0, 1), repeat=k):
        lies = sum(answers)
        with_0, with_1 = p ** (k - lies) * (1 - p) ** lies, p**lies * (1 - p) ** (k - lies)
        delta += max(0.0, with_0 - math.exp(total) * with_1)
    assert float(exact_delta(k, Fraction(2, 5), total)) == pytest.approx(delta, rel=1e-12)


def test_advanced_composition_holds_for_the_exact_law_and_is_sharp_as_said():
    for k, epsilon, delta in itertools.product(
        (1, 7, 200), (Fraction(1, 20), Fraction(1), Fraction(4)), (Fraction(1, 2), Fraction(1, 10**6))
    ):
        total = advanced_epsilon(k, epsilon, delta, spread=Fraction(2), drift=Fraction(1, 2))
        assert float(exact_delta(k, epsilon, Fraction(float(total)))) <= delta
    # Far out in the tail a spread of 2 − 1/10 is already too small.
    k, each, total = 10**5, 316, Fraction(40)
    log = -exact_delta(k, Fraction(1, each), total).log()
    drift = k * (flint.arb(1) / each).expm1() / each
    assert (flint.arb(19) / 10 * k * log).sqrt() / each + drift < 40 < (2 * k * log).sqrt() / each + drift


def test_the_figures_beside_advanced_composition_in_mpmath():
    """Of k answers of ε-randomised response i are 0 with a loss of (2i − k)ε, by C(k, i) e^{iε}/(1 + e^ε)^k.

    All answers with a loss of ε' + 1 give a δ of 1 − e^{−1} of their probability; and at an ε' of 5 less than the mean
    loss and three of its √k ε, δ > 1/2.
    """
    found = advanced_figures(spread=Fraction(2), drift=Fraction(1))
    with mp.workdps(60):
        k, e, total = mp.mpf(10) ** 18, mp.mpf(10) ** -9, mp.mpf(10) ** 4
        zeros = (k + (total + 1) / e) / 2
        chosen = mp.loggamma(k + 1) - mp.loggamma(zeros + 1) - mp.loggamma(k - zeros + 1)
        log = -(chosen + zeros * e - k * mp.log1p(mp.exp(e)) + mp.log1p(-mp.exp(-1)))
        assert found.spread == pytest.approx(float((total / e - k * mp.expm1(e)) ** 2 / (k * log)), rel=1e-12)
        e = mp.mpf(10) ** -5
        reached = k * e * mp.tanh(e / 2) - 3 * mp.sqrt(k) * e - 5
        needed = (reached - mp.sqrt(2 * k * mp.log(2)) * e) / (k * e * mp.expm1(e))
        assert found.drift == pytest.approx(float(needed), rel=1e-12)
    assert found.radicand == pytest.approx(-2 * math.log(2), rel=1e-15)
    spread = math.sqrt(2 * 1000 * math.log(1e6)) / 100
    assert found.bound == pytest.approx(spread + 10 * math.expm1(0.01), rel=1e-14)
    binomials = [stats.binom(1000, p) for p in (special.expit(0.01), special.expit(-0.01))]

    def delta(total):
        first = math.floor((1000 + 100 * total) / 2) + 1
        return binomials[0].sf(first - 1) - math.exp(total) * binomials[1].sf(first - 1) - 1e-6

    assert found.exact == pytest.approx(optimize.brentq(delta, 0.1, 10.0, xtol=1e-12), abs=1e-6)


def test_binomial_tails():
    p = flint.arb(3) / 10
    assert float(sparse._at_least(40, 15, p)) == pytest.approx(stats.binom.sf(14, 40, 0.3), rel=1e-12)


def gaussian_delta(epsilon, mu):
    return mp.ncdf(mu / 2 - epsilon / mu) - mp.e**epsilon * mp.ncdf(-mu / 2 - epsilon / mu)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epsilon", "factor"),
    [(1, Fraction(5, 4)), pytest.param(Fraction(15, 4), Fraction(5, 4), marks=pytest.mark.long)],
)
def test_the_excess_of_the_gaussian_mechanism(epsilon, factor):
    bound = gaussian.largest_excess(Fraction(epsilon), factor, Fraction(3), 1500)
    with mp.workdps(30):
        start = mp.sqrt(2 * mp.log(mp.mpf(factor.numerator) / factor.denominator))
        e = mp.mpf(float(epsilon))
        seen = max(gaussian_delta(e, e / c) * mp.exp(c * c / 2) for c in mp.linspace(start, 40, 1500))
        grows = [gaussian_delta(e * k / 50, e * k / 50 / mp.mpf(0.7)) for k in range(1, 51)]
    assert float(seen) < float(bound) < float(seen) * 1.01
    assert grows == sorted(grows)


def test_the_room_of_advanced_composition():
    # Where the two sides meet, the advanced bound at k = 1 is ε; for more mechanisms it is less.
    delta = Fraction(7, 10)
    left, right = composition.advanced_room(Fraction(1), delta)
    log = -math.log(0.7)
    for k in (1, 2, 10, 1000):
        each = 1 / (2 * math.sqrt(2 * k * log))
        total = math.sqrt(2 * k * log) * each + k * each * math.expm1(each)
        assert total <= 0.5 + 0.5 * float(right / left) + 1e-12
        assert k > 1 or total == pytest.approx(0.5 + 0.5 * float(right / left), rel=1e-12)


@pytest.mark.slow
def test_the_figures_beside_the_gaussian_mechanism_by_scipy():
    """At δ = 10⁻⁵ the printed c is √(2 ln(1.25/δ)) = 4.845; δ of the mechanism is Balle and Wang's."""

    def delta(epsilon, c):
        return stats.norm.cdf(epsilon / c / 2 - c) - math.exp(epsilon) * stats.norm.cdf(-epsilon / c / 2 - c)

    found = gaussian_statement.gaussian_figures()
    printed = math.sqrt(2 * math.log(1.25e5))
    assert (found.tail, found.density) == pytest.approx((stats.norm.sf(0.1), stats.norm.pdf(0.1)), rel=1e-14)
    assert found.least == pytest.approx(optimize.brentq(lambda c: delta(1.0, c) - 1e-5, 1.0, 10.0), rel=1e-8)
    assert found.fails_from == pytest.approx(
        optimize.brentq(lambda e: delta(e, printed) - 1e-5, 1.0, 100.0), rel=1e-8
    )
    assert (found.factor_holds, found.wider_holds) == (True, True)
