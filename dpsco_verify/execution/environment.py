"""The environment of a process: the sources of this package, the versions under it and the kind of processor."""

from __future__ import annotations

import functools
import hashlib
import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import dpsco_verify
from dpsco_verify.processor import processor

NUMERIC_LIBRARIES = ("numpy", "scipy", "numba")
"""The libraries that every unit's numbers may hang on."""


@functools.cache
def library_versions() -> Mapping[str, str]:
    """Return the versions of Python and the numeric libraries, and the kind of processor as the libraries see it."""
    found = {
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "processor": processor(),
    }
    for name in NUMERIC_LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "absent"
    return found


@functools.cache
def environment() -> str:
    """Return a text that is equal for two processes that compute with the same sources, libraries and instructions.

    It is made once in a process: sources that change later are not the ones that the process has loaded.
    """
    digest = hashlib.sha256()
    root = Path(dpsco_verify.__file__).parent
    for path in sorted(root.rglob("*.py"), key=lambda path: path.relative_to(root).as_posix()):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(root).as_posix()}\0{len(content)}\0".encode() + content)
    libraries = ", ".join(f"{name} {number}" for name, number in library_versions().items())
    return f"sources {digest.hexdigest()[:16]}, {libraries}"
