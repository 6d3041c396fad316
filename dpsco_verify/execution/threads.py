"""One thread for linear algebra in each worker: the workers are the parallelism.

It also keeps the numbers the same: how many threads share a sum decides the order in which it is added up.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import threadpoolctl  # type: ignore[import-untyped]  # ships no type information

ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "BLIS_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "NUMEXPR_NUM_THREADS",
        "NUMBA_NUM_THREADS",
    ),
    "1",
)
"""The environment of a worker process that is started by us: libraries read it when they are loaded."""


def _libraries() -> threadpoolctl.ThreadpoolController:
    """Find the libraries. NumPy and SciPy each bring a BLAS of their own, and only what is loaded can be limited.

    They are loaded here, as a process that limits nothing starts in half the time without.
    """
    importlib.import_module("numpy")
    importlib.import_module("scipy.linalg")
    return threadpoolctl.ThreadpoolController()


class _Loaded:
    """The libraries that this process has loaded. Looking for them takes milliseconds, so only after imports."""

    def __init__(self) -> None:
        self._modules = 0
        self._controller: Any = None

    def limited(self) -> Any:
        """Limit them, and return the context that ends with the limits of before."""
        # A library comes with a module; what another thread imports meanwhile is found the next time.
        if len(sys.modules) != self._modules:
            self._controller = _libraries()
            self._modules = len(sys.modules)
        return self._controller.limit(limits=1)


_LOADED = _Loaded()


def one_thread_from_now_on() -> None:
    """Limit the libraries that this process has loaded so far, for good.

    Nothing is restored: on a cluster whose workers have several threads another unit may be running.
    """
    _LOADED.limited()


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit the libraries that this process has loaded, while the block runs."""
    with _LOADED.limited():
        yield


@cache
def _linear_algebra() -> threadpoolctl.ThreadpoolController:
    return _libraries().select(user_api="blas")


@contextmanager
def one_thread_of_linear_algebra() -> Iterator[None]:
    """Limit linear algebra alone, for many small products: threads would wait for each other longer than they work.

    The libraries are found once, which takes some milliseconds; entering takes microseconds.
    """
    with _linear_algebra().limit(limits=1):
        yield
