"""Theorem 4.4 (``thm:utility_guarantee``): the excess risk of Algorithm 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dpsco_verify.algorithm import NoiseConvention
from dpsco_verify.evidence import Verdict
from dpsco_verify.evidence.checker import (
    Certificate,
    UtilityConstant,
    UtilityDriftViolation,
    UtilityVarianceViolation,
    issue,
)
from dpsco_verify.execution import Outcome, WorkUnit
from dpsco_verify.inference.bets import bet_fractions, depth_for_range
from dpsco_verify.ledger.e_values import mean_e_value
from dpsco_verify.ledger.evidence_certificates import mean_certificate
from dpsco_verify.ledger.statement import Conclusion, Context, Reading
from dpsco_verify.ledger.statements.utility import present
from dpsco_verify.ledger.statements.utility.constants import limit_constant
from dpsco_verify.ledger.statements.utility.counterexample import Found, search_drift, search_variance
from dpsco_verify.ledger.statements.utility.errata import DISCREPANCIES
from dpsco_verify.ledger.statements.utility.instances import GEOMETRIES, NAMES
from dpsco_verify.ledger.statements.utility.measure import THEOREM_CONSTANT, Measured, measure
from dpsco_verify.ledger.statements.utility.proof import proof_steps
from dpsco_verify.ledger.statements.utility.search import Worst, search_worst
from dpsco_verify.ledger.statements.utility.work import WORK, Work
from dpsco_verify.store import EValue, null_name

_CLAIM = "E[F(ŵ)] − F(w*) ≤ (5/2) D(L + σ√d)/√n with η = D/(√n (L + σ√d))"
_METHOD = (
    "the constant that a careful proof gives, in closed form for all n, or an exact counterexample in ball arithmetic; "
    "beside it Monte-Carlo excess risk of the implementation on hard instances and real data, tested by a betting "
    "e-process, and a search for the worst ratio, confirmed on fresh runs"
)


def _reading(name: str, text: str, statement: str = _CLAIM) -> Reading:
    return Reading(id=name, text=text, statement=statement, method=_METHOD, weight=1.0)


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
            "D bounds the diameter of W (as in Corollary 4.3 and Theorem 5.3); w₁ is any point of W",
        ),
        _reading(
            "norm-argmin",
            "D bounds the norm of W's elements (as the theorem says); w₁ = argmin of ½‖w‖² over W",
        ),
        _reading(
            "norm-arbitrary", "D bounds the norm of W's elements (as the theorem says); w₁ is any point of W"
        ),
        _reading(
            "diameter-variance-sigma",
            "as diameter, with the noise as Section 4 writes it: N(0, σI), a standard deviation of √σ a coordinate",
        ),
    )
    discrepancies = DISCREPANCIES

    def units(self, reading: Reading, context: Context) -> Sequence[WorkUnit]:
        """Return a unit for each instance, n and σ, and one for the search."""
        work = WORK[context.profile]
        prefix = f"{self.id}/{reading.id}"
        cells = self._cells(reading, work)
        names = [name for name, _ in cells]
        levels = context.levels([*names, "search"], over_runs=names)
        common = {
            "geometry": GEOMETRIES[reading.id],
            "noise": _noise(reading),
            "constant": self.constant,
            "seed": context.seed,
        }
        units = [
            WorkUnit(
                name=f"{prefix}/{name}",
                function=measure,
                arguments={**common, **cell, "alpha": levels[name], "name": f"{prefix}/{name}"},
                cost=float(str(cell["n"])) * 1e-3,
            )
            for name, cell in cells
        ]
        units.append(
            WorkUnit(
                name=f"{prefix}/search",
                function=search_worst,
                arguments={
                    **common,
                    "trials": work.trials,
                    "search_runs": work.search_runs,
                    "confirm_runs": work.confirm_runs,
                    "alpha": levels["search"],
                    "lipschitz": 1e-6 if _is_variance(reading) else 1.0,
                    "largest_n": work.largest_n,
                    "name": f"{prefix}/search",
                },
                cost=4.0,
            )
        )
        return units

    @staticmethod
    def _cells(reading: Reading, work: Work) -> list[tuple[str, dict[str, object]]]:
        names = ("weak-drift",) if _is_variance(reading) else NAMES
        return [
            (
                f"{name}/n={n}/sigma={sigma:g}",
                {"instance": name, "n": n, "sigma_over_lipschitz": sigma, "runs": work.runs},
            )
            for name in names
            for n in work.sizes
            for sigma in work.sigmas
        ]

    def conclude(self, reading: Reading, context: Context, outcomes: Mapping[str, Outcome]) -> Conclusion:
        """Decide: samples may refute; else the careful proof certifies, or an exact counterexample refutes."""
        work = WORK[context.profile]
        prefix = f"{self.id}/{reading.id}"
        cells = self._cells(reading, work)
        measured: list[Measured] = []
        vacuous = 0
        for name, _ in cells:
            value: Measured | None = outcomes[f"{prefix}/{name}"].value
            if value is None:
                vacuous += 1
            else:
                measured.append(value)
        worst: Worst = outcomes[f"{prefix}/search"].value
        kappa = GEOMETRIES[reading.id].distance_factor
        proven = None if _is_variance(reading) else limit_constant(kappa)
        found = search_variance() if _is_variance(reading) else (search_drift() if kappa > 1.0 else None)
        verdict, summary, certificate, words = self._decide(
            reading, proven=proven, found=found, measured=measured, worst=worst
        )
        return Conclusion(
            verdict=verdict,
            summary=summary,
            evidence=present.evidence(
                measured,
                worst,
                found,
                vacuous=vacuous,
                distance_factor=kappa,
                variance=_is_variance(reading),
            ),
            tables=(
                present.constant_table(kappa, variance=_is_variance(reading)),
                present.measured_table(measured),
            ),
            plots=(present.ratio_plot(reading.id, measured, self.constant, proven),),
            counterexample=words,
            proof_steps=proof_steps(kappa, variance_is_sigma=_is_variance(reading)),
            sharpness=(present.sharpness(self.constant, kappa, proven, found, [*measured, worst.confirmed]),),
            certificate=certificate,
            spent={
                **{name: context.spent(m.alpha) for (name, _), m in _run_cells(cells, outcomes, prefix)},
                "search": worst.confirmed.alpha,
            },
            # What the search found depends on the seed, so its confirmation has no null hypothesis to share.
            e_values=dict(_e_value(reading, m) for m in measured),
        )

    def _decide(
        self,
        reading: Reading,
        *,
        proven: float | None,
        found: Found | None,
        measured: list[Measured],
        worst: Worst,
    ) -> tuple[Verdict, str, Certificate | None, str | None]:
        if found is not None and found.ratio > self.constant:
            certificate = (
                issue(
                    self.id,
                    reading.id,
                    UtilityVarianceViolation(
                        n=found.n, lipschitz=str(found.lipschitz), sigma=str(found.sigma)
                    ),
                )
                if _is_variance(reading)
                else issue(self.id, reading.id, UtilityDriftViolation(n=found.n, sigma=str(found.sigma)))
            )
            summary = (
                f"false: at n = {found.n} an instance has excess risk of at least {found.ratio:.4g} · "
                f"D(L + σ√d)/√n, in closed form; the theorem allows {self.constant:g}"
            )
            return Verdict.REFUTED, summary, certificate, present.counterexample_words(reading.id, found)
        seen = [m for m in (*measured, worst.confirmed) if m.rejected and m.bound >= self.constant]
        if seen:
            m = seen[0]
            certificate = mean_certificate(
                self.id,
                reading.id,
                observations=m.deciding,
                bound=m.bound,
                low=m.range_low,
                alpha=m.alpha / 2 * (1 + 1e-9),
                fractions=list(
                    bet_fractions(depth=depth_for_range(m.range_low - m.bound, m.range_high - m.bound))
                ),
            )
            summary = (
                f"the implementation's excess risk on {m.instance} (n = {m.n}, σ = {m.sigma:g} L) is "
                f"{m.mean:.4g} · D(L + σ√d)/√n, above {m.bound:g}"
            )
            words = (
                f"On {m.instance} with n = {m.n}, d = {m.dimension}, σ = {m.sigma:g} L, the mean excess risk "
                f"of {m.runs} runs or pairs is {m.mean:.6g} (between {m.low:.6g} and {m.high:.6g}) in units of "
                "D(L + σ√d)/√n."
            )
            return Verdict.REFUTED, summary, certificate, words
        if proven is not None and proven < self.constant:
            certificate = issue(
                self.id, reading.id, UtilityConstant(constant=present.rational(self.constant))
            )
            summary = (
                f"holds for every n ≥ 2, L, σ and d: a careful proof gives the constant {proven:.4f} in place of "
                f"{self.constant:g}; the largest ratio that a search found and fresh runs confirmed is "
                f"{worst.confirmed.mean:.3f}"
            )
            return Verdict.CERTIFIED, summary, certificate, None
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


def _is_variance(reading: Reading) -> bool:
    return reading.id.endswith("variance-sigma")


def _noise(reading: Reading) -> NoiseConvention:
    if _is_variance(reading):
        return NoiseConvention.COVARIANCE_SIGMA
    return NoiseConvention.COVARIANCE_SIGMA_SQUARED


def _run_cells(
    cells: list[tuple[str, dict[str, object]]], outcomes: Mapping[str, Outcome], prefix: str
) -> list[tuple[tuple[str, dict[str, object]], Measured]]:
    return [
        (cell, outcomes[f"{prefix}/{cell[0]}"].value)
        for cell in cells
        if outcomes[f"{prefix}/{cell[0]}"].value is not None
    ]


def _e_value(reading: Reading, m: Measured) -> tuple[str, EValue]:
    """Return the evidence that the implementation's excess risk on one instance exceeds the bound."""
    geometry = GEOMETRIES[reading.id]
    name = null_name(
        "E[F(ŵ)] − F(w*) ≤ c D(L + σ√d)/√n",
        {
            "c": m.bound,
            "instance": m.instance,
            "n": m.n,
            "σ/L": m.sigma,
            "noise": _noise(reading).value,
            "D bounds norms": geometry.norm_bound,
            "w₁": geometry.start,
        },
    )
    return name, mean_e_value(
        m.ratios,
        log_wealth=m.log_wealth,
        bound=m.bound,
        low=m.range_low,
        high=m.range_high,
        alpha=m.alpha,
    )
