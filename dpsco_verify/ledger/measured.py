"""A measured mean against its bound: the test, the interval, the smallest violation that would have been found."""

from __future__ import annotations

from dataclasses import dataclass

from dpsco_verify.arrays import FloatArray
from dpsco_verify.errors import no_truth_value
from dpsco_verify.evidence.checker import MeanEvidence
from dpsco_verify.guarantees.mean_tests import BoundedMean
from dpsco_verify.inference.witnesses import mean_evidence
from dpsco_verify.ledger.e_values import mean_e_value
from dpsco_verify.store import EValue


@dataclass(frozen=True, kw_only=True)
class Range:
    """The interval [low, high] that holds every ratio; the mean may lie up to `gap` above the one that is measured."""

    low: float
    high: float
    gap: float


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The mean of a bounded ratio, excess risk over its scale, at one instance, n and σ.

    `runs` counts the independent `ratios`: runs, or antithetic pairs of them. `log_wealth` is the log of the wealth
    after all of them.
    """

    instance: str
    dimension: int
    n: int
    sigma: float
    runs: int
    alpha: float
    mean: float
    low: float
    high: float
    standard_deviation: float
    rejected: bool
    rejected_at: int | None
    mdv: float | None
    bound: float
    range_low: float
    range_high: float
    log_wealth: float
    ratios: tuple[float, ...]

    __bool__ = no_truth_value("measured.rejected")

    @property
    def deciding(self) -> tuple[float, ...]:
        """The first ratios, up to that at which the test rejected; none where it did not."""
        return self.ratios[: self.rejected_at or 0]

    def witness(self, null_hypothesis: str) -> MeanEvidence:
        """Return the witness of the rejection, `null_hypothesis` being its name as the reading admits it."""
        return mean_evidence(
            self.deciding,
            null_hypothesis=null_hypothesis,
            bound=self.bound,
            low=self.range_low,
            high=self.range_high,
            alpha=self.alpha / 2,
        )

    def e_value(self) -> EValue:
        """Return the e-value of all ratios, for the product over runs."""
        return mean_e_value(
            self.ratios,
            log_wealth=self.log_wealth,
            bound=self.bound,
            low=self.range_low,
            high=self.range_high,
            alpha=self.alpha,
        )


def tested(
    ratios: FloatArray,
    span: Range,
    *,
    alpha: float,
    bound: float,
    label: str,
    dimension: int,
    n: int,
    sigma: float,
) -> Measured:
    """Test ``mean ≤ bound`` at half of `alpha`, and put the mean between confidence bounds with the other half."""
    test = BoundedMean(bound=bound, low=span.low, high=span.high, alpha=alpha / 2)
    decision = test.update(ratios)
    lower, upper = test.interval(ratios)
    deviation = float(ratios.std(ddof=1))
    return Measured(
        instance=label,
        dimension=dimension,
        n=n,
        sigma=sigma,
        runs=ratios.size,
        alpha=alpha,
        mean=float(ratios.mean()),
        low=float(lower),
        high=float(upper + span.gap),
        standard_deviation=deviation,
        rejected=decision.rejected,
        rejected_at=decision.rejected_at,
        mdv=test.surely_detectable(
            ratios.size, standard_deviation=max(deviation, 1e-6 * (span.high - span.low))
        ),
        bound=bound,
        range_low=span.low,
        range_high=span.high,
        log_wealth=decision.log_wealth,
        ratios=tuple(ratios.tolist()),
    )
