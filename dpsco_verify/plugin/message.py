"""The message of a failed test: the witness, the evidence, and how to see it again."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpsco_verify.auditing import AuditResult, describe_pair
from dpsco_verify.choices import SAMPLES
from dpsco_verify.plugin.shares import AskedAudit

_WIDEST = 200
_short = reprlib.Repr()
_short.maxlist = _short.maxtuple = _short.maxdict = _short.maxset = _short.maxarray = 6
_short.maxstring = _short.maxother = 80


def violated(result: AuditResult, asked: AskedAudit) -> str:
    """Return the message for a violation: the pair, the event, the counts, the bounds, the evidence, the command."""
    w = result.witness
    swapped = "; D is the second of the pair that was given" if w.swapped else ""
    of = f"of {w.samples:,} outputs on"
    bounds = (
        f"ε ≥ {result.epsilon_lower:.4g} at δ = {result.delta_at_order:.4g}, and "
        f"δ ≥ {result.delta_lower:.4g} at ε = {result.order:.4g}"
    )
    evidence = f"e-value {_power_of_ten(result.log_e_value)}, p-value {result.p_value:.3g}"
    rows = [
        ("D", data_in_words(w.d)),
        ("D'", data_in_words(w.d_prime)),
        ("D to D'", describe_pair(w.d, w.d_prime) + swapped),
        ("relation", result.neighbours or ""),
        ("event", w.event),
        ("seen", f"{w.occurrences:,} {of} D, {w.occurrences_neighbour:,} {of} D'"),
        ("hence", f"{bounds}, with confidence 1 − {result.alpha:.3g}"),
        ("evidence", f"{evidence}, seed {w.seed}"),
        ("note", "; ".join(result.notes)),
    ]
    head = f"{result.mechanism} violates {result.claim}{_under(result)}"
    return _laid_out(head, [*rows, *_repeat(result, asked)])


def undecided(result: AuditResult, asked: AskedAudit) -> str:
    """Return the message for an audit that could not decide: what it could have found, and what to raise."""
    head = f"{result.mechanism} against {result.claim}{_under(result)}: undecided"
    return _laid_out(
        head,
        [
            ("why", result.why_undecided),
            ("needs", result.way_out),
            ("raise", "" if result.ended_after or result.unseen else _what_to_raise(result, asked)),
            *_repeat(result, asked),
        ],
    )


def data_in_words(data: Any) -> str:
    """Return `data` in at most about 200 characters."""
    if isinstance(data, np.ndarray) and data.size > 6:
        with np.printoptions(threshold=6, edgeitems=2, precision=6):
            text = f"{' '.join(np.array2string(data).split()).replace('[ ', '[')}, shape {data.shape}"
    else:
        text = " ".join(_short.repr(data).split())
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"


def _under(result: AuditResult) -> str:
    return f" under {result.relation}" if result.relation else ""


def _power_of_ten(log_value: float) -> str:
    if not math.isfinite(log_value):
        return str(log_value)
    exponent = log_value / math.log(10.0)
    whole = math.floor(exponent)
    return f"{10.0 ** (exponent - whole):.2f}e{whole:+03d}"


def _what_to_raise(result: AuditResult, asked: AskedAudit) -> str:
    profiles = [name for name, samples in SAMPLES.items() if samples > asked.settings.samples]
    ways = [f"samples= (now {result.samples:,})"]
    if profiles and not asked.own_samples:
        ways.insert(0, f"--dpsco-profile={profiles[0]} ({SAMPLES[profiles[0]]:,} samples)")
    ways.append(f"--dpsco-error-budget (now {asked.settings.error_budget:g})")
    if result.epsilon_of_interest is None:
        ways.append(f"multiple_of_interest= (now {result.multiple_of_interest:g})")
    text = " or ".join(ways)
    if asked.test.charged > 1:
        text += (
            f"; or make tests of the audits in this test, as each has half the level of the one before and this is "
            f"number {asked.test.charged}"
        )
    return text


def _repeat(result: AuditResult, asked: AskedAudit) -> list[tuple[str, str]]:
    caveat = []
    if result.ended_after is not None:
        caveat = [("but", "it ended when its time was up")]
    elif not result.reproducible:
        caveat = [("but", "the mechanism draws from elsewhere than the rng")]
    return [("repeat", asked.test.command), *caveat]


def _laid_out(head: str, rows: Sequence[tuple[str, str]]) -> str:
    return "\n".join([head, *(f"  {name:9}{text}" for name, text in rows if text)])
