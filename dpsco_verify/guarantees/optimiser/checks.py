"""The checks of one optimiser as they are made, one claim after another."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from dpsco_verify.guarantees.optimiser.fits import Claim, Optimiser, Place, RefusedError
from dpsco_verify.guarantees.optimiser.laws import (
    INVARIANCES,
    REPEATS,
    Accepted,
    Law,
    judge_invariance,
    judge_seed,
    sizes_accepted,
)
from dpsco_verify.guarantees.optimiser.neighbours import Instances, candidates
from dpsco_verify.guarantees.optimiser.privacy import judge_privacy
from dpsco_verify.guarantees.optimiser.report import Trial
from dpsco_verify.guarantees.optimiser.risk import Instance, Runs, judge_in_set, judge_risk, pilot, worst
from dpsco_verify.guarantees.result import GuaranteeResult
from dpsco_verify.inference import ErrorBudget

_NOT_INDEPENDENT = "its noise repeats from run to run, so that no number of outputs tells its law"
_STEPS = ("deterministic_given_seed", "risk", "in_set", "gradient_queries", "privacy", *INVARIANCES)

Progress = Callable[[int, int, str], None]
"""Called with the number of checks done, of all, and the name of the next."""


@dataclass(kw_only=True)
class Checks:
    """The checks of one optimiser as they are made, and what they came to."""

    optimiser: Optimiser
    losses: Sequence[str] | None
    at: tuple[float, float]
    budget: ErrorBudget | None
    samples: int
    seed: int
    time_limit: float
    progress: Progress | None
    results: list[GuaranteeResult] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    repeats: bool = False

    @cached_property
    def _where(self) -> tuple[Instances, Place, Accepted]:
        """The first data sets of which the optimiser takes some, or the last that were tried."""
        for data in candidates(self.losses, any_set=self.optimiser.takes_set):
            place = Place(task=data.task(), epsilon=self.at[0], delta=self.at[1])
            accepted = sizes_accepted(self.optimiser, data, place, seed=self.seed)
            if any(refusal is None for refusal in accepted.values()):
                break
        return data, place, accepted

    @property
    def data(self) -> Instances:
        """The data sets on which laws are judged."""
        return self._where[0]

    @property
    def place(self) -> Place:
        """The task and the privacy there."""
        return self._where[1]

    @property
    def accepted(self) -> Accepted:
        """Which numbers of records the optimiser takes there."""
        return self._where[2]

    def book(self, kind: str, check: Callable[[], GuaranteeResult | str]) -> GuaranteeResult | str:
        """Make a check, which gives a result or the reason why there is none, and take that."""
        self._tell(kind)
        started = time.perf_counter()
        found = check()
        if isinstance(found, str):
            self.skipped.append((kind, found))
        else:
            self.results.append(replace(found, kind=kind, seconds=time.perf_counter() - started))
        return found

    def of_the_seed(self, *, claimed: bool) -> None:
        """Judge whether the generator decides the output; where it does not, audits are told so."""
        taken = [n for n, refusal in self.accepted.items() if refusal is None]

        def check() -> GuaranteeResult | str:
            if not taken:
                return self._refusal
            found = judge_seed(self.optimiser, self.place, self.data.ordered(taken[-1]), seed=self.seed)
            self.repeats = REPEATS in (found.counterexample or "")
            self.optimiser.takes_rng = found.counterexample is None
            return found

        if claimed:
            self.book("deterministic_given_seed", check)
        else:
            check()

    def on_the_bank(self, places: Sequence[Instance], risk: Claim | None, *, runs: int) -> tuple[Trial, ...]:
        """Search the bank for the worst instance, judge the risk there, and whether all outputs lay in W."""
        bank = Runs(self.optimiser, seed=self.seed)
        tried: list[tuple[Instance, Trial]] = []

        def check() -> GuaranteeResult | str:
            found, refusals = pilot(bank, places, risk)
            tried.extend(found)
            if not tried:
                return f"it refuses every instance ({refusals[0]})"
            hardest = worst(tried)
            if hardest is None:
                return "the claimed bound is at least LD on every instance"
            try:
                return judge_risk(
                    bank,
                    *hardest,
                    name=self.optimiser.name,
                    alpha=self._level("risk"),
                    samples=runs,
                    seed=self.seed,
                    tried=len(tried),
                )
            except RefusedError as refusal:
                return f"it refuses some samples of the worst instance, {hardest[0].words} ({refusal})"

        if risk is not None:
            self.book("risk", check)
        else:
            tried.extend(pilot(bank, places, None)[0])
        if tried:
            self.book("in_set", lambda: judge_in_set(bank, name=self.optimiser.name, seed=self.seed))
        return tuple(trial for _, trial in tried)

    def of_privacy(self, claim: Claim | None, *, outliers: bool) -> None:
        """Audit the privacy that it claims."""
        self.book(
            "privacy",
            lambda: (
                _NOT_INDEPENDENT
                if self.repeats
                else judge_privacy(self._law("privacy"), claim, outliers=outliers)
            ),
        )

    def of_invariance(self, which: str) -> None:
        """Judge a symmetry."""
        self.book(
            which,
            lambda: _NOT_INDEPENDENT if self.repeats else judge_invariance(which, self._law(which)),
        )

    def _law(self, which: str) -> Law:
        """Return what a claim about the law of the output is judged with."""
        return Law(
            optimiser=self.optimiser,
            data=self.data,
            place=self.place,
            accepted=self.accepted,
            alpha=self._level(which),
            samples=self.samples,
            seed=self.seed,
            time_limit=self.time_limit,
        )

    @property
    def _refusal(self) -> str:
        return f"it refuses the data sets of the audit ({self.accepted[max(self.accepted)]})"

    def _level(self, which: str) -> float:
        assert self.budget is not None  # noqa: S101  what has a level has a share
        return self.budget.share(which).alpha

    def _tell(self, step: str) -> None:
        if self.progress is not None:
            self.progress(len(self.results) + len(self.skipped), len(_STEPS), step)
