"""Systems with noise by this project's bounds.

Algorithm 1 (label related:algorithm-1), one pass with privacy by subsampling (label related:subsampled-one-pass) and
Algorithm 1 with a mirror step (label related:private-mirror-descent).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import flint

from dpsco_verify.arrays import IntArray
from dpsco_verify.choices import Profile
from dpsco_verify.evidence import Quantity, Sharpness, Stance, Verdict
from dpsco_verify.geometry import Simplex
from dpsco_verify.ledger import Decision, Reading
from dpsco_verify.ledger.systems.calibration import Place
from dpsco_verify.ledger.systems.privacy_statement import (
    APPROXIMATE,
    AUDIT_WEIGHT,
    Call,
    PrivacyStatement,
    audit_null,
)
from dpsco_verify.privacy.balls import ball
from dpsco_verify.privacy.transcript import PRECISION, Transcript, first_increment_delta, largest_factor
from dpsco_verify.privacy.whole_run import WholeRun, delta_lower, delta_upper
from dpsco_verify.problems import Linear
from dpsco_verify.related import Task
from dpsco_verify.related.batch_shuffling import batch_counts, proves_batches
from dpsco_verify.related.catalogue import SYSTEMS
from dpsco_verify.related.iteration_schedule import constant_batches

_SUBSAMPLED, _ENTROPIC = "subsampled-one-pass", "private-mirror-descent-entropic"
_GUARANTEE = "all noisy gradients together are (ε, δ)-DP"
_METHOD = (
    "Rigorous at each grid point, with the implementation's own σ: for single points the bound on a whole run, in "
    "doubles with a bound on all their rounding, for batches those by one use of a point and by shuffling, in ball "
    "arithmetic; how much less noise would fail is told by a lower bound. Beside it an audit of the outputs."
)
Fails = Callable[[Fraction], bool]
"""Whether a part of σ is refuted."""

_GRID = {
    Profile.QUICK: ((1000, 5, 1.0, 1e-6),),
    Profile.STANDARD: (
        (1000, 5, 1.0, 1e-6),
        (1000, 2, 0.1, 1e-6),
        (10**4, 5, 1.0, 1e-6),
        (10**5, 20, 1.0, 1e-6),
        (10**5, 5, 0.1, 1e-9),
    ),
    Profile.DEEP: tuple(
        (n, d, epsilon, delta)
        for n in (500, 1000, 10**4, 10**5)
        for d in (2, 5)
        for epsilon in (0.1, 1.0, 4.0)
        for delta in (1e-3, 1e-6, 1e-9)
    ),
}


@dataclass(frozen=True, kw_only=True)
class Noise:
    """At one point: σ/L of the implementation, whether it is proven, and the largest σ/L that is refuted."""

    words: str
    sigma: float
    proven: bool
    failing: float | None


@dataclass(frozen=True)
class _Ratio:
    """``2L/(gσ)`` for batches of size g."""

    sigma: float

    def __call__(self, size: int) -> flint.arb:
        return 2 / (ball(self.sigma) * size)


def examine(*, system: str, places: tuple[tuple[int, int, float, float], ...]) -> tuple[Noise, ...]:
    """Check the implementation's noise at each (n, d, ε, δ), and find how much less is refuted."""
    found = []
    for n, dimension, epsilon, delta in places:
        place = Place(n, dimension, epsilon, delta)
        task = Task(Linear(), Simplex(dimension), 1.0) if system == _ENTROPIC else place.task
        figures = SYSTEMS[system].calibrate(task, n, place.budget).figures
        sigma = figures["σ"] if "σ" in figures else figures["σ₁"]
        if system == _SUBSAMPLED:
            batches = constant_batches(n, dimension, place.budget.concentrated)
            proven, fails = _batches(n, batches, sigma, epsilon, delta)
        else:
            proven, fails = _single_points(n, sigma, epsilon, delta)
        less = largest_factor(fails, low=1e-2, high=1.0)
        found.append(
            Noise(
                words=f"n = {n}, d = {dimension}, ε = {epsilon:g}, δ = {delta:g}",
                sigma=sigma,
                proven=proven,
                failing=None if less is None else less * sigma,
            )
        )
    return tuple(found)


def _single_points(n: int, sigma: float, epsilon: float, delta: float) -> tuple[bool, Fails]:
    """Return whether σ is proven for Algorithm 1, and how to refute a part of it, the pattern of repeats shown."""
    proven = delta_upper(WholeRun(n=n, sigma=sigma), epsilon) <= delta
    return proven, lambda factor: delta_lower(WholeRun(n=n, sigma=float(factor) * sigma), epsilon) > delta


def _batches(n: int, batches: IntArray, sigma: float, epsilon: float, delta: float) -> tuple[bool, Fails]:
    """Return whether σ is proven for the batches, and how to refute a part of it.

    The first batch alone refutes, all other gradients being opposite: it holds the point with probability B_1/n.
    """
    size, scaled = int(batches[0]), Fraction(sigma)
    first = Transcript(n=-(-n // size), used=1, increments=1)

    def fails(factor: Fraction) -> bool:
        with flint.ctx.workprec(PRECISION):
            mu = 2 / (ball(scaled * factor) * size)
            return bool(first_increment_delta(first, ball(epsilon), mu) > ball(delta))

    with flint.ctx.workprec(PRECISION):
        proven = proves_batches(
            batch_counts(batches), n=n, epsilon=ball(epsilon), delta=ball(delta), ratio=_Ratio(sigma)
        )
    return proven, fails


class _CertifiedNoise(PrivacyStatement[None, tuple[Noise, ...]]):
    refuted_by = "needed with the pattern of repeats shown"

    def exact(self, reading: Reading[None], profile: Profile) -> Call[tuple[Noise, ...]]:
        """Return the grid."""
        return examine, {"system": self.system, "places": _GRID[profile]}

    def decide(self, reading: Reading[None], value: tuple[Noise, ...]) -> Decision:
        """Decide by the bounds."""
        open_ = [noise for noise in value if not noise.proven]
        first = value[0]
        return Decision(
            verdict=Verdict.INCONCLUSIVE if open_ else Verdict.HOLDS_ON_GRID,
            summary=f"at {open_[0].words} no bound proves σ = {open_[0].sigma:.4g} L"
            if open_
            else f"holds at all {len(value)} points; at {first.words} σ = {first.sigma:.4g} L",
            evidence={
                f"σ at {noise.words}": Quantity(value=noise.sigma, unit="L", note="of the implementation")
                for noise in value
            },
            sharpness=(
                Sharpness(
                    constant="σ/L",
                    claimed=first.sigma,
                    holds_with=None if open_ else first.sigma,
                    over=first.words,
                    needed=first.failing,
                    at=first.words,
                    how=f"by the bounds from both sides; {self.refuted_by}",
                ),
            ),
        )


def _reading(system: str, text: str) -> tuple[Reading[None], ...]:
    return (
        Reading(
            id="certified-noise",
            stance=Stance.EXTENSION,
            parameters=None,
            text=text,
            statement=_GUARANTEE,
            method=_METHOD,
            weight=AUDIT_WEIGHT,
            null=audit_null(system, APPROXIMATE),
        ),
    )


class AlgorithmOnePrivacy(_CertifiedNoise):
    """``algorithm-1-privacy``."""

    id = "algorithm-1-privacy"
    system = "algorithm-1"
    title = "Algorithm 1 with certified noise is private"
    reference = "Arora, Marinov and Ullah 2020, Algorithm 1; noise by this project"
    label = "related:algorithm-1"
    text = f"With the least σ that the bounds on the transcript prove, {_GUARANTEE}"
    readings = _reading(system, "single points, stop at ⌊n/2⌋ + 1 of them; σ as the comparison runs it")


class SubsampledOnePassPrivacy(_CertifiedNoise):
    """``subsampled-one-pass-privacy``."""

    id = "subsampled-one-pass-privacy"
    system = _SUBSAMPLED
    refuted_by = "needed by the first batch"
    title = "One pass with privacy by subsampling is private"
    reference = "Arora, Marinov and Ullah 2020, Section 6 (a suggestion); noise by this project"
    label = "related:subsampled-one-pass"
    text = (
        "With the batches of privacy by iteration in a secret random order and the least σ that the bounds prove, "
        + _GUARANTEE
    )
    readings = _reading(
        system, "batches ⌈2√d/(κ√(T − t + 1))⌉, each point used at most once, a constant σ; no smoothness"
    )


class PrivateMirrorDescentPrivacy(_CertifiedNoise):
    """``private-mirror-descent-privacy``."""

    id = "private-mirror-descent-privacy"
    system = _ENTROPIC
    title = "Algorithm 1 with a mirror step is private"
    reference = "Arora, Marinov and Ullah 2020, Section 7 (an extension); noise by this project"
    label = "related:private-mirror-descent"
    text = f"With the σ of Algorithm 1 and the mirror step of any strictly convex Φ, {_GUARANTEE}"
    readings = _reading(
        system,
        "σ by the Euclidean sensitivity 2L of a subgradient; the mirror step is post-processing of the noisy gradients",
    )
