"""What an accountant claims: its answers, asked several times of one object.

Each question is asked in turn, and then all again. An accountant whose answers change what it remembers, or that counts
a step twice or not at all, is right at the first question perhaps, and only there; so the smallest answer counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from dpsco_verify.errors import InputError
from dpsco_verify.privacy.claims import PrivacyClaim
from dpsco_verify.validation import require_non_negative, require_number


@dataclass(frozen=True)
class Claim:
    """A point of the accountant's curve, NaN where it has none, and its answers."""

    epsilon: float
    delta: float
    answers: tuple[float, ...]


def asked_claims(
    claimed_delta: Callable[[float], float] | PrivacyClaim | None,
    epsilons: Sequence[float],
    claimed_epsilon: Callable[[float], float] | None,
    deltas: Sequence[float],
) -> list[Claim]:
    """Return what the accountant claims, by its smallest answers."""
    for name, function, of, questions in (
        ("claimed_delta", claimed_delta, "epsilons", epsilons),
        ("claimed_epsilon", claimed_epsilon, "deltas", deltas),
    ):
        if (function is None) != (len(questions) == 0):
            raise InputError(f"{of}={questions!r} does not fit {name}={function!r}; give both or neither")
    orders = sorted({require_non_negative("epsilon", epsilon) for epsilon in epsilons})
    levels = sorted({_level(delta) for delta in deltas})
    claims: list[Claim] = []
    if claimed_delta is not None:
        curve = claimed_delta.delta if isinstance(claimed_delta, PrivacyClaim) else claimed_delta
        for epsilon, answers in _asked("claimed_delta", curve, orders).items():
            claims.append(Claim(epsilon, min(*answers, 1.0) if _bound(answers) else math.nan, answers))
    if claimed_epsilon is not None:
        for delta, answers in _asked("claimed_epsilon", claimed_epsilon, levels).items():
            claims.append(Claim(min(answers) if _bound(answers) else math.nan, delta, answers))
    if not claims:
        raise InputError("epsilons=() holds no order and deltas=() no level; give at least one")
    return claims


def _asked(
    name: str, function: Callable[[float], float | None], questions: Sequence[float]
) -> dict[float, tuple[float, ...]]:
    """Return the answers to each question, asked in turn and then all again."""
    answers: dict[float, tuple[float, ...]] = dict.fromkeys(questions, ())
    for question in (*questions, *questions):
        answer = function(question)
        nothing = answer is None or answer != answer  # noqa: PLR0124  NaN
        answers[question] += (
            math.nan if nothing else require_number(f"{name}({question:g})", cast("float", answer)),
        )
    return answers


def _bound(answers: Sequence[float]) -> bool:
    return all(answer >= 0.0 for answer in answers)


def _level(delta: float) -> float:
    delta = require_non_negative("delta", delta)
    if delta > 1.0:
        raise InputError(f"delta={delta!r} is above 1; give a probability")
    return delta
