"""The readings that the two statements on the stopping time share: when the loop stops, and what τ counts."""

from __future__ import annotations

from dpsco_verify.algorithm import StoppingRule
from dpsco_verify.ledger.statement import Reading

_COUNTER = "-counter"

_STOP = {
    StoppingRule.LOOP: "as the loop is written, `while |F| ≤ n/2`: it ends at ⌊n/2⌋ + 1 distinct points",
    StoppingRule.TEXT: "as Section 4 says, once |F| ≥ n/2: it ends at ⌈n/2⌉ distinct points",
    StoppingRule.ALL_POINTS: "as the proof of the lemma after the theorem says, τ = min{t : S_t = n}: it ends when "
    "all n points have been seen",
}


def stopping_readings(*, statement: str, method: str, weight: float = 0.0) -> tuple[Reading, ...]:
    """Return a reading of `statement` for each stopping rule and each meaning of τ."""
    return tuple(
        Reading(
            id=f"{rule.value}{_COUNTER}" if counter else rule.value,
            text=f"{_STOP[rule]}; τ is "
            + ("the final value of the loop's counter" if counter else "the number of iterations"),
            statement=statement,
            method=method,
            weight=weight,
        )
        for rule in StoppingRule
        for counter in (False, True)
    )


def rule_and_counter(reading: Reading) -> tuple[StoppingRule, bool]:
    """Return the stopping rule of `reading`, and whether τ is the counter's final value."""
    return StoppingRule(reading.id.removesuffix(_COUNTER)), reading.id.endswith(_COUNTER)
