"""The unit of work that judges an exhibit, apart from the list of them: a change of one leaves the others' results."""

from __future__ import annotations

from dpsco_verify.faults.exhibit import Judged, Judgement


def judge(exhibit: Judged, alpha: float, seed: int) -> Judgement:
    """Judge the exhibit at this level."""
    return exhibit.judge(alpha=alpha, seed=seed)
