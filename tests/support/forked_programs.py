"""`python` and `dpsco-verify` for a shell, each run of which is a copy of this process that imports nothing anew.

A script on the shell's PATH hands over its words, folder, environment and streams, and ends as the copy does. What a
fresh interpreter shows beyond that (that it starts, what is imported) is for tests that start one.
"""

from __future__ import annotations

import contextlib
import os
import runpy
import site
import socket
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from importlib import invalidate_caches
from pathlib import Path

from dpsco_verify.cli import main
from dpsco_verify.ledger.installed import installed_ledger
from program import Started

_ASK = """#!{python} -IS
import os, socket, sys
words = [{name!r}, *sys.argv[1:]]
if words[1:3] == ["-m", "pip"]:
    os.execv({real!r}, [{real!r}, *sys.argv[1:]])
with socket.socket(socket.AF_UNIX) as asked:
    asked.connect({address!r})
    socket.send_fds(asked, [repr((words, os.getcwd(), dict(os.environ))).encode()], [1, 2])
    code = int(asked.makefile().read())
if code < 0:
    os.kill(os.getpid(), -code)
sys.exit(code)
"""
_MOST = 1 << 16
_OURS = Path(__file__).parents[2]


class ForkedPrograms:
    """The scripts in `folder`, and what answers them while a shell runs; `packages` is looked in for packages first.

    Parameters
    ----------
    folder
        Where the scripts are put.
    real
        The interpreter that runs pip, which would change the environment of this process otherwise.
    packages
        The folder into which that one installs.
    """

    def __init__(self, folder: Path, *, real: Path, packages: Path) -> None:
        self.folder = folder
        self._packages = packages
        self._place = tempfile.TemporaryDirectory()  # an address may have 107 bytes
        address = f"{self._place.name}/asked"
        self._listens = socket.socket(socket.AF_UNIX)
        self._listens.bind(address)
        self._listens.listen()
        self._listens.settimeout(0.05)
        folder.mkdir()
        for name in ("python", "dpsco-verify"):
            script = folder / name
            script.write_text(_ASK.format(python=sys.executable, name=name, real=str(real), address=address))
            script.chmod(0o755)

    def close(self) -> None:
        """Answer no more."""
        self._listens.close()
        self._place.cleanup()

    def run(self, words: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> str:
        """Run a command and all programs that it asks for; return what is printed."""
        with tempfile.TemporaryFile("w+", encoding="utf-8") as printed:
            shell = subprocess.Popen(words, cwd=cwd, env=env, stdout=printed, stderr=subprocess.STDOUT)  # noqa: S603  a test's own
            while shell.poll() is None:
                with contextlib.suppress(TimeoutError):
                    self._answer(self._listens.accept()[0])
            printed.seek(0)
            return printed.read()

    def _answer(self, asked: socket.socket) -> None:
        with asked:
            said, streams, _, _ = socket.recv_fds(asked, _MOST, 2)
            words, folder, environment = eval(said, {"__builtins__": {}})  # noqa: S307  from a script of ours
            copy = Started(
                lambda: self._become(words, environment),
                Path(folder),
                streams=dict(zip((1, 2), streams, strict=True)),
            )
            for stream in streams:
                os.close(stream)
            asked.sendall(str(copy.ended()[0]).encode())

    def _become(self, words: list[str], environment: dict[str, str]) -> None:
        """Be the program: with its environment, its warnings, its packages, and nothing of a user's in memory."""
        os.environ.clear()
        os.environ.update(environment)
        # Of a module that is changed twice within a second, and keeps its size, the older form would be run.
        sys.dont_write_bytecode = True
        warnings.resetwarnings()
        for category in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
            warnings.simplefilter("ignore", category)
        ours = (sys.prefix, sys.base_prefix, str(_OURS / "dpsco_verify"))
        for name, module in list(sys.modules.items()):
            file = getattr(module, "__file__", None)
            if file is not None and not file.startswith(ours):
                del sys.modules[name]
        site.addsitedir(str(self._packages))
        invalidate_caches()
        installed_ledger.cache_clear()
        program, *rest = words
        if program == "dpsco-verify":
            main(rest, prog_name=program)
            return
        if rest[0] == "-W":
            warnings.simplefilter(rest[1])
            rest = rest[2:]
        if rest[0] == "-m":
            sys.argv, sys.path[:0] = rest[1:], [str(Path.cwd())]
            runpy.run_module(rest[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv, sys.path[:0] = rest, [str(Path(rest[0]).resolve().parent)]
            runpy.run_path(rest[0], run_name="__main__")
