"""Draw changes of the product, see which ones the tests notice, and print the score. Run again, it goes on."""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from mutation.mutants import Mutant, equivalents, sample
from mutation.reach import Reach, nearest
from mutation.report import score, table
from mutation.tree import BOTH, EVERYDAY, PRODUCT, SLOW, Tree, digest, import_others, tracked
from mutation.trial import NOTICED, Depth, Part, Result, run

ROOT = Path(__file__).parents[1]
NEAREST_FILES = 6
UNKNOWN_SECONDS = 10.0  # of a test file that was not looked at


def main(arguments: list[str] | None = None) -> int:
    """Return 0, or 3 if the time ended before the sample."""
    parser = argparse.ArgumentParser(prog="python -m mutation", description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sample", type=int, default=40, metavar="N", help="mutants to draw")
    parser.add_argument("--only", default=f"{PRODUCT}/", metavar="PATH", help="draw from files that begin so")
    depths = [depth.name.lower() for depth in Depth]
    parser.add_argument(
        "--depth", choices=depths, default=depths[-1], help="the tests for what nearer ones missed"
    )
    parser.add_argument(
        "--budget", type=float, default=1200.0, metavar="S", help="CPU seconds for one mutant"
    )
    parser.add_argument(
        "--minutes", type=float, default=math.inf, help="stop after so long; run again to go on"
    )
    parser.add_argument("--out", type=Path, default=ROOT / "reports" / "mutation")
    options = parser.parse_args(arguments)
    ends = time.monotonic() + 60.0 * options.minutes
    session = _Session(
        options.out.resolve(), Depth[options.depth.upper()], options.budget, lambda: time.monotonic() > ends
    )
    modules = [name for name in session.product if name.endswith(".py") and name.startswith(options.only)]
    drawn = sample(ROOT, modules, seed=options.seed, size=options.sample)
    found: list[Result] = []
    for i, (mutant, text) in enumerate(drawn):
        result = session.result(mutant, text)
        if result is None:
            _say(f"stopped at mutant {i + 1} of {len(drawn)}; run again to go on")
            return 3
        _say(f"{i + 1} of {len(drawn)}, {result.seconds:.0f} s: {result.outcome}, {mutant.name}")
        found.append(result)
    missed, sentence = score(found, equivalents())
    (session.out / "survivors.md").write_text(f"{sentence}\n\n{table(missed)}", encoding="utf-8")
    sys.stdout.write(f"{table(missed)}\n{sentence}\n")
    return 0


class _Session:
    """The copy of the tree in ``out``, with what is known of tests and mutants; ``over`` says that time is up."""

    def __init__(self, out: Path, depth: Depth, budget: float, over: Callable[[], bool]) -> None:
        self.out, self._depth, self._budget, self._over = out, depth, budget, over
        names = tracked(ROOT)
        out.mkdir(parents=True, exist_ok=True)
        self._tree = Tree(out / "tree", ROOT, names)
        self.product = [name for name in names if name.startswith(f"{PRODUCT}/")]
        tests = [name for name in names if name.startswith("tests/")]
        self._suite = digest(ROOT, tests)
        self._files = [name for name in tests if Path(name).name.startswith("test_") and name.endswith(".py")]
        slow = [name for name in self._files if "mark.slow" in (ROOT / name).read_text(encoding="utf-8")]
        product = digest(ROOT, self.product)
        import_others(ROOT, [name for name in (*self.product, *self._files) if name.endswith(".py")])
        self._reach = {
            Depth.EVERYDAY: Reach(out / "reach", self._tree, self._files, product=product, markers=EVERYDAY),
            Depth.ALL: Reach(out / "reach", self._tree, slow, product=product, markers=SLOW),
        }
        self._kept = out / f"results-{product}.jsonl"
        lines = self._kept.read_bytes().splitlines() if self._kept.exists() else []
        known = [msgspec.json.decode(line, type=Result) for line in lines]
        self._known = {result.mutant.name: result for result in known}

    def result(self, mutant: Mutant, text: str) -> Result | None:
        """Return what becomes of a mutant; None if there is no time to find out."""
        result = self._known.get(mutant.name)
        if result is not None and result.outcome not in NOTICED and result.tests != self._suite:
            result = None  # there are other tests now
        for depth in Depth:
            if result is not None and (result.outcome in NOTICED or depth <= result.depth):
                continue
            if depth > self._depth:
                break
            if depth is Depth.NEAREST < self._depth and not self._reach[Depth.EVERYDAY].missing():
                continue  # which tests run the statement is known, and these alone are cheaper than six files
            tests = self._tests(mutant, depth)
            if tests is None:
                return None
            later = Result(
                mutant, *run(mutant, text, self._tree, tests, budget=self._budget), depth, self._suite
            )
            result = later if result is None else result.then(later)
            with self._kept.open("ab") as file:
                file.write(msgspec.json.encode(result) + b"\n")
        return result

    def _tests(self, mutant: Mutant, depth: Depth) -> list[Part] | None:
        if depth is Depth.NEAREST:
            return None if self._over() else self._nearest(mutant)
        reach = self._reach[depth]
        missing = reach.missing()
        for i, name in enumerate(missing):
            if self._over():
                return None
            reached = reach.look(name)
            _say(f"what tests reach, {i + 1} of {len(missing)}, {reached.seconds:.0f} s: {name}")
        if missing:
            for name, reached in reach.failing().items():
                _say(f"{name} fails on the unchanged code and is left out: {reached.last_words}")
        return None if self._over() else reach.of(mutant)

    def _nearest(self, mutant: Mutant) -> list[Part]:
        near = nearest(mutant.path, self._tree.path, self._files)[:NEAREST_FILES]
        return [Part(name, None, UNKNOWN_SECONDS, 3.0 * UNKNOWN_SECONDS, BOTH) for name in near]


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
