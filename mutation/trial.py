"""What becomes of a changed product under the tests that may notice the change."""

from __future__ import annotations

import enum
import signal

import msgspec

from mutation.mutants import Mutant
from mutation.tree import EVERYDAY, NO_TESTS, Tree


class Outcome(enum.StrEnum):
    """How a mutant fared.

    KILLED by a test that fails, or TIMED by one that computes for far longer than it should; SURVIVED all that
    reach it; UNREACHED, where no test does; UNDECIDED, where the limit on the wall came first or tests were left out.
    """

    UNREACHED = "not reached"
    SURVIVED = "survived"
    UNDECIDED = "undecided"
    TIMED = "killed by time"
    KILLED = "killed"


NOTICED = (Outcome.KILLED, Outcome.TIMED)


class Depth(enum.IntEnum):
    """How far the tests go: the files that name what is changed; all that run it, of the everyday suite or of all."""

    NEAREST = 0
    EVERYDAY = 1
    ALL = 2


class Result(msgspec.Struct, frozen=True):
    """A mutant, its outcome, how many test files ran for it, how deep, and the hash of the tests at that time."""

    mutant: Mutant
    outcome: Outcome
    files: int
    seconds: float
    last_words: str
    depth: Depth
    tests: str

    def then(self, later: Result) -> Result:
        """Return what this and a later run of other tests say together."""
        order = list(Outcome)
        return msgspec.structs.replace(
            later,
            outcome=max(self.outcome, later.outcome, key=order.index),
            files=self.files + later.files,
            seconds=self.seconds + later.seconds,
        )


class Selection(msgspec.Struct, frozen=True):
    """Test files to run for a mutant, with each one's CPU seconds on the unchanged code, and which of their tests."""

    seconds: dict[str, float]
    markers: str = EVERYDAY

    def within(self, budget: float) -> list[str]:
        """Return the first ones that take so many CPU seconds together, at least one."""
        chosen: list[str] = []
        planned = 0.0
        for name, seconds in self.seconds.items():
            planned += seconds
            if chosen and planned > budget:
                break
            chosen.append(name)
        return chosen


def run(
    mutant: Mutant, text: str, tree: Tree, tests: Selection, *, budget: float
) -> tuple[Outcome, int, float, str]:
    """Run tests on the tree with a mutant, up to the first that fails; return outcome, files, CPU seconds, last words.

    Parameters
    ----------
    budget
        CPU seconds, of the unchanged code, beyond which further test files are left out.
    """
    chosen = tests.within(budget)
    if not chosen:
        return Outcome.UNREACHED, 0, 0.0, ""
    limits = {name: 20.0 + 5.0 * tests.seconds[name] for name in chosen}
    planned = sum(tests.seconds[name] for name in chosen)
    with tree.changed(mutant.path, text):
        ran = tree.pytest(
            chosen, markers=tests.markers, options=["-x"], limits=limits, wall=600.0 + 20.0 * planned
        )
    if ran.code == -signal.SIGPROF:
        outcome = Outcome.TIMED
    elif ran.code is None:
        outcome = Outcome.UNDECIDED
    elif ran.code not in {0, NO_TESTS}:
        outcome = Outcome.KILLED
    else:
        outcome = Outcome.SURVIVED if len(chosen) == len(tests.seconds) else Outcome.UNDECIDED
    return outcome, len(chosen), ran.seconds, ran.last_words
