"""The draws that an implementation reports are those that its steps show, and they are uniform.

A fresh draw is the point that the step used and a repeat draw is one used before; and as a run makes at least as many
draws as it needs points, its first draws, as many as that, are independent and uniform.
"""

from __future__ import annotations

import numpy as np

from dpsco_verify.algorithm.conformance.bench import Bench
from dpsco_verify.algorithm.conformance.checks.uniform_draws import uniform_cells
from dpsco_verify.algorithm.conformance.finding import Check, Outcome
from dpsco_verify.algorithm.conformance.problems import LINEAR


def _judge(bench: Bench, alpha: float) -> Outcome | str:
    runs = bench.runs(LINEAR)
    draws = [run.draws for run in runs]
    told = [draw[:, 0] for draw in draws if draw is not None]
    if len(told) < len(draws):
        return "the implementation does not tell its draws"
    unread, wrong = 0, 0
    for uses, drawn in zip(bench.uses(LINEAR, alpha=alpha / 2.0), told, strict=True):
        if uses is None:
            unread += 1
            continue
        seen: set[int] = set()
        for use, index in zip(uses, drawn.tolist(), strict=True):
            wrong += use != (() if index in seen else (index,))
            seen.add(index)
    places = min(bench.options.stopping.distinct_points(LINEAR.n), *(len(drawn) for drawn in told))
    cells = uniform_cells(np.array([drawn[:places] for drawn in told]), LINEAR.n, alpha=alpha / 2.0)
    detail = f"{wrong} steps do not use what their draw says; {cells.detail}"
    return Outcome(
        violated=True if wrong or cells.violated else (None if unread else False),
        detail=detail + (f"; {unread} runs could not be read" if unread else ""),
        detectable=f"one step that does not fit its draw, or, at one place, {cells.detectable}",
        runs=len(runs),
    )


REPORTED_DRAWS = Check(
    id="reported-draws", null="the reported draws are those that were used, and uniform", judge=_judge
)
