"""The accumulation of a run's e-values with those of earlier runs, and the verdict that they can turn.

A product over runs decides at the half of its test's level that :meth:`~dpsco_verify.ledger.statement.Context.levels`
has left to it, so a run's error budget holds with it too.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from dpsco_verify.choices import Profile
from dpsco_verify.evidence import AccumulatedRecord, AccumulatedRun, Sharpness, Verdict
from dpsco_verify.evidence.checker import (
    AccumulatedEventEvidence,
    AccumulatedMeanEvidence,
    EventRun,
    MeanRun,
    Rejected,
)
from dpsco_verify.execution import WorkUnit
from dpsco_verify.inference.witnesses import LEVEL_ROUNDING, event_bets, mean_bets, rational_text, rounded_up
from dpsco_verify.ledger.statement import Claim, Decision
from dpsco_verify.store import (
    Accumulated,
    EventObservations,
    EvidenceStore,
    MeanObservations,
    RunEvidence,
    RunMemory,
    accumulate_in_store,
)


@dataclass(frozen=True, kw_only=True)
class Accumulation:
    """The store's view of a run that is under way: number `run`, of this seed; `accumulate` asks for the products."""

    store: EvidenceStore
    run: int
    memory: RunMemory
    profile: Profile
    seed: int
    accumulate: bool

    def multiply(self, claim: Claim, decision: Decision, units: Sequence[WorkUnit]) -> dict[str, Accumulated]:
        """Store the e-values of a claim, and return their products over runs; none if the run does not accumulate.

        Evidence counts together if it comes from the same code, that of the claim's `units`.
        """
        if not decision.e_values:
            return {}
        found = accumulate_in_store(
            self.store,
            self.run,
            claim=claim.key,
            code=self.memory.code(units),
            profile=self.profile.value,
            seed=self.seed,
            e_values=decision.e_values,
            with_earlier=self.accumulate,
        )
        return found if self.accumulate else {}


def decided_together(decision: Decision, products: Mapping[str, Accumulated]) -> Decision:
    """Return the decision, ``refuted`` if a product rejects; one that is refuted already stays as it is.

    Raises
    ------
    Rejected
        If the checker does not accept the product.
    """
    rejected = {name: product for name, product in products.items() if product.rejected}
    if not rejected or decision.verdict is Verdict.REFUTED:
        return decision
    name, product = max(rejected.items(), key=lambda item: item[1].log_e_value + math.log(item[1].alpha))
    witness = _witness(name, alpha=product.alpha * LEVEL_ROUNDING, runs=product.runs)
    total, needed = _log10(product.log_e_value), -math.log10(product.alpha)
    each = ", ".join(
        f"10^{_log10(one.log_e_value):.2f} in run {one.run} (seed {one.seed})" for one in product.runs
    )
    return dataclasses.replace(
        decision,
        verdict=Verdict.REFUTED,
        summary=f"the implementation's runs refute it together: over {_count(product)} the e-values against one null "
        f"hypothesis multiply to 10^{total:.2f}, and 10^{needed:.2f} is enough",
        counterexample=f"Null hypothesis: {name}. E-values: {each}; their product is 10^{total:.2f}.",
        sharpness=tuple(_of_another_algorithm(one) for one in decision.sharpness),
        witness=witness,
    )


def _witness(
    null_hypothesis: str, *, alpha: float, runs: Sequence[RunEvidence]
) -> AccumulatedMeanEvidence | AccumulatedEventEvidence:
    """Return the witness that the observations of several runs together reject a null hypothesis at level `alpha`.

    Raises
    ------
    Rejected
        If the runs do not speak of one claim.
    """
    seen = [one.observations for one in runs]
    means = [one for one in seen if isinstance(one, MeanObservations)]
    events = [one for one in seen if isinstance(one, EventObservations)]
    if len(means) == len(seen):
        return AccumulatedMeanEvidence(
            null_hypothesis=null_hypothesis,
            bound=_one_of("bound", (one.bound for one in means)),
            alpha=rational_text(alpha),
            runs=tuple(_mean_run(run, one) for run, one in zip(runs, means, strict=True)),
        )
    if len(events) == len(seen):
        return AccumulatedEventEvidence(
            null_hypothesis=null_hypothesis,
            epsilon=_one_of("epsilon", (one.epsilon for one in events)),
            delta=_one_of("delta", (one.delta for one in events)),
            alpha=rational_text(alpha),
            runs=tuple(_event_run(run, one) for run, one in zip(runs, events, strict=True)),
        )
    raise Rejected(f"the runs against {null_hypothesis} hold means and events")


def _mean_run(run: RunEvidence, seen: MeanObservations) -> MeanRun:
    return MeanRun(
        profile=Profile(run.profile).value,
        seed=str(run.seed),
        low=rational_text(seen.low),
        bets=mean_bets(seen.fractions.tolist(), bound=seen.bound, low=seen.low),
        values=tuple(rational_text(x) for x in seen.values.tolist()),
        counts=tuple(seen.counts.tolist()),
    )


def _event_run(run: RunEvidence, seen: EventObservations) -> EventRun:
    return EventRun(
        profile=Profile(run.profile).value,
        seed=str(run.seed),
        bets=event_bets(seen.fractions.tolist(), epsilon=seen.epsilon, delta=seen.delta),
        both=seen.both,
        first_only=seen.first_only,
        second_only=seen.second_only,
        neither=seen.neither,
    )


def _one_of(name: str, values: Iterable[float]) -> str:
    """Return the value that all runs share, which their witness states once, rounded up as in any witness."""
    texts = sorted({rational_text(rounded_up(value)) for value in values})
    if len(texts) != 1:
        raise Rejected(f"{name}={', '.join(texts)} differ from run to run")
    return texts[0]


def records(products: Mapping[str, Accumulated]) -> tuple[AccumulatedRecord, ...] | msgspec.UnsetType:
    """Return the products for the run's record; nothing at all if there are none."""
    if not products:
        return msgspec.UNSET
    return tuple(
        AccumulatedRecord(
            null_hypothesis=name,
            runs=tuple(
                AccumulatedRun(run=one.run, seed=one.seed, log10_e_value=_finite(_log10(one.log_e_value)))
                for one in product.runs
            ),
            log10_e_value=_finite(_log10(product.log_e_value)),
            alpha=product.alpha,
            rejected=product.rejected,
        )
        for name, product in products.items()
    )


def _of_another_algorithm(one: Sharpness) -> Sharpness:
    """Return how sharp a constant is without what says that the claim holds: the runs were of another algorithm."""
    if one.holds_with is None or one.claimed is None:
        return one
    covers_claim = one.holds_with >= one.claimed if one.larger_is_stronger else one.holds_with <= one.claimed
    if not covers_claim:
        return one
    return msgspec.structs.replace(
        one,
        holds_with=None,
        how=f"no constant is proven of an implementation that exceeds the claim; of the algorithm: {one.how}",
    )


def _count(product: Accumulated) -> str:
    return "1 run" if len(product.runs) == 1 else f"{len(product.runs)} runs"


def _log10(log_e_value: float) -> float:
    return log_e_value / math.log(10.0)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
