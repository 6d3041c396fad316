"""The risk bound of a system, measured on instances in closed form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dpsco_verify.choices import Profile
from dpsco_verify.evidence import Quantity, Sharpness, Stance, Table, Verdict, columns
from dpsco_verify.evidence.checker import MeanNull, OneOf, Witness, ball
from dpsco_verify.execution import stream
from dpsco_verify.ledger.errata import Discrepancy
from dpsco_verify.ledger.measured import Measured, Range, tested
from dpsco_verify.ledger.statement import Context, Decision, Reading
from dpsco_verify.ledger.systems.risk_instances import build
from dpsco_verify.ledger.units import Handle, Outcomes, Units
from dpsco_verify.related import PrivacyBudget
from dpsco_verify.related.catalogue import SYSTEMS
from dpsco_verify.store import null_name

EPSILON, DELTA = 1.0, 1e-6
"""The budget at which the systems run."""

_WEIGHT = 0.2
_RUNS = {Profile.QUICK: 100, Profile.STANDARD: 400, Profile.DEEP: 4000}
_NUMBERS_AT_ONCE = 4_000_000
_NULL = "E[F(ŵ)] − F(w*) ≤ the system's bound"
_METHOD = (
    "Monte-Carlo excess risk of the implementation over the bound at its own calibration, on instances in closed "
    "form, tested by a betting e-process."
)


def measure(
    *, system: str, instance: str, n: int, runs: int, alpha: float, seed: int, name: str
) -> Measured | None:
    """Measure the excess risk over the bound; None where the bound exceeds the largest risk, so nothing could fail.

    The excess is over the value at a feasible point, at most the certified gap above the minimum: it errs downwards.
    """
    chosen, built = SYSTEMS[system], build(instance)
    task, budget = built.task, PrivacyBudget(EPSILON, DELTA)
    bound = chosen.risk_bound(task, n, budget)
    if bound is None:
        raise AssertionError(f"system={system} has no risk bound")
    room = 1e-9 * (1.0 + abs(built.minimum)) / bound
    span = Range(
        low=-built.gap / bound - room,
        high=task.lipschitz * task.diameter / bound + room,
        gap=built.gap / bound,
    )
    if span.high <= 1.0:
        return None
    size = max(1, _NUMBERS_AT_ONCE // (n * built.population.data_dimension))
    ratios = []
    for chunk, first in enumerate(range(0, runs, size)):
        rng = stream(seed, name, chunk=chunk)
        sample = built.population.sample(rng, (min(size, runs - first), n))
        solution = chosen.fit(sample, task=task, budget=budget, rng=rng).solution
        ratios.append((built.population.risk(solution) - built.minimum) / bound)
    return tested(
        np.concatenate(ratios),
        span,
        alpha=alpha,
        bound=1.0,
        label=instance,
        dimension=task.dimension,
        n=n,
        sigma=0.0,
    )


@dataclass(frozen=True, kw_only=True)
class RiskClaim:
    """The risk bound of a system of :mod:`dpsco_verify.related`.

    Attributes
    ----------
    system
        The system's id.
    short
        What stands in its place in the statement's id, ``…-risk``, and label; by default the system's id.
    bound
        The bound in words.
    cells
        Pairs of an instance and n; the larger profiles have those of `standard` as well.
    stance
        Where the bound comes from.
    """

    system: str
    title: str
    reference: str
    bound: str
    cells: tuple[tuple[str, int], ...]
    standard: tuple[tuple[str, int], ...] = ()
    short: str = ""
    stance: Stance = Stance.PRINTED
    discrepancies: Sequence[Discrepancy] = ()
    witness_kinds: ClassVar[Sequence[type[Witness]]] = ()

    @property
    def id(self) -> str:
        """The stable name."""
        return f"{self.short or self.system}-risk"

    @property
    def label(self) -> str:
        """The stable key."""
        return f"related:{self.short or self.system}"

    @property
    def text(self) -> str:
        """The bound."""
        return f"The expected excess risk is at most {self.bound}"

    @property
    def readings(self) -> tuple[Reading[None], ...]:
        """One reading: the bound as the implementation states it."""
        return (
            Reading(
                id="measured",
                stance=self.stance,
                parameters=None,
                text="the implementation's own bound at its own calibration, at ε = 1 and δ = 10⁻⁶ for a private "
                "system",
                statement=f"E[F(ŵ)] − F(w*) ≤ {self.bound}",
                method=_METHOD,
                weight=_WEIGHT,
                null=self._null(),
            ),
        )

    def _null(self) -> MeanNull:
        """Return what the ratios of excess risk and bound may reject; an excess over the minimum is never negative."""
        places = (*self.cells, *self.standard)
        return MeanNull(
            name=_NULL,
            parameters={
                "system": OneOf(self.system),
                "instance": OneOf(*(instance for instance, _ in places)),
                "n": OneOf(*(n for _, n in places)),
                "ε": OneOf(EPSILON),
                "δ": OneOf(DELTA),
            },
            bound=lambda _: ball(1),
        )

    def _cells(self, profile: Profile) -> dict[str, tuple[str, int]]:
        cells = self.cells if profile is Profile.QUICK else (*self.cells, *self.standard)
        return {f"{instance}/n={n}": (instance, n) for instance, n in cells}

    def plan(
        self, reading: Reading[None], context: Context, units: Units
    ) -> dict[str, Handle[Measured | None]]:
        """Plan a unit for each instance and n."""
        cells = self._cells(context.profile)
        levels = context.levels(list(cells), accumulated=list(cells))
        return {
            name: units.add(
                name,
                measure,
                {
                    "system": self.system,
                    "instance": instance,
                    "n": n,
                    "runs": _RUNS[context.profile],
                    "alpha": levels[name],
                },
                cost=0.2,
                random=True,
            )
            for name, (instance, n) in cells.items()
        }

    def conclude(
        self,
        reading: Reading[None],
        context: Context,
        work: dict[str, Handle[Measured | None]],
        outcomes: Outcomes,
    ) -> Decision:
        """Decide by the tests."""
        found = {
            name: measured for name, handle in work.items() if (measured := outcomes[handle]) is not None
        }
        if not found:
            return Decision(
                verdict=Verdict.INCONCLUSIVE,
                summary="at every size tried the bound exceeds the largest risk there is",
                evidence={},
            )
        rejected = [m for m in found.values() if m.rejected]
        detectable = [m.mdv for m in found.values() if m.mdv is not None]
        top = max(found.values(), key=lambda m: m.mean)
        highest = max(found.values(), key=lambda m: m.low)
        decision = Decision(
            verdict=Verdict.NOT_REFUTED if detectable else Verdict.INCONCLUSIVE,
            summary=f"no violation was found; the largest mean is {top.mean:.3g} of the bound, and an excess of "
            f"{max(detectable):.3g} of it would have been found"
            if detectable
            else "no violation could have been seen at any size tried",
            evidence=_evidence(found),
            tables=(_table(found),),
            sharpness=(
                Sharpness(
                    constant="1, the factor of the bound",
                    claimed=1.0,
                    holds_with=None,
                    needed=max(0.0, highest.low),
                    at=f"{highest.instance}, n = {highest.n}",
                    how="by samples, which prove no value; needed is the largest lower confidence bound",
                ),
            ),
            spent={name: context.spent(m.alpha) for name, m in found.items()},
            e_values={_null_name(self.system, m): m.e_value() for m in found.values()},
        )
        return _refuted(decision, rejected[0], _null_name(self.system, rejected[0])) if rejected else decision


def _refuted(decision: Decision, m: Measured, null: str) -> Decision:
    return replace(
        decision,
        verdict=Verdict.REFUTED,
        summary=f"the implementation's excess risk on {m.instance} at n = {m.n} is {m.mean:.4g} of the bound",
        counterexample=f"On {m.instance} with n = {m.n}, d = {m.dimension} the mean of {m.runs} runs is "
        f"{m.mean:.6g} of the bound, between {m.low:.6g} and {m.high:.6g}.",
        witness=m.witness(null),
    )


def _null_name(system: str, m: Measured) -> str:
    return null_name(
        _NULL,
        {"system": system, "instance": m.instance, "n": m.n, "ε": EPSILON, "δ": DELTA},
    )


def _evidence(found: Mapping[str, Measured]) -> dict[str, Quantity]:
    top = max(found.values(), key=lambda m: m.mean)
    detectable = [m.mdv for m in found.values() if m.mdv is not None]
    return {
        "largest measured excess risk": Quantity(
            value=top.mean,
            unit="of the bound",
            note=f"{top.instance}, n = {top.n}; between {top.low:.3g} and {top.high:.3g}",
        ),
        "largest minimum detectable violation": Quantity(
            value=max(detectable) if detectable else None,
            unit="of the bound",
            note=f"power 0.9; {len(found) - len(detectable)} cells could show none",
        ),
    }


def _table(found: Mapping[str, Measured]) -> Table:
    return Table(
        id="measured",
        title="Excess risk over the bound",
        columns=columns(
            "instance",
            "d",
            ("n", "points"),
            "runs",
            ("mean", "of the bound"),
            "low",
            "high",
            "detectable violation",
        ),
        rows=tuple(
            (m.instance, m.dimension, m.n, m.runs, m.mean, m.low, m.high, m.mdv) for m in found.values()
        ),
    )
