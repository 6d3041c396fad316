"""The papers that are installed, by the entry-point group ``dpsco_verify.papers``.

Each entry point is named by its paper's id and gives a :class:`~dpsco_verify.ledger.ledger.PaperEntry`. The papers of
this package are found like anybody's.
"""

from __future__ import annotations

import functools
from importlib import metadata

from dpsco_verify.errors import InputError
from dpsco_verify.ledger.ledger import Ledger, PaperEntry
from dpsco_verify.ledger.sections import SECTIONS

GROUP = "dpsco_verify.papers"


@functools.cache
def installed_ledger() -> Ledger:
    """Return the ledger of all installed papers, sorted by id.

    Raises
    ------
    InputError
        If an entry point cannot be loaded, gives no paper or one of another id, or the papers do not fit together.
    """
    points = sorted(metadata.entry_points(group=GROUP), key=lambda point: (point.name, point.value))
    if not points:
        raise InputError(f"group={GROUP!r} has no entry point; install a paper, or this package anew")
    return Ledger(papers=tuple(_load(point) for point in points), sections=SECTIONS)


def _load(point: metadata.EntryPoint) -> PaperEntry:
    where = f"entry point {point.name} = {point.value!r} of group {GROUP!r}"
    try:
        entry = point.load()
    except InputError as error:
        raise InputError(f"{where} cannot be loaded: {error}") from error
    except Exception as error:  # a stranger's module may raise anything
        said = " ".join(f"{type(error).__name__}: {error}".split())
        raise InputError(
            f"{where} cannot be loaded ({said}); fix or uninstall the package that declares it"
        ) from error
    if not isinstance(entry, PaperEntry):
        raise InputError(f"{where} gives a {type(entry).__name__}; it must give a PaperEntry")
    if entry.paper.id != point.name:
        raise InputError(f"{where} gives paper={entry.paper.id!r}; name the entry point by the paper's id")
    return entry
