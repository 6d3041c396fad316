"""What a run's e-values say together with those of earlier runs, and the verdict that they can turn.

A product over runs decides at the half of its test's level that :meth:`~dpsco_verify.ledger.statement.Context.levels`
has left to it, so a run's error budget holds with it too.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from dpsco_verify.evidence import AccumulatedRecord, AccumulatedRun, Sharpness, Verdict
from dpsco_verify.execution import WorkUnit
from dpsco_verify.ledger.evidence_certificates import accumulated_certificate
from dpsco_verify.ledger.statement import Claim, Conclusion
from dpsco_verify.store import Accumulated, EvidenceStore, RunMemory, over_runs


@dataclass(frozen=True, kw_only=True)
class OverRuns:
    """The store's view of a run that is under way: number `run`, of this seed; `accumulate` asks for the products."""

    store: EvidenceStore
    run: int
    memory: RunMemory
    seed: int
    accumulate: bool

    def multiply(
        self, claim: Claim, conclusion: Conclusion, units: Sequence[WorkUnit]
    ) -> dict[str, Accumulated]:
        """Store the e-values of a claim, and return their products over runs; none if the run does not accumulate.

        Evidence counts together if it comes from the same code, that of the claim's `units`.
        """
        if not conclusion.e_values:
            return {}
        found = over_runs(
            self.store,
            self.run,
            claim=claim.key,
            code=self.memory.code(units),
            seed=self.seed,
            e_values=conclusion.e_values,
            with_earlier=self.accumulate,
        )
        return found if self.accumulate else {}


def decided_together(claim: Claim, conclusion: Conclusion, products: Mapping[str, Accumulated]) -> Conclusion:
    """Return the conclusion, ``refuted`` if a product rejects; one that is refuted already stays as it is.

    Raises
    ------
    Rejected
        If the checker does not accept the product.
    """
    rejected = {name: product for name, product in products.items() if product.rejected}
    if not rejected or conclusion.verdict is Verdict.REFUTED:
        return conclusion
    name, product = max(rejected.items(), key=lambda item: item[1].log_e_value + math.log(item[1].alpha))
    certificate = accumulated_certificate(
        claim.statement.id,
        claim.reading.id,
        null_hypothesis=name,
        # The bets are rounded in a certificate, as in those of a single run.
        alpha=product.alpha * (1 + 1e-9),
        runs=product.runs,
    )
    total, needed = _log10(product.log_e_value), -math.log10(product.alpha)
    each = ", ".join(
        f"10^{_log10(one.log_e_value):.2f} in run {one.run} (seed {one.seed})" for one in product.runs
    )
    return dataclasses.replace(
        conclusion,
        verdict=Verdict.REFUTED,
        summary=f"the implementation's runs refute it together: over {_count(product)} the e-values against one null "
        f"hypothesis multiply to 10^{total:.2f}, and 10^{needed:.2f} is enough",
        counterexample=f"Null hypothesis: {name}. E-values: {each}; their product is 10^{total:.2f}.",
        sharpness=tuple(_of_another_algorithm(one) for one in conclusion.sharpness),
        certificate=certificate,
    )


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
