"""The kind of processor that a process computes on, as the libraries see it, and the lower kinds that it can play.

Sums, differences, products, quotients and square roots of doubles have the same bits everywhere (IEEE 754). What numpy
and the C library return as exp, log, power, …, and what comes of matrix products and of sums in a library's own order,
depends in the last digits on the instructions that the library picks for the processor.

``python -m dpsco_verify.processor [--lowest] COMMAND…`` runs a command once at each level of features that the machine
has, from the lowest to the highest, or with ``--lowest`` at that one alone; without a command it prints the levels.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import threadpoolctl  # type: ignore[import-untyped]  # ships no type information

_GENERATIONS = {
    "X86_V2": {"NUMBA_CPU_NAME": "x86-64-v2", "OPENBLAS_CORETYPE": "Nehalem"},
    "X86_V3": {"NUMBA_CPU_NAME": "x86-64-v3", "OPENBLAS_CORETYPE": "Haswell"},
    "X86_V4": {"NUMBA_CPU_NAME": "x86-64-v4", "OPENBLAS_CORETYPE": "SkylakeX"},
}
"""What numba and OpenBLAS call the processors that have these features of numpy's and no more."""

_NUMBA_SWITCHES = frozenset({"NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES", "NUMBA_ENABLE_AVX"})
"""The variables, or names in `.numba_config.yaml`, by which numba compiles for another processor than LLVM sees."""

_WITHOUT_AVX = frozenset({"corei7-avx", "core-avx-i", "sandybridge", "ivybridge", "nocona"})
"""What LLVM calls the processors whose AVX numba leaves alone (`numba.core.config`)."""

_OWN = frozenset({"numpy", "scipy"})
"""The folders in which wheels have their libraries: ``numpy.libs``, ``scipy/.dylibs``."""

_UNFUSED = "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4"
"""Takes from the GNU C library the features by which it chooses its exp, log, pow, …; others do not read it."""


@functools.cache
def processor() -> str:
    """Return a text that is equal for two processes whose libraries compute with the same instructions.

    It names the machine's processor as LLVM sees it, with a hash of its features, by which the C library chooses; the
    features that numpy dispatches on and has found, ``NPY_DISABLE_CPU_FEATURES`` honoured; what numba compiles for,
    its switches honoured; the kernels that numpy's and scipy's BLAS have chosen; and the C library.
    """
    llvm: Any = importlib.import_module("llvmlite.binding")
    host = f"{llvm.get_host_cpu_name()} {_short_hash(llvm.get_host_cpu_features().flatten())}"
    name, features = _compiled_for(llvm)
    tunables = os.environ.get("GLIBC_TUNABLES", "")
    parts = [
        f"{platform.machine()} {host}",
        f"numpy {' '.join(_dispatched()) or 'baseline'}",
        f"numba {name} {_short_hash(features)}",
        *_linear_algebra(),
        " ".join((*platform.libc_ver(), tunables)).strip() or "other C library",
    ]
    return "; ".join(parts)


def levels() -> dict[str, dict[str, str]]:
    """Return the environment of each level of processor features that this machine has, by name, the lowest first.

    A level is named by the last of the features that numpy still has in it: those that numpy dispatches on are switched
    off from the last to the first. numba and OpenBLAS then work for the matching generation of processors, where it has
    a name, and at the lowest level numba for any and the GNU C library without fused operations. The highest level
    changes nothing.
    """
    baseline = _extensions().get("baseline", [])
    kept = [*baseline[-1:], *_dispatched()] if baseline else ["baseline", *_dispatched()]
    every = [*_dispatched(), *_extensions().get("not found", [])]
    result: dict[str, dict[str, str]] = {}
    for count, name in enumerate(kept[:-1]):
        environment = {"NPY_DISABLE_CPU_FEATURES": " ".join(every[count:])} | _GENERATIONS.get(name, {})
        if count == 0:
            environment = {"NUMBA_CPU_NAME": "generic", "GLIBC_TUNABLES": _UNFUSED} | environment
        if "NUMBA_CPU_NAME" in environment:
            # An empty list leaves the features to the name; without one numba takes the machine's.
            environment["NUMBA_CPU_FEATURES"] = ""
        result[name] = environment
    return result | {kept[-1]: {}}


def main(arguments: Sequence[str]) -> int:
    """Run the command at each level, or print the levels if there is none; return the first status other than 0.

    What it prints of its own goes to stderr.
    """
    lowest = list(arguments[:1]) == ["--lowest"]
    command = arguments[lowest:]
    status = 0
    for name, environment in list(levels().items())[: 1 if lowest else None]:
        switches = " ".join(f"{key}={value!r}" for key, value in environment.items())
        sys.stderr.write(f"{name}: {switches or 'all that the machine has'}\n")
        sys.stderr.flush()
        if command:
            done = subprocess.run(command, env=os.environ | environment, check=False)  # noqa: S603  the user's own
            status = status or done.returncode
    return status


def _compiled_for(llvm: Any) -> tuple[str, str]:
    """Return the processor and the features that numba compiles for.

    It takes as long to load as numpy does, so it is asked only if it is loaded, or if its answer may not be LLVM's.
    """
    name: str = llvm.get_host_cpu_name()
    switched = _NUMBA_SWITCHES & os.environ.keys() or Path(".numba_config.yaml").exists()
    if "numba" in sys.modules or switched or name in _WITHOUT_AVX:
        registry: Any = importlib.import_module("numba.core.registry")
        _, name, features = registry.cpu_target.target_context.codegen().magic_tuple()
        return name, features
    return name, llvm.get_host_cpu_features().flatten()


def _extensions() -> dict[str, list[str]]:
    """Return numpy's own account of the features: ``baseline``, ``found`` and ``not found``; an empty one is absent."""
    configuration: Any = np.show_config(mode="dicts")
    extensions: dict[str, list[str]] = configuration["SIMD Extensions"]
    return extensions


def _dispatched() -> list[str]:
    return _extensions().get("found", [])


def _linear_algebra() -> list[str]:
    """Return the BLAS of numpy and of scipy, each with its kernels; other packages may have loaded more."""
    importlib.import_module("scipy.linalg")  # loads a BLAS of its own, and only what is loaded is seen
    loaded = [found for found in threadpoolctl.threadpool_info() if found["user_api"] == "blas"]
    own = [
        found
        for found in loaded
        if _OWN & {part.split(".")[0] for part in Path(found["filepath"]).parts[-3:-1]}
    ]
    # Built against the system's there is nothing to tell them by.
    names = (
        f"{found['internal_api']} {found['version']} {found.get('architecture', '')}"
        for found in own or loaded
    )
    return sorted({name.strip() for name in names})


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
