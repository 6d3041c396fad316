"""Hypothesis profiles: dev (every day), ci (derandomised), explore (random and long)."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_slow_inputs_are_fine = [HealthCheck.too_slow, HealthCheck.data_too_large]

settings.register_profile("dev", max_examples=50, deadline=None, suppress_health_check=_slow_inputs_are_fine)
settings.register_profile(
    "ci", max_examples=100, deadline=None, derandomize=True, suppress_health_check=_slow_inputs_are_fine
)
settings.register_profile(
    "explore",
    max_examples=10_000,
    deadline=None,
    print_blob=True,
    suppress_health_check=_slow_inputs_are_fine,
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))
