"""A copy of the tree, in which tests run while a file of it is changed; the tree itself is never touched."""

from __future__ import annotations

import ast
import compileall
import hashlib
import importlib
import math
import os
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mutation.watch import Watch

PRODUCT = "dpsco_verify"
EVERYDAY, SLOW, BOTH = "not slow and not long", "slow and not long", "not long"
NO_TESTS = 5  # pytest's exit code where no test has the markers
_BROKEN = 3  # pytest's, too, where it is itself what fails


class Ran(msgspec.Struct, frozen=True):
    """How a run ended: its exit code (negative for a signal, None at the wall's limit), CPU seconds, also by test."""

    code: int | None
    seconds: float
    last_words: str
    tests: dict[str, float]


def tracked(root: Path) -> list[str]:
    """Return the files of a work tree that are, or would be, under version control."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],  # noqa: S607  the git of the path
        cwd=root,
        check=True,
        capture_output=True,
    ).stdout.decode()
    return sorted(name for name in listed.split("\0") if name and (root / name).is_file())


def digest(root: Path, names: Iterable[str]) -> str:
    """Return a hash of files and their names."""
    content = hashlib.sha256()
    for name in names:
        data = (root / name).read_bytes()
        content.update(f"{name}\0{len(data)}\0".encode() + data)
    return content.hexdigest()[:16]


class Tree:
    """A copy at ``path`` of the files ``names`` under ``root``."""

    def __init__(self, path: Path, root: Path, names: list[str]) -> None:
        self.path, self.names = path, names
        if path.exists():
            kept = {name for name in names if _same(root / name, path / name)}
            for stale in path.rglob("*"):
                # Compiled files stay, numba's too: both kinds tell by themselves when their source is another one.
                is_source = stale.is_file() and "__pycache__" not in stale.parts
                if is_source and stale.relative_to(path).as_posix() not in kept:
                    stale.unlink()
        else:
            kept = set()
        for name in names:
            if name not in kept:
                (path / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / name, path / name)
        compileall.compile_dir(path / PRODUCT, quiet=2)

    @contextmanager
    def changed(self, name: str, text: str) -> Iterator[None]:
        """Have another text in a file for a while; its compiled form, which goes by the time, is valid again then."""
        file = self.path / name
        original, times = file.read_bytes(), file.stat()
        try:
            file.write_text(text, encoding="utf-8")
            yield
        finally:
            file.write_bytes(original)
            os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))

    def pytest(
        self,
        files: list[str],
        *,
        markers: str,
        chosen: list[str] | None = None,
        options: Iterable[str] = (),
        limits: dict[str, float] | None = None,
        wall: float = math.inf,
        coverage: Path | None = None,
    ) -> Ran:
        """Run tests in a fork of this process, which saves each run the imports from other packages.

        Parameters
        ----------
        files, markers
            What is collected: the files, and pytest's expression of the markers.
        chosen
            The tests to run of these, in their order; None for all.
        options
            Pytest's.
        limits
            CPU seconds that one test of a file may take.
        wall
            Seconds after which the run and all that it started is killed.
        coverage
            Settings of a coverage run, whose contexts are the tests.
        """
        output, times = (self.path.with_name(f"{self.path.name}.{name}") for name in ("output", "seconds"))
        times.unlink(missing_ok=True)
        arguments = [*options, "-q", "--tb=line", "-p", "no:cacheprovider", "-m", markers]
        # Plugins that a fork has from the beginning are none of the tests' own.
        arguments += [
            "-W",
            "ignore:Module already imported so cannot:pytest.PytestAssertRewriteWarning",
            *files,
        ]
        child = os.fork()
        if child == 0:
            code = _BROKEN
            try:
                code = self._child(arguments, chosen, limits, coverage, output, times)
            except BaseException:  # noqa: BLE001  nothing of this may go on as a second parent
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        ended, seconds = _wait(child, time.monotonic() + wall)
        lines = output.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        words = next(
            (line for line in reversed(lines) if line.startswith(("FAILED", "ERROR"))),
            lines[-1] if lines else "",
        )
        tests = msgspec.json.decode(times.read_bytes(), type=dict[str, float]) if times.exists() else {}
        return Ran(ended, seconds, words[:300], tests)

    def _child(
        self,
        arguments: list[str],
        chosen: list[str] | None,
        limits: dict[str, float] | None,
        coverage: Path | None,
        output: Path,
        times: Path,
    ) -> int:
        """Be a process that was started as ``python -m pytest`` in the copy; return the exit code."""
        os.setsid()
        file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for stream in (1, 2):
            os.dup2(file, stream)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        sys.stdout, sys.stderr = (os.fdopen(stream, "w", encoding="utf-8") for stream in (1, 2))
        os.chdir(self.path)
        os.environ |= {
            "HYPOTHESIS_PROFILE": "ci",
            "PYTHONPATH": str(self.path),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        # The tests' own compiled forms are worth keeping; what is changed must not leave any.
        sys.dont_write_bytecode = coverage is None
        sys.path[0] = str(self.path)
        sys.argv = ["pytest", *arguments]
        sys.modules["__main__"] = importlib.import_module("pytest.__main__")
        for name in [name for name in sys.modules if name.partition(".")[0] == PRODUCT]:
            del sys.modules[name]
        measured: Any = None
        if coverage is not None:
            from coverage import Coverage  # noqa: PLC0415  there for `make mutate` alone

            measured = Coverage(config_file=str(coverage))
            measured.start()
        watch = Watch(chosen, limits, measured.switch_context if measured else lambda _: None)
        code = int(pytest.main(arguments, plugins=[watch]))
        if measured:
            measured.stop()
            measured.save()
        times.write_bytes(msgspec.json.encode(watch.seconds))
        return code


def import_others(root: Path, names: Iterable[str]) -> None:
    """Import what files import at their beginnings from other packages: runs of tests are forks, and have it then."""
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    wanted: set[str] = set()
    for name in names:
        for node in ast.parse((root / name).read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Import):
                wanted |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                wanted |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    ours = {path.stem for path in (*root.iterdir(), *(root / "tests" / "support").glob("*"))}
    for module in sorted(wanted):
        if module.partition(".")[0] not in ours:
            with suppress(ImportError):
                importlib.import_module(module)


def _wait(child: int, ends: float) -> tuple[int | None, float]:
    """Wait for a process; return its exit code, None if it and its group had to be killed, and its CPU seconds."""
    ended = 0
    while not ended and time.monotonic() < ends:
        time.sleep(0.01)
        ended, status, usage = os.wait4(child, os.WNOHANG)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what it left behind, too
    code = os.waitstatus_to_exitcode(status) if ended else None
    if not ended:
        *_, usage = os.wait4(child, 0)
    return code, usage.ru_utime + usage.ru_stime


def _same(one: Path, other: Path) -> bool:
    return other.is_file() and one.read_bytes() == other.read_bytes()
