"""The pair that an audit judges where pairs are drawn, by a Hypothesis strategy or by a function: the worst of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from dpsco_verify.auditing.mechanism import Caller
from dpsco_verify.auditing.one_pair import choose, draw_more
from dpsco_verify.auditing.pairs import equal_data, require_pair
from dpsco_verify.auditing.records import same_data, short, snapshot
from dpsco_verify.auditing.request import AuditRequest
from dpsco_verify.errors import InputError
from dpsco_verify.execution import stream
from dpsco_verify.execution.time_limit import Deadline, TimeIsUp

_PAIR_SEARCH_SAMPLES = 512
_ENOUGH = 3.0
_PLAIN_EVIDENCE = 12.0
"""A pair is judged, and no other looked at, where evidence grows so many times as fast as the audit needs, and its log
was as large as this among the outputs that compared its events."""


def worst_pair_of(request: AuditRequest, deadline: Deadline) -> tuple[tuple[Any, Any], int]:
    """Search for the pair whose outputs show the largest violation; return it, and how many were tried.

    Equal data sets show none and are not drawn from; once the time is up, nor are others.
    """
    unequal: list[tuple[Any, Any]] = []
    passed_over = 0

    def score(d: Any, d_prime: Any) -> float:
        pair = (d, d_prime)
        if equal_data(d, d_prime):
            return -math.inf
        require_pair(d, d_prime, request.relation, name=f"drew {short(d)} and {short(d_prime)}")
        unequal[:] = [pair]
        caller = Caller(
            request.mechanism,
            pair,
            name=request.name,
            seed=request.seed,
            time_limit=request.time_limit,
            deadline=deadline,
        )
        try:
            outputs = draw_more(caller, _PAIR_SEARCH_SAMPLES, "audit/pair-search")
            choice = deadline.run(lambda: choose(request, pair, outputs, request.aims))
        except TimeIsUp:
            nonlocal passed_over
            passed_over += 1
            return -math.inf
        return -math.inf if choice is None else choice.score

    d, d_prime, examples = _searched(request, score)
    if not unequal:
        raise InputError(
            f"pairs={request.pairs!r} drew {examples} pairs, all of equal data sets, on which every mechanism is "
            "private; give what draws neighbours"
        )
    return unequal[0] if equal_data(d, d_prime) else (d, d_prime), max(examples - passed_over, 1)


def _searched(request: AuditRequest, score: Callable[[Any, Any], float]) -> tuple[Any, Any, int]:
    """Return the pair of the largest score, and how many were scored."""
    # A half of the outputs compares the events.
    enough = max(_ENOUGH * request.aims.needed, _PLAIN_EVIDENCE / (_PAIR_SEARCH_SAMPLES // 2))
    if not hasattr(request.pairs, "example"):
        if not same_data(_drawn_pair(request, 0), _drawn_pair(request, 0)):
            raise InputError(
                "pairs(rng) ignores the rng: with generators in the same state it drew two different pairs, so nobody "
                "could repeat the audit; draw from rng alone, or give a list of pairs"
            )
        best, number, pair = -math.inf, 0, None
        while number < request.pair_examples and (pair is None or best < enough):
            drawn = _drawn_pair(request, number)
            found_score = score(*drawn)
            number += 1
            if pair is None or found_score > best:
                best, pair = found_score, drawn
        assert pair is not None  # noqa: S101  at least one is drawn
        return *pair, number
    from dpsco_verify.auditing.worst_pair import search_worst_pair  # noqa: PLC0415  only this needs Hypothesis

    found = search_worst_pair(
        request.pairs, score, seed=request.seed, max_examples=request.pair_examples, enough=enough
    )
    return found.d, found.d_prime, found.examples


def _drawn_pair(request: AuditRequest, number: int) -> tuple[Any, Any]:
    """Return a copy of a pair that a user's own function draws, which may hand out the same data sets each time."""
    try:
        pair = request.pairs(stream(request.seed, "audit/pairs", chunk=number))
    except Exception as error:
        said = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(": ")
        raise InputError(f"pairs(rng) raised {said} for pair {number}; return (d, d_prime)") from error
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise InputError(f"pairs(rng) returned {short(pair)}, which is no pair; return (d, d_prime)")
    return snapshot(pair[0]), snapshot(pair[1])
