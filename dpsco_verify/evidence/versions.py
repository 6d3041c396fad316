"""The versions that a record carries: of the program and of what its numbers come from, the processor included."""

from __future__ import annotations

import platform
from importlib.metadata import version

from dpsco_verify.processor import processor

_LIBRARIES = ("numpy", "scipy", "statsmodels", "python-flint", "msgspec")


def versions() -> dict[str, str]:
    """Return the versions by name, and the kind of processor as the libraries see it."""
    own = {
        "dpsco-verify": version("dpsco-verify"),
        "python": platform.python_version(),
        "processor": processor(),
    }
    return own | {name: version(name) for name in _LIBRARIES}
