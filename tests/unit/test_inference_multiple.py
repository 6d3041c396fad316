"""Holm and averaged e-values: by their definitions, and what goes wrong without them."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest

from dpsco_verify.errors import InputError
from dpsco_verify.inference import average_log_e_value, holm


def holm_by_definition(p_values, alpha):
    """Step down through the sorted p-values; stop at the first above alpha/(m − i)."""
    rejected = dict.fromkeys(p_values, False)
    for i, name in enumerate(sorted(p_values, key=p_values.get)):
        if p_values[name] > alpha / (len(p_values) - i):
            break
        rejected[name] = True
    return rejected


@pytest.mark.slow
def test_holm_follows_its_definition():
    rng = np.random.default_rng(14)
    for _ in range(12):  # statsmodels collects garbage at each call, some 0.1 s
        p_values = {f"pair-{i}": float(p) for i, p in enumerate(rng.beta(0.4, 2.0, rng.integers(1, 8)))}
        decision = holm(p_values, alpha=0.1)
        assert decision.rejected == holm_by_definition(p_values, 0.1)
        assert decision.any_rejected == any(decision.rejected.values())
        for name, value in decision.adjusted.items():
            assert (value <= 0.1) == decision.rejected[name]


def test_holm_is_not_the_default_of_statsmodels():
    # Šidák's step rejects at 1 − (1 − α)^(1/2) = 0.02532; Holm's, valid under any dependence, at 0.025.
    assert not holm({"a": 0.0252, "b": 0.5}, alpha=0.05).any_rejected


def test_holm_keeps_tiny_p_values():
    assert holm({"a": 1e-300, "b": 1.0}, alpha=1e-9).adjusted == {"a": 2e-300, "b": 1.0}


def test_average_is_that_of_the_e_values():
    logs = {"a": math.log(3.0), "b": math.log(5.0), "c": -math.inf}
    assert average_log_e_value(logs) == pytest.approx(math.log(8.0 / 3.0))
    assert average_log_e_value(logs, weights={"a": 2.0, "b": 1.0, "c": 1.0}) == pytest.approx(
        math.log(11.0 / 4.0)
    )
    assert average_log_e_value({"a": -math.inf}) == -math.inf


def test_average_does_not_overflow():
    assert average_log_e_value({"a": 5000.0, "b": -5000.0}) == pytest.approx(5000.0 - math.log(2.0))


@pytest.mark.parametrize(
    "call",
    [
        lambda: holm({}, alpha=0.05),
        lambda: holm({"a": math.nan}, alpha=0.05),
        lambda: holm({"a": 1.1}, alpha=0.05),
        lambda: holm({"a": 0.5}, alpha=0.0),
        lambda: average_log_e_value({}),
        lambda: average_log_e_value({"a": math.nan}),
        lambda: average_log_e_value({"a": math.inf}),
        lambda: average_log_e_value({"a": 0.0}, weights={"b": 1.0}),
        lambda: average_log_e_value({"a": 0.0}, weights={"a": 0.0}),
    ],
)
def test_unusable_arguments_are_refused(call):
    with pytest.raises(InputError):
        call()


def test_importing_the_package_does_not_load_pandas():
    code = "import sys, dpsco_verify.inference; sys.exit('pandas' in sys.modules or 'statsmodels' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # noqa: S603  fixed command
