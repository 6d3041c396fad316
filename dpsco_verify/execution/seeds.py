"""One root seed a run, and a stream of its own for every unit of work.

A stream depends on the root and on the unit's name alone, never on the order, the time or the worker, so a run
gives the same numbers whatever the number of workers, and selecting one claim gives that claim's numbers.
"""

from __future__ import annotations

import hashlib

import numpy as np

from dpsco_verify.validation import require_integer


def stream(root: int, name: str, *, chunk: int = 0) -> np.random.Generator:
    """Return the generator of chunk number `chunk` of the unit of work called `name`.

    Derived by ``SeedSequence(root, spawn_key=(stable id of the name, chunk))``; the stable id is the first 128 bits
    of the name's SHA-256, as four words. Searches and confirmations must use different names.
    """
    root = require_integer("seed", root, minimum=0)
    digest = hashlib.sha256(name.encode()).digest()
    words = tuple(int.from_bytes(digest[i : i + 4], "big") for i in range(0, 16, 4))
    return np.random.default_rng(np.random.SeedSequence(root, spawn_key=(*words, chunk)))
