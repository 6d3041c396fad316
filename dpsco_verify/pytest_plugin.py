"""The pytest plugin: ``assert_private`` pins a mechanism's claimed privacy guarantee in a test suite.

All audits of a session share one error budget; see :mod:`dpsco_verify.plugin.shares` for how it is split, and
:mod:`dpsco_verify.plugin.session` for how the results of worker processes come together. Nothing heavy is imported
before the first audit.
"""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from dpsco_verify.errors import InputError
from dpsco_verify.plugin import CARRIED
from dpsco_verify.plugin.fixture import AssertPrivate
from dpsco_verify.plugin.settings import Settings, add_options, read_settings

# Imports in functions: a suite without audits pays for none of them.
# ruff: noqa: PLC0415

if TYPE_CHECKING:
    from dpsco_verify.plugin.session import SessionAudits
    from dpsco_verify.plugin.shares import AuditedTest

FIXTURE = "assert_private"
_COPIES = "dpsco_verify_copies"


@dataclass
class _State:
    """What one process knows of the session.

    `copies` is the number of processes that each run every test, 1 but for ``--dist each``; `worker` is which one of
    pytest-xdist this is, empty where it is none.
    """

    settings: Settings
    copies: int = 1
    worker: str = ""


_STATE = pytest.StashKey[_State]()
_TEST: pytest.StashKey[AuditedTest] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Check the options, and that the report can be written, before anything runs."""
    settings = read_settings(config)
    workerinput: dict[str, Any] | None = getattr(config, "workerinput", None)
    state = config.stash[_STATE] = _State(settings=settings)
    if workerinput is not None:
        state.copies, state.worker = workerinput.get(_COPIES, 1), str(workerinput["workerid"])
        return
    if settings.report is not None:
        from dpsco_verify.reporting import check_writable

        try:
            check_writable(settings.report)
        except InputError as error:
            raise pytest.UsageError(f"--dpsco-report: {error}") from None
    config.pluginmanager.register(_Controller(state), "dpsco_verify_controller")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Generator[None]:
    """Split the error budget over the tests as collected, before others deselect or rename any."""
    users = [item for item in items if FIXTURE in getattr(item, "fixturenames", ())]
    if users:
        from dpsco_verify.plugin.shares import open_accounts

        state = config.stash[_STATE]
        accounts = open_accounts(
            [item.nodeid for item in users],
            total=state.settings.error_budget,
            copies=state.copies,
            worker=state.worker,
            command=partial(_command, config, state.settings),
        )
        # Kept with the items: plugins may change an item's node id later.
        for item, account in zip(users, accounts, strict=True):
            item.stash[_TEST] = account
    return (yield)


@pytest.fixture
def assert_private(request: pytest.FixtureRequest) -> AssertPrivate:
    """Assert that a mechanism keeps its claimed privacy guarantee.

    ``assert_private(mechanism, d, d_prime, epsilon=1.0, delta=1e-6)`` audits ``mechanism(dataset, size, rng)`` on
    two neighbouring data sets and fails the test with a witness if the claim is violated, or if the audit could not
    decide. It takes what ``dpsco_verify.auditing.audit`` takes and returns its result.
    """
    test = request.node.stash.get(_TEST, None)
    if test is None:
        raise InputError(
            f"fixture={FIXTURE!r} was asked for while the test ran, too late for a share of the error budget; name "
            "it among the arguments of the test or of one of its fixtures"
        )
    return AssertPrivate(test, request.config.stash[_STATE].settings)


@pytest.fixture
def assert_guarantee(assert_private: AssertPrivate) -> Callable[..., Any]:
    """Assert that a guarantee of another kind stands, on the same error budget.

    ``assert_guarantee(mean_at_most, draw, 0.5, low=0, high=1)`` takes a function of ``dpsco_verify.guarantees``, or
    ``check_optimiser``, and what that takes; it fails the test with a counterexample if the guarantee is violated, or
    if the check could not decide, and returns its result.
    """
    return assert_private.guarantee


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let the report of a test carry its audits to the process that writes the session's report."""
    report = yield
    test = item.stash.get(_TEST, None)
    if test is not None:
        from dpsco_verify.plugin.session import attach

        attach(report, test)
    return report


class _Controller:
    """The hooks of the process that all reports come to: the only one, or the controller of pytest-xdist."""

    def __init__(self, state: _State) -> None:
        self._state = state
        self._audits: SessionAudits | None = None
        self._crashed: list[str] = []
        self._started = time.perf_counter()
        self._outcome: tuple[str, bool] | None = None

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker by how many processes each test is run."""
        if node.config.getoption("dist") == "each":
            self._state.copies = len(node.nodemanager.specs)
        node.workerinput[_COPIES] = self._state.copies

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str) -> None:
        """Remember what a worker was running when it crashed."""
        self._crashed.append(crashitem)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the audits that a report carries."""
        if not hasattr(report, CARRIED):
            return
        if self._audits is None:
            from dpsco_verify.plugin.session import SessionAudits

            self._audits = SessionAudits()
        self._audits.receive(report)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the report; one that cannot be written makes a session that went well fail."""
        out = self._state.settings.report
        if out is None or self._audits is None:
            return
        from dpsco_verify.plugin.report import write

        try:
            write(self._audits, self._state.settings, out, seconds=time.perf_counter() - self._started)
        except InputError as error:
            self._outcome = (f"the report was not written: {error}", False)
            if session.exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.USAGE_ERROR
        else:
            page = out / "index.html"
            here = session.config.invocation_params.dir
            shown = page.relative_to(here) if page.is_relative_to(here) else page
            self._outcome = (f"report: {shown}", True)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say how many audits there were, what they found, what of the budget is spent, where the report is."""
        settings = self._state.settings
        if self._audits is None:
            if settings.report is not None:
                terminalreporter.write_line("differential privacy: no audits, so no report", yellow=True)
            return
        from dpsco_verify.plugin.summary import summary_lines

        terminalreporter.section("differential privacy audits", sep="=")
        for line, colour in summary_lines(
            self._audits, settings, self._crashed, verbose=terminalreporter.verbosity > 0
        ):
            terminalreporter.write_line(line, **{colour: True})
        if self._outcome is not None:
            line, good = self._outcome
            terminalreporter.write_line(line, red=not good)


def _command(config: pytest.Config, settings: Settings, nodeid: str, share: float) -> str:
    """Return the command that repeats the audits of a test: alone, it has the whole budget that is given to it."""
    here = config.invocation_params.dir
    file, colons, name = nodeid.partition("::")
    words = ["pytest", os.path.relpath(config.rootpath / file, here) + colons + name]
    # The node id, and with it the seed, is relative to the root folder: it must be found again.
    ini, root = config.getoption("inifilename"), config.getoption("rootdir")
    if ini:
        words.append(f"--config-file={ini}")
    if root or (config.inipath is None and config.rootpath != here):
        words.append(f"--rootdir={os.path.relpath(config.rootpath, here)}")
    return shlex.join(
        [
            *words,
            f"--dpsco-seed={settings.seed}",
            f"--dpsco-profile={settings.profile}",
            f"--dpsco-error-budget={share!r}",
        ]
    )
