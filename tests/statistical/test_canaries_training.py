"""Real training with canaries: DP-SGD on the digits as it should be, and with five faults that libraries have had.

Seeds are fixed. Both audits of a training share the level 0.05, which is how often the right one would be accused at a
random seed, at most. At seven other seeds the right one passed and each fault was caught, the least plain one with p
at most 0.002.
"""

from __future__ import annotations

import functools
import importlib
import sys
from pathlib import Path

import pytest

from dpsco_verify.auditing import AuditVerdict

pytestmark = pytest.mark.slow

EXAMPLE = Path(__file__).parents[2] / "examples" / "audit_training"


@pytest.fixture(scope="module")
def example():
    pytest.importorskip("dp_accounting")
    sys.path.insert(0, str(EXAMPLE))
    try:
        module = importlib.import_module("audit")
    finally:
        sys.path.remove(str(EXAMPLE))
    # The same for all of them: the seed is.
    module.claimed = functools.cache(module.claimed)
    module.gradients_of_canaries = functools.cache(module.gradients_of_canaries)
    yield module
    for name in ("audit", "dp_sgd"):
        sys.modules.pop(name, None)


def test_right_training_passes(example):
    for result in example.audit(seed=1):
        assert result.verdict is AuditVerdict.NOT_VIOLATED
        assert result.mdv is not None
        assert result.mdv.epsilon <= result.epsilon_of_interest


@pytest.mark.parametrize(
    "fault", [0, *(pytest.param(fault, marks=pytest.mark.long) for fault in range(1, 5))]
)
def test_a_fault_is_caught_at_the_claim_by_one_run(example, fault):
    results = example.audit(example.FAULTS[fault], seed=1)
    assert any(result.verdict is AuditVerdict.VIOLATED for result in results)
    assert results[0].inside + results[0].outside <= 2000
