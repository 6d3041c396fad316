"""``assert audit(…)`` must not pass whatever was found: what carries a verdict is neither true nor false."""

from __future__ import annotations

import enum
import importlib
import inspect
import pkgutil

import pytest

import dpsco_verify
from dpsco_verify.algorithm.whole_runs import audit_whole_runs
from dpsco_verify.auditing import AuditVerdict, audit
from dpsco_verify.auditing.accountants import AccountantAudit
from dpsco_verify.evidence import AuditRecord, Verdict

SAYS_WHAT_WAS_FOUND = {"verdict", "rejected", "refuted", "violated", "holds", "any_rejected", "as_expected"}
FOUND = {"VIOLATED", "REFUTED", "FAILS"}
INTERNAL = (
    "dpsco_verify.auditing.confirmation",  # steps on the way to an AuditResult
    "dpsco_verify.papers",  # steps on the way to a Decision
    "dpsco_verify.plugin",  # the session's own books
    "dpsco_verify.store",
    "dpsco_verify.reporting",
)


def classes():
    for found in pkgutil.walk_packages(dpsco_verify.__path__, "dpsco_verify."):
        if found.name.endswith("__main__") or found.name.startswith(INTERNAL):
            continue
        module = importlib.import_module(found.name)
        for name, value in vars(module).items():
            if inspect.isclass(value) and value.__module__ == module.__name__ and not name.startswith("_"):
                yield value


def attributes(kind):
    fields = {name for base in kind.__mro__ for name in vars(base).get("__annotations__", {})}
    return fields | set(dir(kind))


def carries_a_verdict(kind):
    if issubclass(kind, enum.Enum):
        return bool(FOUND & set(kind.__members__))
    return bool(SAYS_WHAT_WAS_FOUND & attributes(kind))


CARRIERS = [kind for kind in classes() if carries_a_verdict(kind)]


def test_the_net_is_wide():
    names = {kind.__name__ for kind in CARRIERS}
    assert {
        "AuditResult",
        "SamplersAudit",
        "ConformanceReport",
        "FitDecision",
        "Condition",
    } <= names
    assert {AccountantAudit, AuditVerdict, Verdict} <= set(CARRIERS)
    assert len(CARRIERS) > 25


@pytest.mark.parametrize(
    "kind", [*CARRIERS, AuditRecord], ids=lambda kind: f"{kind.__module__}.{kind.__name__}"
)
def test_what_carries_a_verdict_has_no_truth_value(kind):
    assert hasattr(kind, "__bool__"), "add `__bool__ = no_truth_value(…)` of dpsco_verify.errors"
    with pytest.raises(TypeError, match="neither true nor false"):
        kind.__bool__(kind)  # any object will do, it is not looked at


def test_a_result_says_what_to_ask():
    def count(dataset, size, rng):
        return len(dataset) + rng.laplace(scale=0.1, size=size)

    result = audit(count, [1], [1, 1], epsilon=1.0, relation="add-remove", samples=2000)
    assert result.verdict is AuditVerdict.VIOLATED
    with pytest.raises(TypeError, match=r"`result.verdict is AuditVerdict.NOT_VIOLATED`"):
        assert result
    with pytest.raises(TypeError, match=r"AuditVerdict is neither true nor false"):
        assert result.verdict


def test_intervals_of_whole_runs_have_none_either():
    import numpy as np

    result = audit_whole_runs(n=4, sigma=1.0, epsilon=0.1, runs=2, alpha=0.1, rng=np.random.default_rng(0))
    with pytest.raises(TypeError, match=r"result.low <= claimed_delta"):
        assert result
