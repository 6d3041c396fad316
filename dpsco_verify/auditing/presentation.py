"""A result in other forms: as JSON has it, as a notebook shows it, and as figures."""

from __future__ import annotations

import dataclasses
import hashlib
import math
from html import escape
from typing import TYPE_CHECKING, Any

from dpsco_verify.auditing.pairs import describe_pair
from dpsco_verify.auditing.plots import curve_plot, growth_plot
from dpsco_verify.auditing.records import short
from dpsco_verify.auditing.result import AuditResult
from dpsco_verify.errors import InputError
from dpsco_verify.reporting.drawing import inline
from dpsco_verify.reporting.drawing.lines import draw_lines

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PLOTS = {"curve": curve_plot, "evidence": growth_plot}
_LEFT_OUT = {"again", "contains", "d", "d_prime"}


def as_dict(result: AuditResult) -> dict[str, Any]:
    """Return all that was found, made of what JSON has; see :class:`~dpsco_verify.auditing.AuditResult`."""
    found: dict[str, Any] = _plain(result)
    return found | {"summary": result.summary}


def as_html(result: AuditResult) -> str:
    """Return a table of what was found, and both figures."""
    w = result.witness
    rows = {
        "verdict": result.verdict.words,
        "mechanism": result.mechanism,
        "claim": f"{result.claim}{f', {result.relation}' if result.relation else ''}",
        "pair": describe_pair(w.d, w.d_prime),
        "event": w.event,
        "seen": f"{w.occurrences:,} of {w.samples:,} outputs on D, {w.occurrences_neighbour:,} on D'",
        "hence": f"ε ≥ {result.epsilon_lower:.4g} at δ = {result.delta_at_order:.4g}, δ ≥ {result.delta_lower:.4g} at "
        f"ε = {result.order:.4g}, with confidence 1 − {result.alpha:.3g}",
        "would have been found": "nothing" if result.mdv is None else f"ε ≥ {result.mdv.epsilon:.4g}",
        "samples": f"{result.samples:,}",
    }
    if result.verdict.value == "violated":
        del rows["would have been found"]
    body = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th><td style='text-align:left'>{escape(value)}</td></tr>"
        for name, value in rows.items()
    )
    # Several results may stand on one page: ids within the figures are made of what they show.
    own = hashlib.blake2b(repr(_plain(result)).encode(), digest_size=6).hexdigest()
    figures = "".join(inline(plot(result), prefix=f"{name}-{own}-") for name, plot in _PLOTS.items())
    return f"<table>{body}</table>{figures}"


def figure_of(result: AuditResult, what: str) -> Figure:
    """Return a figure by its name."""
    if what not in _PLOTS:
        raise InputError(f"what={what!r} is no figure of an audit; give one of {', '.join(_PLOTS)}")
    return draw_lines(_PLOTS[what](result))


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(type(value)):
        named = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        found = {
            name: str(part) if name == "claim" else _plain(part)
            for name, part in named.items()
            if name not in _LEFT_OUT
        }
        return found | ({"d": short(value.d), "d_prime": short(value.d_prime)} if "d" in named else {})
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value.value if hasattr(value, "value") else value
