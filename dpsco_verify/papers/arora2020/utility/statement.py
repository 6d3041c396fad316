"""Theorem 4.4 (``thm:utility_guarantee``): the excess risk of Algorithm 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dpsco_verify.algorithm import NoiseConvention
from dpsco_verify.choices import Profile
from dpsco_verify.evidence import Consequence, Stance, Verdict
from dpsco_verify.evidence.checker import Witness
from dpsco_verify.inference.witnesses import rational_text
from dpsco_verify.ledger import Context, Decision, Discrepancy, Handle, Outcomes, Reading, Units
from dpsco_verify.ledger.measured import Measured
from dpsco_verify.papers.arora2020.utility import present
from dpsco_verify.papers.arora2020.utility.certificates import (
    EXCESS,
    UtilityConstant,
    UtilityDriftViolation,
    UtilityVarianceViolation,
    nulls,
)
from dpsco_verify.papers.arora2020.utility.constants import limit_constant
from dpsco_verify.papers.arora2020.utility.counterexample import Member, search_drift, search_variance
from dpsco_verify.papers.arora2020.utility.instances import (
    DIAMETER,
    NAMES,
    NORM_ARBITRARY,
    NORM_ARGMIN,
    Setting,
)
from dpsco_verify.papers.arora2020.utility.measure import THEOREM_CONSTANT, measure
from dpsco_verify.papers.arora2020.utility.proof import proof_steps
from dpsco_verify.papers.arora2020.utility.search import WorstInstance, search_worst
from dpsco_verify.papers.arora2020.utility.work import WORK
from dpsco_verify.store import null_name

_CLAIM = "E[F(ŵ)] − F(w*) ≤ (5/2) D(L + σ√d)/√n with η = D/(√n (L + σ√d))"
_METHOD = (
    "the constant that a careful proof gives, in closed form for all n, or an exact counterexample in ball arithmetic; "
    "beside it Monte-Carlo excess risk of the implementation on hard instances and real data, tested by a betting "
    "e-process, and a search for the worst ratio, confirmed on fresh runs"
)


@dataclass(frozen=True, kw_only=True)
class Cell:
    """An instance, n and σ/L at which the excess risk is measured."""

    instance: str
    n: int
    sigma: float

    def __str__(self) -> str:
        return f"{self.instance}/n={self.n}/sigma={self.sigma:g}"


@dataclass(frozen=True, kw_only=True)
class Work:
    """The handles: what was measured at each cell, None where nothing could fail, and what the search found."""

    cells: dict[Cell, Handle[Measured | None]]
    search: Handle[WorstInstance]


def _reading(name: str, setting: Setting, text: str) -> Reading[Setting]:
    return Reading(
        id=name,
        stance=Stance.PRINTED,
        parameters=setting,
        text=text,
        statement=_CLAIM,
        method=_METHOD,
        weight=1.0,
        null=nulls()[name],
    )


_DISCREPANCIES = (
    Discrepancy(
        id="five-halves",
        title="The corollary and the lemma do not give the constant of the theorem",
        lines=(254, 262, 267),
        consequence=Consequence.NOTHING,
        text=(
            "As printed, the corollary and the lemma give 2, not 5/2; 5/2 is what the corollary's proof gives with "
            "2n for the mean stopping time. With the lemma repaired they give 2n/|F_τ|, which is close to 4."
        ),
        repair=(
            "Bound the squared gradients by their expectation (half of what the proof uses) and the mean "
            "stopping time by its exact value: the constant of the theorem holds, and a smaller one too."
        ),
        shown_by=("utility#combination",),
        rests_on=("utility/diameter", "utility/norm-argmin"),
        constants=(("utility/diameter", "5/2"), ("utility/norm-argmin", "5/2")),
    ),
)


class Utility:
    """``utility``: excess risk at most ``(5/2) D(L + σ√d)/√n``."""

    id = "utility"
    title = "The excess risk is at most 5/2 · D(L + σ√d)/√n"
    reference = "Theorem 4.4"
    label = "thm:utility_guarantee"
    text = "With elements of W bounded in norm by D and f(·, x) L-Lipschitz, " + _CLAIM
    constant = THEOREM_CONSTANT
    readings = (
        _reading(
            "diameter",
            Setting(geometry=DIAMETER),
            "D bounds the diameter of W (as in Corollary 4.3 and Theorem 5.3); w₁ is any point of W",
        ),
        _reading(
            "norm-argmin",
            Setting(geometry=NORM_ARGMIN),
            "D bounds the norm of W's elements (as the theorem says); w₁ = argmin of ½‖w‖² over W",
        ),
        _reading(
            "norm-arbitrary",
            Setting(geometry=NORM_ARBITRARY),
            "D bounds the norm of W's elements (as the theorem says); w₁ is any point of W",
        ),
        _reading(
            "diameter-variance-sigma",
            Setting(geometry=DIAMETER, noise=NoiseConvention.COVARIANCE_SIGMA),
            "as diameter, with the noise as Section 4 writes it: N(0, σI), a standard deviation of √σ a coordinate",
        ),
    )
    discrepancies = _DISCREPANCIES
    witness_kinds = (UtilityConstant, UtilityDriftViolation, UtilityVarianceViolation)

    def plan(self, reading: Reading[Setting], context: Context, units: Units) -> Work:
        """Plan a unit for each instance, n and σ, and one for the search."""
        setting, work = reading.parameters, WORK[context.profile]
        cells = _cells(setting, context.profile)
        names = [str(cell) for cell in cells]
        levels = context.levels([*names, "search"], accumulated=names)
        common = {"geometry": setting.geometry, "noise": setting.noise, "constant": self.constant}
        measured = {
            cell: units.add(
                str(cell),
                measure,
                {
                    **common,
                    "instance": cell.instance,
                    "n": cell.n,
                    "sigma_over_lipschitz": cell.sigma,
                    "runs": work.runs,
                    "alpha": levels[str(cell)],
                },
                cost=cell.n * 1e-3,
                random=True,
            )
            for cell in cells
        }
        search = units.add(
            "search",
            search_worst,
            {
                **common,
                "trials": work.trials,
                "search_runs": work.search_runs,
                "confirm_runs": work.confirm_runs,
                "alpha": levels["search"],
                "lipschitz": 1e-6 if setting.variance_is_sigma else 1.0,
                "largest_n": work.largest_n,
            },
            cost=4.0,
            random=True,
        )
        return Work(cells=measured, search=search)

    def conclude(
        self, reading: Reading[Setting], context: Context, work: Work, outcomes: Outcomes
    ) -> Decision:
        """Decide: samples may refute; else the careful proof certifies, or an exact counterexample refutes."""
        setting = reading.parameters
        kappa, variance = setting.geometry.distance_factor, setting.variance_is_sigma
        by_cell = {cell: m for cell, handle in work.cells.items() if (m := outcomes[handle]) is not None}
        measured = list(by_cell.values())
        worst = outcomes[work.search]
        proven = None if variance else limit_constant(kappa)
        found = search_variance() if variance else (search_drift() if kappa > 1.0 else None)
        verdict, summary, witness, words = self._decide(
            setting, proven=proven, found=found, measured=measured, worst=worst
        )
        return Decision(
            verdict=verdict,
            summary=summary,
            evidence=present.evidence(
                measured,
                worst,
                found,
                vacuous=len(work.cells) - len(measured),
                distance_factor=kappa,
                variance=variance,
            ),
            tables=(present.constant_table(kappa, variance=variance), present.measured_table(measured)),
            plots=(present.ratio_plot(reading.id, measured, self.constant, proven),),
            counterexample=words,
            proof_steps=proof_steps(kappa, variance_is_sigma=variance),
            sharpness=(present.sharpness(self.constant, kappa, proven, found, [*measured, worst.confirmed]),),
            witness=witness,
            spent={
                **{str(cell): context.spent(m.alpha) for cell, m in by_cell.items()},
                "search": worst.confirmed.alpha,
            },
            # What the search found depends on the seed, so its confirmation has no null hypothesis to share.
            e_values={_null_name(setting, m): m.e_value() for m in measured},
        )

    def _decide(
        self,
        setting: Setting,
        *,
        proven: float | None,
        found: Member | None,
        measured: Sequence[Measured],
        worst: WorstInstance,
    ) -> tuple[Verdict, str, Witness | None, str | None]:
        if found is not None and found.ratio > self.constant:
            variance = setting.variance_is_sigma
            witness = (
                UtilityVarianceViolation(n=found.n, lipschitz=str(found.lipschitz), sigma=str(found.sigma))
                if variance
                else UtilityDriftViolation(n=found.n, sigma=str(found.sigma))
            )
            summary = (
                f"false: at n = {found.n} an instance has excess risk of at least {found.ratio:.4g} · "
                f"D(L + σ√d)/√n, in closed form; the theorem allows {self.constant:g}"
            )
            return Verdict.REFUTED, summary, witness, present.counterexample_words(found, variance=variance)
        seen = [m for m in (*measured, worst.confirmed) if m.rejected and m.bound >= self.constant]
        if seen:
            m = seen[0]
            summary = (
                f"the implementation's excess risk on {m.instance} (n = {m.n}, σ = {m.sigma:g} L) is "
                f"{m.mean:.4g} · D(L + σ√d)/√n, above {m.bound:g}"
            )
            words = (
                f"On {m.instance} with n = {m.n}, d = {m.dimension}, σ = {m.sigma:g} L, the mean excess risk "
                f"of {m.runs} runs or pairs is {m.mean:.6g} (between {m.low:.6g} and {m.high:.6g}) in units of "
                "D(L + σ√d)/√n."
            )
            return Verdict.REFUTED, summary, m.witness(_null_name(setting, m)), words
        if proven is not None and proven < self.constant:
            summary = (
                f"holds for every n ≥ 2, L, σ and d: a careful proof gives the constant {proven:.4f} in place of "
                f"{self.constant:g}; the largest ratio that a search found and fresh runs confirmed is "
                f"{worst.confirmed.mean:.3f}"
            )
            return Verdict.CERTIFIED, summary, UtilityConstant(constant=rational_text(self.constant)), None
        if not measured:
            return (
                Verdict.INCONCLUSIVE,
                "at every size tried the bound exceeds the largest risk there is",
                None,
                None,
            )
        largest = max(m.mdv for m in measured if m.mdv is not None) if any(m.mdv for m in measured) else None
        if largest is None:
            return Verdict.INCONCLUSIVE, "no violation could have been seen at any size tried", None, None
        summary = (
            f"no proof reaches {self.constant:g}, and no violation was found; one of {largest:.3g} above it would have "
            "been, at every instance, with power 0.9"
        )
        return Verdict.NOT_REFUTED, summary, None, None


def _cells(setting: Setting, profile: Profile) -> tuple[Cell, ...]:
    work = WORK[profile]
    names = ("weak-drift",) if setting.variance_is_sigma else NAMES
    return tuple(
        Cell(instance=name, n=n, sigma=sigma) for name in names for n in work.sizes for sigma in work.sigmas
    )


def _null_name(setting: Setting, m: Measured) -> str:
    """Return what an e-value speaks against: that the implementation's excess risk on one instance is in bound."""
    return null_name(
        EXCESS,
        {
            "c": m.bound,
            "instance": m.instance,
            "n": m.n,
            "σ/L": m.sigma,
            "noise": setting.noise.value,
            "D bounds norms": setting.geometry.norm_bound,
            "w₁": setting.geometry.start,
        },
    )
