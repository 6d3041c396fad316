"""Theorem 5.3, the risk part (label ``thm:main_result``): the utility theorem at the noise that privacy asks for.

The constants are those of a careful proof, see :mod:`dpsco_verify.papers.arora2020.utility.constants`.
"""

from __future__ import annotations

from dpsco_verify.evidence import (
    ProofStep,
    Quantity,
    Sharpness,
    Stance,
    Table,
    Verdict,
    columns,
)
from dpsco_verify.evidence.checker import Witness, evaluate
from dpsco_verify.ledger import Context, Decision, Handle, OneUnit, Reading, Units
from dpsco_verify.papers.arora2020.risk.certificates import RiskConstants, RiskDriftViolation
from dpsco_verify.papers.arora2020.risk.instances import (
    SCALE,
    Drift,
    needed_second,
    search_drift,
    smallest_useful_n,
)
from dpsco_verify.papers.arora2020.utility.constants import limit_constant
from dpsco_verify.papers.arora2020.utility.instances import DIAMETER, NORM_ARBITRARY, NORM_ARGMIN, Geometry

CONSTANTS = (5, 20)
"""The two constants of the theorem."""

NOISE = 8
"""The constant of σ."""

_BOUND = "E[F(ŵ)] − F(w*) ≤ 5LD/√n + 20LD√(d log(1/δ))/(εn)"
_METHOD = (
    "Exact: the utility theorem's careful constant c for all n, in ball arithmetic, gives the coefficients c and 8c; "
    "they are compared with 5 and 20. Where they are larger, an instance in closed form is sought against the bound."
)

_READINGS = (
    Reading(
        id="diameter",
        stance=Stance.PRINTED,
        parameters=DIAMETER,
        text="D is the diameter of W, as the theorem says.",
        statement=f"{_BOUND} for every n ≥ 16, ε > 0, 0 < δ < 1, d, and W of diameter D",
        method=_METHOD,
    ),
    Reading(
        id="norm-argmin",
        stance=Stance.EXTENSION,
        parameters=NORM_ARGMIN,
        text="D bounds the norm of every element of W, and w₁ = argmin Φ, as in Section 3.",
        statement=f"{_BOUND} for every W in the ball of radius D, from w₁ = argmin Φ",
        method=_METHOD,
    ),
    Reading(
        id="norm-arbitrary",
        stance=Stance.EXTENSION,
        parameters=NORM_ARBITRARY,
        text="D bounds the norm of every element of W, and w₁ is any point of W, as Algorithm 1's input says.",
        statement=f"{_BOUND} for every W in the ball of radius D, from any w₁",
        method=_METHOD,
    ),
)


class Risk(OneUnit[Geometry, Drift | None]):
    """Theorem 5.3, the risk part."""

    id = "risk"
    title = "The excess risk at the noise of the privacy guarantee"
    reference = "Theorem 5.3"
    label = "thm:main_result"
    text = f"Let n ≥ 16, ε ≤ 1/(2√n), σ = 8L√log(1/δ)/(√n ε). Then {_BOUND}"
    readings = _READINGS
    witness_kinds = (RiskConstants, RiskDriftViolation)

    def plan(self, reading: Reading[Geometry], context: Context, units: Units) -> Handle[Drift | None]:
        """Plan the search for a counterexample."""
        return units.add(
            "drift",
            search_drift,
            {"first": float(CONSTANTS[0]), "second": float(CONSTANTS[1])},
            cost=0.1,
        )

    def decide(self, reading: Reading[Geometry], found: Drift | None) -> Decision:
        """Decide by the constants of a careful proof, or by the drift."""
        first, second = CONSTANTS
        kappa = reading.parameters.distance_factor
        proven = limit_constant(kappa)
        witness: Witness | None = None
        counterexample: str | None = None
        if proven < min(first, second / NOISE):
            witness = RiskConstants(first=str(first), second=str(second))
            verdict = Verdict.CERTIFIED
            summary = (
                f"holds: a careful proof gives {proven:.4g} in place of {first} and {NOISE * proven:.4g} in place of "
                f"{second}"
            )
        elif kappa > 1 and found is not None and found.ratio > 1:
            witness = RiskDriftViolation(n=found.n, scale=str(SCALE), delta=str(found.delta))
            words, left, right = evaluate(witness, self.id, reading.id)
            verdict = Verdict.REFUTED
            summary = (
                f"false: at n = {found.n}, δ = {float(found.delta):g}, ε = 1/(2√n), d = 1 an instance has at least "
                f"{found.ratio:.4g} times the risk allowed"
            )
            counterexample = (
                f"W = [−D, D], f(w, x) = −Lw, w₁ = −D, n = {found.n}, ε = 1/(2√n), δ = {float(found.delta):g}: the "
                f"walk needs the first steps to cross W; {words}: {float(left):.6g} > "
                f"{float(right):.6g} (L = D = 1)."
            )
        else:
            verdict = Verdict.INCONCLUSIVE
            summary = "neither does a careful proof reach the constants nor does the drift exceed them"
        evidence = {
            "constant proven in place of 5": Quantity(value=proven, unit="LD/√n", note="for every n ≥ 16"),
            "constant proven in place of 20": Quantity(
                value=NOISE * proven,
                unit="LD√(d log(1/δ))/(εn)",
                note="the smallest repair where it exceeds the 20 of the theorem",
            ),
            "smallest n at which the bound is below LD, d = 1, δ = 10⁻⁶": Quantity(
                value=smallest_useful_n(first=first, second=second, dimension=1, delta=1e-6),
                unit="points",
                note="at the largest ε, 1/(2√n); below it the bound says nothing where LD is the largest risk there is",
            ),
        }
        if kappa > 1 and found is not None:
            evidence["excess risk of the drift over the bound"] = Quantity(
                value=found.ratio, note=f"at least; n = {found.n}, δ = {float(found.delta):g}"
            )
        return Decision(
            verdict=verdict,
            summary=summary,
            evidence=evidence,
            tables=(_useful_table(proven),),
            counterexample=counterexample,
            proof_steps=(_substitution(),),
            sharpness=_sharpness(proven, kappa),
            witness=witness,
        )


def _sharpness(proven: float, distance_factor: float) -> tuple[Sharpness, ...]:
    """Return how small the two constants may be: both as the careful proof has them, the second beside the first."""
    first, second = CONSTANTS
    found = needed_second(first=float(first), distance_factor=distance_factor)
    how = f"by a careful proof, with {NOISE} times as much in the second term"
    return (
        Sharpness(constant=str(first), claimed=float(first), holds_with=proven, needed=None, how=how),
        Sharpness(
            constant=str(second),
            claimed=float(second),
            holds_with=NOISE * proven,
            needed=None if found is None else found[0],
            at=None if found is None else f"the drift, beside the {first}, n = {found[1]}, δ = {found[2]:g}",
            how="by a careful proof",
        ),
    )


def _useful_table(proven: float) -> Table:
    """Return the smallest n at which the bound is below LD, with the printed constants and with those proven."""
    rows = []
    for dimension in (1, 10, 100, 1000):
        for delta in (1e-3, 1e-6, 1e-12):
            printed = smallest_useful_n(
                first=CONSTANTS[0], second=CONSTANTS[1], dimension=dimension, delta=delta
            )
            careful = smallest_useful_n(first=proven, second=NOISE * proven, dimension=dimension, delta=delta)
            rows.append((dimension, delta, printed, careful))
    return Table(
        id="useful",
        title="The smallest n at which the bound is below LD, at the largest ε = 1/(2√n)",
        columns=columns(
            "d", "δ", ("n, constants of the theorem", "points"), ("n, constants proven", "points")
        ),
        rows=tuple(rows),
    )


def _substitution() -> ProofStep:
    """``(5/2)D(L + σ√d)/√n`` at the theorem's σ has the coefficients 5/2 and ``(5/2)·8 = 20``."""
    first, second = 2.5, 2.5 * NOISE
    return ProofStep(
        id="substitution",
        statement="the utility theorem at σ = 8L√log(1/δ)/(√n ε) gives the bound",
        verdict=Verdict.CERTIFIED if first <= CONSTANTS[0] and second <= CONSTANTS[1] else Verdict.REFUTED,
        evidence={
            "first coefficient": Quantity(value=first, unit="LD/√n", note="the theorem has 5"),
            "second coefficient": Quantity(value=second, unit="LD√(d log(1/δ))/(εn)"),
        },
    )
