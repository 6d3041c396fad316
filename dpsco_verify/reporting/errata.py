"""The errata and the sharpness of constants in words, for every format."""

from __future__ import annotations

from dpsco_verify.evidence import AuditRecord, Consequence, Erratum, Finding, Sharpness
from dpsco_verify.reporting.numbers import count, format_scalar

CONSEQUENCE_WORDS: dict[Consequence, str] = {
    Consequence.GUARANTEE: "changes a guarantee",
    Consequence.CONSTANT: "changes a constant",
    Consequence.NOTHING: "changes nothing",
}

CONSTANTS_MEANING = (
    "With which value of each constant its statement was proven, over which range, and what is needed at least: every "
    "stronger value fails somewhere. A dash stands where nothing was proven or found. Where a statement fails, a value "
    "with which it holds over all that the reading states is the repair."
)


def grouped(record: AuditRecord) -> dict[Consequence, tuple[Erratum, ...]]:
    """Return the errata by consequence, the gravest first; a consequence without errata is left out."""
    groups = {c: tuple(e for e in record.errata if e.consequence is c) for c in Consequence}
    return {consequence: errata for consequence, errata in groups.items() if errata}


def headline(record: AuditRecord) -> str:
    """Return the count of the errata in one sentence."""
    groups = grouped(record)
    if not groups:
        return "No discrepancy was found among the readings that were verified."
    change = {
        Consequence.GUARANTEE: "a guarantee",
        Consequence.CONSTANT: "a constant",
        Consequence.NOTHING: "nothing",
    }
    total = sum(map(len, groups.values()))
    if total == 1:
        (only,) = groups
        return f"One discrepancy was found; it changes {change[only]}."
    parts = [
        f"{len(errata)} change{'s' if len(errata) == 1 else ''} {change[c]}" for c, errata in groups.items()
    ]
    return f"{total} discrepancies were found: {', '.join(parts)}."


def where(erratum: Erratum) -> str:
    """Return the place in the paper: its number, and the lines of the LaTeX source."""
    if not erratum.lines:
        return f"{erratum.paper}: {erratum.reference}"
    word = "line" if len(erratum.lines) == 1 else "lines"
    return f"{erratum.paper}: {erratum.reference}, {word} {', '.join(map(str, erratum.lines))} of the LaTeX source"


def witnesses(erratum: Erratum) -> list[str]:
    """Return what shows it, a step that several readings share but once: ``id#step (in 3 readings)``."""
    shared: dict[str, list[str]] = {}
    for key in erratum.shown_by:
        reading, _, step = key.partition("#")
        shared.setdefault(f"{reading.partition('/')[0]}#{step}" if step else key, []).append(key)
    return [
        keys[0] if len(keys) == 1 else f"{name} (in {count(len(keys), 'reading')})"
        for name, keys in shared.items()
    ]


def basis(erratum: Erratum) -> str:
    """Return what the consequence rests on, and what of it this run did not verify; empty where on nothing."""
    parts = []
    if erratum.rests_on:
        parts.append(f"that it changes no more rests on {', '.join(erratum.rests_on)}")
    if erratum.not_verified:
        parts.append(f"not verified in this run: {', '.join(erratum.not_verified)}")
    return "; ".join(parts)


def repaired(sharpness: Sharpness) -> str:
    """Return in words with which value a constant holds and what is needed."""
    parts = [] if sharpness.claimed is None else [f"claimed {format_scalar(sharpness.claimed)}"]
    parts.append(
        "no value is proven to hold"
        if sharpness.holds_with is None
        else f"holds with {format_scalar(sharpness.holds_with)} over {sharpness.over}"
    )
    if sharpness.needed is not None:
        bound = "at most" if sharpness.larger_is_stronger else "at least"
        parts.append(f"needed {bound} {format_scalar(sharpness.needed)} at {sharpness.at}")
    return ", ".join(parts)


def constants(record: AuditRecord) -> list[tuple[Finding, Sharpness]]:
    """Return the constants of all readings, in the order of the record."""
    return [(finding, sharpness) for finding in record.claims for sharpness in finding.sharpness]
