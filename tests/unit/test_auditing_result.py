"""A result in a person's hands: pickled, compared, shown, drawn, written."""

import json
import math
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import dpsco_verify
from dpsco_verify.auditing import audit
from dpsco_verify.auditing.outputs import encode
from dpsco_verify.errors import InputError
from dpsco_verify.privacy.claims import PrivacyCurve, TradeOff


def noisy_sum(dataset, size, rng):
    return np.sum(dataset) + rng.laplace(scale=0.3, size=size)


D, D_PRIME = np.zeros(40), np.eye(1, 40)[0]


def travelled(result):
    return pickle.loads(pickle.dumps(result))  # noqa: S301  what was pickled here


@pytest.fixture(scope="module")
def found():
    return audit(noisy_sum, D, D_PRIME, epsilon=1.0, relation="replace-one")


@pytest.mark.slow
def test_a_result_is_pickled_with_its_event_and_its_audit(found):
    copy = travelled(found)
    assert copy == found
    assert hash(copy) == hash(found)
    outputs = encode(noisy_sum(D, 50, np.random.default_rng(1)), 50)
    assert copy.witness.contains(outputs).tolist() == found.witness.contains(outputs).tolist()
    assert copy.reproduce() == found
    assert travelled(copy) == found


def test_what_cannot_be_pickled_does_not_keep_a_result_from_it():
    held = threading.Lock()
    result = audit(lambda d, size, rng: held and noisy_sum(d, size, rng), D, D_PRIME, epsilon=1.0)
    copy = travelled(result)
    assert copy == result
    with pytest.raises(InputError, match="without its mechanism and event"):
        copy.reproduce()


def test_results_differ_where_what_was_found_does(found):
    assert found != audit(noisy_sum, D, D_PRIME, epsilon=1.0, relation="replace-one", seed=1)
    elsewhere = audit(noisy_sum, np.ones(40), D_PRIME + 1.0, epsilon=1.0, relation="replace-one")
    assert elsewhere.witness != found.witness
    assert found.witness != "a witness"


def test_a_result_is_shown_in_a_line(found):
    assert repr(found).startswith("AuditResult(verdict='violated', mechanism='noisy_sum', claim=1-DP")
    assert len(repr(found)) < 200
    assert len(repr(found.witness)) < 200


@pytest.mark.slow
def test_a_result_is_json(found):
    written = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert written["verdict"] == "violated"
    assert written["claim"] == "1-DP"
    assert written["witness"]["counts"]["n11"] == found.witness.counts.n11
    assert written["summary"] == found.summary


@pytest.mark.slow
def test_a_notebook_shows_words_and_figures_and_nothing_of_a_name_is_markup():
    result = audit(noisy_sum, D, D_PRIME, epsilon=1.0, name="<b>sum</b>")
    page = result._repr_html_()
    assert page.count("<svg") == 2
    assert "<b>" not in page
    assert "&lt;b&gt;sum" in page


def test_figures_show_the_curve_and_the_evidence(found):
    assert found.growth[-1][0] <= found.samples
    assert found.growth[-1][1] >= -np.log(found.witness.alpha)
    [axes] = found.plot("evidence").axes
    assert axes.get_ylabel() == "log e-value"
    assert [axes.get_ylabel() for axes in found.plot().axes] == ["δ"]
    with pytest.raises(InputError, match="what='roc' is no figure"):
        found.plot("roc")


def test_the_package_has_its_audit_and_its_version_at_the_top():
    assert dpsco_verify.audit is audit
    assert dpsco_verify.__version__ == "0.1.0"
    with pytest.raises(AttributeError, match="no attribute 'audits'"):
        _ = dpsco_verify.audits
    loaded = "import sys, dpsco_verify; sys.exit('importlib.metadata' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", loaded], check=False).returncode == 0  # noqa: S603  our own code


@pytest.mark.slow
@pytest.mark.parametrize(
    "claim",
    [
        PrivacyCurve(lambda epsilon: math.exp(-epsilon) / 2, orders=[0.0, 1.0], label="mine"),
        TradeOff(lambda a: max(0.0, 1 - 2 * a, (1 - a) / 2), label="log 2"),
    ],
    ids=str,
)
def test_a_claim_made_of_a_lambda_is_pickled_along(claim):
    result = audit(noisy_sum, 0.0, 0.5, claim=claim, samples=600)
    again = travelled(result)
    assert again.summary == result.summary
    assert [again.claim.delta(e) for e in (0.0, 0.7)] == [claim.delta(e) for e in (0.0, 0.7)]
    assert (str(again.claim), again.claim.orders()) == (str(claim), claim.orders())


def test_a_claim_that_cannot_be_pickled_says_why():
    lock = threading.Lock()
    claim = PrivacyCurve(lambda epsilon: 0.5 if lock.locked() else 0.6, orders=[0.0])
    with pytest.raises(InputError, match=r"delta_of_epsilon=.* cannot be pickled, nor what .* \(TypeError"):
        travelled(audit(noisy_sum, 0.0, 0.5, claim=claim, samples=600))
