"""The upper bound: Theorem 5.3's risk with the constants of a careful proof is one constant times the rate."""

from __future__ import annotations

import math
from fractions import Fraction

from dpsco_verify.algorithm import main_schedule
from dpsco_verify.evidence import ProofStep, Quantity, Sharpness, Table, Verdict, columns
from dpsco_verify.ledger import Decision, Handle, Units
from dpsco_verify.papers.arora2020.rate.certificates import RateConstant
from dpsco_verify.papers.arora2020.rate.measure import exact_in_abstracts_regime
from dpsco_verify.papers.arora2020.risk.instances import drift_ratio, smallest_useful_n
from dpsco_verify.papers.arora2020.utility.constants import limit_constant
from dpsco_verify.privacy.whole_run import calibrate

PRINTED = (5.0, 20.0)
"""The constants of Theorem 5.3."""

_NOISE = 8.0
_REGIME_SIZES = (64, 256, 1024, 4096)
_REGIME_DELTA = 1e-6


def plan_units(units: Units) -> Handle[tuple[float, ...]]:
    """Plan the exact risks in the abstract's regime."""
    return units.add(
        "regime", exact_in_abstracts_regime, {"sizes": _REGIME_SIZES, "delta": _REGIME_DELTA}, cost=0.3
    )


def conclude(constant: Fraction, risks: tuple[float, ...]) -> Decision:
    """Certify that `constant` times the rate is an upper bound, if a careful proof reaches it.

    `risks` are the exact ones in the abstract's regime.
    """
    proven = limit_constant(2.0)
    witness = None
    if _NOISE * proven < constant:
        witness = RateConstant(constant=str(constant))
        verdict = Verdict.CERTIFIED
        summary = (
            f"holds with C = {float(constant):g} for every start (a careful proof gives {_NOISE * proven:.4g}, and "
            f"{_NOISE * limit_constant(1.0):.4g} from argmin Φ or where D is the diameter)"
        )
    else:
        verdict = Verdict.INCONCLUSIVE
        summary = f"a careful proof gives C = {_NOISE * proven:.4g}, which does not reach {float(constant):g}"
    return Decision(
        verdict=verdict,
        summary=summary,
        evidence=_evidence(proven),
        tables=(_useful_table(),),
        proof_steps=(_dominance(), _regime(risks)),
        sharpness=(_sharpness(proven),),
        witness=witness,
    )


def _evidence(proven: float) -> dict[str, Quantity]:
    unit = "LD/√n + LD√(d log(1/δ))/(εn)"
    return {
        "constant proven, any w₁ and norms of at most D": Quantity(value=_NOISE * proven, unit=unit),
        "constant proven, diameter D or w₁ = argmin Φ": Quantity(
            value=_NOISE * limit_constant(1.0), unit=unit
        ),
        "smallest n at which the bound is below LD, d = 1, δ = 10⁻⁶": Quantity(
            value=smallest_useful_n(first=PRINTED[0], second=PRINTED[1], dimension=1, delta=1e-6),
            unit="points",
            note="constants of Theorem 5.3, at the largest ε; it grows in proportion to d log(1/δ)",
        ),
        "that n with the constants proven": Quantity(
            value=smallest_useful_n(
                first=limit_constant(1.0), second=_NOISE * limit_constant(1.0), dimension=1, delta=1e-6
            ),
            unit="points",
            note="diameter D or w₁ = argmin Φ",
        ),
        "factor of √d/(εn) with the least noise proven private, n = 10⁴": Quantity(
            value=_NOISE * limit_constant(1.0) * least_noise_share(10**4, 1e-6),
            unit="LD√log(1/δ)",
            note="diameter D or w₁ = argmin Φ; σ is calibrated for what Theorem 5.3 promises at ε = 1/(2√n) and "
            "δ = δ' = 10⁻⁶, in place of the theorem's",
        ),
        "lower bound on the risk of any private algorithm": Quantity(
            value=None,
            note="that no (ε, δ)-DP algorithm does better, which makes the rate optimal, the paper takes from "
            "Bassily et al. (2014, 2019); it is not verified here",
        ),
    }


def least_noise_share(n: int, delta: float) -> float:
    """Return the least σ that the bound on a whole run proves for Theorem 5.3's promise, as a part of the theorem's σ.

    At the theorem's largest ε, ``1/(2√n)``, and δ' = δ.
    """
    promised = main_schedule(
        n=n,
        dimension=1,
        diameter=1.0,
        lipschitz=1.0,
        epsilon=1.0 / (2.0 * math.sqrt(n)),
        delta=delta,
        delta_prime=delta,
    )
    assert promised.privacy is not None  # noqa: S101  asked for within the theorem's conditions
    total = promised.privacy
    return calibrate(n=n, epsilon=total.epsilon, delta=total.delta, certify=False).sigma / promised.sigma


def _sharpness(proven: float) -> Sharpness:
    needed, n, delta = max(
        (drift_ratio(n, delta, first=1.0, second=1.0)[0], n, delta)
        for n in (10**4, 10**5, 10**6)
        for delta in (1e-12, 1e-6, 1e-3)
    )
    return Sharpness(
        constant="C in O(·)",
        claimed=None,
        holds_with=_NOISE * proven,
        needed=needed,
        at=f"the drift from the far end of W, n = {n}, δ = {delta:g}, ε = 1/(2√n), d = 1",
        how="by a careful proof for any start",
    )


def _useful_table() -> Table:
    """Return the smallest n at which the bound is below LD, with the printed constants and with those proven."""
    near, far = limit_constant(1.0), limit_constant(2.0)
    rows = tuple(
        (
            dimension,
            delta,
            *(
                smallest_useful_n(first=first, second=second, dimension=dimension, delta=delta)
                for first, second in (PRINTED, (near, _NOISE * near), (far, _NOISE * far))
            ),
        )
        for dimension in (1, 10, 100, 1000, 10_000)
        for delta in (0.5, 1e-3, 1e-6, 1e-12)
    )
    return Table(
        id="useful",
        title="The smallest n at which Theorem 5.3's risk bound says anything (is below LD), at ε = 1/(2√n)",
        columns=columns(
            "d",
            "δ",
            ("n, constants of the theorem", "points"),
            ("n, constants proven, diameter D or w₁ = argmin Φ", "points"),
            ("n, constants proven, norms of at most D and any w₁", "points"),
        ),
        rows=rows,
    )


def rate_exponent(decay: Fraction) -> Fraction:
    """Return the exponent of n in ``1/√n + √d/(εn)`` for ``ε = c n^(−decay)``: the larger of −1/2 and decay − 1."""
    return max(Fraction(-1, 2), decay - 1)


def _dominance() -> ProofStep:
    """``√d/(εn) ≥ 2√d/√n ≥ 2/√n`` for ``ε ≤ 1/(2√n)``: the second term is the rate, up to a factor of 3/2."""
    exponent = rate_exponent(Fraction(1, 2))
    return ProofStep(
        id="dominance",
        statement="at ε = 1/(2√n) the rate is 1/√n + 2√(d/n), between 2√(d/n) and 3√(d/n): its exponents are −1/2 in n "
        "and 1/2 in d",
        verdict=Verdict.CERTIFIED if exponent == Fraction(-1, 2) else Verdict.REFUTED,
        evidence={
            "exponent in n": Quantity(value=float(exponent)),
            "1/√n over √d/(εn), at most": Quantity(value=0.5, note="ε√n/√d, largest at d = 1"),
        },
    )


def _regime(risks: tuple[float, ...]) -> ProofStep:
    """With ``ε = c/n`` the second term is ``√d/c`` for every n."""
    exponent = rate_exponent(Fraction(1))
    least = PRINTED[1] * math.sqrt(-math.log(_REGIME_DELTA))
    note = "on the cube, from its centre, whose own risk is 0.5; δ = 10⁻⁶, d = 1"
    return ProofStep(
        id="regime",
        statement="with the privacy parameter inversely proportional to the number of samples (ε = c/n, as the "
        "abstract has it) the rate 1/√n + √d/(εn) falls to 0 as n grows",
        verdict=Verdict.CERTIFIED if exponent < 0 else Verdict.REFUTED,
        evidence={
            "exponent in n": Quantity(
                value=float(exponent), note="the rate is 1/√n + √d/c, and √d/c is free of n"
            ),
            "smallest c with which Theorem 5.3's bound is ever below LD": Quantity(
                value=least, note="20√(d log(1/δ)), d = 1, δ = 10⁻⁶; the theorem then asks for n ≥ 4c²"
            ),
        }
        | {
            f"expected excess risk at ε = 1/n, n = {n}": Quantity(value=risk, unit="LD", note=note)
            for n, risk in zip(_REGIME_SIZES, risks, strict=True)
        },
    )
