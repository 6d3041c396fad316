"""How the kernel is compiled, and where the result is kept.

Functions that the entry points call are compiled with them. The entry points are kept in numba's cache, which looks at
the file of the entry point alone to tell whether its content is stale; their key here holds a fingerprint of all files
of the kernel. Where nothing can be kept (a read-only installation without a home directory, a full disk) the kernel
is compiled anew in each process.
"""

from __future__ import annotations

import hashlib
import importlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from dpsco_verify.arrays import FloatArray

# numba and llvmlite give types to a part only of what is used here.
numba: Any = importlib.import_module("numba")
types: Any = importlib.import_module("numba.types")
cgutils: Any = importlib.import_module("numba.core.cgutils")
intrinsic: Any = importlib.import_module("numba.extending").intrinsic
ir: Any = importlib.import_module("llvmlite.ir")

F = TypeVar("F", bound=Callable[..., Any])

_FLAGS = {
    "nogil": True,
    # Division as the processor does it, without a branch for a zero divisor: loops stay simple enough to vectorise.
    "error_model": "numpy",
}


def part(function: F) -> F:
    """Compile a function that compiled functions call."""
    compiled: F = numba.njit(**_FLAGS, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)
    return compiled


def inlined(function: F) -> F:
    """Put a function's code where it is called: for functions with one call, which saves most of their compilation."""
    compiled: F = numba.njit(**_FLAGS, inline="always")(function)
    return compiled


def _at_address(element: Any) -> Any:
    """Return the function that takes an address to a pointer to numbers of the type `element`."""

    @intrinsic  # type: ignore[untyped-decorator]  # numba's is
    def at_address(typing_context: Any, address: Any) -> Any:  # noqa: ARG001  numba's own signature
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

        return types.CPointer(element)(address), generate

    return at_address


@intrinsic  # type: ignore[untyped-decorator]  # the same
def _prefetch(typing_context: Any, array: Any, index: Any) -> Any:  # noqa: ARG001  numba's own signature
    """Ask the processor for the line of memory that holds ``array[index]``, and do not wait for it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001  the same
        byte, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        place = builder.bitcast(builder.gep(arguments[0], [arguments[1]]), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        request = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        builder.call(request, [place, flag(0), flag(3), flag(1)])  # to read, to keep in all caches, data
        return context.get_dummy_value()

    return types.void(array, index), generate


# The same under a type that says that it is called without the first argument.
prefetch = cast("Callable[[FloatArray, int], None]", _prefetch)

# The kernel gets its arrays by their addresses and hands them on as pointers. An array handed from function to function
# has its references counted, atomically, each time, and each index asked whether it is negative: that would cost more
# than a step of a short run, and most of the time that compiling takes.
doubles = _at_address(types.float64)
integers = _at_address(types.int64)
words_at = _at_address(types.uint64)


def fingerprint() -> int:
    """Return 62 bits of a hash of the kernel's source files."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return int.from_bytes(digest.digest()[:8], "big") >> 2


class EntryPoint:
    """A compiled function that Python calls, always with arguments of the same types.

    Parameters
    ----------
    make
        Returns the function, which must refer to the fingerprint that it is given: numba's key of a cached function
        holds the values of the variables that it closes over.
    """

    def __init__(self, make: Callable[[int], Callable[..., Any]]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._compiled: Callable[..., Any] | None = None

    def __call__(self, *arguments: Any) -> Any:
        """Call the function; compile it first, or load it, where that has not been done."""
        if self._compiled is None:
            with self._lock:
                if self._compiled is None:
                    self._compiled = self._compile(arguments)
        return self._compiled(*arguments)

    def _compile(self, arguments: tuple[Any, ...]) -> Callable[..., Any]:
        types = tuple(numba.typeof(argument) for argument in arguments)
        try:
            return _compile(self._make(fingerprint()), types, keep=True)
        except Exception:  # noqa: BLE001  whatever is wrong with the cache; a fault of the code itself shows again below
            return _compile(self._make(0), types, keep=False)


def _compile(function: Callable[..., Any], types: tuple[Any, ...], *, keep: bool) -> Callable[..., Any]:
    dispatcher: Any = numba.njit(cache=keep, **_FLAGS, no_cfunc_wrapper=True)(function)
    dispatcher.compile(types)
    compiled: Callable[..., Any] = dispatcher
    return compiled
