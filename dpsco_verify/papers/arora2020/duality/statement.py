"""Theorem 2.1 (``thm:kakade_sconv_ssmooth``): Φ is α-strongly convex iff Φ* is 1/α-smooth; the shipped potentials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpsco_verify.choices import Profile
from dpsco_verify.evidence import (
    Consequence,
    Quantity,
    Sharpness,
    Stance,
    Table,
    Verdict,
    columns,
)
from dpsco_verify.geometry import NegativeEntropy
from dpsco_verify.ledger import Context, Decision, Discrepancy, Handle, Outcomes, Reading, Units
from dpsco_verify.papers.arora2020.duality.certificates import DualityConstant, DualityEntropyViolation
from dpsco_verify.papers.arora2020.duality.curvature import (
    ENTROPY_ON_SIMPLEX,
    EUCLIDEAN,
    P_NORMS,
    Case,
    Curvature,
    plan_exploration,
)

_PAIRS = {Profile.QUICK: 2_000, Profile.STANDARD: 20_000, Profile.DEEP: 400_000}
_STEP = Fraction(1, 1000)
_MARGIN = Fraction(1, 100_000)
_METHOD = (
    "in closed form for all dimensions (the Hessian and Hölder's inequality for the p-norm, Pinsker's inequality for "
    "the entropy), with a pair at which neither side allows a better constant, in ball arithmetic; beside it the "
    "implementation's divergences over random and extreme pairs, each with its bound on the rounding"
)
_BOTH = "D_Φ(x‖y) ≥ (α/2)‖x − y‖² and D_Φ*(a‖b) ≤ (1/(2α))‖a − b‖_*² for all pairs; no larger α does"


@dataclass(frozen=True, kw_only=True)
class Unrestricted:
    """The largest ``2D_Φ*(a‖b)/‖a − b‖_∞²`` of ``Σ exp(y_i − 1)`` at each y, one coordinate moved by one."""

    y: tuple[float, ...]
    smoothness: tuple[float, ...]
    curvature_on_simplex: float


def explore_unrestricted(*, largest: int) -> Unrestricted:
    """Return the smoothness that the unrestricted conjugate needs at y = −largest, …, largest."""
    entropy = NegativeEntropy()
    y = np.arange(-largest, largest + 1, dtype=np.float64)
    values = 2 * entropy.conjugate_divergence(y[:, np.newaxis] + 1, y[:, np.newaxis])
    near = 2.0**-20
    at_one = 2 * entropy.conjugate_divergence([1.0 + near], [1.0]) / near**2
    return Unrestricted(
        y=tuple(map(float, y)), smoothness=tuple(map(float, values)), curvature_on_simplex=float(at_one)
    )


@dataclass(frozen=True, kw_only=True)
class UnrestrictedEntropy:
    """The negative entropy on the whole orthant; its conjugate is examined at y = −largest, …, largest."""

    largest: int


Potentials = tuple[Case, ...] | UnrestrictedEntropy
"""The potentials that a reading speaks of."""

Work = list[Handle[Curvature]] | Handle[Unrestricted]
"""The handles: one for each potential, or that of the conjugate of the unrestricted entropy."""


def _reading(
    name: str, text: str, potentials: Potentials, *, statement: str = _BOTH, stance: Stance = Stance.PRINTED
) -> Reading[Potentials]:
    return Reading(
        id=name, text=text, statement=statement, method=_METHOD, stance=stance, parameters=potentials
    )


_DISCREPANCIES = (
    Discrepancy(
        id="entropy-domain",
        title="The domain of the potential decides its conjugate",
        lines=(99, 107, 179),
        consequence=Consequence.NOTHING,
        text=(
            "Potentials are taken as functions on all of R^d. The negative entropy on the whole orthant is "
            "not strongly convex, and its conjugate, a sum of exponentials, is not smooth: the constants that "
            "it has on the simplex are not its own there."
        ),
        repair=(
            "State the domain: the conjugate is that of the potential restricted to the simplex, log-sum-exp, "
            "and then both constants are 1. The equivalence itself stands, as both of its sides fail "
            "together."
        ),
        shown_by=("duality/entropy-unrestricted",),
        rests_on=("duality/entropy-simplex", "duality/euclidean"),
        constants=(("duality/entropy-simplex", "1 in 1/α-smooth"),),
    ),
)


class Duality:
    """``duality``: Φ α-strongly convex in ‖·‖ iff Φ* 1/α-smooth in ‖·‖_*."""

    id = "duality"
    title = "Strong convexity of a potential is smoothness of its conjugate"
    reference = "Theorem 2.1"
    label = "thm:kakade_sconv_ssmooth"
    text = "Φ closed and convex: Φ is α-strongly convex w.r.t. ‖·‖ iff Φ* is 1/α-strongly smooth w.r.t. ‖·‖_*"
    readings = (
        _reading("euclidean", "Φ = ½‖·‖₂², α = 1, ‖·‖ = ‖·‖_* = ‖·‖₂", EUCLIDEAN),
        _reading(
            "p-norm",
            "Φ = ½‖·‖_p² with 1 < p < 2, α = p − 1, ‖·‖ = ‖·‖_p, ‖·‖_* = ‖·‖_q with 1/p + 1/q = 1",
            P_NORMS,
        ),
        _reading(
            "entropy-simplex",
            "Φ = Σ w_i log w_i on the simplex and ∞ off it, so Φ* is log-sum-exp; α = 1, ‖·‖ = ‖·‖₁, ‖·‖_* = ‖·‖_∞",
            ENTROPY_ON_SIMPLEX,
        ),
        _reading(
            "entropy-unrestricted",
            "Φ = Σ w_i log w_i on all of w ≥ 0, so Φ* = Σ exp(y_i − 1), with the α = 1 that Φ has on the simplex: what "
            "comes of pairing the conjugate of the one with the constant of the other",
            UnrestrictedEntropy(largest=20),
            statement="D_Φ*(a‖b) ≤ ½‖a − b‖_∞² for Φ* = Σ exp(y_i − 1)",
            stance=Stance.EXTENSION,
        ),
    )

    @staticmethod
    def claimed(case: Case) -> Fraction:
        """Return the α that the reading claims for a potential."""
        return case.alpha

    discrepancies = _DISCREPANCIES
    witness_kinds = (DualityConstant, DualityEntropyViolation)

    def plan(self, reading: Reading[Potentials], context: Context, units: Units) -> Work:
        """Plan one unit for each potential of the reading."""
        potentials = reading.parameters
        if isinstance(potentials, UnrestrictedEntropy):
            return units.add("conjugate", explore_unrestricted, {"largest": potentials.largest}, cost=0.01)
        return plan_exploration(units, potentials, pairs=_PAIRS[context.profile])

    def conclude(
        self, reading: Reading[Potentials], context: Context, work: Work, outcomes: Outcomes
    ) -> Decision:
        """Decide by the closed form, which the implementation must not contradict."""
        if isinstance(work, Handle):
            return _unrestricted(outcomes[work])
        return self._restricted([outcomes[handle] for handle in work])

    def _restricted(self, found: Sequence[Curvature]) -> Decision:
        table = _table(found)
        sharpest = max(c.least_convexity / float(c.case.alpha) for c in found)
        loosest = min(c.dual_constant * 2 for c in found)
        evidence = {
            "best strong-convexity constant found": Quantity(
                value=sharpest,
                unit="α",
                note="least 2D_Φ/‖x − y‖² over all pairs; the largest over the potentials",
            ),
            "best smoothness constant found": Quantity(
                value=loosest, unit="1/α", note="largest 2D_Φ*/‖a − b‖_*²; the smallest over the potentials"
            ),
            "pairs tried": Quantity(value=sum(c.pairs for c in found)),
        }
        off = [
            c.case.label for c in found if not (c.convex and c.smooth) or Fraction(c.stated) != c.case.alpha
        ]
        if off:
            summary = (
                f"the implementation contradicts the closed form for {', '.join(off)}: nothing is claimed"
            )
            return Decision(verdict=Verdict.INCONCLUSIVE, summary=summary, evidence=evidence, tables=(table,))
        case = found[len(found) // 2].case
        claimed = self.claimed(case)
        above = max(claimed, case.alpha * (1 + _MARGIN))
        witness = DualityConstant(p=str(case.p), step=str(_STEP), above=str(above))
        if claimed > case.alpha:
            return Decision(
                verdict=Verdict.REFUTED,
                summary=f"false: {case.label} is strongly convex with {float(case.alpha):g}, not {float(claimed):g}",
                evidence=evidence,
                tables=(table,),
                counterexample=f"x and y along (1, −1) about their middle, {_STEP} apart, for {case.label}.",
                witness=witness,
            )
        return Decision(
            verdict=Verdict.CERTIFIED,
            summary="both directions hold, in any dimension, and at a pair near the middle neither allows a constant "
            f"that is better by more than {float(_MARGIN):g} of it",
            evidence=evidence,
            tables=(table,),
            sharpness=_sharpness(found),
            witness=witness,
        )


def _unrestricted(found: Unrestricted) -> Decision:
    violated = [(y, s) for y, s in zip(found.y, found.smoothness, strict=True) if s > 1.0]
    evidence = {
        "largest 2D_Φ*/‖a − b‖_∞² found": Quantity(
            value=max(found.smoothness),
            note=f"at y = {found.y[-1]:g}; claimed 1; grows like e^y, so none will do",
        ),
        "curvature of Φ* where Σ exp(y_i − 1) = 1": Quantity(
            value=found.curvature_on_simplex,
            note="the repair: restrict Φ to the simplex first; then Φ* is log-sum-exp and the constant 1 holds",
        ),
    }
    if not violated:
        return Decision(verdict=Verdict.INCONCLUSIVE, summary="no pair tried violates it", evidence=evidence)
    y, smoothness = violated[0]
    return Decision(
        verdict=Verdict.REFUTED,
        summary=f"false: at y = {y:g} a step of 1 needs the smoothness {smoothness:.4g}, and no constant is enough "
        "for all y; both sides of the equivalence fail together, so the theorem itself is untouched",
        evidence=evidence,
        sharpness=(
            Sharpness(
                constant="1 in 1/α-smooth",
                claimed=1.0,
                holds_with=None,
                needed=max(found.smoothness),
                at=f"the pairs tried, up to y = {found.y[-1]:g}",
                how="the largest found; it grows without limit",
            ),
        ),
        counterexample=f"d = 1, b = {y:g}, a = {y + 1:g}: D_Φ*(a‖b) = {smoothness / 2:.6g}, above 1/2.",
        witness=DualityEntropyViolation(y=str(Fraction(y)), step="1"),
    )


def _sharpness(found: Sequence[Curvature]) -> tuple[Sharpness, ...]:
    how, at = "by the closed form, in any dimension", "the pairs of points tried, for each potential"
    return (
        Sharpness(
            constant="1 in 1/α-smooth",
            claimed=1.0,
            holds_with=1.0,
            needed=min(1.0, *(float(c.case.alpha) * c.largest_smoothness for c in found), 1.0),
            at=at,
            how=how,
        ),
        Sharpness(
            constant="1 in α-strongly convex",
            claimed=1.0,
            holds_with=1.0,
            needed=max(1.0, *(c.least_convexity / float(c.case.alpha) for c in found), 1.0),
            at=at,
            larger_is_stronger=True,
            how=how,
        ),
    )


def _table(found: Sequence[Curvature]) -> Table:
    return Table(
        id="constants",
        title="The constants claimed and the best ones found",
        columns=columns("potential", "α", "least 2D_Φ/‖x − y‖²", "1/α", "largest 2D_Φ*/‖a − b‖_*²", "pairs"),
        rows=tuple(
            (
                c.case.label,
                float(c.case.alpha),
                c.least_convexity,
                float(1 / c.case.alpha),
                c.largest_smoothness,
                c.pairs,
            )
            for c in found
        ),
    )
