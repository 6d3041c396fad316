"""Corollary 4.3 (``cor:reg_bound``): the regret of Algorithm 1 over its τ iterations."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpsco_verify.algorithm import NoiseConvention
from dpsco_verify.choices import Profile
from dpsco_verify.evidence import (
    Quantity,
    Sharpness,
    Stance,
    Table,
    Verdict,
    columns,
)
from dpsco_verify.evidence.checker import Witness
from dpsco_verify.ledger import Context, Decision, Handle, Outcomes, Reading, Units
from dpsco_verify.papers.arora2020.regret.bounds import (
    Member,
    best_drift,
    best_variance,
    drift_regret,
    proven_constant,
)
from dpsco_verify.papers.arora2020.regret.certificates import (
    RegretConstant,
    RegretDriftViolation,
    RegretVarianceViolation,
)
from dpsco_verify.papers.arora2020.regret.errata import DISCREPANCIES
from dpsco_verify.papers.arora2020.regret.paths import INSTANCES, Paths, follow
from dpsco_verify.papers.arora2020.regret.proof import proof_steps
from dpsco_verify.papers.arora2020.utility.instances import DIAMETER, NORM_ARBITRARY, NORM_ARGMIN, Setting

_CLAIM = (
    "E Σ_{t≤τ} f_t(w_t) − E Σ_{t≤τ} f_t(u) ≤ 2D(L + σ√d)√n for every u in W, with η = D/(√n (L + σ√d)); "
    "f_t is f(·, x) at a fresh draw of x and 0 at a repeat"
)
_METHOD = (
    "the constant that a careful proof gives, in closed form for all n, or an exact counterexample in ball arithmetic; "
    "beside it runs of the implementation, held path by path against the deterministic regret inequality"
)
_UNIT = "D(L + σ√d)√n"
_SMALL = Fraction(1, 1000)
"""The σ of a counterexample that is to have noise, in units of L."""

_RANGE = range(2, 401)


@dataclass(frozen=True, kw_only=True)
class _Size:
    sizes: tuple[int, ...]
    sigmas: tuple[float, ...]
    runs: int


_SIZES = {
    Profile.QUICK: _Size(sizes=(2, 16, 64), sigmas=(0.0, 0.1, 1.0), runs=5),
    Profile.STANDARD: _Size(sizes=(2, 3, 16, 64, 256), sigmas=(0.0, 0.1, 1.0, 10.0), runs=20),
    Profile.DEEP: _Size(sizes=(2, 3, 16, 17, 64, 256, 1024), sigmas=(0.0, 0.01, 0.1, 1.0, 10.0), runs=100),
}


def _reading(name: str, text: str, setting: Setting, *, stance: Stance) -> Reading[Setting]:
    return Reading(id=name, text=text, statement=_CLAIM, method=_METHOD, stance=stance, parameters=setting)


class Regret:
    """``regret``: at most ``2D(L + σ√d)√n``."""

    id = "regret"
    title = "The regret over τ iterations is at most 2D(L + σ√d)√n"
    reference = "Corollary 4.3"
    label = "cor:reg_bound"
    text = "With the diameter of W bounded by D and f(·, x) L-Lipschitz, " + _CLAIM
    constant = Fraction(2)
    readings = (
        _reading(
            "diameter",
            "D bounds the diameter of W (as the corollary says); w₁ is any point of W",
            Setting(geometry=DIAMETER),
            stance=Stance.PRINTED,
        ),
        _reading(
            "norm-argmin",
            "D bounds the norm of W's elements (as in Theorem 4.4); w₁ = argmin of ½‖w‖² over W",
            Setting(geometry=NORM_ARGMIN),
            stance=Stance.EXTENSION,
        ),
        _reading(
            "norm-arbitrary",
            "D bounds the norm of W's elements (as in Theorem 4.4); w₁ is any point of W",
            Setting(geometry=NORM_ARBITRARY),
            stance=Stance.EXTENSION,
        ),
        _reading(
            "diameter-variance-sigma",
            "as diameter, with the noise as the corollary writes it: N(0, σI), a standard deviation of √σ a coordinate",
            Setting(geometry=DIAMETER, noise=NoiseConvention.COVARIANCE_SIGMA),
            stance=Stance.PRINTED,
        ),
    )
    discrepancies = DISCREPANCIES
    witness_kinds = (RegretConstant, RegretDriftViolation, RegretVarianceViolation)

    def plan(self, reading: Reading[Setting], context: Context, units: Units) -> list[Handle[Paths]]:
        """Plan a unit for each instance, n and σ."""
        size = _SIZES[context.profile]
        return [
            units.add(
                f"{instance}/n={n}/sigma={sigma:g}",
                follow,
                {
                    "instance": instance,
                    "geometry": reading.parameters.geometry,
                    "n": n,
                    "sigma_over_lipschitz": sigma,
                    "noise": reading.parameters.noise,
                    "runs": size.runs,
                },
                cost=size.runs * n * 3e-5,
                random=True,
            )
            for instance, n, sigma in itertools.product(INSTANCES, size.sizes, size.sigmas)
        ]

    def conclude(
        self,
        reading: Reading[Setting],
        context: Context,
        work: list[Handle[Paths]],
        outcomes: Outcomes,
    ) -> Decision:
        """Decide: the careful proof certifies, or an instance in closed form refutes."""
        paths = [outcomes[handle] for handle in work]
        kappa = reading.parameters.geometry.distance_factor
        variance = reading.parameters.variance_is_sigma
        noisy = best_variance() if variance else _drift(kappa, self.constant)
        proven = None if variance else max(proven_constant(n, kappa) for n in _RANGE)
        verdict, summary, witness = self._decide(paths, noisy, proven)
        return Decision(
            verdict=verdict,
            summary=summary,
            evidence=_evidence(kappa, paths, noisy, proven),
            tables=(_constant_table(kappa, variance=variance), _path_table(paths)),
            counterexample=_words(noisy, variance=variance) if verdict is Verdict.REFUTED else None,
            proof_steps=proof_steps(paths, kappa, variance_is_sigma=variance, claimed=self.constant),
            sharpness=(_sharpness(self.constant, kappa, noisy, proven),),
            witness=witness,
        )

    def _decide(
        self, paths: Sequence[Paths], found: Member, proven: Fraction | None
    ) -> tuple[Verdict, str, Witness | None]:
        off = [p for p in paths if p.excess > 0]
        if off:
            p = off[0]
            summary = (
                f"the implementation's iterates violate the deterministic inequality on {p.instance} (n = {p.n}, "
                f"σ = {p.sigma:g} L), so they are not those of the algorithm: nothing is claimed"
            )
            return Verdict.INCONCLUSIVE, summary, None
        if found.ratio > self.constant:
            constant, n, sigma = str(self.constant), found.n, str(found.sigma)
            witness = (
                RegretVarianceViolation(n=n, lipschitz=str(found.lipschitz), sigma=sigma, constant=constant)
                if proven is None
                else RegretDriftViolation(n=n, sigma=sigma, constant=constant)
            )
            repair = (
                "no constant repairs it" if proven is None else f"{float(proven):g} is proven for every n ≥ 2"
            )
            summary = (
                f"false: at n = {n} an instance has a regret of at least {found.ratio:.4g} · {_UNIT}, in closed form; "
                f"{repair}, where {float(self.constant):g} is claimed"
            )
            return Verdict.REFUTED, summary, witness
        if proven is not None and proven < self.constant:
            summary = (
                f"holds for every n ≥ 2, L, σ and d: a careful proof gives {float(proven):g} in place of "
                f"{float(self.constant):g}, and an instance in closed form needs {found.ratio:.4g}"
            )
            return Verdict.CERTIFIED, summary, RegretConstant(constant=str(self.constant))
        return (
            Verdict.INCONCLUSIVE,
            f"neither proof nor counterexample reaches {float(self.constant):g}",
            None,
        )


def _drift(kappa: float, claimed: Fraction) -> Member:
    """Return a member with noise: one with n ≥ 16, as the paper's other theorems ask, if it contradicts the claim."""
    large = best_drift(kappa, sigma=_SMALL, smallest_n=16)
    return large if large.ratio > claimed else best_drift(kappa, sigma=_SMALL)


def _sharpness(claimed: Fraction, kappa: float, noisy: Member, proven: Fraction | None) -> Sharpness:
    silent = noisy if proven is None else best_drift(kappa, sigma=Fraction(0))
    return Sharpness(
        constant="2",
        claimed=float(claimed),
        holds_with=None if proven is None else float(proven),
        needed=silent.ratio,
        at=f"the drift at n = {silent.n}"
        if proven is not None
        else f"n = {silent.n}, σ = {float(silent.sigma):g} L",
        how="no constant is enough: what is needed grows like √n as L and σ shrink"
        if proven is None
        else "by a careful proof for every n ≥ 2; what is needed in closed form",
    )


def _evidence(
    kappa: float, paths: Sequence[Paths], noisy: Member, proven: Fraction | None
) -> dict[str, Quantity]:
    evidence: dict[str, Quantity] = {}
    if proven is None:
        evidence["constant of a careful proof"] = Quantity(
            value=None, note="unbounded: σd/(L + σ√d)² grows without limit as L and σ shrink"
        )
        evidence["largest constant needed, found"] = Quantity(
            value=noisy.ratio,
            unit=_UNIT,
            note=f"n = {noisy.n}, L = {float(noisy.lipschitz):g}, σ = {float(noisy.sigma):g}; grows like √n, so no "
            "constant repairs it; N(0, σ²I) does",
        )
    else:
        silent = best_drift(kappa, sigma=Fraction(0))
        evidence["constant of a careful proof, all n ≥ 2"] = Quantity(
            value=float(proven),
            unit=_UNIT,
            note=f"(κ² + E[τ]/n)/2 at n = 2, ‖u − w₁‖ ≤ κD with κ = {kappa:g}",
        )
        evidence["constant of a careful proof, all n ≥ 16"] = Quantity(
            value=float(max(proven_constant(n, kappa) for n in _RANGE if n >= 16)), unit=_UNIT
        )
        evidence["largest constant needed, found"] = Quantity(
            value=silent.ratio, unit=_UNIT, note=f"the drift at n = {silent.n}, σ = 0, exactly"
        )
        at_16 = best_drift(kappa, sigma=Fraction(0), smallest_n=16)
        evidence["largest constant needed, found, n ≥ 16"] = Quantity(
            value=at_16.ratio, unit=_UNIT, note=f"the drift at n = {at_16.n}, σ = 0, exactly"
        )
    evidence["paths held against the inequality"] = Quantity(value=sum(p.runs for p in paths))
    evidence["largest left over right of the inequality"] = Quantity(
        value=max(p.tightest for p in paths), note="at most 1"
    )
    return evidence


def _constant_table(kappa: float, *, variance: bool) -> Table:
    rows = []
    for n in (2, 3, 4, 8, 9, 16, 25, 64, 100, 1000, 10_000):
        careful = None if variance else float(proven_constant(n, kappa))
        rows.append((n, drift_regret(n, kappa, 0.0), careful))
    return Table(
        id="constants",
        title="The regret of the drift without noise, and the constant of a careful proof",
        columns=columns("n", ("drift", _UNIT), ("careful constant", _UNIT)),
        rows=tuple(rows),
    )


def _path_table(paths: Sequence[Paths]) -> Table:
    return Table(
        id="paths",
        title="Runs of the implementation against the deterministic inequality",
        columns=columns(
            "instance", "n", ("σ", "L"), "runs", "largest left over right", ("mean regret", _UNIT)
        ),
        rows=tuple((p.instance, p.n, p.sigma, p.runs, p.tightest, p.mean_regret) for p in paths),
    )


def _words(found: Member, *, variance: bool) -> str:
    where = f"n = {found.n}, d = 1, σ = {float(found.sigma):g}, L = {float(found.lipschitz):g}, f(w, x) = −Lw"
    if variance:
        return f"W = [−½, ½], w₁ = 0, u = ½, {where}, noise N(0, σ): a regret of at least {found.ratio:.6g} · {_UNIT}."
    return f"W = [−D, D], w₁ = −D, u = D, {where}: a regret of at least {found.ratio:.6g} · {_UNIT}."
