"""``python -m benchmarks.quality``."""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

import benchmarks.quality as described
from benchmarks.quality import audits, scores
from benchmarks.quality.fitters import DELTA, FITTERS, OTHER_LOSSES
from benchmarks.quality.records import Data, problems
from dpsco_verify.estimators import NoiseWarning

EPSILONS = (0.1, 0.3, 1.0, 3.0, 8.0)
_LOSSES = {"classification": ("hinge",), "regression": ("absolute", "quantile")}


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the tables, and write what was asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality",
        description=described.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--epsilon", type=float, nargs="+", default=list(EPSILONS))
    parser.add_argument("--other-at", type=float, default=1.0, help="the ε of the table of other losses")
    parser.add_argument(
        "--samples", type=int, default=500, help="fits a data set in an audit; 0 for no audits"
    )
    parser.add_argument("--json", type=Path, metavar="PATH")
    parser.add_argument("--figure", type=Path, metavar="PATH")
    parser.add_argument("--most", type=int, default=10**9, help="leave out problems with more records")
    parser.add_argument("--problem", nargs="+", metavar="NAME", help="these problems alone")
    parser.add_argument(
        "--read", type=Path, nargs="+", metavar="PATH", help="take what --json wrote in place of measuring"
    )
    options = parser.parse_args(arguments)
    data = [one for one in problems() if len(one.X) <= options.most]
    if options.problem:
        data = [one for one in data if one.name in options.problem]
    found: dict[str, list[dict[str, Any]]] = {"scores": [], "audits": []}
    if options.read:
        for path in options.read:
            for kind, cells in json.loads(path.read_text(encoding="utf-8")).items():
                found[kind] += cells
    else:
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore", NoiseWarning)
            found["scores"] = list(_scores(data, options.epsilon, options.other_at, options.seeds))
            if options.samples:
                found["audits"] = list(_audits(options.epsilon, options.samples))
    _report(found, data, options.epsilon, options.other_at)
    if options.json is not None:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if options.figure is not None:
        scores.draw(found["scores"], data, options.figure)
    return 0


def _scores(data: list[Data], epsilons: list[float], other_at: float, seeds: int) -> Iterator[dict[str, Any]]:
    for one in data:
        for name, fitter in FITTERS.items():
            plain = scores.measure(one, name, fitter, epsilons[0], seeds) if name == "no privacy" else None
            for epsilon in epsilons:
                yield (
                    {**plain, "epsilon": epsilon}
                    if plain
                    else scores.measure(one, name, fitter, epsilon, seeds)
                )
            print(f"{one.name}: {name}", file=sys.stderr, flush=True)  # noqa: T201  progress
        for other in _of_other_losses([one]):
            for name, fitter in OTHER_LOSSES.items():
                yield scores.measure(other, name, fitter, other_at, seeds)
            print(f"{one.name}: {other.loss} loss", file=sys.stderr, flush=True)  # noqa: T201  progress


def _of_other_losses(data: list[Data]) -> list[Data]:
    return [one.of_loss(loss) for one in data for loss in _LOSSES[one.kind]]


def _audits(epsilons: list[float], samples: int) -> Iterator[dict[str, Any]]:
    for classes in (2, 0):
        for cell in audits.audits(FITTERS, epsilons, classes=classes, samples=samples):
            yield cell
            what = f"audit: {cell['kind']}, {cell['system']}, {cell['epsilon']:g}"
            print(what, file=sys.stderr, flush=True)  # noqa: T201  progress


def _report(
    found: dict[str, list[dict[str, Any]]], data: list[Data], epsilons: list[float], other_at: float
) -> None:
    told = []
    for epsilon in epsilons:
        told += [f"## ε = {epsilon:g}, δ = {DELTA:g}", scores.table(found["scores"], data, FITTERS, epsilon)]
    others = scores.table(found["scores"], _of_other_losses(data), OTHER_LOSSES, other_at)
    told += [f"## Other losses, ε = {other_at:g}, δ = {DELTA:g}", others]
    beyond = scores.difference(
        [f for f in found["scores"] if f["loss"] in {"logistic", "huber"}], "estimator", "DP-SGD"
    )
    told += [
        "## The estimator less DP-SGD, where the mean difference is beyond its 95 % interval",
        "; ".join(f"{p}, ε = {e:g}: {m:+.4f} ± {h:.4f}" for p, e, m, h in beyond) or "nowhere",
    ]
    if found["audits"]:
        told += ["## Audits: the least ε that would have been found", audits.table(found["audits"], epsilons)]
    print("\n" + "\n\n".join(told))  # noqa: T201  a benchmark prints


if __name__ == "__main__":
    sys.exit(main())
