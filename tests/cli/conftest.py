"""What copies of this process need is loaded before the first is made; and sessions of pytest within this one."""

from __future__ import annotations

import importlib

import pytest

from dpsco_verify.processor import processor
from plugin_sessions import OPTIONS, Session, write


@pytest.fixture(scope="session", autouse=True)
def _loaded_before_any_copy():
    """A gate judges in a copy of the process, and what the copy had to import it would import again for each gate."""
    for name in (
        "auditing",
        "gating.run",
        "guarantees",
        "ledger.installed",
        "ledger.run",
        "reporting.drawing",
    ):
        importlib.import_module(f"dpsco_verify.{name}")
    processor()


@pytest.fixture
def suite(pytester):
    """Write a test file and return what runs pytest on it, in this process: that saves the heavy imports."""

    def prepare(text, conftest=""):
        write(pytester.path, text, conftest)

        def run(*arguments):
            result = pytester.runpytest_inprocess(*OPTIONS, *arguments, no_reraise_ctrlc=True)
            return Session(result.ret, result.stdout.str(), result.stderr.str())

        return run

    return prepare
