"""The split of the session's error budget, made before anything is drawn.

Let N be the number of collected tests that use the fixture, counted before ``-k``, ``-m`` and the like deselect any.
Each has the share budget / N, and the j-th audit of a test the level share · 2⁻ʲ. By the union bound

    P(any false alarm) ≤ Σ_tests Σ_j share · 2⁻ʲ ≤ budget,

whatever the dependence between the audits. The level of an audit depends on what was collected and on the test alone:
not on the order, nor on the process that runs the test; and tests left out by ``-k``, or by a plugin that
spreads a suite over machines by deselecting, leave the levels of the others as they are.

A test that is run again in the same session (reruns of flaky tests) continues with j where its last run stopped, so the
sum holds for the reruns too.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dpsco_verify.errors import InputError
from dpsco_verify.execution import stream
from dpsco_verify.plugin.settings import Settings


@dataclass
class Everyone:
    """All collected tests that use the fixture.

    Attributes
    ----------
    names
        In the order of collection.
    in_report
        What gives them their names in the report; made at first use, as it is heavy.
    """

    names: tuple[str, ...]
    in_report: Any = None


@dataclass
class AuditedTest:
    """A collected test that uses the fixture, and its account.

    Attributes
    ----------
    name
        Its node id as collected.
    position
        Its place among the collected tests that use the fixture, from 0.
    everyone
        All these tests.
    share
        The sum, at most, of the levels of its audits.
    command
        What to type to run it again with the same levels and seeds.
    worker
        Which process this is, where each runs every test; else empty.
    charged
        The number of audits made so far, in all runs of the test.
    violations
        By the number of the audit in its run, the message of a violation that was found.
    finished
        Audits that no report of the test has carried to the session yet, encoded.
    """

    name: str
    position: int
    everyone: Everyone
    share: float
    command: str
    worker: str = ""
    charged: int = 0
    violations: dict[int, str] = field(default_factory=dict)
    finished: list[str] = field(default_factory=list)

    def charge(self) -> float:
        """Charge one more audit to the share and return its level.

        Raises
        ------
        InputError
            When the share is used up: no positive level is left.
        """
        level = math.ldexp(self.share, -(self.charged + 1))
        # Below the smallest normal double halves are rounded, perhaps up.
        if level < sys.float_info.min:
            raise InputError(
                f"audits={self.charged + 1} in the test {self.name!r} are too many: each has half the level of the "
                "one before, and nothing is left; make tests of them, with pytest.mark.parametrize"
            )
        self.charged += 1
        return level


def share_of(total: float, tests: int) -> float:
    """Return the largest double of which `tests` times are at most `total`, exactly."""
    exact = Fraction(total) / tests
    nearest = float(exact)
    return nearest if Fraction(nearest) <= exact else math.nextafter(nearest, 0.0)


def open_accounts(
    nodeids: Sequence[str], *, total: float, copies: int, worker: str, command: Callable[[str, float], str]
) -> list[AuditedTest]:
    """Return the accounts of the tests of these node ids, which have equal shares of `total`.

    Every test is to be run by `copies` processes, of which this is `worker`; `command` returns what to type to run a
    node id with a share as its budget.
    """
    seen: Counter[str] = Counter()
    names: list[str] = []
    for nodeid in nodeids:
        seen[nodeid] += 1
        names.append(nodeid if seen[nodeid] == 1 else f"{nodeid} ({seen[nodeid]})")
    everyone = Everyone(tuple(names))
    share = share_of(total, len(names) * copies)
    return [
        AuditedTest(
            name=name,
            position=position,
            everyone=everyone,
            share=share,
            command=command(nodeid, share),
            worker=worker if copies > 1 else "",
        )
        for position, (name, nodeid) in enumerate(zip(names, nodeids, strict=True))
    ]


@dataclass(frozen=True, kw_only=True)
class AskedAudit:
    """An audit that is about to be made.

    Attributes
    ----------
    test
        The account that pays for it.
    number
        Its number in this run of the test, from 1.
    settings
        The session's settings.
    own_samples
        Whether the test itself says how many samples, not the profile.
    """

    test: AuditedTest
    number: int
    settings: Settings
    own_samples: bool

    @property
    def seed(self) -> int:
        """The audit's root seed: made of the session's seed, the test's name and the audit's number alone."""
        generator = stream(self.settings.seed, f"pytest/{self.test.name}", chunk=self.number)
        return int(generator.integers(1 << 53))
