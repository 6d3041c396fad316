"""A copy of the tree, in which tests run while a file of it is changed; the tree itself is never touched."""

from __future__ import annotations

import compileall
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

PRODUCT = "dpsco_verify"
EVERYDAY, SLOW = "not slow and not long", "slow and not long"
NO_TESTS = 5  # pytest's exit code where no test has the markers


class Ran(msgspec.Struct, frozen=True):
    """How a run of tests ended: its exit code (negative for a signal, None at the limit on the wall), CPU seconds."""

    code: int | None
    seconds: float
    last_words: str


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
        launcher: Iterable[str] = (),
        options: Iterable[str] = (),
        limits: dict[str, float] | None = None,
        wall: float | None = None,
    ) -> Ran:
        """Run test files in this order.

        Parameters
        ----------
        files, markers
            What runs: the files, and pytest's expression of the markers.
        launcher
            Python's arguments before ``-m pytest``.
        options
            Pytest's.
        limits
            CPU seconds that one test of a file may take.
        wall
            Seconds after which the run and all that it started is killed.
        """
        times = self.path.with_name(f"{self.path.name}.seconds")
        times.unlink(missing_ok=True)
        environment = os.environ | {
            "HYPOTHESIS_PROFILE": "ci",
            "PYTHONPATH": str(self.path),
            "PYTHONDONTWRITEBYTECODE": "1",
            "MUTATION_LIMITS": json.dumps(limits or {}),
            "MUTATION_SECONDS": str(times),
        }
        command = [
            sys.executable,
            *launcher,
            "-m",
            "pytest",
            *options,
            "-q",
            "--tb=line",
            "-p",
            "mutation.watch",
        ]
        command += ["-p", "no:cacheprovider", "-m", markers, *files]
        process = subprocess.Popen(  # noqa: S603  our own command
            command,
            cwd=self.path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        code: int | None
        try:
            output = process.communicate(timeout=wall)[0]
            code = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, code = process.communicate()[0], None
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        seconds = float(times.read_text()) if times.exists() else 0.0
        lines = output.decode(errors="replace").strip().splitlines()
        words = next(
            (line for line in reversed(lines) if line.startswith(("FAILED", "ERROR"))),
            lines[-1] if lines else "",
        )
        return Ran(code, seconds, words[:300])


def _same(one: Path, other: Path) -> bool:
    return other.is_file() and one.read_bytes() == other.read_bytes()
