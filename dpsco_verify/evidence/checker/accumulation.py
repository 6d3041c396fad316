"""Witnesses that are observations of several independent runs: the product of their e-values, computed anew.

If the null hypothesis is true, each run's e-value has mean at most 1 given the runs before it, so the product reaches
``1/alpha`` with probability at most alpha (Ville 1939). The runs are of different seeds, so that none counts twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import flint
import msgspec

from dpsco_verify.evidence.checker.arithmetic import Count, Rational, rational, require
from dpsco_verify.evidence.checker.statistical import (
    checked_level,
    event_factor,
    event_wealth,
    mean_wealth,
    one_over,
)
from dpsco_verify.evidence.checker.witness import Sides, Witness

Seed = Annotated[str, msgspec.Meta(pattern=r"^(0|[1-9][0-9]*)$", max_length=200)]
"""A seed may be longer than the integers that JSON readers agree on."""
Cell = Annotated[int, msgspec.Meta(ge=0)]


class MeanRun(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The observations of one run: each value, and how often it was seen. All are at least `low`."""

    seed: Seed
    low: Rational
    bets: tuple[Rational, ...]
    values: tuple[Rational, ...]
    counts: tuple[Count, ...]


class AccumulatedMeanEvidence(Witness, frozen=True, kw_only=True):
    """Runs whose e-values against ``mean ≤ bound`` multiply to ``1/alpha``.

    A run's e-value is the average over its `bets` λ of ``Π(1 + λ(x − bound))``, ``0 < λ < 1/(bound − low)``, over all
    of its observations. `null_hypothesis` says of what the mean is.
    """

    null_hypothesis: str
    bound: Rational
    alpha: Rational
    runs: tuple[MeanRun, ...]

    def sides(self, reading: str) -> Sides:  # noqa: ARG002  any claim can be judged
        """Return the two sides and the inequality in words."""
        bound, alpha = rational("bound", self.bound), checked_level(self.alpha)
        seeds = _seeds(self.runs)
        product = flint.arb(1)
        for run in self.runs:
            require(
                holds=len(run.values) == len(run.counts),
                reason=f"the run of seed {run.seed} has {len(run.values)} values and {len(run.counts)} counts",
            )
            product *= mean_wealth(
                low=rational("low", run.low),
                bound=bound,
                bets=[rational("bets", bet) for bet in run.bets],
                values=[rational("values", x) for x in run.values],
                counts=run.counts,
            )
        return product, one_over(alpha), _words(f"mean <= {bound}", seeds, self.null_hypothesis)


class EventRun(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The counts of one run, of the event that it had chosen before on other samples."""

    seed: Seed
    bets: tuple[Rational, ...]
    both: Cell
    first_only: Cell
    second_only: Cell
    neither: Cell


class AccumulatedEventEvidence(Witness, frozen=True, kw_only=True):
    """Runs whose e-values against ``P(E) − e^ε P'(E) ≤ δ`` for every event E multiply to ``1/alpha``.

    Each run may have an event of its own; its e-value is that of
    :class:`~dpsco_verify.evidence.checker.statistical.EventEvidence`. `null_hypothesis` says of which two laws.
    """

    null_hypothesis: str
    epsilon: Rational
    delta: Rational
    alpha: Rational
    runs: tuple[EventRun, ...]

    def sides(self, reading: str) -> Sides:  # noqa: ARG002  any claim can be judged
        """Return the two sides and the inequality in words."""
        alpha, delta = checked_level(self.alpha), rational("delta", self.delta)
        factor = event_factor(rational("epsilon", self.epsilon), delta)
        seeds = _seeds(self.runs)
        product = flint.arb(1)
        for run in self.runs:
            product *= event_wealth(
                factor=factor,
                delta=delta,
                bets=[rational("bets", bet) for bet in run.bets],
                counts=(run.both, run.first_only, run.second_only, run.neither),
            )
        return product, one_over(alpha), _words("P - exp(epsilon) P' <= delta", seeds, self.null_hypothesis)


def _seeds(runs: Sequence[MeanRun | EventRun]) -> list[str]:
    seeds = [run.seed for run in runs]
    require(holds=bool(seeds), reason="there are no runs")
    require(
        holds=len(set(seeds)) == len(seeds),
        reason=f"seeds={', '.join(seeds)} are not those of different runs",
    )
    return seeds


def _words(claim: str, seeds: list[str], null_hypothesis: str) -> str:
    return (
        f"product of the e-values of the runs of seeds {', '.join(seeds)} > 1/alpha against {claim}, "
        f"{null_hypothesis}"
    )
