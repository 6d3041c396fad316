"""Witnesses that are observations of several independent runs: the product of their e-values, computed anew.

If the null hypothesis is true, each run's e-value has mean at most 1 given the runs before it, so the product reaches
``1/alpha`` with probability at most alpha (Ville 1939). The runs are of different seeds, so that none counts twice.
"""

from __future__ import annotations

from collections.abc import Sequence

import flint
import msgspec

from dpsco_verify.evidence.checker.arithmetic import (
    Cell,
    Count,
    Profile,
    Rational,
    Seed,
    rational,
    require,
    require_steps,
    require_terms,
)
from dpsco_verify.evidence.checker.nulls import Null
from dpsco_verify.evidence.checker.statistical import (
    Evidence,
    checked_level,
    event_factor,
    event_wealth,
    event_words,
    mean_wealth,
    mean_words,
    one_over,
)
from dpsco_verify.evidence.checker.witness import Sides


class MeanRun(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The observations of one run: each value, and how often it was seen. All are at least `low`."""

    profile: Profile
    seed: Seed
    low: Rational
    bets: tuple[Rational, ...]
    values: tuple[Rational, ...]
    counts: tuple[Count, ...]


class AccumulatedMeanEvidence(Evidence, frozen=True, kw_only=True):
    """Runs whose e-values against ``mean ≤ bound`` multiply to ``1/alpha``.

    A run's e-value is the average over its `bets` λ of ``Π(1 + λ(x − bound))``, ``0 < λ < 1/(bound − low)``, over all
    of its observations. `null_hypothesis` says of what the mean is.
    """

    bound: Rational
    runs: tuple[MeanRun, ...]

    @property
    def drawn(self) -> tuple[tuple[str, str], ...]:
        """The profile and the seed of each run."""
        return tuple((run.profile, run.seed) for run in self.runs)

    def require_admitted(self, null: Null) -> None:
        """Refuse a smaller bound than the claim's, and a larger lower end."""
        null.require_mean(
            self.null_hypothesis, bound=self.bound, lows=tuple(dict.fromkeys(run.low for run in self.runs))
        )

    def sides(self, reading: str) -> Sides:  # noqa: ARG002  the null hypothesis says what is judged
        """Return the two sides and the inequality in words."""
        bound, alpha = rational("bound", self.bound), checked_level(self.alpha)
        seeds = _seeds(self.runs)
        terms = sum(len(run.bets) * len(run.values) for run in self.runs)
        require_steps(terms, "the product of e-values")
        product = flint.arb(1)
        for run in self.runs:
            require(
                holds=len(run.values) == len(run.counts),
                reason=f"the run of seed {run.seed} has {len(run.values)} values and {len(run.counts)} counts",
            )
            product *= mean_wealth(
                low=rational("low", run.low),
                bound=bound,
                bets=run.bets,
                values=run.values,
                counts=run.counts,
            )
        return product, one_over(alpha), _words(mean_words(bound, alpha, self.null_hypothesis), seeds)


class EventRun(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The counts of one run, of the event that it had chosen before on other samples."""

    profile: Profile
    seed: Seed
    bets: tuple[Rational, ...]
    both: Cell
    first_only: Cell
    second_only: Cell
    neither: Cell


class AccumulatedEventEvidence(Evidence, frozen=True, kw_only=True):
    """Runs whose e-values against ``P(E) − e^ε P'(E) ≤ δ`` for every event E multiply to ``1/alpha``.

    Each run may have an event of its own; its e-value is that of
    :class:`~dpsco_verify.evidence.checker.statistical.EventEvidence`. `null_hypothesis` says of which two laws.
    """

    epsilon: Rational
    delta: Rational
    runs: tuple[EventRun, ...]

    @property
    def drawn(self) -> tuple[tuple[str, str], ...]:
        """The profile and the seed of each run."""
        return tuple((run.profile, run.seed) for run in self.runs)

    def require_admitted(self, null: Null) -> None:
        """Refuse an (ε, δ) that the claim does not imply."""
        null.require_event(self.null_hypothesis, epsilon=self.epsilon, delta=self.delta)

    def sides(self, reading: str) -> Sides:  # noqa: ARG002  the null hypothesis says what is judged
        """Return the two sides and the inequality in words."""
        alpha, delta = checked_level(self.alpha), rational("delta", self.delta)
        epsilon = rational("epsilon", self.epsilon)
        factor = event_factor(epsilon, delta)
        seeds = _seeds(self.runs)
        require_terms(4 * sum(len(run.bets) for run in self.runs), "the product of e-values")
        product = flint.arb(1)
        for run in self.runs:
            product *= event_wealth(
                factor=factor,
                delta=delta,
                bets=run.bets,
                counts=(run.both, run.first_only, run.second_only, run.neither),
            )
        words = event_words(epsilon, delta, alpha, self.null_hypothesis)
        return product, one_over(alpha), _words(words, seeds)


def _seeds(runs: Sequence[MeanRun | EventRun]) -> list[str]:
    seeds = [run.seed for run in runs]
    require(holds=bool(seeds), reason="there are no runs")
    require(
        holds=len(set(seeds)) == len(seeds),
        reason=f"seeds={', '.join(seeds)} are not those of different runs",
    )
    return seeds


def _words(against: str, seeds: list[str]) -> str:
    return f"product of the e-values of the runs of seeds {', '.join(seeds)} > 1/alpha against {against}"
