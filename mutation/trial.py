"""What becomes of a changed product under the tests that may notice the change."""

from __future__ import annotations

import enum
import itertools
import signal

import msgspec

from mutation.mutants import Mutant
from mutation.tree import EVERYDAY, NO_TESTS, Ran, Tree


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


def stronger(*outcomes: Outcome) -> Outcome:
    """Return what several runs of different tests say together."""
    return max(outcomes, key=list(Outcome).index)


class Depth(enum.IntEnum):
    """How far the tests go: the files that import what is changed; all that run it, everyday or all."""

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
        return msgspec.structs.replace(
            later,
            outcome=stronger(self.outcome, later.outcome),
            files=self.files + later.files,
            seconds=self.seconds + later.seconds,
        )


class Part(msgspec.Struct, frozen=True):
    """Tests of a file, in their order, their CPU seconds on the unchanged code, and how many one of them may take."""

    file: str
    tests: list[str] | None
    """None for all of the file, in its own order."""
    seconds: float
    limit: float
    markers: str = EVERYDAY


def within(parts: list[Part], budget: float) -> list[Part]:
    """Return the first parts that take so many CPU seconds together, at least one."""
    planned = list(itertools.accumulate(part.seconds for part in parts))
    return [part for part, total in zip(parts, planned, strict=True) if total <= budget] or parts[:1]


def run(
    mutant: Mutant, text: str, tree: Tree, parts: list[Part], *, budget: float
) -> tuple[Outcome, int, float, str]:
    """Run tests on the tree with a mutant, up to the first that fails; return outcome, files, CPU seconds, last words.

    They run in processes of more and more files, since most changes are noticed by the first.

    Parameters
    ----------
    budget
        CPU seconds, of the unchanged code, beyond which further tests are left out.
    """
    chosen = within(parts, budget)
    outcome = Outcome.UNREACHED
    files: set[str] = set()
    seconds, words, size = 0.0, "", 1
    with tree.changed(mutant.path, text):
        while chosen and outcome not in NOTICED:
            batch = [part for part in chosen[:size] if part.markers == chosen[0].markers]
            chosen, size = chosen[len(batch) :], 2 * size
            limits = {part.file: part.limit for part in batch}
            files |= limits.keys()
            ran = tree.pytest(
                list(limits),
                markers=batch[0].markers,
                chosen=_chosen(batch),
                options=["-x"],
                limits=limits,
                wall=600.0 + 20.0 * sum(part.seconds for part in batch),
            )
            outcome, words, seconds = stronger(outcome, _outcome(ran)), ran.last_words, seconds + ran.seconds
    if outcome is Outcome.SURVIVED and len(within(parts, budget)) < len(parts):
        outcome = Outcome.UNDECIDED
    return outcome, len(files), seconds, words


def _chosen(batch: list[Part]) -> list[str] | None:
    tests = [part.tests for part in batch]
    return None if None in tests else [name for names in tests for name in names or ()]


def _outcome(ran: Ran) -> Outcome:
    if ran.code == -signal.SIGPROF:
        return Outcome.TIMED
    if ran.code is None:
        return Outcome.UNDECIDED
    return Outcome.SURVIVED if ran.code in {0, NO_TESTS} else Outcome.KILLED
