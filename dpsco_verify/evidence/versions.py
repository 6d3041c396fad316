"""The versions that a record carries: those of the program and of the libraries that its numbers come from."""

from __future__ import annotations

import platform
from importlib.metadata import version

_LIBRARIES = ("numpy", "scipy", "statsmodels", "python-flint", "msgspec")


def versions() -> dict[str, str]:
    """Return the versions by name."""
    own = {"dpsco-verify": version("dpsco-verify"), "python": platform.python_version()}
    return own | {name: version(name) for name in _LIBRARIES}
