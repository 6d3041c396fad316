"""The readings that the two statements on the stopping time share: when the loop stops, and what τ counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dpsco_verify.algorithm import StoppingRule
from dpsco_verify.evidence import Stance
from dpsco_verify.evidence.checker import Null
from dpsco_verify.ledger import Reading


@dataclass(frozen=True, kw_only=True)
class StoppingTime:
    """What τ is: when the loop stops, and whether τ is its counter's final value, one more than the iterations."""

    rule: StoppingRule
    counter: bool


_STOP = {
    StoppingRule.LOOP: "as the loop is written, `while |F| ≤ n/2`: it ends at ⌊n/2⌋ + 1 distinct points",
    StoppingRule.TEXT: "as Section 4 says, once |F| ≥ n/2: it ends at ⌈n/2⌉ distinct points",
    StoppingRule.ALL_POINTS: "as the proof of the lemma after the theorem says, τ = min{t : S_t = n}: it ends when "
    "all n points have been seen",
}


def stopping_readings(
    *, statement: str, method: str, weight: float = 0.0, nulls: Mapping[str, Null] | None = None
) -> tuple[Reading[StoppingTime], ...]:
    """Return a reading of `statement` for each stopping rule and each meaning of τ."""
    named = {
        f"{rule.value}-counter" if counter else rule.value: StoppingTime(rule=rule, counter=counter)
        for rule in StoppingRule
        for counter in (False, True)
    }
    return tuple(
        Reading(
            id=name,
            stance=Stance.PRINTED,
            parameters=time,
            text=f"{_STOP[time.rule]}; τ is "
            + ("the final value of the loop's counter" if time.counter else "the number of iterations"),
            statement=statement,
            method=method,
            weight=weight,
            null=(nulls or {}).get(name),
        )
        for name, time in named.items()
    )
