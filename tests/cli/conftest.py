"""What copies of this process need is loaded before the first is made; and sessions of pytest within this one."""

from __future__ import annotations

import importlib
import sys

import numpy as np
import pytest

from dpsco_verify.auditing import audit_canaries
from dpsco_verify.ledger.installed import installed_ledger
from dpsco_verify.processor import processor
from plugin_sessions import OPTIONS, Session, write


@pytest.fixture(scope="session", autouse=True)
def _loaded_before_any_copy():
    """A gate judges in a copy of the process, and what the copy had to import it would import again for each gate.

    A session of pytest within this one drops the modules that it was the first to import: those that keep a state, as
    numba and the papers of the ledger do, must have been loaded before.
    """
    for name in ("gating.run", "guarantees.optimiser", "ledger.run", "reporting.drawing"):
        importlib.import_module(f"dpsco_verify.{name}")
    installed_ledger()
    processor()
    right = np.arange(100) % 2 == 0
    for method in ("one-run-f-dp", "one-run-dp"):
        audit_canaries(right[right], right[~right], epsilon=1.0, delta=1e-5, method=method)


class _ProcessHere:
    """What calls ``function(tell)`` in this process, where a gate would make a copy of it."""

    def __init__(self, function):
        self._function = function

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def answer(self, heard):
        return self._function(heard)


@pytest.fixture
def _judged_here(monkeypatch, tmp_path_factory):
    """A gate judges in this process, which forgets the test's modules: to refuse something takes a tenth of a copy."""
    monkeypatch.setattr("dpsco_verify.execution.own_process.OwnProcess", _ProcessHere)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if (getattr(sys.modules[name], "__file__", None) or "").startswith(
            str(tmp_path_factory.getbasetemp())
        ):
            del sys.modules[name]


@pytest.fixture
def suite(pytester):
    """Write a test file and return what runs pytest on it, in this process: that saves the heavy imports.

    With ``process="same"`` its audits run in this process too, which saves a copy of it for each.
    """

    def prepare(text, conftest="", process="own"):
        write(pytester.path, text, conftest, process)

        def run(*arguments):
            result = pytester.runpytest_inprocess(*OPTIONS, *arguments, no_reraise_ctrlc=True)
            return Session(result.ret, result.stdout.str(), result.stderr.str())

        return run

    return prepare
