"""Run the benchmarks: a table on standard output, and with ``--json`` a file for machines."""

from __future__ import annotations

import argparse
import datetime as dt
import importlib.metadata
import os
import platform
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from benchmarks import (
    auditing,
    engine,
    estimates,
    estimators,
    faults,
    oracles,
    single_step,
    stopping,
    whole_run,
    workers,
    zoos,
)
from benchmarks.record import SCHEMA_VERSION, Report, Row
from benchmarks.size import Size

SUITES: dict[str, Callable[[Size], Iterable[Row]]] = {
    "engine": engine.rows,
    "estimates": estimates.rows,
    "estimators": estimators.rows,
    "single-step": single_step.rows,
    "stopping": stopping.rows,
    "whole-run": whole_run.rows,
    "audit": auditing.rows,
    "faults": faults.rows,
    "workers": workers.rows,
    "oracles": oracles.rows,
    "zoos": zoos.rows,
    "zoo-limits": zoos.limits,
}
_LIBRARIES = ("numpy", "scipy", "numba", "python-flint", "dp-accounting")


def main(arguments: list[str] | None = None) -> int:
    """Measure and print; return 0, or 1 if ``--check`` was given and a target was missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the figures to this file, too")
    parser.add_argument("--only", nargs="+", choices=SUITES, default=list(SUITES), help="the suites to run")
    parser.add_argument("--size", choices=list(Size), type=Size, default=Size.FULL)
    parser.add_argument("--check", action="store_true", help="exit with 1 if a target is missed")
    options = parser.parse_args(arguments)
    if options.check and options.size is not Size.FULL:
        parser.error("--check judges the targets, which are those of --size full")
    started, clock = dt.datetime.now(dt.UTC), time.perf_counter()
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    rows: list[Row] = []
    for name in options.only:
        for figure in SUITES[name](options.size):
            if not rows or rows[-1].group != figure.group:
                print(f"\n{figure.group}")  # noqa: T201  a benchmark prints
            print(line(figure), flush=True)  # noqa: T201  the same
            rows.append(figure)
    report = Report(
        schema_version=SCHEMA_VERSION,
        size=options.size.value,
        started=started.isoformat(timespec="seconds"),
        seconds=time.perf_counter() - clock,
        machine=machine(),
        load=load,
        rows=rows,
    )
    missed = [figure.name for figure in rows if figure.met is False]
    print(f"\n{report.seconds:.0f} s; {len(missed)} of {sum(r.met is not None for r in rows)} targets missed")  # noqa: T201  the same
    if options.json is not None:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_bytes(msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n")
    return int(options.check and bool(missed))


def line(figure: Row) -> str:
    """Return a row as one line of the table."""
    unit = "" if figure.unit == "1" else f" {figure.unit}"
    span = f"({figure.low:.3g} to {figure.high:.3g})" if figure.repetitions > 1 else ""
    target = {None: "", True: "met", False: "MISSED"}[figure.met]
    if figure.at_least is not None:
        target += f", at least {figure.at_least:.3g}"
    if figure.at_most is not None:
        target += f", at most {figure.at_most:.3g}"
    text = f"  {figure.name:66} {figure.median:11.4g}{unit:9} {span:24} {target:24} {figure.note}"
    return text.rstrip()


def machine() -> dict[str, str]:
    """Return what the figures depend on."""
    found = {
        "processor": platform.processor() or platform.machine(),
        "cores": str(os.cpu_count()),
        "python": platform.python_version(),
    }
    for library in _LIBRARIES:
        try:
            found[library] = importlib.metadata.version(library)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


if __name__ == "__main__":
    sys.exit(main())
