"""A plugin of pytest for runs in a copy of the tree: the tests and their order, their limits, what each took."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator

import pytest


class Watch:
    """The plugin. At a limit its process ends by SIGPROF, whatever it is doing: a loop in compiled code, too.

    Parameters
    ----------
    chosen
        The tests to run, in their order; None for all that are collected.
    limits
        CPU seconds that one test of a file may take; a file that is not there has no limit.
    enter
        Called with the name of each test before it runs, and with "" whenever what runs is for others, too.
    """

    def __init__(
        self,
        chosen: list[str] | None = None,
        limits: dict[str, float] | None = None,
        enter: Callable[[str], object] = lambda _: None,
    ) -> None:
        self._chosen, self._limits, self._enter = chosen, limits or {}, enter
        self._test = ""
        self.seconds: dict[str, float] = {}
        """CPU seconds by test, with the processes that it waited for."""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave the chosen tests, in their order; of all, the slow ones come last."""
        if self._chosen is None:
            items.sort(key=lambda item: item.get_closest_marker("slow") is not None)
        else:
            collected = {item.nodeid: item for item in items}
            items[:] = [collected[name] for name in self._chosen if name in collected]

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Give each test its CPU time anew, and count it."""
        before, self._test = sum(os.times()[:4]), item.nodeid
        self._enter(item.nodeid)
        signal.setitimer(signal.ITIMER_PROF, self._limits.get(item.nodeid.split("::")[0], 0))
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            self._enter("")
            self._test, self.seconds[item.nodeid] = "", sum(os.times()[:4]) - before

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object]) -> Iterator[None]:
        """Count what a fixture of wide scope runs to no test: later ones use it, too."""
        if fixturedef.scope != "function":
            self._enter("")
        try:
            return (yield)
        finally:
            if fixturedef.scope != "function":
                self._enter(self._test)
