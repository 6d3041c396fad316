"""The picture of an audit by canaries, as data: the scores of both groups, and the ROC curve beside the claim."""

from __future__ import annotations

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.auditing.canaries.lines import claim_lines
from dpsco_verify.evidence import Axis, LinePlot, Series, SeriesStyle
from dpsco_verify.inference.binomial import clopper_pearson_lower, clopper_pearson_upper
from dpsco_verify.privacy.claims import PrivacyClaim

_BINS = 40
_POINTS = 65
_BAND = 0.025


def score_plot(name: str, scores_in: FloatArray, scores_out: FloatArray) -> LinePlot:
    """Return the histograms of the scores, from their 0.1 % to their 99.9 % quantile."""
    low, high = np.quantile(np.concatenate([scores_in, scores_out]), [0.001, 0.999])
    if not low < high:
        low, high = low - 0.5, low + 0.5
    edges = np.linspace(low, high, _BINS + 1)
    middles = tuple(map(float, 0.5 * (edges[1:] + edges[:-1])))
    series = tuple(
        Series(
            name=f"{label} ({scores.size:,})",
            x=middles,
            y=tuple(map(float, np.histogram(np.clip(scores, low, high), edges)[0] / scores.size)),
        )
        for label, scores in (("in", scores_in), ("out", scores_out))
    )
    return LinePlot(
        id="scores",
        title=f"{name}: scores of the canaries",
        caption="The part of each group's scores in each of 40 bins; the outermost hold what lies beyond.",
        x_axis=Axis(label="score"),
        y_axis=Axis(label="part of the group"),
        series=series,
    )


def roc_plot(name: str, scores_in: FloatArray, scores_out: FloatArray, *, claim: PrivacyClaim) -> LinePlot:
    """Return the ROC curve with a band, and the trade-off curve of the claim."""
    rates = np.unique(np.concatenate([np.linspace(0.0, 1.0, _POINTS), np.geomspace(1e-4, 0.1, 16)]))
    thresholds = np.quantile(scores_out, 1.0 - rates, method="inverted_cdf")
    falls_out = np.sort(scores_out)
    falls_in = np.sort(scores_in)
    false_hits = scores_out.size - np.searchsorted(falls_out, thresholds, side="right")
    hits = scores_in.size - np.searchsorted(falls_in, thresholds, side="right")
    points = np.unique(np.stack([false_hits, hits]), axis=1)
    x, k = points[0] / scores_out.size, points[1].astype(np.int64)
    lines = claim_lines(claim)
    return LinePlot(
        id="roc",
        title=f"{name}: what the scores tell, and what the claim allows",
        caption="The band holds each rate by itself with confidence 0.95 if scores are independent, which those of one "
        "run are not: it shows what is noise and proves nothing. The verdict is the method's.",
        x_axis=Axis(label="false-positive rate"),
        y_axis=Axis(label="true-positive rate"),
        series=(
            Series(
                name="scores",
                x=tuple(map(float, x)),
                y=tuple(map(float, k / scores_in.size)),
                low=tuple(map(float, clopper_pearson_lower(k, scores_in.size, alpha=_BAND))),
                high=tuple(map(float, clopper_pearson_upper(k, scores_in.size, alpha=_BAND))),
            ),
            Series(
                name=f"largest under {claim}",
                x=tuple(map(float, rates)),
                y=tuple(map(float, lines.most(rates))),
                style=SeriesStyle.BOUND,
            ),
        ),
    )
