"""A plugin of pytest for runs on changed code: it limits each test's CPU time, and writes down what the run took.

``MUTATION_LIMITS`` holds, as JSON, the CPU seconds that one test of each file may take. At the limit the process ends
by SIGPROF, whatever it is doing: a loop without end in compiled code, too. ``MUTATION_SECONDS`` is the file for the
CPU seconds of the whole run, with the processes that it waited for.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

_LIMITS: dict[str, float] = json.loads(os.environ.get("MUTATION_LIMITS", "{}"))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Give each test its CPU time anew."""
    signal.setitimer(signal.ITIMER_PROF, _LIMITS.get(item.nodeid.split("::")[0], 0))
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def pytest_sessionfinish() -> None:
    """Write down the CPU seconds."""
    if "MUTATION_SECONDS" in os.environ:
        Path(os.environ["MUTATION_SECONDS"]).write_text(str(sum(os.times()[:4])), encoding="utf-8")
