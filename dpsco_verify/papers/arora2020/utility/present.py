"""Figures of the evidence, tables, the plot and the counterexample in words."""

from __future__ import annotations

from collections.abc import Sequence

from dpsco_verify.evidence import (
    Axis,
    LinePlot,
    Quantity,
    Scale,
    Series,
    SeriesStyle,
    Sharpness,
    Table,
    columns,
)
from dpsco_verify.ledger.measured import Measured
from dpsco_verify.papers.arora2020.utility.constants import constant_at, limit_constant, proven_constant
from dpsco_verify.papers.arora2020.utility.counterexample import Member, silent_drift
from dpsco_verify.papers.arora2020.utility.search import WorstInstance

_SIZES = (2, 3, 4, 8, 16, 17, 32, 64, 100, 256, 1000, 10_000)


def sharpness(
    claimed: float,
    distance_factor: float,
    proven: float | None,
    found: Member | None,
    measured: Sequence[Measured],
) -> Sharpness:
    """Return how small the constant may be: the careful proof against the best lower bound, exact or measured."""
    if proven is not None and found is None and any(m.low > claimed for m in measured):
        # Samples refuted what is proven of the algorithm: they are of another one, of which nothing is proven.
        proven = None
    drift = found if proven is None and found is not None else silent_drift(distance_factor)
    needed = {f"the drift at n = {drift.n}, σ = {float(drift.sigma):g} L, in closed form": drift.ratio}
    for m in measured:
        where = f"the lower confidence bound on {m.instance} at n = {m.n}, σ = {m.sigma:g} L"
        needed[where] = m.low
    where = max(needed, key=needed.__getitem__)
    if proven is not None:
        proof = "by a careful proof for every n ≥ 2"
    elif found is not None:
        proof = "no constant is enough: what is needed grows like √n as L and σ shrink"
    else:
        proof = "no constant is proven of an implementation that exceeds the claim"
    return Sharpness(
        constant="5/2",
        claimed=claimed,
        holds_with=proven,
        needed=needed[where],
        at=where,
        how=proof,
    )


def constant_table(distance_factor: float, *, variance: bool) -> Table:
    """Return the careful constant for each n (for N(0, σI): at L = σ = 1e-6, d = 1)."""
    if variance:
        rows = tuple(
            (
                n,
                constant_at(
                    n=n,
                    lipschitz=1e-6,
                    sigma=1e-6,
                    dimension=1,
                    variance=1e-6,
                    distance_factor=distance_factor,
                ),
            )
            for n in _SIZES
        )
        title = "The constant of a careful proof, at L = σ = 1e-6 and d = 1"
    else:
        rows = tuple((n, float(proven_constant(n, distance_factor))) for n in _SIZES)
        title = "The constant of a careful proof, for all L, σ and d"
    return Table(
        id="constant",
        title=title,
        columns=columns(("n", "points"), ("constant", "D(L + σ√d)/√n")),
        rows=rows,
    )


def measured_table(measured: list[Measured]) -> Table:
    """Return the Monte-Carlo excess risks."""
    unit = "D(L + σ√d)/√n"
    return Table(
        id="measured",
        title="Monte-Carlo excess risk of the implementation",
        columns=columns(
            "instance",
            "d",
            ("n", "points"),
            ("σ", "L"),
            "runs or pairs",
            ("mean", unit),
            ("at least", unit),
            ("at most", unit),
            ("allowed", unit),
            ("MDV (power 0.9)", unit),
            "violates",
        ),
        rows=tuple(
            (m.instance, m.dimension, m.n, m.sigma, m.runs, m.mean, m.low, m.high, m.bound, m.mdv, m.rejected)
            for m in measured
        ),
    )


def ratio_plot(reading: str, measured: list[Measured], constant: float, proven: float | None) -> LinePlot:
    """Return the ratio against n for each instance, at its worst σ, with intervals and the theorem's line."""
    series = []
    for name in dict.fromkeys(m.instance for m in measured):
        sizes = sorted({m.n for m in measured if m.instance == name})
        top = [
            max((m for m in measured if m.instance == name and m.n == n), key=lambda m: m.mean) for n in sizes
        ]
        series.append(
            Series(
                name=name,
                x=tuple(float(m.n) for m in top),
                y=tuple(m.mean for m in top),
                low=tuple(m.low for m in top),
                high=tuple(m.high for m in top),
                style=SeriesStyle.POINTS,
            )
        )
    ends = (
        float(min((m.n for m in measured), default=16)),
        float(max((m.n for m in measured), default=1024)),
    )
    series.append(
        Series(name=f"the theorem, {constant:g}", x=ends, y=(constant, constant), style=SeriesStyle.BOUND)
    )
    if proven is not None:
        series.append(Series(name=f"careful proof, {proven:.4g}", x=ends, y=(proven, proven)))
    return LinePlot(
        id="ratio",
        title=f"Excess risk in units of D(L + σ√d)/√n, reading {reading}",
        caption="Mean over independent runs (antithetic pairs where σ√d ≥ L) at the worst σ of each instance and n, "
        "with confidence intervals at the level of the error budget, all valid at once. The theorem says that "
        "no mean lies above the dashed line.",
        x_axis=Axis(label="n (points)", scale=Scale.LOG),
        y_axis=Axis(label="excess risk / (D(L + σ√d)/√n)"),
        series=tuple(series),
    )


def counterexample_words(found: Member, *, variance: bool) -> str:
    """Return the counterexample as a reader would want it; `variance` is the convention N(0, σI)."""
    if variance:
        return (
            f"n = {found.n}, d = 1, W = [−D/2, D/2], f(w, z) = −Lw for every z, w₁ = 0, L = σ = "
            f"{float(found.sigma):g} and noise N(0, σ): the noise's standard deviation √σ is so much larger than "
            "L + σ that every iterate is thrown to one end of W or the other, almost evenly. The excess risk is at "
            f"least {found.ratio:.4g} · D(L + σ)/√n."
        )
    return (
        f"n = {found.n}, d = 1, W = [−D, D], f(w, z) = −Lw for every z, w₁ = −D, σ = {float(found.sigma):g} L: with "
        "steps of D/√n the iterates need 2√n fresh draws to cross W, and the output averages them. The excess risk "
        f"is at least {found.ratio:.4g} · D(L + σ)/√n."
    )


def evidence(
    measured: list[Measured],
    worst: WorstInstance,
    found: Member | None,
    *,
    vacuous: int,
    distance_factor: float,
    variance: bool,
) -> dict[str, Quantity]:
    """Return the constant of the proof, and the largest ratios; `vacuous` instances were not measured."""
    unit = "D(L + σ√d)/√n"
    figures: dict[str, Quantity] = {}
    if variance:
        figures["constant of a careful proof"] = Quantity(
            value=None, note="unbounded: σd/(L + σ√d)² grows without limit as L and σ shrink"
        )
    else:
        figures["constant of a careful proof, all n"] = Quantity(
            value=limit_constant(distance_factor),
            unit=unit,
            note=f"κ² + ln 2 with ‖u − w₁‖ ≤ κD, κ = {distance_factor:g}",
        )
        figures["constant of a careful proof, n = 16"] = Quantity(
            value=float(proven_constant(16, distance_factor)), unit=unit
        )
    if found is not None:
        figures["excess risk of the closed-form instance"] = Quantity(
            value=found.ratio, unit=unit, note=f"at least; n = {found.n}, σ = {float(found.sigma):g}"
        )
    c = worst.confirmed
    figures["largest ratio found by the search"] = Quantity(
        value=c.mean,
        unit=unit,
        note=f"mean of {c.runs} fresh runs or pairs, between {c.low:.4g} and {c.high:.4g}; {worst.trials} trials; "
        f"{worst.description}",
    )
    figures["instances measured"] = Quantity(
        value=len(measured),
        note=f"{vacuous} more were left out: there the bound exceeds the largest possible risk",
    )
    if measured:
        top = max(measured, key=lambda m: m.mean)
        figures["largest measured ratio"] = Quantity(
            value=top.mean, unit=unit, note=f"{top.instance}, n = {top.n}, σ = {top.sigma:g} L"
        )
        mdvs = [m.mdv for m in measured if m.mdv is not None]
        figures["largest minimum detectable violation"] = Quantity(
            value=max(mdvs) if mdvs else None,
            unit=unit,
            note="power 0.9, for laws with the observed spread; "
            f"{len(measured) - len(mdvs)} instances could show none",
        )
    return figures
